//! From a graph to filtered features: any edges and weights, any operator, any filter.

use crate::Test;
use arbitrary::{Arbitrary, Unstructured};
use magnon::data::Features;
use magnon::filter::{FilterConfig, FilterKind, Propagated, propagate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::{Matrix, SparseMatrix};
use magnon::operator::{
    Charge, Kind, MagneticOperator, Normalize, OperatorConfig, Phase, Symmetrize,
};

/// More steps only take longer.
const MOST_STEPS: usize = 200;

#[derive(Arbitrary)]
struct Input {
    nodes: u8,
    weighted: bool,
    edges: Vec<(u8, u8, f32)>,
    charge: (u8, u8),
    operator: [u8; 4],
    filter: u8,
    order: Option<u8>,
    alpha: Option<f64>,
    time: Option<f64>,
    coefficients: Option<Vec<f64>>,
    feedback: Option<Vec<f64>>,
    exact: bool,
    tolerance: Option<f64>,
    columns: u8,
    sparse: bool,
    numbers: Vec<f32>,
}

impl Input {
    fn nodes(&self) -> usize {
        usize::from(self.nodes % 32) + 1
    }

    fn graph(&self) -> Option<DiGraph> {
        let builder = GraphBuilder::new(self.nodes());
        let node = |node: u8| u32::from(node % 33); // one too many, at times
        let builder = match self.weighted {
            true => {
                builder.weighted_edges(self.edges.iter().map(|&(u, v, w)| (node(u), node(v), w)))
            }
            false => builder.edges(self.edges.iter().map(|&(u, v, _)| (node(u), node(v)))),
        };
        builder.build().ok().map(|built| built.graph)
    }

    fn operator(&self) -> Option<OperatorConfig> {
        let [symmetrize, self_loops, normalize, kind] = self.operator;
        let charge = Charge::fraction(self.charge.0.into(), self.charge.1.into()).ok()?;
        Some(OperatorConfig {
            charge,
            symmetrize: [Symmetrize::Max, Symmetrize::Mean][usize::from(symmetrize % 2)],
            self_loops: self_loops % 2 == 0,
            normalize: [
                Normalize::Symmetric,
                Normalize::RandomWalk,
                Normalize::None,
                Normalize::Directed,
            ][usize::from(normalize % 4)],
            phase: [Phase::Sign, Phase::Weight][usize::from(symmetrize / 2 % 2)],
            kind: [Kind::Adjacency, Kind::NegatedAdjacency, Kind::Laplacian][usize::from(kind % 3)],
        })
    }

    fn filter(&self) -> FilterConfig {
        use FilterKind::{
            Arma, Bernstein, Chebyshev, Heat, LinearRank, Markov, Polynomial, Power, Ppr,
        };
        let kinds = [LinearRank, Markov, Ppr, Heat, Chebyshev, Bernstein, Arma, Polynomial, Power];
        FilterConfig {
            kind: kinds[usize::from(self.filter) % kinds.len()],
            order: self.order.map(usize::from),
            alpha: self.alpha,
            time: self.time,
            coefficients: self.coefficients.clone(),
            feedback: self.feedback.clone(),
            exact: self.exact,
            tolerance: self.tolerance,
        }
    }

    fn features(&self) -> Option<Features> {
        let (nodes, columns) = (self.nodes(), usize::from(self.columns % 12));
        let numbers = self.numbers.iter().copied().chain(std::iter::repeat(0.5));
        let numbers: Vec<f32> = numbers.take(nodes * columns).collect();
        if !self.sparse {
            return Matrix::from_vec(nodes, columns, numbers).ok().map(Features::Dense);
        }
        let cells = numbers.iter().enumerate();
        let cells = cells.map(|(i, &value)| (i / columns, (i % columns) as u32, value));
        SparseMatrix::from_triplets(nodes, columns, cells).ok().map(Features::Sparse)
    }
}

pub fn test() -> Test {
    Box::new(|input| {
        if let Ok(input) = Input::arbitrary(&mut Unstructured::new(input)) {
            let _ = filter(&input);
        }
    })
}

/// `None` where some part is refused.
fn filter(input: &Input) -> Option<()> {
    let (graph, features) = (input.graph()?, input.features()?);
    let operator = MagneticOperator::new(&graph, &input.operator()?).ok()?;
    let config = input.filter();
    let filter = config.build(operator.bounds(), operator.config().kind).ok()?;
    if filter.order().is_some_and(|order| order > MOST_STEPS) {
        return None;
    }
    let result = propagate(&operator, &filter, &features, &()).ok()?;
    let (rows, cols, finite) = match &result {
        Propagated::Real(x) => (x.rows(), x.cols(), x.as_slice().iter().all(|x| x.is_finite())),
        Propagated::Complex(x) => {
            (x.rows(), x.cols(), x.as_slice().iter().all(|x| x.re.is_finite() && x.im.is_finite()))
        }
    };
    assert_eq!((rows, cols), (graph.nodes(), features.cols()));
    assert!(finite, "what overflows is an error");
    assert_eq!(matches!(result, Propagated::Real(_)), operator.is_real());
    Some(())
}
