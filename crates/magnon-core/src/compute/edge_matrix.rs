//! `EdgeMatrix`: a matrix with an entry for every edge of a neighbourhood.

use super::pattern::{BACKWARD, BOTH, FORWARD, Weights};
use super::{Neighbourhood, Pattern};
use std::sync::Arc;

/// Which way a matrix over the edges reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// A: row u gathers from the nodes that u points to.
    Out,
    /// Aᵀ: row u gathers from the nodes that point to u.
    In,
}

impl Along {
    /// The other way.
    pub fn reversed(self) -> Self {
        match self {
            Self::Out => Self::In,
            Self::In => Self::Out,
        }
    }
}

/// The matrix M(u,v) = l(u)·t(u,v)·r(v) + m(u)·[u = v] over the entries of a neighbourhood, in local
/// numbers.
///
/// One pattern serves them all. On a graph without weights t takes one value for each of the three
/// classes of an entry (both ways, u → v alone, v → u alone): the phases of a magnetic operator, or
/// 1, 1, 0 for A and 1, 0, 1 for Aᵀ. The adjoint has the same pattern, with l and r exchanged, so no
/// second copy is kept for the way back.
#[derive(Clone, Debug)]
pub struct EdgeMatrix {
    pub(crate) neighbourhood: Arc<Neighbourhood>,
    pub(crate) values: EdgeValues,
    pub(crate) left: Vec<f64>,
    pub(crate) right: Vec<f64>,
    /// Empty where there is no diagonal but that of the entries.
    pub(crate) own: Vec<f64>,
    /// The way of the edges that entries other than zero have, where it is one.
    pub(crate) along: Option<Along>,
    pub(crate) real: bool,
    pub(crate) hermitian: bool,
}

/// t(u,v) as [real part, imaginary part], and the conjugate of t(v,u) at the place of (u,v).
#[derive(Clone, Debug)]
pub(crate) enum EdgeValues {
    /// By the class of an entry.
    Classes { forward: [[f64; 2]; 4], adjoint: [[f64; 2]; 4] },
    /// For each entry.
    Entries { forward: Vec<[f64; 2]>, adjoint: Option<Vec<[f64; 2]>> },
}

impl EdgeMatrix {
    /// diag(`left`)·A·diag(`right`), or the same with Aᵀ; the factors are those of all nodes of the
    /// graph.
    pub fn adjacency(
        along: Along,
        left: &[f64],
        right: &[f64],
        neighbourhood: &Arc<Neighbourhood>,
    ) -> Self {
        let out = |out: f64, _: f64| [out, 0.0];
        let back = |_: f64, back: f64| [back, 0.0];
        let pattern = neighbourhood.pattern();
        let values = match along {
            Along::Out => EdgeValues::new(pattern, out, Some(&back)),
            Along::In => EdgeValues::new(pattern, back, Some(&out)),
        };
        Self {
            values,
            left: neighbourhood.nodes().map(|u| left[u]).collect(),
            right: neighbourhood.nodes().map(|u| right[u]).collect(),
            own: Vec::new(),
            along: Some(along),
            real: true,
            hermitian: false,
            neighbourhood: neighbourhood.clone(),
        }
    }

    /// The nodes that its rows and columns belong to.
    pub fn neighbourhood(&self) -> &Arc<Neighbourhood> {
        &self.neighbourhood
    }
}

/// A value from A(u,v) and A(v,u).
type Value<'a> = &'a dyn Fn(f64, f64) -> [f64; 2];

impl EdgeValues {
    /// Values from A(u,v) and A(v,u); without a rule for the adjoint the matrix is Hermitian.
    pub(crate) fn new(
        pattern: &Pattern,
        forward: impl Fn(f64, f64) -> [f64; 2],
        adjoint: Option<Value>,
    ) -> Self {
        let classes = |value: Value| {
            let mut table = [[0.0; 2]; 4];
            table[BOTH as usize] = value(1.0, 1.0);
            table[FORWARD as usize] = value(1.0, 0.0);
            table[BACKWARD as usize] = value(0.0, 1.0);
            table
        };
        let entries = |value: Value| -> Vec<[f64; 2]> {
            let rows = (0..pattern.nodes()).flat_map(|u| pattern.row(u));
            rows.map(|(_, out, back)| value(out, back)).collect()
        };
        match pattern.weights {
            Weights::Unit => Self::Classes {
                forward: classes(&forward),
                adjoint: classes(adjoint.unwrap_or(&forward)),
            },
            Weights::Explicit(_) => {
                Self::Entries { forward: entries(&forward), adjoint: adjoint.map(entries) }
            }
        }
    }
}
