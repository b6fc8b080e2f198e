//! Listing and counting cycles, and telling which lengths exist.

use crate::Places;
use crate::memory::{MIB, peak};
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use anyhow::ensure;
use magnon::cycles::{Cycles, LengthsConfig, count_cycles, cycle_lengths};
use magnon::data::{LoadConfig, load};
use magnon::graph::DiGraph;
use magnon::graph::generate::{GeneratorConfig, GeneratorKind, generate};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Seconds after which networkx is stopped where it would go on for ever.
fn limit(places: &Places) -> u64 {
    places.size(20, 1)
}

const LARGE: [&str; 4] =
    ["wiki-Vote.txt", "p2p-Gnutella31.txt", "soc-Epinions1.txt.zip", "cnr-2000.graph-txt.gz"];

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let mut peers = Worker::start(places)?;
    let mut table = Table::default();
    enumeration(places, &mut peers, &mut table)?;
    lengths(places, &mut peers, &mut table)?;
    table.end();
    peers.quit()
}

/// A random digraph of about a million cycles.
fn graph(places: &Places) -> anyhow::Result<DiGraph> {
    let kind = GeneratorKind::ErdosRenyi;
    let nodes = places.size(30, 12);
    let config = GeneratorConfig { kind, nodes, density: 0.12, ..Default::default() };
    Ok(generate(&config, 17)?.graph)
}

fn enumeration(places: &Places, peers: &mut Worker, table: &mut Table) -> anyhow::Result<()> {
    let graph = graph(places)?;
    let rounds = places.size(5, 1);
    let igraph_is_there = places.has("igraph")?;
    let path = places.work.join("cycles.csv");
    let edges: String = graph.iter().map(|(u, v)| format!("{u},{v}\n")).collect();
    std::fs::write(&path, edges)?;
    let request = json!({ "task": "load_cycles", "path": path, "nodes": graph.nodes() });
    let versions = peers.ask(&request)?;
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let count = || count_cycles(&graph, None, &AtomicBool::new(false)).total();
    let walk = || Cycles::new(&graph, None).count();
    let list = || Cycles::new(&graph, None).collect::<Vec<_>>();

    let expected = one.install(count);
    let agree = |who: &str, cycles: u64| {
        ensure!(cycles == expected, "{who} finds {cycles} cycles, not {expected}");
        Ok(())
    };
    let mut ask = |task: &str, times: &mut Times| -> anyhow::Result<Option<u64>> {
        let answer: Value = peers.ask(&json!({ "task": task }))?;
        times.push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
        Ok(answer["cycles"].as_u64())
    };
    let mut times: [Times; 7] = Default::default();
    let [count1, count2, walked, listed, networkx, igraph, igraph_search] = &mut times;
    for round in 0..rounds {
        let (seconds, cycles) = time(|| one.install(count));
        agree("one thread", cycles)?;
        count1.push(seconds);
        if igraph_is_there {
            ask("igraph_search", igraph_search)?;
        }
        let (seconds, cycles) = time(|| two.install(count));
        agree("two threads", cycles)?;
        count2.push(seconds);
        let (seconds, cycles) = time(walk);
        agree("the iterator", cycles as u64)?;
        walked.push(seconds);
        let (seconds, cycles) = time(list);
        agree("the iterator", cycles.len() as u64)?;
        listed.push(seconds);
        drop(cycles);
        if igraph_is_there {
            agree("igraph", ask("igraph_cycles", igraph)?.unwrap_or(0))?;
        }
        if round == 0 {
            agree("networkx", ask("networkx_cycles", networkx)?.unwrap_or(0))?;
        }
    }
    let search = "igraph, the search alone";
    table.row("cycles counted, 1 thread", "networkx", count1, networkx);
    table.row("cycles counted, 1 thread", search, count1, igraph_search);
    table.row("cycles counted, 2 threads", search, count2, igraph_search);
    table.row("cycles counted, 2 threads", "magnon, 1 thread", count2, count1);
    table.row("iterator of cycles, none kept", "networkx", walked, networkx);
    table.row("iterator of cycles, collected", "igraph", listed, igraph);
    table.note(format!(
        "Random digraph, {} nodes, {} edges, {expected} cycles, as all agree. Medians of {rounds} \
         interleaved rounds (one for networkx, which keeps no cycle either). Peers: networkx {}, igraph {}.",
        graph.nodes(),
        graph.edges(),
        versions["networkx"].as_str().unwrap_or("?"),
        versions["igraph"].as_str().unwrap_or("?"),
    ));
    Ok(())
}

fn lengths(places: &Places, peers: &mut Worker, table: &mut Table) -> anyhow::Result<()> {
    let Some(folder) = &places.data else { return Ok(()) };
    let folder = folder.join("large");
    let config = LengthsConfig::default();
    for name in LARGE.into_iter().take(places.size(LARGE.len(), 1)) {
        let graph = load(&folder.join(name), &LoadConfig::default())?.graph;
        let mut times = Times::default();
        let mut answers = Vec::new();
        for _ in 0..places.size(3, 1) {
            let (seconds, report) =
                time(|| cycle_lengths(&graph, &config, &AtomicBool::new(false)));
            times.push(seconds);
            answers = report.lengths;
        }
        let said = |exists| answers.iter().filter(|answer| answer.exists == exists).count();
        let (yes, no, open) = (said(Some(true)), said(Some(false)), said(None));
        let edges = graph.edges();
        let task =
            format!("lengths of {name}, {edges} edges: {yes} exist, {no} do not, {open} undecided");
        table.alone(&task, &times);
    }
    let bound = config.max_length;
    let path = folder.join(LARGE[0]);
    let request =
        json!({ "task": "networkx_bounded", "path": path, "bound": bound, "limit": limit(places) });
    let answer = peers.ask(&request)?;
    let did = if answer["finished"] == true { "finishes" } else { "does not finish" };
    let (cycles, seconds) = (&answer["cycles"], answer["seconds"].as_f64().unwrap_or(f64::NAN));
    table.note(format!(
        "Lengths up to {bound} of graphs in memory, one thread, medians of 3 rounds. networkx, \
         simple_cycles(length_bound={bound}) on {}, {did} in {seconds:.1} s and has found {cycles} \
         cycles by then.",
        LARGE[0],
    ));
    let last = places.size(LARGE[LARGE.len() - 1], LARGE[0]);
    let mut command = Command::new(&places.magnon);
    command.arg("cycles").arg(folder.join(last)).args(["--json", "--quiet"]).stdout(Stdio::null());
    table.note(format!(
        "Peak memory of `magnon cycles` on {last}: {:.0} MiB.",
        peak(&mut command)? / MIB
    ));
    Ok(())
}
