//! What charges do: spectra, filtered features and advice on thousands of small random digraphs.
#![allow(clippy::unwrap_used)] // a failed test is a panic

use faer::{Mat, Side, c64};
use magnon::cycles::{LengthsConfig, advise, cycle_lengths, flux};
use magnon::data::Features;
use magnon::filter::{Filter, Propagated, propagate};
use magnon::graph::generate::{GeneratorConfig, generate};
use magnon::graph::{DiGraph, GraphBuilder, SelfLoops, measure};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig, Phase};
use num_complex::Complex64;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;

/// Random digraphs of up to 8 nodes: self loops, repeated edges, isolated nodes, many components.
fn graphs(count: usize) -> impl Iterator<Item = DiGraph> {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    (0..count).map(move |_| {
        let n = rng.random_range(1..9u32);
        let m = rng.random_range(0..=4 * n);
        let edges: Vec<_> =
            (0..m).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
        let builder = GraphBuilder::new(n as usize).edges(edges).self_loops(SelfLoops::Keep);
        builder.build().unwrap().graph
    })
}

fn operator(graph: &DiGraph, charge: Charge) -> MagneticOperator {
    MagneticOperator::new(graph, &OperatorConfig { charge, ..Default::default() }).unwrap()
}

/// Charges that give no cycle a phase have the spectrum of 0, others need not.
#[test]
fn flux_tells_which_charges_have_the_same_spectrum() {
    let spectrum = |graph: &DiGraph, charge: Charge| {
        let operator = operator(graph, charge);
        let n = graph.nodes();
        let mut matrix = Mat::<c64>::zeros(n, n);
        for u in 0..n {
            operator.row(u).for_each(|(v, value)| matrix[(u, v)] = value);
        }
        matrix.self_adjoint_eigenvalues(Side::Lower).unwrap()
    };
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    let (mut equivalent, mut different) = (0, 0);
    for graph in graphs(2_000) {
        let flux = flux(&graph, Phase::default(), &AtomicBool::new(false)).unwrap();
        let plain = spectrum(&graph, Charge::ZERO);
        for m in 2..=6 {
            let charge = Charge::fraction(1, m).unwrap();
            let alike = same(&plain, &spectrum(&graph, charge));
            if flux.is_gauge(charge.value()) {
                equivalent += 1;
                assert!(alike, "q = 1/{m} has the spectrum of 0: {graph:?}");
            } else {
                // Some cycle has a phase, and the trace of a power of the operator shows it.
                different += usize::from(!alike);
            }
        }
    }
    assert!(equivalent > 1000 && different > 1000, "{equivalent} {different}");
}

/// h(S_q)X for a real X of three columns.
fn filtered(graph: &DiGraph, charge: Charge, x: &Matrix<f32>) -> Vec<Complex64> {
    let filter = Filter::linear_rank(4).unwrap();
    let features = Features::Dense(x.clone());
    let done = propagate(&operator(graph, charge), &filter, &features, &()).unwrap();
    match done {
        Propagated::Real(y) => {
            y.as_slice().iter().map(|&v| Complex64::from(f64::from(v))).collect()
        }
        Propagated::Complex(y) => {
            let wide = |z: &num_complex::Complex32| Complex64::new(z.re.into(), z.im.into());
            y.as_slice().iter().map(wide).collect()
        }
    }
}

/// Net steps from the first node of each component, along a walk to every other.
fn potentials(graph: &DiGraph) -> Vec<f64> {
    let gain = |u: usize, v: usize| {
        f64::from(u8::from(graph.has_edge(u, v as u32)))
            - f64::from(u8::from(graph.has_edge(v, u as u32)))
    };
    let joined = |u: usize, v: usize| graph.has_edge(u, v as u32) || graph.has_edge(v, u as u32);
    let n = graph.nodes();
    let mut potential = vec![f64::NAN; n];
    for root in 0..n {
        let mut stack = vec![(root, 0.0)];
        while let Some((u, height)) = stack.pop() {
            if potential[u].is_nan() {
                potential[u] = height;
                let next = (0..n).filter(|&v| joined(u, v));
                stack.extend(next.map(|v| (v, height + gain(u, v))));
            }
        }
    }
    potential
}

/// Where q gives no cycle a phase, h(S_q)X = D*h(S_0)DX. That is another matrix than h(S_0)X, unless
/// the graph is symmetric.
#[test]
fn charges_with_the_same_spectrum_filter_differently() {
    let (mut turned, mut symmetric) = (0, 0);
    for graph in graphs(1_000) {
        let n = graph.nodes();
        let flux = flux(&graph, Phase::default(), &AtomicBool::new(false)).unwrap();
        let potential = potentials(&graph);
        let cells = (0..3 * n).map(|i| ((i * 37 + 11) % 101) as f32 / 50.0 - 1.0).collect();
        let x = Matrix::from_vec(n, 3, cells).unwrap();
        let plain = filtered(&graph, Charge::ZERO, &x);
        for m in [2, 3, 4] {
            let charge = Charge::fraction(1, m).unwrap();
            let found = filtered(&graph, charge, &x);
            let distance = |other: &[Complex64]| {
                found.iter().zip(other).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
            };
            assert_eq!(distance(&plain) < 1e-5, graph.is_symmetric(), "q = 1/{m}: {graph:?}");
            symmetric += usize::from(graph.is_symmetric());
            if !flux.is_gauge(charge.value()) {
                continue;
            }
            let turn = |u: usize| {
                Complex64::from_polar(1.0, std::f64::consts::TAU * charge.value() * potential[u])
            };
            // D X is complex, so its parts are filtered one after the other.
            let part = |take: fn(Complex64) -> f64| {
                let cells =
                    (0..3 * n).map(|i| take(turn(i / 3) * f64::from(x.as_slice()[i])) as f32);
                let part = Matrix::from_vec(n, 3, cells.collect()).unwrap();
                filtered(&graph, Charge::ZERO, &part)
            };
            let (re, im) = (part(|z| z.re), part(|z| z.im));
            let expected: Vec<Complex64> =
                (0..3 * n).map(|i| turn(i / 3).conj() * (re[i] + Complex64::i() * im[i])).collect();
            assert!(distance(&expected) < 1e-5, "q = 1/{m}: {graph:?}");
            turned += 1;
        }
    }
    assert!(turned > 500 && symmetric > 50, "{turned} {symmetric}");
}

#[test]
fn advice_follows_the_paper() {
    let advice = |graph: &DiGraph| {
        let stop = AtomicBool::new(false);
        let lengths = cycle_lengths(graph, &LengthsConfig::default(), &stop);
        advise(&lengths, &flux(graph, Phase::default(), &stop).unwrap(), measure(graph).symmetric)
    };
    let of = |nodes: usize, edges: &[(u32, u32)]| {
        advice(&GraphBuilder::new(nodes).edges(edges.iter().copied()).build().unwrap().graph)
    };
    let one_over = |m| Charge::fraction(1, m).unwrap();
    let third = one_over(3);
    // A triangle and a pair: the candidates are 1/2, 1/3 and 0, and the triangle is chosen.
    let both = of(4, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (0, 3)]);
    let charges: Vec<_> = both.candidates.iter().map(|c| c.charge).collect();
    assert_eq!(charges[0], one_over(2));
    assert_eq!((charges.contains(&third), charges.last()), (true, Some(&Charge::ZERO)));
    assert_eq!(both.choice, third);
    // A bare triangle has flux 3: 1/3 has the spectrum of 0, and is the paper's charge all the same.
    let bare = of(3, &[(0, 1), (1, 2), (2, 0)]);
    assert!(bare.candidates[0].gauge_equivalent && bare.choice == third, "{bare:?}");
    let copies =
        (0..300).flat_map(|t| [(3 * t, 3 * t + 1), (3 * t + 1, 3 * t + 2), (3 * t + 2, 3 * t)]);
    assert_eq!(of(900, &copies.collect::<Vec<_>>()).choice, third);
    // All edges along a ring of three blocks: cycles of 3, 6, …, and the flux is 3.
    let config = GeneratorConfig { within: Some(0.0), direction: 1.0, ..Default::default() };
    let ring = advice(&generate(&config, 0).unwrap().graph);
    assert!(ring.choice == third && ring.candidates[0].gauge_equivalent, "{ring:?}");
    // Pairs and one-way edges without a longer cycle.
    assert_eq!(of(3, &[(0, 1), (1, 0), (1, 2)]).choice, one_over(2));
    // A symmetric graph has nothing to choose from; an acyclic one gets 0.
    let symmetric = of(3, &[(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)]);
    assert_eq!((symmetric.choice, symmetric.candidates.len()), (Charge::ZERO, 1));
    assert_eq!(of(3, &[(0, 1), (1, 2), (0, 2)]).choice, Charge::ZERO);
}
