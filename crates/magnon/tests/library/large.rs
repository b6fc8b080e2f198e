//! A graph whose tiles no cache holds: products go slice by slice of the columns.

use magnon::data::Features;
use magnon::filter::{Filter, Propagated, propagate, propagate_block};
use magnon::graph::GraphBuilder;
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, Normalize, OperatorConfig};
use num_complex::{Complex32, Complex64};

const NODES: usize = 300_000;

/// Neighbours far apart from each other.
fn edges() -> impl Iterator<Item = (u32, u32)> {
    let far = |u: u64, k: u64| ((u * (7919 * k + 4) + k * k * 104_729) % NODES as u64) as u32;
    let all = (0..NODES as u64).flat_map(move |u| (1..8).map(move |k| (u as u32, far(u, k))));
    all.filter(|(u, v)| u != v)
}

fn filtered(operator: &MagneticOperator, x: &Features, threads: usize) -> Matrix<Complex32> {
    let filter = Filter::linear_rank(3).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    match pool.install(|| propagate(operator, &filter, x, &())).unwrap() {
        Propagated::Complex(found) => found,
        Propagated::Real(_) => panic!("the operator is complex"),
    }
}

/// LinearRank of order 3, (3 + 2S + S²)/6, from the rows of the operator in double precision.
fn by_rows(operator: &MagneticOperator, x: &[f32]) -> Vec<Complex64> {
    let step = |z: &[Complex64]| -> Vec<Complex64> {
        (0..NODES).map(|u| operator.row(u).map(|(v, s)| s * z[v]).sum()).collect()
    };
    let x: Vec<Complex64> = x.iter().map(|&x| Complex64::from(f64::from(x))).collect();
    let one = step(&x);
    let two = step(&one);
    x.iter().zip(&one).zip(&two).map(|((x, a), b)| (3.0 * x + 2.0 * a + b) / 6.0).collect()
}

#[test]
fn slices_give_the_numbers_of_the_rows() {
    let graph = GraphBuilder::new(NODES).edges(edges()).build().unwrap().graph;
    let number = |i: usize| ((i * 2_654_435_761) % 1009) as f32 / 504.5 - 1.0;
    let x = Matrix::from_vec(NODES, 9, (0..NODES * 9).map(number).collect()).unwrap();
    let features = Features::Dense(x.clone());
    for normalize in [Normalize::Symmetric, Normalize::Directed] {
        let charge = Charge::fraction(1, 5).unwrap();
        let config = OperatorConfig { charge, normalize, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let found = filtered(&operator, &features, 1);
        assert!(filtered(&operator, &features, 2) == found, "threads change nothing");
        // The last column is in a tile of its own, and the same among other columns.
        let filter = Filter::linear_rank(3).unwrap();
        let last = propagate_block(&operator, &filter, &features, 8..9, &()).unwrap();
        let Propagated::Complex(last) = last else { panic!("the operator is complex") };
        assert!((0..NODES).all(|u| last.row(u)[0] == found.row(u)[8]), "blocks change nothing");
        let column: Vec<f32> = (0..NODES).map(|u| x.row(u)[8]).collect();
        let expected = by_rows(&operator, &column);
        let error = |u: usize| {
            let found = found.row(u)[8];
            (expected[u] - Complex64::new(found.re.into(), found.im.into())).norm()
        };
        let most = (0..NODES).map(error).fold(0.0, f64::max);
        assert!(most < 1e-6, "{most:e}");
    }
}
