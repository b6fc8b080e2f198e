//! A graph that is cut into parts by rows: what a part's own cycles say, and what K products cost on the wire.

use magnon::data::{Dataset, Features, GraphPart, LoadConfig, PackConfig, cut, load, pack};
use magnon::filter::{FilterConfig, FilterKind, propagate};
use magnon::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, Normalize, OperatorConfig, Phase};
use magnon::workflow::{find_cycles, propagate_parts};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

fn ring(nodes: u32, chords: &[(u32, u32)]) -> DiGraph {
    let edges = (0..nodes).map(|u| (u, (u + 1) % nodes)).chain(chords.iter().copied());
    GraphBuilder::new(nodes as usize).edges(edges).build().unwrap().graph
}

/// The edges of a graph among some of its nodes.
fn part(graph: &DiGraph, nodes: Range<u32>) -> DiGraph {
    let inside = graph.iter().filter(|(u, v)| nodes.contains(u) && nodes.contains(v));
    let edges: Vec<_> = inside.map(|(u, v)| (u - nodes.start, v - nodes.start)).collect();
    GraphBuilder::new(nodes.len()).edges(edges).build().unwrap().graph
}

fn charge_of(graph: &DiGraph) -> String {
    find_cycles(graph, Phase::default(), &()).unwrap().advice.choice.to_string()
}

/// A cut opens the cycles that run across it. A part then knows of none, or of others than the whole graph has most
/// to say about: the charge is fixed on the whole graph before it is cut.
#[test]
fn the_cycles_of_a_part_mislead() {
    let whole = ring(12, &[]);
    assert_eq!(charge_of(&whole), "1/12");
    for nodes in [0..6, 6..12] {
        assert_eq!(charge_of(&part(&whole, nodes)), "0");
    }
    // A short cycle across the cut, and a longer one within a part: the parts disagree with the whole and with
    // each other.
    let whole = ring(12, &[(7, 5), (4, 0)]);
    assert_eq!(charge_of(&whole), "1/3");
    assert_eq!(charge_of(&part(&whole, 0..6)), "1/5");
    assert_eq!(charge_of(&part(&whole, 6..12)), "0");
}

/// A graph that was packed, and cut into parts.
fn parts_of(folder: &Path, graph: &DiGraph, parts: usize) -> (Dataset, Vec<PathBuf>) {
    let source = folder.join("edges.csv");
    let mut text = String::new();
    for u in 0..graph.nodes() {
        for (k, v) in graph.targets(u).iter().enumerate() {
            let weight =
                graph.weights(u).map_or(String::new(), |weights| format!(",{}", weights[k]));
            text += &format!("{u},{v}{weight}\n");
        }
    }
    fs::write(&source, text).unwrap();
    let whole = folder.join("g.magnon");
    let nodes = Some(graph.nodes());
    let config =
        PackConfig { load: LoadConfig { nodes, ..Default::default() }, ..Default::default() };
    pack(&source, &whole, &config, &()).unwrap();
    let reports = cut(&whole, parts).unwrap();
    assert_eq!(reports.iter().map(|part| part.rows).sum::<u64>(), graph.nodes() as u64);
    let files = reports.into_iter().map(|part| part.file).collect();
    (load(&whole, &LoadConfig::default()).unwrap(), files)
}

fn features(rows: usize, cols: usize) -> Features {
    let values = (0..rows * cols).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
    Features::Dense(Matrix::from_vec(rows, cols, values).unwrap())
}

fn random(nodes: usize, degree: f64) -> DiGraph {
    let config = GeneratorConfig {
        kind: GeneratorKind::ErdosRenyi,
        nodes,
        density: degree / nodes as f64,
        ..Default::default()
    };
    generate(&config, 1).unwrap().graph
}

/// Workers that see their own part and what they are sent come to the numbers of the uncut graph, whatever the operator
/// and filter, real or complex, in single or double precision.
#[test]
fn parts_give_the_bits_of_the_whole() {
    let charge = Charge::fraction(1, 3).unwrap();
    let plain = random(500, 5.0);
    let edges = plain.iter().map(|(u, v)| (u, v, ((u + 2 * v) % 7 + 1) as f32 / 4.0));
    let weighted = GraphBuilder::new(500).weighted_edges(edges).build().unwrap().graph;
    let linear =
        FilterConfig { kind: FilterKind::LinearRank, order: Some(4), ..Default::default() };
    let heat = FilterConfig { kind: FilterKind::Heat, ..Default::default() };
    let exact = FilterConfig { exact: true, ..heat.clone() };
    for graph in [plain, weighted] {
        let folder = tempfile::tempdir().unwrap();
        let (whole, files) = parts_of(folder.path(), &graph, 3);
        let x = features(500, 21);
        for normalize in [Normalize::Symmetric, Normalize::RandomWalk, Normalize::Directed] {
            for charge in [Charge::ZERO, charge] {
                let config = OperatorConfig { charge, normalize, ..Default::default() };
                let operator = MagneticOperator::new(&whole.graph, &config).unwrap();
                for filter in [&linear, &heat, &exact] {
                    let built = filter.build(operator.bounds(), config.kind).unwrap();
                    let expected = propagate(&operator, &built, &x, &()).unwrap();
                    let (found, _) = propagate_parts(&files, &x, &config, filter).unwrap();
                    assert!(found == expected, "{config:?} {filter:?}");
                }
            }
        }
    }
}

#[test]
fn bytes_on_the_wire_are_those_of_the_halo() {
    const NODES: usize = 2000;
    const COLUMNS: usize = 16;
    let charge = Charge::fraction(1, 3).unwrap();
    let config = OperatorConfig { charge, ..Default::default() };
    let filter =
        FilterConfig { kind: FilterKind::LinearRank, order: Some(6), ..Default::default() };
    for (graph, parts) in [(ring(NODES as u32, &[]), 4), (random(NODES, 8.0), 4)] {
        let folder = tempfile::tempdir().unwrap();
        let (whole, files) = parts_of(folder.path(), &graph, parts);
        let x = features(NODES, COLUMNS);
        let (found, report) = propagate_parts(&files, &x, &config, &filter).unwrap();
        let operator = MagneticOperator::new(&whole.graph, &config).unwrap();
        let built = filter.build(operator.bounds(), config.kind).unwrap();
        assert!(found == propagate(&operator, &built, &x, &()).unwrap(), "other bits");
        let products = built.order().unwrap();
        let halo: usize = report.halos.iter().sum();
        assert_eq!(report.bytes as usize, 8 * COLUMNS * products * halo);
        // Once: a node that is asked for, its degrees, and a byte from each worker to each other.
        assert_eq!(report.setup_bytes as usize, (8 + 16) * halo + parts * (parts - 1));
        println!("{} edges in {parts} parts: {halo} numbers a product", graph.edges());
        if graph.edges() == NODES {
            assert_eq!(halo, 2 * parts, "two neighbours across each cut of a ring");
        } else {
            // Without locality, a part of a fraction 1/P needs a node outside with probability
            // 1 − (1 − 1/P)^degree, where a degree is that of the symmetric pattern.
            let degree = operator.pattern().stored() as f64 / NODES as f64;
            let outside = parts as f64 * 1500.0;
            let expected = outside * (1.0 - (-degree / parts as f64).exp());
            assert!((halo as f64 - expected).abs() < 0.02 * expected, "{halo} {expected}");
        }
    }
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_, files) = parts_of(folder.path(), &ring(30, &[]), 3);
    let filter = FilterConfig { kind: FilterKind::Ppr, exact: true, ..Default::default() };
    let said = |files: &[PathBuf], filter: &FilterConfig| {
        let x = features(30, 2);
        propagate_parts(files, &x, &OperatorConfig::default(), filter).unwrap_err().to_string()
    };
    assert!(said(&files, &filter).contains("sums over all nodes"));
    let filter = FilterConfig::default();
    assert!(said(&files[..2], &filter).contains("part 0 of 3"));
    assert!(
        said(&[files[1].clone(), files[0].clone(), files[2].clone()], &filter).contains("part 1")
    );
    // A part is no graph, and a graph no part.
    let error = load(&files[1], &LoadConfig::default()).unwrap_err().to_string();
    assert!(error.contains("part 1 of 3"), "{error}");
    let whole = folder.path().join("g.magnon");
    assert!(GraphPart::open(&whole).unwrap_err().to_string().contains("whole graph"));
    assert!(cut(&whole, 31).unwrap_err().to_string().contains("31 parts"));
    // Damage is seen.
    let bytes = fs::read(&files[0]).unwrap();
    for at in (0..bytes.len()).step_by(97).filter(|&at| bytes[at] != 0) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x11;
        fs::write(&files[0], damaged).unwrap();
        assert!(GraphPart::open(&files[0]).is_err(), "byte {at}");
    }
    fs::write(&files[0], &bytes[..bytes.len() - 1]).unwrap();
    assert!(GraphPart::open(&files[0]).is_err());
}
