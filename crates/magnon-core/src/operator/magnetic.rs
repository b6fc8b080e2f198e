//! `MagneticOperator`: a pattern with a configuration.

use super::{Kind, Normalize, OperatorConfig, PatternError, Phase, Symmetrize};
use crate::compute::pattern::{BACKWARD, BOTH, FORWARD, PADDING, Weights};
use crate::compute::tile::{CoefficientStore, Real, Scaling, TileOperator};
use crate::compute::{Bounds, Pattern};
#[cfg(feature = "cuda")]
use crate::compute::{EdgeMatrix, Neighbourhood};
use crate::graph::DiGraph;
use num_complex::Complex64;
use std::sync::Arc;

/// Why an operator cannot be built.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum OperatorError {
    /// The graph has no pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The directed normalisation has no place for weights in the phase.
    #[error(
        "the normalisation by degrees out and in turns each edge by its direction; weights cannot be \
         its phase: take the phase sign, or another normalisation"
    )]
    DirectedPhase,
}

/// The operator S of a directed graph; see the [module](super).
///
/// ```
/// use magnon_core::graph::GraphBuilder;
/// use magnon_core::operator::{Charge, MagneticOperator, OperatorConfig};
/// let graph = GraphBuilder::new(3).edges([(0, 1), (1, 2), (2, 0)]).build()?.graph;
/// let config = OperatorConfig { charge: Charge::fraction(1, 3)?, ..Default::default() };
/// let operator = MagneticOperator::new(&graph, &config)?;
/// assert!(!operator.is_real());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct MagneticOperator {
    pub(super) pattern: Arc<Pattern>,
    config: OperatorConfig,
    /// Row sums of |A_s|, or of |A| where degrees out and in are divided out, with the self loops that
    /// the configuration adds.
    pub(super) degrees: Vec<f64>,
    /// Column sums of |A|, where degrees out and in are divided out; empty otherwise.
    pub(super) in_degrees: Vec<f64>,
    pub(super) real: bool,
}

/// The operator as a sparse matrix by rows, columns ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorRows {
    /// Where each row starts, and where the last one ends.
    pub offsets: Vec<usize>,
    /// The column of each entry.
    pub columns: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<Complex64>,
}

impl MagneticOperator {
    /// Builds the operator of `graph`.
    pub fn new(graph: &DiGraph, config: &OperatorConfig) -> Result<Self, OperatorError> {
        Self::from_pattern(Arc::new(Pattern::new(graph)?), config)
    }

    /// Builds an operator on a pattern that other operators may share.
    pub fn from_pattern(
        pattern: Arc<Pattern>,
        config: &OperatorConfig,
    ) -> Result<Self, OperatorError> {
        let (degrees, in_degrees) = (Vec::new(), Vec::new());
        let mut operator = Self { pattern, config: *config, degrees, in_degrees, real: true };
        if operator.is_directed() {
            let weighted = matches!(operator.pattern.weights, Weights::Explicit(_));
            if weighted && config.phase == Phase::Weight {
                return Err(OperatorError::DirectedPhase);
            }
            operator.degrees = operator.sums(|out, _| out);
            operator.in_degrees = operator.sums(|_, back| back);
        } else {
            operator.degrees = operator.sums(|out, back| operator.symmetric(out, back));
        }
        operator.real = operator.find_real();
        Ok(operator)
    }

    /// Row sums of |value(A(u,v), A(v,u))|, with the self loops that the configuration adds.
    fn sums(&self, value: impl Fn(f64, f64) -> f64) -> Vec<f64> {
        let loops = f64::from(u8::from(self.config.self_loops));
        if let Some(counts) = &self.pattern.counts {
            // Ones and halves, which add up without rounding in any order.
            let [both, out, back] =
                [value(1.0, 1.0), value(1.0, 0.0), value(0.0, 1.0)].map(f64::abs);
            let row = |(u, &[leave, enter]): (usize, &[u32; 2])| {
                let (leave, enter) = (f64::from(leave), f64::from(enter));
                let mutual = leave + enter - self.pattern.row_len(u) as f64;
                both * mutual + out * (leave - mutual) + back * (enter - mutual) + loops
            };
            return counts.iter().enumerate().map(row).collect();
        }
        let row = |u| self.pattern.row(u).map(|(_, out, back)| value(out, back).abs()).sum::<f64>();
        (0..self.nodes()).map(|u| row(u) + loops).collect()
    }

    /// Whether degrees out and in are divided out apart.
    pub(crate) fn is_directed(&self) -> bool {
        self.config.normalize == Normalize::Directed
    }

    /// Number of nodes n.
    pub fn nodes(&self) -> usize {
        self.pattern.nodes()
    }

    /// The configuration.
    pub fn config(&self) -> &OperatorConfig {
        &self.config
    }

    /// The shared pattern, from which operators of other charges can be built.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// Row sums of |A_s|, with the self loops that the configuration adds; those of |A|, the degrees out,
    /// where degrees out and in are divided out.
    pub fn degrees(&self) -> &[f64] {
        &self.degrees
    }

    /// Whether every entry is real: q = 0, a symmetric graph, or q = ½ with unit weights.
    pub fn is_real(&self) -> bool {
        self.real
    }

    /// Whether S is its own conjugate transpose; all but the random-walk operators are.
    pub fn is_hermitian(&self) -> bool {
        self.config.normalize != Normalize::RandomWalk
    }

    /// Number of entries of S as a matrix, the diagonal included where it is not zero throughout.
    pub fn stored(&self) -> usize {
        let stored = self.pattern.stored();
        if !(self.config.self_loops || self.config.kind == Kind::Laplacian) {
            return stored;
        }
        let missing = |u: &usize| !self.pattern.has_diagonal(*u);
        stored + (0..self.nodes()).filter(missing).count()
    }

    /// Whether the bounds of its spectrum are those of all normalised operators, whatever the graph.
    pub fn has_fixed_bounds(&self) -> bool {
        self.config.normalize != Normalize::None
    }

    /// An interval that holds all eigenvalues: known for normalised operators, by Gershgorin's circles
    /// otherwise.
    ///
    /// No row of |A_s| sums to more than its degree, whatever the signs: D^{-1}A_s has no eigenvalue
    /// beyond ±1, and the Laplacian D − A_s none below 0.
    pub fn bounds(&self) -> Bounds {
        if self.has_fixed_bounds() {
            return match self.config.kind {
                Kind::Laplacian => Bounds { min: 0.0, max: 2.0 },
                _ => Bounds { min: -1.0, max: 1.0 },
            };
        }
        let mut bounds = Bounds { min: f64::INFINITY, max: f64::NEG_INFINITY };
        for u in 0..self.nodes() {
            let (mut centre, mut radius) = (0.0, 0.0);
            for (v, value) in self.row(u) {
                if u == v { centre = value.re } else { radius += value.norm() }
            }
            bounds.min = bounds.min.min(centre - radius);
            bounds.max = bounds.max.max(centre + radius);
        }
        if self.config.kind == Kind::Laplacian {
            bounds.min = bounds.min.max(0.0); // rounding aside, the circles say so too
        }
        bounds
    }

    /// Row `u` of S as ascending columns and values; the diagonal is present where the configuration or
    /// the graph gives it a value.
    pub fn row(&self, u: usize) -> impl Iterator<Item = (usize, Complex64)> + '_ {
        let sign = if self.config.kind == Kind::Adjacency { 1.0 } else { -1.0 };
        let laplacian = self.config.kind == Kind::Laplacian;
        let mut pending = (self.config.self_loops || laplacian).then(|| self.own(u));
        let mut entries = self.pattern.row(u).peekable();
        std::iter::from_fn(move || {
            if let Some(own) = pending
                && entries.peek().is_none_or(|&(v, ..)| v >= u)
            {
                pending = None;
                let stored = entries.next_if(|&(v, ..)| v == u);
                let stored = stored.map_or(0.0, |(_, out, back)| self.entry(u, u, out, back)[0]);
                return Some((u, Complex64::from(own + sign * stored)));
            }
            let (v, out, back) = entries.next()?;
            let [re, im] = self.entry(u, v, out, back);
            Some((v, Complex64::new(sign * re, sign * im)))
        })
    }

    /// The normalised entry (u,v) of the adjacency, from A(u,v) and A(v,u), added self loops aside.
    pub(super) fn entry(&self, u: usize, v: usize, out: f64, back: f64) -> [f64; 2] {
        if self.is_directed() {
            return self.directed_entry(u, v, out, back);
        }
        let weight = self.left(u) * self.symmetric(out, back) * self.right(v);
        let (cos, sin) = self.turn(out, back);
        [weight * cos, weight * sin]
    }

    /// The diagonal entry of node `u`, stored self loops aside.
    pub(super) fn own(&self, u: usize) -> f64 {
        let sign = if self.config.kind == Kind::Adjacency { 1.0 } else { -1.0 };
        let diagonal = match (self.config.kind, self.config.normalize) {
            (Kind::Laplacian, Normalize::None) => self.degrees[u],
            (Kind::Laplacian, _) => 1.0,
            _ => 0.0,
        };
        let loops = match self.config.self_loops {
            // There and back at once, as any 2-cycle: ½(e^{i2πq} + e^{−i2πq}).
            true if self.is_directed() => self.config.charge.phase(1.0).0,
            true => 1.0,
            false => 0.0,
        };
        sign * self.left(u) * loops * self.right(u) + diagonal
    }

    /// All rows of S.
    pub fn rows(&self) -> OperatorRows {
        let mut rows = OperatorRows { offsets: vec![0], columns: Vec::new(), values: Vec::new() };
        for u in 0..self.nodes() {
            for (v, value) in self.row(u) {
                rows.columns.push(v as u32);
                rows.values.push(value);
            }
            rows.offsets.push(rows.columns.len());
        }
        rows
    }

    /// A_s(u,v) from A(u,v) and A(v,u).
    pub(crate) fn symmetric(&self, out: f64, back: f64) -> f64 {
        match self.config.symmetrize {
            // A weight of −2 one way is not outweighed by the 0 of no edge the other way.
            Symmetrize::Max if out.abs() > back.abs() => out,
            Symmetrize::Max if out.abs() < back.abs() => back,
            Symmetrize::Max => out.max(back),
            Symmetrize::Mean => 0.5 * (out + back),
        }
    }

    /// (cos, sin) of the phase from A(u,v) and A(v,u).
    pub(crate) fn turn(&self, out: f64, back: f64) -> (f64, f64) {
        self.config.charge.phase(self.config.phase.difference(out, back))
    }

    /// How many edges the weights turn by more than half a turn, so that their direction reads wrong.
    pub fn wrapped(&self) -> usize {
        let q = self.config.charge.value();
        let Weights::Explicit(weights) = &self.pattern.weights else { return 0 };
        let wraps = |&[out, back]: &[f32; 2]| {
            let turns = q * self.config.phase.difference(f64::from(out), f64::from(back));
            turns > 0.5
        };
        weights.iter().filter(|pair| wraps(pair)).count()
    }

    /// Left factor of row `u`; a degree of zero is divided out as zero.
    pub(super) fn left(&self, u: usize) -> f64 {
        let degree = self.degrees[u];
        match self.config.normalize {
            Normalize::None => 1.0,
            _ if degree == 0.0 => 0.0,
            Normalize::Symmetric | Normalize::Directed => degree.sqrt().recip(),
            Normalize::RandomWalk => degree.recip(),
        }
    }

    /// Right factor of column `v`.
    pub(super) fn right(&self, v: usize) -> f64 {
        match self.config.normalize {
            Normalize::Symmetric => self.left(v),
            Normalize::Directed if self.in_degrees[v] == 0.0 => 0.0,
            Normalize::Directed => self.in_degrees[v].sqrt().recip(),
            _ => 1.0,
        }
    }

    fn find_real(&self) -> bool {
        if !self.pattern.directed || self.config.charge.value() == 0.0 {
            return true;
        }
        let real = |out, back| self.turn(out, back).1 == 0.0;
        if self.is_directed() {
            return real(1.0, 0.0);
        }
        match &self.pattern.weights {
            Weights::Unit => real(1.0, 0.0),
            Weights::Explicit(weights) => {
                weights.iter().all(|&[out, back]| real(f64::from(out), f64::from(back)))
            }
        }
    }
}

impl TileOperator for MagneticOperator {
    fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    #[cfg(feature = "cuda")]
    fn is_real(&self) -> bool {
        self.real
    }

    #[cfg(feature = "cuda")]
    fn edges(&self) -> EdgeMatrix {
        EdgeMatrix::operator(self, &Arc::new(Neighbourhood::everyone(&self.pattern)))
    }

    /// The product in the space z = r ⊙ x, where it needs no factor for the neighbour:
    ///
    /// z ↦ g ⊙ (A_s ⊙ T_q) z + m ⊙ z.
    ///
    /// For the symmetric normalisation r = D^{-1/2}, which makes it the random walk. Degrees out and in
    /// cannot be taken out of the sum like this; they are part of its coefficients. In this space
    /// the operator is self-adjoint under the inner product Σ_u w(u)·conj(a(u))·b(u) with
    /// [`inner_weights`](Self::inner_weights). The operator is shifted and scaled on the way to
    /// (S − `centre`) / `half`.
    fn scaling<T: Real>(&self, centre: f64, half: f64) -> Scaling<T> {
        let sign = if self.config.kind == Kind::Adjacency { 1.0 } else { -1.0 };
        if self.is_directed() {
            let gain = vec![T::from_f64(sign / half); self.nodes()];
            let own = (0..self.nodes()).map(|u| T::from_f64((self.own(u) - centre) / half));
            return Scaling { gain, own: own.collect(), enter: None, leave: None };
        }
        let loops = f64::from(u8::from(self.config.self_loops));
        let (mut gain, mut own) = (Vec::new(), Vec::new());
        for &degree in &self.degrees {
            let inverse = match self.config.normalize {
                Normalize::None => 1.0,
                _ if degree == 0.0 => 0.0,
                _ => degree.recip(),
            };
            let diagonal = match (self.config.kind, self.config.normalize) {
                (Kind::Laplacian, Normalize::None) => degree,
                (Kind::Laplacian, _) => 1.0,
                _ => 0.0,
            };
            let g = sign * inverse;
            gain.push(T::from_f64(g / half));
            own.push(T::from_f64((g * loops + diagonal - centre) / half));
        }
        let symmetric = self.config.normalize == Normalize::Symmetric;
        let roots = || self.degrees.iter().map(|&d| if d == 0.0 { 1.0 } else { d.sqrt() });
        let enter = symmetric.then(|| roots().map(|r| T::from_f64(r.recip())).collect());
        let leave = symmetric.then(|| roots().map(T::from_f64).collect());
        Scaling { gain, own, enter, leave }
    }

    /// w(u) of the inner product under which [`scaling`](Self::scaling)'s operator is
    /// self-adjoint: the degree, and 1 where there is none.
    fn inner_weights(&self) -> Vec<f64> {
        let weight = |&d: &f64| match self.config.normalize {
            Normalize::None | Normalize::Directed => 1.0,
            _ if d == 0.0 => 1.0,
            _ => d,
        };
        self.degrees.iter().map(weight).collect()
    }

    /// The coefficients t(u,v) of A_s ⊙ T_q, or those of the whole product where degrees out and in are
    /// divided out.
    fn coefficients<T: Real>(&self) -> CoefficientStore<T> {
        if self.is_directed() {
            return self.directed_coefficients();
        }
        let value = |out: f64, back: f64| {
            let weight = self.symmetric(out, back);
            let (cos, sin) = self.turn(out, back);
            [T::from_f64(weight * cos), T::from_f64(weight * sin)]
        };
        match &self.pattern.weights {
            Weights::Unit => {
                let mut classes = [[T::ZERO; 2]; 4];
                classes[BOTH as usize] = value(1.0, 1.0);
                classes[FORWARD as usize] = value(1.0, 0.0);
                classes[BACKWARD as usize] = value(0.0, 1.0);
                CoefficientStore::Classes(classes)
            }
            Weights::Explicit(weights) => {
                let mut values = Vec::with_capacity(weights.len());
                let rows = (0..self.nodes()).flat_map(|u| self.pattern.row(u));
                values.extend(rows.map(|(_, out, back)| value(out, back)));
                values.resize(values.len() + PADDING, [T::ZERO; 2]);
                CoefficientStore::Entries(values)
            }
        }
    }
}
