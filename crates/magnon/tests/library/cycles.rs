//! Cycles against brute force on thousands of small random digraphs.
#![allow(clippy::unwrap_used)] // a failed test is a panic

use magnon::cycles::{
    Cycles, Evidence, LengthsConfig, LengthsReport, count_cycles, cycle_lengths, flux,
};
use magnon::graph::{DiGraph, GraphBuilder, SelfLoops, measure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// Every simple path that closes, from each smallest node: no pruning at all.
fn brute_force(graph: &DiGraph) -> BTreeSet<Vec<u32>> {
    fn extend(graph: &DiGraph, path: &mut Vec<u32>, found: &mut BTreeSet<Vec<u32>>) {
        for &next in graph.targets(path[path.len() - 1] as usize) {
            if next == path[0] && path.len() > 1 {
                found.insert(path.clone());
            } else if next > path[0] && !path.contains(&next) {
                path.push(next);
                extend(graph, path, found);
                path.pop();
            }
        }
    }
    let mut found = BTreeSet::new();
    for start in 0..graph.nodes() as u32 {
        extend(graph, &mut vec![start], &mut found);
    }
    found
}

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

fn lengths(graph: &DiGraph, config: &LengthsConfig) -> LengthsReport {
    cycle_lengths(graph, config, &AtomicBool::new(false))
}

#[test]
fn enumeration_finds_every_cycle_once_under_every_bound() {
    for graph in graphs(10_000) {
        let all = brute_force(&graph);
        for bound in [None, Some(2), Some(3), Some(4), Some(5), Some(6), Some(7), Some(8), Some(50)]
        {
            let listed: Vec<_> = Cycles::new(&graph, bound).collect();
            let distinct: BTreeSet<_> = listed.iter().cloned().collect();
            assert_eq!(listed.len(), distinct.len(), "a cycle came twice: {graph:?}");
            let within = |cycle: &&Vec<u32>| bound.is_none_or(|bound| cycle.len() <= bound);
            let expected: BTreeSet<_> = all.iter().filter(within).cloned().collect();
            assert_eq!(distinct, expected, "bound {bound:?}: {graph:?}");
            assert!(listed.is_sorted_by_key(|cycle| cycle[0]), "by smallest node");
        }
    }
}

/// The same on sparse graphs in which short cycles are a small part: barriers are raised and lowered
/// many times there.
#[test]
fn bounded_enumeration_finds_every_cycle_of_larger_graphs() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for _ in 0..300 {
        let n = rng.random_range(12..26u32);
        let m = rng.random_range(n..=5 * n / 2);
        let edges: Vec<_> =
            (0..m).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
        let graph = GraphBuilder::new(n as usize).edges(edges).build().unwrap().graph;
        let all = brute_force(&graph);
        for bound in [3, 4, 6, 7, 9, 12] {
            let listed: Vec<_> = Cycles::new(&graph, Some(bound)).collect();
            let distinct: BTreeSet<_> = listed.iter().cloned().collect();
            assert_eq!(listed.len(), distinct.len(), "a cycle came twice: {graph:?}");
            let expected = all.iter().filter(|cycle| cycle.len() <= bound).cloned().collect();
            assert_eq!(distinct, expected, "bound {bound}: {graph:?}");
            assert!(listed.is_sorted_by_key(|cycle| cycle[0]), "by smallest node");
        }
    }
}

/// Components too large to be taken apart ahead are counted home by home.
#[test]
fn counts_of_large_components_agree_with_the_list() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let n = 8_000u32;
    let ring = (0..n).map(|u| (u, (u + 1) % n));
    let chords: Vec<_> = (0..n).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
    let edges = ring.chain(chords);
    let graph = GraphBuilder::new(n as usize).edges(edges).build().unwrap().graph;
    let mut expected = BTreeMap::new();
    for cycle in Cycles::new(&graph, Some(9)) {
        *expected.entry(cycle.len()).or_insert(0u64) += 1;
    }
    let counts = count_cycles(&graph, Some(9), &AtomicBool::new(false));
    assert_eq!((counts.by_length, counts.complete), (expected, true));
}

/// What is stopped says what it knows, and claims nothing.
#[test]
fn a_stopped_search_claims_nothing() {
    let stop = AtomicBool::new(true);
    for graph in graphs(200) {
        let report = cycle_lengths(&graph, &LengthsConfig::default(), &stop);
        assert!(!report.acyclic);
        assert!(report.lengths.iter().all(|answer| answer.evidence == Evidence::Budget));
        assert!(!count_cycles(&graph, None, &stop).complete);
        assert_eq!(Cycles::until(&graph, None, &stop).next(), None);
        assert_eq!(flux(&graph, magnon::operator::Phase::default(), &stop), None);
    }
    // A listing that is stopped on the way ends there.
    let graph = GraphBuilder::new(3).edges([(0, 1), (1, 0), (1, 2), (2, 1)]).build().unwrap().graph;
    let stop = AtomicBool::new(false);
    let mut cycles = Cycles::until(&graph, None, &stop);
    assert_eq!(cycles.next(), Some(vec![0, 1]));
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(cycles.next(), None);
}

/// A hundred thousand components cost no more than their size, and a graph without short cycles no
/// more than the budget allows.
#[test]
fn large_graphs_come_to_an_end() {
    let triangles = (0..100_000u32).flat_map(|t| {
        let [a, b, c] = [3 * t, 3 * t + 1, 3 * t + 2];
        [(a, b), (b, c), (c, a)]
    });
    let graph = GraphBuilder::new(300_000).edges(triangles).build().unwrap().graph;
    let report = lengths(&graph, &LengthsConfig::default());
    let existing = report.lengths.iter().filter(|answer| answer.exists != Some(false));
    assert_eq!(existing.map(|answer| answer.length).collect::<Vec<_>>(), [3]);
    assert_eq!(Cycles::new(&graph, None).count(), 100_000);

    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let n = 50_000u32;
    let edges: Vec<_> =
        (0..4 * n).map(|_| (rng.random_range(0..n), rng.random_range(0..n))).collect();
    let graph = GraphBuilder::new(n as usize).edges(edges).build().unwrap().graph;
    let report = lengths(&graph, &LengthsConfig::default());
    assert!(report.lengths.iter().all(|answer| answer.exists == Some(true)), "{report:?}");
}

#[test]
fn counts_agree_on_any_number_of_threads() {
    let stop = AtomicBool::new(false);
    for graph in graphs(500) {
        let mut expected = BTreeMap::new();
        for cycle in brute_force(&graph).into_iter().filter(|cycle| cycle.len() <= 5) {
            *expected.entry(cycle.len()).or_insert(0u64) += 1;
        }
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let counts = pool.install(|| count_cycles(&graph, Some(5), &stop));
            assert_eq!(counts.by_length, expected);
            assert!(counts.complete);
        }
    }
}

#[test]
fn answers_are_right_and_witnesses_are_cycles() {
    let mut arguments = BTreeMap::new();
    for graph in graphs(5_000) {
        let existing: BTreeSet<_> = brute_force(&graph).iter().map(Vec::len).collect();
        for budget in [u64::MAX >> 1, 300, 0] {
            let report = lengths(&graph, &LengthsConfig { max_length: 9, budget });
            assert_eq!(report.acyclic, existing.is_empty());
            assert_eq!(report.acyclic, measure(&graph).acyclic);
            for answer in &report.lengths {
                let truth = existing.contains(&answer.length);
                assert!(answer.exists.is_none_or(|exists| exists == truth), "{answer:?} {graph:?}");
                assert!(budget < 1000 || answer.exists.is_some(), "{answer:?} {graph:?}");
                assert_eq!(answer.witness.is_some(), answer.exists == Some(true));
                if let Some(cycle) = &answer.witness {
                    let distinct: BTreeSet<_> = cycle.iter().collect();
                    assert_eq!((cycle.len(), distinct.len()), (answer.length, answer.length));
                    let next = |i: usize| cycle[(i + 1) % cycle.len()];
                    assert!((0..cycle.len()).all(|i| graph.has_edge(cycle[i] as usize, next(i))));
                }
                *arguments.entry(answer.evidence).or_insert(0) += 1;
            }
        }
    }
    for evidence in [
        Evidence::Acyclic,
        Evidence::ComponentSize,
        Evidence::Period,
        Evidence::Scan,
        Evidence::Exhausted,
        Evidence::Witness,
        Evidence::Budget,
    ] {
        assert!(arguments.contains_key(&evidence), "{evidence:?} is never used: {arguments:?}");
    }
}

/// Two 4-cycles that share a node have closed walks of length 8, but no 8-cycle.
#[test]
fn closed_walks_are_not_cycles() {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 5), (5, 6), (6, 0)];
    let graph = GraphBuilder::new(7).edges(edges).build().unwrap().graph;
    let report = lengths(&graph, &LengthsConfig { max_length: 8, ..Default::default() });
    let exists: Vec<_> = report.lengths.iter().map(|answer| answer.exists.unwrap()).collect();
    assert_eq!(exists, [false, false, true, false, false, false, false]);
}
