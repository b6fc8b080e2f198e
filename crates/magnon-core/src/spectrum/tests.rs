//! Spectra against closed forms, and the ways to find them against each other.

use super::*;
use crate::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use crate::graph::{DiGraph, GraphBuilder};
use crate::operator::{Charge, Kind, MagneticOperator, Normalize, OperatorConfig};
use num_complex::Complex64;
use std::f64::consts::TAU;

fn build(nodes: usize, edges: impl IntoIterator<Item = (u32, u32)>) -> DiGraph {
    GraphBuilder::new(nodes).edges(edges).build().unwrap().graph
}

fn laplacian(graph: &DiGraph, charge: &str) -> MagneticOperator {
    let charge: Charge = charge.parse().unwrap();
    let config =
        OperatorConfig { charge, self_loops: false, kind: Kind::Laplacian, ..Default::default() };
    MagneticOperator::new(graph, &config).unwrap()
}

fn solve(operator: &MagneticOperator, config: &SpectrumConfig) -> Spectrum {
    spectrum(operator, config, &()).unwrap()
}

fn all(operator: &MagneticOperator) -> Vec<f64> {
    solve(operator, &SpectrumConfig::default()).eigenvalues
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() < tolerance, "{i}: {a} {b}");
    }
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values
}

/// Directed cycle: 1 − cos 2π(k/n − q); complete graph both ways: 0 and n/(n−1); star and complete
/// bipartite graph: 0, 1, …, 1, 2, the first at every charge.
#[test]
fn closed_forms_are_met() {
    for (n, charge) in [(7u32, "0"), (7, "1/7"), (8, "1/5"), (30, "1/2")] {
        let q = charge.parse::<Charge>().unwrap().value();
        let graph = build(n as usize, (0..n).map(|u| (u, (u + 1) % n)));
        let exact = (0..n).map(|k| 1.0 - (TAU * (f64::from(k) / f64::from(n) - q)).cos());
        assert_near(&all(&laplacian(&graph, charge)), &sorted(exact), 1e-13);
    }
    let complete =
        build(6, (0..6).flat_map(|u| (0..6).map(move |v| (u, v))).filter(|(u, v)| u != v));
    let exact: Vec<f64> = std::iter::once(0.0).chain([1.2; 5]).collect();
    assert_near(&all(&laplacian(&complete, "1/3")), &exact, 1e-13);
    let star = build(6, (1..6).map(|v| (0, v)));
    assert_near(&all(&laplacian(&star, "1/3")), &[0.0, 1.0, 1.0, 1.0, 1.0, 2.0], 1e-13);
    // All edges of a complete bipartite graph one way: phases of the sides undo the charge.
    let bipartite = build(5, (0..2).flat_map(|u| (2..5).map(move |v| (u, v))));
    for charge in ["0", "1/4", "0.123"] {
        assert_near(&all(&laplacian(&bipartite, charge)), &[0.0, 1.0, 1.0, 1.0, 2.0], 1e-13);
    }
    // One edge turned round in K_{2,2}: flux 2 around its only cycle, as a 4-cycle with q/2 an edge.
    let turned = build(4, [(0, 2), (0, 3), (1, 2), (3, 1)]);
    let exact = (0..4).map(|k| 1.0 - (TAU * (f64::from(k) - 2.0 * 0.1) / 4.0).cos());
    assert_near(&all(&laplacian(&turned, "0.1")), &sorted(exact), 1e-13);
}

#[test]
fn small_and_broken_graphs_are_fine() {
    let alone = laplacian(&build(1, []), "1/3");
    let found = solve(&alone, &SpectrumConfig { vectors: true, ..Default::default() });
    assert_eq!((found.eigenvalues, found.components), (vec![1.0], 1));
    let parts = laplacian(&build(6, [(0, 4), (4, 2), (1, 5)]), "1/4");
    let found = solve(&parts, &SpectrumConfig { vectors: true, ..Default::default() });
    assert_near(&found.eigenvalues, &[0.0, 0.0, 1.0, 1.0, 2.0, 2.0], 1e-13);
    assert_eq!(found.components, 3);
    let vectors = found.vectors.unwrap();
    for j in 0..6 {
        let support: Vec<usize> = (0..6).filter(|&u| vectors.row(u)[j].norm() > 1e-12).collect();
        let inside = |part: &[usize]| support.iter().all(|u| part.contains(u));
        assert!(inside(&[0, 2, 4]) || inside(&[1, 5]) || inside(&[3]), "{support:?}");
    }
    let config = SpectrumConfig { select: Select::Smallest(7), ..Default::default() };
    let refused = spectrum(&parts, &config, &());
    assert_eq!(refused, Err(SpectrumError::TooMany { count: 7, nodes: 6 }));
    let config = SpectrumConfig { select: Select::Smallest(6), ..config };
    assert_eq!(solve(&parts, &config).eigenvalues.len(), 6);
}

#[test]
fn memory_is_refused_with_its_formula() {
    let graph = build(3000, (0..2999).map(|u| (u, u + 1)));
    let config = SpectrumConfig { memory: 1 << 20, ..Default::default() };
    let error = spectrum(&laplacian(&graph, "1/4"), &config, &()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("3 · 3000² · 16 bytes") && text.contains("--count"), "{text}");
}

/// S u = λ u for the operator as it is, random walks included, with vectors of the stated norm.
#[test]
fn vectors_are_eigenvectors_of_every_normalisation() {
    let graph = generate(&GeneratorConfig { nodes: 80, ..Default::default() }, 1).unwrap().graph;
    for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::None] {
        let charge = Charge::fraction(1, 3).unwrap();
        let config = OperatorConfig { charge, normalize, ..Default::default() };
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let found = solve(&operator, &SpectrumConfig { vectors: true, ..Default::default() });
        let vectors = found.vectors.unwrap();
        for (j, value) in found.eigenvalues.iter().enumerate() {
            let mut norm = 0.0;
            for u in 0..80 {
                let image: Complex64 = operator.row(u).map(|(v, s)| s * vectors.row(v)[j]).sum();
                assert!((image - value * vectors.row(u)[j]).norm() < 1e-11);
                let weight = match normalize {
                    Normalize::RandomWalk => operator.degrees()[u],
                    _ => 1.0,
                };
                norm += weight * vectors.row(u)[j].norm_sqr();
            }
            assert!((norm - 1.0).abs() < 1e-12);
        }
        assert!(found.residuals.unwrap().iter().all(|&r| r < 1e-12));
    }
}

/// The iteration against the dense solver, where eigenvalues repeat often and where they do not.
#[test]
fn iteration_finds_what_the_dense_solver_finds() {
    // A hub with 100 tails of three nodes: every eigenvalue of a tail comes 99 times.
    let tails =
        (0..100u32).flat_map(|t| [(0, 3 * t + 1), (3 * t + 1, 3 * t + 2), (3 * t + 2, 3 * t + 3)]);
    let spider = build(301, tails);
    // Every eigenvalue of a torus of 18 × 20 nodes comes twice or more often at charge 0.
    let torus = build(
        360,
        (0..360u32).flat_map(|u| [(u, u / 20 * 20 + (u + 1) % 20), (u, (u + 20) % 360)]),
    );
    let random = generate(&GeneratorConfig { nodes: 700, ..Default::default() }, 6).unwrap().graph;
    for (graph, charge, count) in [
        (&spider, "0", 12),
        (&spider, "1/5", 9),
        (&torus, "0", 13),
        (&random, "1/3", 10),
        (&torus, "1/7", 6),
    ] {
        let operator = laplacian(graph, charge);
        let exact = all(&operator);
        let n = exact.len();
        let config = SpectrumConfig { dense_up_to: 0, vectors: true, ..Default::default() };
        let smallest = SpectrumConfig { select: Select::Smallest(count), ..config.clone() };
        let found = solve(&operator, &smallest);
        assert_eq!(found.method, Method::Iterative, "{charge} {n}");
        assert_near(&found.eigenvalues, &exact[..count], 1e-10);
        assert!(found.residuals.unwrap().iter().all(|&r| r <= 2e-8));
        let largest = SpectrumConfig { select: Select::Largest(count), ..config.clone() };
        assert_near(&solve(&operator, &largest).eigenvalues, &exact[n - count..], 1e-10);
    }
}

/// Eigenvalues that repeat hundreds of times, by the iteration and densely: as many copies as asked
/// for, and what stands alone beside them.
#[test]
fn multiplicities_are_met() {
    const N: u32 = 401;
    let star = build(N as usize, (1..N).map(|v| (0, v)));
    let bipartite = build(N as usize, (3..N).flat_map(|v| (0..3).map(move |u| (u, v))));
    // Stars whose hubs stand in a row.
    let stars = build(N as usize, (1..N).map(|v| if v < 4 { (v - 1, v) } else { (v % 4, v) }));
    for (graph, charge) in [(&star, "0"), (&star, "1/3"), (&bipartite, "0.2"), (&stars, "1/4")] {
        let operator = laplacian(graph, charge);
        let exact = all(&operator);
        let n = exact.len();
        for count in [1, 3, 12] {
            for dense_up_to in [0, 1000] {
                let run = |select| {
                    let config = SpectrumConfig { select, dense_up_to, ..Default::default() };
                    solve(&operator, &SpectrumConfig { vectors: true, ..config })
                };
                let smallest = run(Select::Smallest(count));
                assert_near(&smallest.eigenvalues, &exact[..count], 1e-9);
                assert!(smallest.residuals.unwrap().iter().all(|&r| r <= 2e-8));
                let vectors = smallest.vectors.unwrap();
                for (i, j) in (0..count).flat_map(|i| (0..=i).map(move |j| (i, j))) {
                    let product: Complex64 =
                        (0..n).map(|u| vectors.row(u)[i].conj() * vectors.row(u)[j]).sum();
                    assert!((product - f64::from(u8::from(i == j))).norm() < 1e-9);
                }
                let largest = run(Select::Largest(count));
                assert_near(&largest.eigenvalues, &exact[n - count..], 1e-9);
                let near = run(Select::Nearest { to: 1.0, count });
                assert_near(&near.eigenvalues, &vec![1.0; count], 1e-8);
            }
        }
    }
}

/// Copies of one graph are solved once, and a graph without edges not at all.
#[test]
fn copies_have_the_same_spectrum() {
    let ring = |copy: u32| (0..5).map(move |i| (5 * copy + i, 5 * copy + (i + 1) % 5));
    let one = all(&laplacian(&build(5, ring(0)), "1/7"));
    // One copy has its nodes in another order, one an edge the other way round.
    let turned = [(1500, 1502), (1502, 1504), (1504, 1501), (1501, 1503), (1503, 1500)];
    let edges = (0..300).flat_map(ring).chain(turned).chain([(1506, 1505)]);
    let operator = laplacian(&build(1510, edges), "1/7");
    let mut exact: Vec<f64> = (0..301).flat_map(|_| one.clone()).collect();
    exact.extend([0.0, 2.0, 1.0, 1.0, 1.0]);
    let exact = sorted(exact);
    assert_near(&all(&operator), &exact, 1e-12);
    let config = SpectrumConfig { vectors: true, ..Default::default() };
    for (select, expected) in
        [(Select::Smallest(40), &exact[..40]), (Select::Largest(305), &exact[exact.len() - 305..])]
    {
        let found = solve(&operator, &SpectrumConfig { select, ..config.clone() });
        assert_eq!((found.components, found.method), (305, Method::Dense));
        assert_near(&found.eigenvalues, expected, 1e-12);
        let vectors = found.vectors.unwrap();
        for (j, value) in found.eigenvalues.iter().enumerate() {
            for u in 0..1510 {
                let image: Complex64 = operator.row(u).map(|(v, s)| s * vectors.row(v)[j]).sum();
                assert!((image - value * vectors.row(u)[j]).norm() < 1e-12);
            }
        }
    }
    let empty = laplacian(&build(1000, []), "0");
    assert_eq!(all(&empty), vec![1.0; 1000]);
}

#[test]
fn pairs_near_a_number_are_found() {
    let random = generate(&GeneratorConfig { nodes: 400, ..Default::default() }, 6).unwrap().graph;
    let cycle = build(300, (0..300u32).map(|u| (u, (u + 1) % 300)));
    // On the even cycle 1 ± δ come in pairs around the middle, and twice each.
    for (graph, charge, sigma, count) in [(&random, "1/3", 0.2, 5), (&cycle, "0", 1.0, 7)] {
        let operator = laplacian(graph, charge);
        let select = Select::Nearest { to: sigma, count };
        let config = SpectrumConfig { select, dense_up_to: 0, ..Default::default() };
        let found = solve(&operator, &config);
        assert_eq!(found.method, Method::Iterative);
        let mut exact = all(&operator);
        exact.sort_by(|a, b| (a - sigma).abs().total_cmp(&(b - sigma).abs()));
        let distance = |values: &[f64]| sorted(values.iter().map(|v| (v - sigma).abs()));
        assert_near(&distance(&found.eigenvalues), &distance(&exact[..count]), 1e-9);
        assert!(found.eigenvalues.is_sorted());
    }
}

#[test]
fn vectors_do_not_depend_on_the_way_they_were_found() {
    let graph = generate(&GeneratorConfig { nodes: 400, ..Default::default() }, 6).unwrap().graph;
    let operator = laplacian(&graph, "1/3");
    let config = SpectrumConfig {
        select: Select::Smallest(4),
        vectors: true,
        tolerance: 1e-11,
        ..Default::default()
    };
    let dense = solve(&operator, &config);
    let iterated = solve(&operator, &SpectrumConfig { dense_up_to: 0, ..config });
    assert_eq!((dense.method, iterated.method), (Method::Dense, Method::Iterative));
    let pairs =
        dense.vectors.unwrap().into_vec().into_iter().zip(iterated.vectors.unwrap().into_vec());
    pairs.for_each(|(a, b)| assert!((a - b).norm() < 1e-8, "{a} {b}"));
}

#[test]
fn threads_change_nothing() {
    let kind = GeneratorKind::ErdosRenyi;
    let config = GeneratorConfig { kind, nodes: 300, density: 0.02, ..Default::default() };
    let operator = laplacian(&generate(&config, 3).unwrap().graph, "1/4");
    let full = SpectrumConfig { vectors: true, ..Default::default() };
    let few = SpectrumConfig { select: Select::Smallest(3), dense_up_to: 0, ..full.clone() };
    let sketch = DensityConfig { moments: 20, points: 10, ..Default::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let density = density(&operator, &sketch, &()).unwrap();
            (solve(&operator, &full), solve(&operator, &few), density)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
}

#[test]
fn what_does_not_converge_says_how_far_it_came() {
    let graph = build(2000, (0..2000u32).map(|u| (u, (u + 1) % 2000)));
    let config = SpectrumConfig {
        select: Select::Smallest(5),
        dense_up_to: 0,
        max_products: 50,
        ..Default::default()
    };
    let result = spectrum(&laplacian(&graph, "1/4"), &config, &());
    assert!(
        matches!(result, Err(SpectrumError::NotConverged { count: 5, residual, .. }) if residual > 1e-8),
        "{result:?}"
    );
}
