//! The laws that every operator and filter obeys, on random graphs.
#![allow(clippy::unwrap_used, clippy::panic)] // a failed test is a panic
#![allow(clippy::needless_range_loop)] // entries by row and column

use faer::{Mat, Side, c64};
use magnon::compute::{self, Engine, Field, MapSource, Shape};
use magnon::data::Features;
use magnon::filter::{Accuracy, Filter, Propagated, propagate};
use magnon::graph::{DiGraph, GraphBuilder, SelfLoops};
use magnon::matrix::{Matrix, SparseMatrix};
use magnon::operator::{
    Along, Bounds, Charge, EdgeMatrix, Kind, MagneticOperator, Neighbourhood, Normalize,
    OperatorConfig, Phase, Symmetrize,
};
use magnon::spectrum::{SpectrumConfig, spectrum};
use proptest::prelude::*;
use std::sync::Arc;

/// Graphs of up to 12 nodes: unweighted, weighted or signed, with self loops and isolated nodes.
fn graphs() -> impl Strategy<Value = DiGraph> {
    (1usize..12, 0u8..3).prop_flat_map(|(n, weights)| {
        let edge = (0..n as u32, 0..n as u32, 1i8..=8);
        proptest::collection::vec(edge, 0..3 * n).prop_map(move |edges| {
            let weight = |w: i8| match weights {
                0 => 1.0,
                1 => f32::from(w) / 4.0,
                _ => f32::from(if w > 5 { 5 - w } else { w }) / 4.0,
            };
            let mut edges: Vec<_> = edges.into_iter().map(|(u, v, w)| (u, v, weight(w))).collect();
            edges.sort_by_key(|&(u, v, _)| (u, v));
            edges.dedup_by_key(|&mut (u, v, _)| (u, v));
            let builder = GraphBuilder::new(n).weighted_edges(edges);
            builder.self_loops(SelfLoops::Keep).build().unwrap().graph
        })
    })
}

fn configs() -> impl Strategy<Value = OperatorConfig> {
    let charges = prop_oneof![
        Just(Charge::ZERO),
        Just(Charge::fraction(1, 2).unwrap()),
        Just(Charge::fraction(1, 3).unwrap()),
        (0.0..=0.5).prop_map(|q| Charge::new(q).unwrap()),
    ];
    let symmetrize = prop_oneof![Just(Symmetrize::Max), Just(Symmetrize::Mean)];
    let normalize = prop_oneof![
        Just(Normalize::Symmetric),
        Just(Normalize::RandomWalk),
        Just(Normalize::None),
        Just(Normalize::Directed)
    ];
    let kind =
        prop_oneof![Just(Kind::Adjacency), Just(Kind::NegatedAdjacency), Just(Kind::Laplacian)];
    let phase = prop_oneof![Just(Phase::Sign), Just(Phase::Weight)];
    (charges, phase, symmetrize, any::<bool>(), normalize, kind).prop_map(
        |(charge, phase, symmetrize, self_loops, normalize, kind)| OperatorConfig {
            charge,
            phase: if normalize == Normalize::Directed { Phase::Sign } else { phase },
            symmetrize,
            self_loops,
            normalize,
            kind,
        },
    )
}

fn dense(operator: &MagneticOperator) -> Mat<c64> {
    let n = operator.nodes();
    let mut matrix = Mat::zeros(n, n);
    for u in 0..n {
        let mut last = None;
        for (v, value) in operator.row(u) {
            assert!(last < Some(v), "columns ascend");
            last = Some(v);
            matrix[(u, v)] = value;
        }
    }
    matrix
}

fn build(graph: &DiGraph, config: &OperatorConfig) -> MagneticOperator {
    MagneticOperator::new(graph, config).unwrap()
}

fn largest_difference(a: &Mat<c64>, b: &Mat<c64>) -> f64 {
    (a - b).norm_max()
}

/// Columns whose entries are all different.
fn signal(n: usize, columns: usize) -> Matrix<f32> {
    let value = |i: usize| ((i * 37 + 11) % 101) as f32 / 50.0 - 1.0;
    Matrix::from_vec(n, columns, (0..n * columns).map(value).collect()).unwrap()
}

fn to_dense(result: &Propagated) -> Mat<c64> {
    match result {
        Propagated::Real(x) => {
            Mat::from_fn(x.rows(), x.cols(), |i, j| c64::from(f64::from(x.row(i)[j])))
        }
        Propagated::Complex(x) => Mat::from_fn(x.rows(), x.cols(), |i, j| {
            c64::new(f64::from(x.row(i)[j].re), f64::from(x.row(i)[j].im))
        }),
    }
}

/// Every filter that there is, for an operator within `bounds`.
fn filters(bounds: Bounds, kind: Kind) -> Vec<Filter> {
    let alpha = 0.7 / bounds.radius().max(1.0);
    // PageRank and heat on a Laplacian are functions of I − L.
    let alpha = if kind == Kind::Laplacian { 0.3 / (1.0 + bounds.radius()) } else { alpha };
    let feedback = [-0.3 / bounds.radius().max(1.0), 0.2 / bounds.radius().max(1.0).powi(2)];
    let arma = |accuracy| Filter::arma(&[0.5, 0.25], &feedback, bounds, accuracy).unwrap();
    let ppr = |accuracy| Filter::page_rank(alpha, bounds, kind, accuracy).unwrap();
    let heat = |accuracy| Filter::heat(0.8, bounds, kind, accuracy).unwrap();
    vec![
        Filter::linear_rank(5).unwrap(),
        Filter::markov(3).unwrap(),
        ppr(Accuracy::Tolerance(1e-7)),
        ppr(Accuracy::Exact),
        heat(Accuracy::Order(4)),
        heat(Accuracy::Exact),
        Filter::polynomial(&[0.5, -1.0, 0.25]).unwrap(),
        Filter::chebyshev(&[0.1, 0.4, -0.3, 0.2], bounds).unwrap(),
        Filter::bernstein(&[1.0, 0.5, -0.5, 2.0], bounds, kind).unwrap(),
        arma(Accuracy::Tolerance(1e-7)),
        arma(Accuracy::Exact),
    ]
}

/// The leading block of a matrix over edges, or of its adjoint, by its products with unit vectors.
fn block(edges: &EdgeMatrix, side: compute::Side, rows: usize, cols: usize) -> Mat<c64> {
    let engine = Engine::double().sequential();
    let map = engine.prepare(MapSource::Edges(edges.clone())).unwrap();
    let field = engine.map_shape(&map).field();
    let mut units = vec![0.0; cols * cols];
    (0..cols).for_each(|i| units[i * cols + i] = 1.0);
    let (x, y) = (Shape::real(cols, cols), Shape::new(rows, cols, field));
    let (units, mut result) = (engine.buffer(&units).unwrap(), engine.zeros(y.len()).unwrap());
    engine.map(&map, side, None, (&units, x), (&mut result, y), false).unwrap();
    let result = engine.download_double(&result).unwrap();
    Mat::from_fn(rows, cols, |i, j| match field {
        Field::Real => c64::from(result[i * cols + j]),
        Field::Complex => c64::new(result[2 * (i * cols + j)], result[2 * (i * cols + j) + 1]),
    })
}

/// Steps from the targets to every node in the underlying undirected graph.
fn distances(graph: &DiGraph, targets: &[u32]) -> Vec<usize> {
    let n = graph.nodes();
    let mut far = vec![usize::MAX; n];
    targets.iter().for_each(|&u| far[u as usize] = 0);
    for step in 1..=n {
        for u in 0..n {
            let near = |v: usize| {
                far[v] == step - 1 && (graph.has_edge(u, v as u32) || graph.has_edge(v, u as u32))
            };
            if far[u] == usize::MAX && (0..n).any(near) {
                far[u] = step;
            }
        }
    }
    far
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    /// The definition, one entry after the other, of weights of either sign.
    #[test]
    fn operators_are_what_their_definition_says(graph in graphs(), config in configs()) {
        let n = graph.nodes();
        let mut a = vec![vec![0.0; n]; n];
        for u in 0..n {
            for (e, &v) in graph.targets(u).iter().enumerate() {
                a[u][v as usize] = graph.weights(u).map_or(1.0, |weights| f64::from(weights[e]));
            }
        }
        let joined = |u: usize, v: usize| match config.symmetrize {
            Symmetrize::Mean => (a[u][v] + a[v][u]) / 2.0,
            Symmetrize::Max => {
                let pair = [a[u][v], a[v][u]];
                let largest = pair[0].abs().max(pair[1].abs());
                if pair.contains(&largest) { largest } else { -largest }
            }
        };
        let loops = if config.self_loops { 1.0 } else { 0.0 };
        let degree = |u: usize| (0..n).map(|v| joined(u, v).abs()).sum::<f64>() + loops;
        // One step from u to v, where degrees out and in are divided out.
        let edge = |u: usize, v: usize| a[u][v] + if u == v { loops } else { 0.0 };
        let out = |u: usize| (0..n).map(|v| a[u][v].abs()).sum::<f64>() + loops;
        let back = |v: usize| (0..n).map(|u| a[u][v].abs()).sum::<f64>() + loops;
        let step = |u: usize, v: usize| match edge(u, v) {
            0.0 => 0.0,
            weight => weight / (out(u) * back(v)).sqrt(),
        };
        let expected = Mat::from_fn(n, n, |u, v| {
            let one = if u == v { 1.0 } else { 0.0 };
            let difference = match config.phase {
                Phase::Weight => a[u][v] - a[v][u],
                Phase::Sign if a[u][v].abs() == a[v][u].abs() => 0.0,
                Phase::Sign => (a[u][v].abs() - a[v][u].abs()).signum(),
            };
            let turn = std::f64::consts::TAU * config.charge.value() * difference;
            let divisor = match config.normalize {
                Normalize::None => 1.0,
                Normalize::Symmetric => (degree(u) * degree(v)).sqrt(),
                Normalize::RandomWalk => degree(u),
                Normalize::Directed => 1.0,
            };
            let value = c64::from_polar(joined(u, v), turn) + loops * one;
            let value = if divisor == 0.0 { c64::from(0.0) } else { value / divisor };
            let value = match config.normalize {
                Normalize::Directed => {
                    let turn = c64::cis(std::f64::consts::TAU * config.charge.value());
                    0.5 * (turn * step(u, v) + turn.conj() * step(v, u))
                }
                _ => value,
            };
            match (config.kind, config.normalize) {
                (Kind::Adjacency, _) => value,
                (Kind::NegatedAdjacency, _) => -value,
                (Kind::Laplacian, Normalize::None) => degree(u) * one - value,
                (Kind::Laplacian, _) => one - value,
            }
        });
        let scale = expected.norm_max().max(1.0);
        prop_assert!(largest_difference(&dense(&build(&graph, &config)), &expected) < 1e-14 * scale);
    }

    #[test]
    fn operators_are_hermitian(graph in graphs(), config in configs()) {
        let operator = build(&graph, &config);
        let matrix = dense(&operator);
        if operator.is_hermitian() {
            let scale = matrix.norm_max().max(1.0);
            prop_assert!(largest_difference(&matrix, &matrix.adjoint().to_owned()) < 2e-15 * scale);
        }
        if operator.is_real() {
            prop_assert!((0..graph.nodes()).all(|u| operator.row(u).all(|(_, x)| x.im == 0.0)));
        }
    }

    #[test]
    fn spectra_stay_within_bounds(graph in graphs(), config in configs()) {
        let symmetric = OperatorConfig {
            normalize: match config.normalize {
                Normalize::None => Normalize::None,
                _ => Normalize::Symmetric,
            },
            ..config
        };
        let matrix = dense(&build(&graph, &symmetric));
        let bounds = build(&graph, &config).bounds();
        let eigenvalues = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
        let slack = 1e-12 * bounds.radius().max(1.0);
        for value in eigenvalues {
            prop_assert!(value >= bounds.min - slack && value <= bounds.max + slack);
        }
    }

    /// Component by component or all at once, and with vectors that span the eigenspaces.
    #[test]
    fn spectra_are_those_of_the_whole_matrix(graph in graphs(), config in configs()) {
        let twin = OperatorConfig {
            normalize: match config.normalize {
                Normalize::RandomWalk => Normalize::Symmetric,
                other => other,
            },
            ..config
        };
        let matrix = dense(&build(&graph, &twin));
        let expected = matrix.self_adjoint_eigenvalues(Side::Lower).unwrap();
        let operator = build(&graph, &config);
        let config = SpectrumConfig { vectors: true, ..Default::default() };
        let found = spectrum(&operator, &config, &()).unwrap();
        let slack = 1e-13 * matrix.norm_max().max(1.0) * graph.nodes() as f64;
        prop_assert_eq!(found.eigenvalues.len(), expected.len());
        for (a, b) in found.eigenvalues.iter().zip(&expected) {
            prop_assert!((a - b).abs() < slack, "{a} {b}");
        }
        let vectors = found.vectors.unwrap();
        let n = graph.nodes();
        let u = Mat::from_fn(n, n, |i, j| vectors.row(i)[j]);
        let lambda = Mat::from_fn(n, n, |i, j| {
            c64::from(if i == j { found.eigenvalues[i] } else { 0.0 })
        });
        prop_assert!(largest_difference(&(dense(&operator) * &u), &(&u * lambda)) < 10.0 * slack);
    }

    /// filter(x) = U h(Λ) Uᴴ x; random walks through their symmetric twin.
    #[test]
    fn filters_act_as_their_response_says(graph in graphs(), config in configs()) {
        let operator = build(&graph, &config);
        let twin = OperatorConfig {
            normalize: match config.normalize {
                Normalize::RandomWalk => Normalize::Symmetric,
                other => other,
            },
            ..config
        };
        let eigen = dense(&build(&graph, &twin)).self_adjoint_eigen(Side::Lower).unwrap();
        let n = graph.nodes();
        let x = signal(n, 3);
        let root = |u: usize| match config.normalize {
            Normalize::RandomWalk if operator.degrees()[u] > 0.0 => operator.degrees()[u].sqrt(),
            _ => 1.0,
        };
        let entered =
            Mat::from_fn(n, 3, |i, j| c64::from(f64::from(x.row(i)[j]) * root(i)));
        for filter in filters(operator.bounds(), config.kind) {
            let result = propagate(&operator, &filter, &Features::Dense(x.clone()), &());
            let actual = to_dense(&result.unwrap());
            let mut spectral = eigen.U().adjoint() * &entered;
            for i in 0..n {
                let h = filter.response(eigen.S()[i].re);
                (0..3).for_each(|j| spectral[(i, j)] *= h);
            }
            let mut expected = eigen.U() * spectral;
            for i in 0..n {
                (0..3).for_each(|j| expected[(i, j)] /= root(i));
            }
            let scale = expected.norm_max().max(1.0);
            let error = largest_difference(&actual, &expected) / scale;
            prop_assert!(error < 3e-6, "{error:e} {filter:?}");
        }
    }

    #[test]
    fn charge_zero_forgets_direction(graph in graphs(), config in configs()) {
        // Degrees out and in tell a direction without any phase.
        prop_assume!(config.normalize != Normalize::Directed);
        let plain = OperatorConfig { charge: Charge::ZERO, ..config };
        let both: Vec<_> = (0..graph.nodes()).flat_map(|u| {
            let operator = build(&graph, &OperatorConfig {
                self_loops: false, normalize: Normalize::None, kind: Kind::Adjacency, ..plain
            });
            let row: Vec<_> =
                operator.row(u).map(|(v, x)| (u as u32, v as u32, x.re as f32)).collect();
            row
        }).collect();
        let undirected = GraphBuilder::new(graph.nodes()).weighted_edges(both);
        let undirected = undirected.self_loops(SelfLoops::Keep).build().unwrap().graph;
        // Of a symmetric graph every charge gives the same, and it is the one of charge 0.
        let a = dense(&build(&graph, &plain));
        let b = dense(&build(&undirected, &config));
        prop_assert!(largest_difference(&a, &b) < 1e-14 * a.norm_max().max(1.0));
    }

    #[test]
    fn reversing_all_edges_conjugates(graph in graphs(), config in configs()) {
        let forward = dense(&build(&graph, &config));
        let backward = dense(&build(&graph.transpose(), &config));
        prop_assert!(largest_difference(&forward, &backward.conjugate().to_owned()) < 1e-15 * forward.norm_max().max(1.0));
    }

    #[test]
    fn relabelling_permutes(graph in graphs(), config in configs(), seed in 0usize..1000) {
        let n = graph.nodes();
        let mut order: Vec<usize> = (0..n).collect();
        (0..n).for_each(|i| order.swap(i, (i * 7 + seed) % n));
        let edges = (0..n).flat_map(|u| {
            let weights = graph.weights(u).map(<[f32]>::to_vec);
            let weight = move |k: usize| weights.as_ref().map_or(1.0, |w| w[k]);
            let order = &order;
            graph.targets(u).iter().enumerate().map(move |(k, &v)| {
                (order[u] as u32, order[v as usize] as u32, weight(k))
            })
        });
        let builder = GraphBuilder::new(n).weighted_edges(edges).self_loops(SelfLoops::Keep);
        let renamed = dense(&build(&builder.build().unwrap().graph, &config));
        let matrix = dense(&build(&graph, &config));
        for u in 0..n {
            for v in 0..n {
                prop_assert!((renamed[(order[u], order[v])] - matrix[(u, v)]).norm() < 1e-14 * matrix.norm_max().max(1.0));
            }
        }
    }

    #[test]
    fn sparse_features_are_dense_features(graph in graphs(), config in configs()) {
        let n = graph.nodes();
        let cells = (0..n * 21).map(|i| (i / 21, (i % 21) as u32, ((i * 13) % 5) as f32));
        let sparse = SparseMatrix::from_triplets(n, 21, cells.clone().filter(|c| c.2 != 0.0)).unwrap();
        let dense = Matrix::from_vec(n, 21, cells.map(|c| c.2).collect()).unwrap();
        let operator = build(&graph, &config);
        let filter = Filter::linear_rank(3).unwrap();
        let run = |features| propagate(&operator, &filter, &features, &()).unwrap();
        prop_assert_eq!(run(Features::Sparse(sparse)), run(Features::Dense(dense)));
    }

    /// A neighbourhood has the nodes by their distance, and the matrices over its edges are those of
    /// the whole graph wherever an inner node is a row or a column.
    #[test]
    fn matrices_over_edges_are_parts_of_the_whole(
        graph in graphs(),
        config in configs(),
        seed in 0usize..1000,
        steps in 0usize..4,
    ) {
        let operator = build(&graph, &config);
        let n = graph.nodes();
        // Some nodes in some order; all of them now and then.
        let mut order: Vec<u32> = (0..n as u32).collect();
        (0..n).for_each(|i| order.swap(i, (i * 7 + seed) % n));
        let targets = match seed % 4 {
            0 => (0..n as u32).collect(),
            _ => order[..1 + seed % n].to_vec(),
        };
        let seen = Arc::new(Neighbourhood::new(operator.pattern(), &targets, steps));
        let far = distances(&graph, &targets);
        let nodes: Vec<usize> = seen.nodes().collect();
        prop_assert_eq!(&nodes[..targets.len()], targets.iter().map(|&u| u as usize).collect::<Vec<_>>());
        prop_assert!(nodes.iter().map(|&u| far[u]).is_sorted());
        for k in 0..=steps {
            prop_assert_eq!(seen.size(k), far.iter().filter(|&&d| d <= k).count());
            prop_assert!(nodes[..seen.size(k)].iter().all(|&u| far[u] <= k));
        }
        let all = nodes.len();
        let inner = match (targets.len() == n, steps) {
            (true, _) if targets.is_sorted() => n,
            (_, 0) => 0,
            _ => seen.size(steps - 1),
        };
        let factors = |salt: usize| -> Vec<f64> {
            (0..n).map(|u| ((u * 37 + salt) % 11) as f64 / 4.0 - 1.0).collect()
        };
        let (left, right) = (factors(1), factors(5));
        let weight = |u: usize, v: usize| {
            let at = graph.targets(u).iter().position(|&w| w as usize == v);
            at.map_or(0.0, |at| graph.weights(u).map_or(1.0, |weights| f64::from(weights[at])))
        };
        let whole = dense(&operator);
        let out = Mat::from_fn(n, n, |u, v| c64::from(left[u] * weight(u, v) * right[v]));
        let back = Mat::from_fn(n, n, |u, v| c64::from(left[u] * weight(v, u) * right[v]));
        let adjacency = |along| EdgeMatrix::adjacency(along, &left, &right, &seen);
        for (edges, whole) in [
            (EdgeMatrix::operator(&operator, &seen), whole),
            (adjacency(Along::Out), out),
            (adjacency(Along::In), back),
        ] {
            let scale = whole.norm_max().max(1.0);
            for (rows, cols) in [(all, all), (targets.len(), seen.size(1)), (seen.size(1), targets.len())] {
                let forward = block(&edges, compute::Side::Forward, rows, cols);
                let adjoint = block(&edges, compute::Side::Adjoint, cols, rows);
                prop_assert!(largest_difference(&forward, &adjoint.adjoint().to_owned()) < 1e-15 * scale);
                for i in 0..rows {
                    for j in (0..cols).filter(|&j| i < inner || j < inner) {
                        let expected = whole[(nodes[i], nodes[j])];
                        prop_assert!((forward[(i, j)] - expected).norm() < 1e-14 * scale, "{i} {j}");
                    }
                }
            }
        }
    }
}
