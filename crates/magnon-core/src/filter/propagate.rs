//! `propagate`: the act h(S)X.
//!
//! Columns never mix, so X is taken a tile of columns at a time through all products. A tile of a
//! large graph is shared between threads by rows, which keeps three tiles in memory whatever the
//! number of threads; tiles of a small graph fit a core's own cache and are worked on side by side.

use super::conjugate_gradient::{System, Work};
use super::input::Tiles;
use super::recurrence::{Between, TileRecurrence};
use super::{Filter, FilterError};
use crate::compute::Series;
use crate::compute::instructions::Instructions;
use crate::compute::pattern::Weights;
use crate::compute::recurrence::{Basis, Pair, down};
use crate::compute::steps::Tile;
use crate::compute::tile::Stepper;
use crate::compute::tile::{Cell, first_not_finite, write};
use crate::compute::tile::{F32_LANES, F64_LANES, Line, Real, Scaling, TileOperator, tile};
use crate::matrix::Features;
use crate::matrix::Matrix;
use crate::memory;
use crate::operator::MagneticOperator;
use crate::progress::{FILTERING, Progress};
use num_complex::Complex32;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Graphs up to this many nodes are worked on a tile a thread.
const SMALL: usize = 1 << 13;

/// Filtered features: real where the operator is real.
#[derive(Clone, Debug, PartialEq)]
pub enum Propagated {
    /// Of a real operator.
    Real(Matrix<f32>),
    /// Of a complex operator.
    Complex(Matrix<Complex32>),
}

/// h(S)X: applies `filter` of `operator` to all columns of `features`.
///
/// The result is the same bit for bit whatever the number of threads of the current pool.
pub fn propagate(
    operator: &MagneticOperator,
    filter: &Filter,
    features: &Features,
    progress: &dyn Progress,
) -> Result<Propagated, FilterError> {
    propagate_block(operator, filter, features, 0..features.cols(), progress)
}

/// What a worker that has a part of a graph does before each product: it sends lines of its own nodes to others, and takes
/// those of its halo from them.
pub trait Exchange: Sync {
    /// Takes the lines of all nodes of the part, each of so many bytes; says whether to go on.
    fn exchange(&self, lines: &mut [u8], length: usize) -> bool;
}

/// h(S)X of a part of a graph, whose operator knows the degrees of its halo. Rows of the halo are of no use.
pub fn propagate_part(
    operator: &MagneticOperator,
    filter: &Filter,
    features: &Features,
    exchange: &dyn Exchange,
) -> Result<Propagated, FilterError> {
    if matches!(filter.series(), Series::Rational { .. }) {
        return Err(FilterError::Parts);
    }
    let (instructions, exchange) = (Instructions::detect(), Some(exchange));
    let (columns, progress) = (0..features.cols(), &());
    Task { operator, filter, features, columns, progress, instructions, exchange }.run()
}

/// h(S)X for a block of columns, which is all that a worker needs to know of X.
pub fn propagate_block(
    operator: &MagneticOperator,
    filter: &Filter,
    features: &Features,
    columns: Range<usize>,
    progress: &dyn Progress,
) -> Result<Propagated, FilterError> {
    if features.rows() != operator.nodes() {
        let (features, nodes) = (features.rows(), operator.nodes());
        return Err(FilterError::Shape { features, nodes });
    }
    let task = Task {
        operator,
        filter,
        features,
        columns,
        progress,
        instructions: Instructions::detect(),
        exchange: None,
    };
    task.run()
}

/// One call of `propagate_block`.
pub(super) struct Task<'a> {
    pub operator: &'a MagneticOperator,
    pub filter: &'a Filter,
    pub features: &'a Features,
    pub columns: Range<usize>,
    pub progress: &'a dyn Progress,
    pub instructions: Instructions,
    /// Where the graph is a part of one.
    pub exchange: Option<&'a dyn Exchange>,
}

impl Task<'_> {
    pub fn run(&self) -> Result<Propagated, FilterError> {
        Ok(match (self.operator.is_real(), self.filter.is_exact()) {
            (true, false) => Propagated::Real(self.all::<f32, F32_LANES, false, f32>()?),
            (true, true) => Propagated::Real(self.all::<f64, F64_LANES, false, f32>()?),
            (false, false) => Propagated::Complex(self.all::<f32, F32_LANES, true, Complex32>()?),
            (false, true) => Propagated::Complex(self.all::<f64, F64_LANES, true, Complex32>()?),
        })
    }

    /// Bytes that are needed: of the result, of three lines per node for each of so many tiles, and of the
    /// operator's factors and coefficients.
    fn bytes<T, const N: usize, C>(&self, tiles: usize) -> usize {
        let (nodes, pattern) = (self.operator.nodes(), self.operator.pattern());
        let cells = nodes.saturating_mul(self.columns.len()).saturating_mul(size_of::<C>());
        let lines = nodes.saturating_mul(3 * size_of::<Line<T, N>>()).saturating_mul(tiles);
        let factors = nodes.saturating_mul(4 * size_of::<T>());
        let entries = match pattern.weights {
            Weights::Explicit(_) => pattern.stored().saturating_mul(size_of::<[T; 2]>()),
            Weights::Unit => 0,
        };
        [lines, factors, entries].into_iter().fold(cells, usize::saturating_add)
    }

    /// All tiles, in lines of `N` numbers `T`, written as cells `C`.
    fn all<T: Evaluate<N>, const N: usize, const COMPLEX: bool, C: Cell>(
        &self,
    ) -> Result<Matrix<C>, FilterError> {
        let nodes = self.operator.nodes();
        let cols = self.columns.len();
        let width = if COMPLEX { N / 2 } else { N };
        let tiles = cols.div_ceil(width);
        // Workers meet before each product: they go through their tiles in one order.
        let small = nodes <= SMALL && self.exchange.is_none();
        let bytes = self.bytes::<T, N, C>(if small { tiles.min(batch()) } else { 1 });
        let too_large = || FilterError::OutOfMemory { rows: nodes, cols, bytes };
        if !memory::is_granted(bytes) {
            return Err(too_large());
        }
        let (centre, half) = self.filter.series().map();
        let scaling = self.operator.scaling::<T>(centre, half);
        let sources = Tiles::new(self.features, self.columns.clone(), width);
        let done = AtomicUsize::new(0);
        let steps = tiles * self.filter.order().unwrap_or(1).max(1);
        let context = TileContext::<T, N, COMPLEX> {
            stepper: Stepper::new(self.operator, self.instructions, !small),
            filter: self.filter,
            inner_weights: self.operator.inner_weights(),
            scaling,
            between: Between {
                tick: &|| {
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    self.progress.advance(done, steps, FILTERING)
                },
                exchange: self.exchange,
            },
        };
        let span = |t: usize| t * width..((t + 1) * width).min(cols);
        let work_on = |t: usize, scratch: &mut Scratch<T, N>| {
            let columns = self.columns.start + span(t).start..self.columns.start + span(t).end;
            sources.load(t, columns, &mut scratch.input, self.instructions, !small);
            T::evaluate(&context, &scratch.input, &mut scratch.pair)
        };

        let mut out = Matrix::<C>::try_zeros(nodes, cols).ok_or_else(too_large)?;
        if small {
            // As many tiles at a time as keep all threads busy; their results wait in lines.
            for first in (0..tiles).step_by(batch()) {
                let batch: Vec<_> = (first..(first + batch()).min(tiles)).collect();
                let results: Result<Vec<_>, FilterError> = batch
                    .into_par_iter()
                    .map(|t| {
                        let mut scratch = Scratch::new(nodes);
                        work_on(t, &mut scratch)?;
                        Ok((span(t), scratch.pair.now))
                    })
                    .collect();
                let results = results?;
                let tiles: Vec<_> = results.iter().map(|(s, t)| (s.clone(), &t[..])).collect();
                write(&mut out, &tiles, context.scaling.leave.as_deref(), self.instructions);
            }
        } else {
            let mut scratch = Scratch::new(nodes);
            for t in 0..tiles {
                work_on(t, &mut scratch)?;
                let leave = context.scaling.leave.as_deref();
                let tiles = [(span(t), &scratch.pair.now[..])];
                write(&mut out, &tiles, leave, self.instructions);
            }
        }
        match first_not_finite(out.as_slice()) {
            Some(at) => Err(FilterError::Overflow { node: at / cols, column: at % cols }),
            None => Ok(out),
        }
    }
}

/// Tiles of a small graph that are worked on at a time.
fn batch() -> usize {
    4 * rayon::current_num_threads()
}

/// What all tiles of a task share.
pub(super) struct TileContext<'a, T, const N: usize, const COMPLEX: bool> {
    stepper: Stepper<'a, T, N, COMPLEX>,
    filter: &'a Filter,
    inner_weights: Vec<f64>,
    scaling: Scaling<T>,
    between: Between<'a>,
}

/// The tiles that a thread works on.
struct Scratch<T, const N: usize> {
    /// The columns of X, which every product reads again: close together, as lines.
    input: Tile<T, N>,
    pair: Pair<Tile<T, N>>,
}

impl<T: Real, const N: usize> Scratch<T, N> {
    fn new(nodes: usize) -> Self {
        let pair = Pair { now: tile(nodes), next: tile(nodes) };
        Self { input: tile(nodes), pair }
    }
}

/// Evaluation of a form in one precision; only double precision solves.
trait Evaluate<const N: usize>: Real {
    fn evaluate<const COMPLEX: bool>(
        context: &TileContext<Self, N, COMPLEX>,
        x: &Tile<Self, N>,
        pair: &mut Pair<Tile<Self, N>>,
    ) -> Result<(), FilterError> {
        let TileContext { stepper, filter, scaling, between, .. } = context;
        match filter.series() {
            Series::Rational { numerator, denominator } => {
                Self::solve(context, numerator, denominator, x, pair)
            }
            Series::Powers(c) | Series::Chebyshev { coefficients: c, .. } => {
                let (enter, between) = (scaling.enter.as_deref(), *between);
                let mut recurrence = TileRecurrence { stepper, scaling, enter, between };
                down(&mut recurrence, (c, filter.series().basis()), x, pair)
            }
        }
    }

    fn solve<const COMPLEX: bool>(
        context: &TileContext<Self, N, COMPLEX>,
        numerator: &[f64],
        denominator: &[f64],
        x: &Tile<Self, N>,
        pair: &mut Pair<Tile<Self, N>>,
    ) -> Result<(), FilterError>;
}

impl Evaluate<F64_LANES> for f64 {
    fn solve<const COMPLEX: bool>(
        context: &TileContext<Self, F64_LANES, COMPLEX>,
        numerator: &[f64],
        denominator: &[f64],
        x: &Tile<Self, F64_LANES>,
        pair: &mut Pair<Tile<Self, F64_LANES>>,
    ) -> Result<(), FilterError> {
        let system = System {
            stepper: &context.stepper,
            scaling: &context.scaling,
            denominator,
            weights: &context.inner_weights,
        };
        let mut work = Work::new(pair.now.len());
        system.solve(x, &mut work)?;
        down(&mut system.recurrence(None), (numerator, Basis::Powers), &work.solution, pair)?;
        if (context.between.tick)() { Ok(()) } else { Err(FilterError::Stopped) }
    }
}

impl Evaluate<F32_LANES> for f32 {
    /// Rational forms are exact, and exact filters run in double precision.
    fn solve<const COMPLEX: bool>(
        _: &TileContext<Self, F32_LANES, COMPLEX>,
        _: &[f64],
        _: &[f64],
        _: &Tile<Self, F32_LANES>,
        _: &mut Pair<Tile<Self, F32_LANES>>,
    ) -> Result<(), FilterError> {
        Err(FilterError::NotConverged { iterations: 0, residual: 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::graph::{DiGraph, GraphBuilder};
    use crate::operator::{Charge, Kind, OperatorConfig};

    fn graph(weighted: bool) -> DiGraph {
        let config = GeneratorConfig { nodes: 90, density: 0.1, ..Default::default() };
        let graph = generate(&config, 2).unwrap().graph;
        match weighted {
            false => graph,
            true => {
                let edges = graph.iter().map(|(u, v)| (u, v, ((u + 2 * v) % 7 + 1) as f32 / 4.0));
                GraphBuilder::new(90).weighted_edges(edges).build().unwrap().graph
            }
        }
    }

    /// Instruction sets round differently, and in nothing else.
    #[test]
    fn instruction_sets_agree() {
        let values = (0..90 * 21).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
        let features = Features::Dense(Matrix::from_vec(90, 21, values).unwrap());
        for weighted in [false, true] {
            for charge in [Charge::ZERO, Charge::fraction(1, 5).unwrap()] {
                let config = OperatorConfig { charge, ..Default::default() };
                let operator = MagneticOperator::new(&graph(weighted), &config).unwrap();
                let bounds = operator.bounds();
                for filter in [
                    Filter::linear_rank(6).unwrap(),
                    Filter::heat(2.0, bounds, Kind::Adjacency, super::super::Accuracy::Exact)
                        .unwrap(),
                ] {
                    let run = |instructions| {
                        let task = Task {
                            operator: &operator,
                            filter: &filter,
                            features: &features,
                            columns: 0..21,
                            progress: &(),
                            instructions,
                            exchange: None,
                        };
                        numbers(task.run().unwrap())
                    };
                    let portable = run(Instructions::Portable);
                    for set in Instructions::available() {
                        for (a, b) in run(set).iter().zip(&portable) {
                            assert!((a - b).abs() < 1e-6, "{set:?}: {a} {b}");
                        }
                    }
                }
            }
        }
    }

    fn numbers(result: Propagated) -> Vec<f32> {
        match result {
            Propagated::Real(x) => x.into_vec(),
            Propagated::Complex(x) => x.into_vec().iter().flat_map(|z| [z.re, z.im]).collect(),
        }
    }

    #[test]
    fn overflow_is_an_error() {
        let config = OperatorConfig {
            normalize: crate::operator::Normalize::None,
            ..OperatorConfig::default()
        };
        let operator = MagneticOperator::new(&graph(false), &config).unwrap();
        let filter = Filter::linear_rank(60).unwrap();
        let features = Features::Dense(Matrix::from_vec(90, 1, vec![1.0; 90]).unwrap());
        let result = propagate(&operator, &filter, &features, &());
        assert!(matches!(result, Err(FilterError::Overflow { .. })), "{result:?}");
    }
}
