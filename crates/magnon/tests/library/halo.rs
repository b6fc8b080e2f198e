//! A graph that is cut into parts by rows: what a part's own cycles say, and what K products cost on the wire.

use magnon::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use magnon::graph::{DiGraph, GraphBuilder};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig, Phase};
use magnon::workflow::find_cycles;
use num_complex::Complex64;
use std::collections::BTreeSet;
use std::ops::Range;

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

/// One worker: its rows, and the numbers of other nodes that it needs for a product.
struct Worker {
    rows: Range<usize>,
    halo: Vec<usize>,
}

/// Cuts the rows evenly.
fn workers(operator: &MagneticOperator, parts: usize) -> Vec<Worker> {
    let nodes = operator.nodes();
    let cut = |part: usize| part * nodes / parts;
    (0..parts)
        .map(|p| {
            let rows = cut(p)..cut(p + 1);
            let columns = rows.clone().flat_map(|u| operator.row(u).map(|(v, _)| v));
            let halo: BTreeSet<usize> = columns.filter(|v| !rows.contains(v)).collect();
            Worker { rows, halo: halo.into_iter().collect() }
        })
        .collect()
}

/// K products on all workers; gives what they hold in the end, and the bytes that went between them when a complex
/// number travels in single precision.
fn products(
    operator: &MagneticOperator,
    workers: &[Worker],
    x: &[Complex64],
    steps: usize,
) -> (Vec<Complex64>, usize) {
    let mut held: Vec<Vec<Complex64>> =
        workers.iter().map(|w| x[w.rows.clone()].to_vec()).collect();
    let mut bytes = 0;
    for _ in 0..steps {
        let owner = |node: usize| workers.iter().position(|w| w.rows.contains(&node)).unwrap();
        let next = workers.iter().enumerate().map(|(p, worker)| {
            // Of others, a worker sees what it is sent in this step, and nothing else.
            let received: Vec<Complex64> = worker
                .halo
                .iter()
                .map(|&node| held[owner(node)][node - workers[owner(node)].rows.start])
                .collect();
            bytes += 8 * received.len();
            let value = |node: usize| match worker.halo.binary_search(&node) {
                Ok(at) => received[at],
                Err(_) => held[p][node - worker.rows.start],
            };
            let row = |u: usize| operator.row(u).map(|(v, entry)| entry * value(v)).sum();
            worker.rows.clone().map(row).collect::<Vec<Complex64>>()
        });
        held = next.collect();
    }
    (held.concat(), bytes)
}

#[test]
fn bytes_on_the_wire_are_those_of_the_halo() {
    let charge = Charge::fraction(1, 3).unwrap();
    let config = OperatorConfig { charge, ..Default::default() };
    let random = GeneratorConfig {
        kind: GeneratorKind::ErdosRenyi,
        nodes: 2000,
        density: 8.0 / 2000.0,
        ..Default::default()
    };
    let random = generate(&random, 1).unwrap().graph;
    for (graph, parts) in [(ring(2000, &[]), 4), (random, 4)] {
        let operator = MagneticOperator::new(&graph, &config).unwrap();
        let x: Vec<Complex64> =
            (0..2000).map(|u| Complex64::from((u * 37 % 101) as f64 / 50.0 - 1.0)).collect();
        let (whole, none) = products(&operator, &workers(&operator, 1), &x, 5);
        assert_eq!(none, 0);
        let cut = workers(&operator, parts);
        let (found, bytes) = products(&operator, &cut, &x, 5);
        assert!(found == whole, "each row is summed in one order wherever it is");
        let halo: usize = cut.iter().map(|worker| worker.halo.len()).sum();
        assert_eq!(bytes, 5 * 8 * halo);
        println!("{} edges in {parts} parts: {halo} numbers a product", graph.edges());
        if graph.edges() == 2000 {
            assert_eq!(halo, 2 * parts, "two neighbours across each cut of a ring");
        } else {
            // Without locality, a part of a fraction 1/P needs a node outside with probability
            // 1 − (1 − 1/P)^degree, where a degree is that of the symmetric pattern.
            let degree = operator.pattern().stored() as f64 / 2000.0;
            let outside = parts as f64 * 1500.0;
            let expected = outside * (1.0 - (-degree / parts as f64).exp());
            assert!((halo as f64 - expected).abs() < 0.02 * expected, "{halo} {expected}");
        }
    }
}
