//! The operator as a matrix over the edges of a neighbourhood.

use super::{Kind, MagneticOperator};
use crate::compute::{EdgeMatrix, EdgeValues, MapSource, Neighbourhood};
use rayon::prelude::*;
use std::sync::Arc;

impl EdgeMatrix {
    /// The operator S among the nodes of a neighbourhood, with the degrees of the whole graph.
    pub fn operator(operator: &MagneticOperator, neighbourhood: &Arc<Neighbourhood>) -> Self {
        let config = operator.config();
        let sign = if config.kind == Kind::Adjacency { 1.0 } else { -1.0 };
        let each = |number: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
            let nodes = (0..neighbourhood.size(neighbourhood.steps())).into_par_iter();
            nodes.map(|u| number(neighbourhood.node(u))).collect()
        };
        let needs_own = config.self_loops || config.kind == Kind::Laplacian;
        let value = |out: f64, back: f64| {
            let weight = operator.symmetric(out, back);
            let (cos, sin) = operator.turn(out, back);
            [weight * cos, weight * sin]
        };
        let directed = operator.is_directed();
        let (values, left, right) = if directed {
            // Degrees out and in do not come apart into a factor for the row and one for the column.
            let entry = |u: usize, (v, out, back): (usize, f64, f64)| {
                operator.entry(neighbourhood.node(u), neighbourhood.node(v), out, back)
            };
            let pattern = neighbourhood.pattern();
            let rows = 0..pattern.nodes();
            let entries = rows.flat_map(|u| pattern.row(u).map(move |found| entry(u, found)));
            let values = EdgeValues::Entries { forward: entries.collect(), adjoint: None };
            (values, each(&|_| sign), each(&|_| 1.0))
        } else {
            let values = EdgeValues::new(neighbourhood.pattern(), value, None);
            (values, each(&|u| sign * operator.left(u)), each(&|u| operator.right(u)))
        };
        Self {
            values,
            left,
            right,
            own: if needs_own { each(&|u| operator.own(u)) } else { Vec::new() },
            along: None,
            real: operator.is_real(),
            hermitian: operator.is_hermitian(),
            neighbourhood: neighbourhood.clone(),
        }
    }
}

impl MapSource {
    /// The operator S on all nodes.
    pub fn operator(operator: &MagneticOperator) -> Self {
        let everyone = Arc::new(Neighbourhood::everyone(operator.pattern()));
        Self::Edges(EdgeMatrix::operator(operator, &everyone))
    }
}
