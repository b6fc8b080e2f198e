//! Reading edge lists.

use crate::Places;
use crate::table::{Table, Times, time};
use crate::worker::Worker;
use anyhow::ensure;
use magnon::data::{LoadConfig, load};
use magnon::graph::SelfLoops;
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// File, separator and comment mark, as pandas wants to be told.
const FILES: [(&str, &str, Option<&str>); 3] = [
    ("wiki-Vote.txt", "\t", Some("#")),
    ("p2p-Gnutella31.txt", ",", None),
    ("soc-Epinions1.txt.zip", "\t", Some("#")),
];

pub fn measure(places: &Places) -> anyhow::Result<()> {
    let mut peers = Worker::start(places)?;
    let mut table = Table::default();
    let rounds = places.size(21, 1);
    let pandas_is_there = places.has("pandas")?;
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    let config = LoadConfig::default();
    for (name, sep, comment) in FILES.into_iter().take(places.size(FILES.len(), 1)) {
        let path = places.data()?.join("large").join(name);
        let request =
            json!({ "task": "pandas_edges", "path": path, "sep": sep, "comment": comment });
        let [mut ours1, mut ours2, mut pandas]: [Times; 3] = Default::default();
        for _ in 0..rounds {
            let (seconds, loaded) = time(|| one.install(|| load(&path, &config)));
            loaded?;
            ours1.push(seconds);
            if pandas_is_there {
                pandas.push(peers.seconds(&request)?);
            }
            let (seconds, loaded) = time(|| two.install(|| load(&path, &config)));
            loaded?;
            ours2.push(seconds);
        }
        table.row(&format!("{name}, 1 thread"), "pandas C reader", &ours1, &pandas);
        table.row(&format!("{name}, 2 threads"), "pandas C reader", &ours2, &pandas);
    }
    table.note(format!(
        "From the page cache to a finished graph (ids compacted, rows sorted) on our side, to a data \
         frame on pandas'. Medians of {rounds} interleaved rounds."
    ));
    table.end();
    peers.quit()
}

/// Edges of the large files, and the nodes that they are drawn from.
fn large_size(places: &Places) -> (usize, u64) {
    places.size((5_000_000, 800_000), (5_000, 800))
}

/// Whole graphs of five million edges, with numbers and with names for nodes.
pub fn measure_large(places: &Places) -> anyhow::Result<()> {
    let mut peers = Worker::start(places)?;
    let mut table = Table::default();
    let rounds = places.size(7, 1);
    let (edges, nodes) = large_size(places);
    let [ensmallen_is_there, pandas_is_there] = [places.has("ensmallen")?, places.has("pandas")?];
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (one, two) = (pool(1)?, pool(2)?);
    // ensmallen keeps edges from a node to itself.
    let config = LoadConfig { self_loops: SelfLoops::Keep, ..LoadConfig::default() };
    for (what, prefix) in [("whole numbers", ""), ("names", "user_")] {
        let path = write_edges(places, prefix)?;
        let ensmallen =
            json!({ "task": "ensmallen_edges", "path": path, "numeric": prefix.is_empty() });
        let pandas = json!({ "task": "pandas_edges", "path": path, "sep": "\t" });
        let [mut ours1, mut ours2, mut theirs, mut frames]: [Times; 4] = Default::default();
        for _ in 0..rounds {
            let (seconds, loaded) = time(|| two.install(|| load(&path, &config)));
            ours2.push(seconds);
            let graph = loaded?.graph;
            if ensmallen_is_there {
                let answer = peers.ask(&ensmallen)?;
                theirs.push(answer["seconds"].as_f64().unwrap_or(f64::NAN));
                let (nodes, edges) = (&answer["nodes"], &answer["edges"]);
                ensure!(
                    nodes == graph.nodes() && edges == graph.edges(),
                    "{what}: {} nodes and {} edges here, {nodes} and {edges} there",
                    graph.nodes(),
                    graph.edges()
                );
            }
            if pandas_is_there {
                frames.push(peers.seconds(&pandas)?);
            }
            let (seconds, loaded) = time(|| one.install(|| load(&path, &config)));
            loaded?;
            ours1.push(seconds);
        }
        let task = |threads| format!("{edges} edges, {what}, {threads}");
        table.row(&task("2 threads"), "ensmallen, 2 threads", &ours2, &theirs);
        table.row(&task("1 thread"), "ensmallen, 2 threads", &ours1, &theirs);
        table.row(&task("2 threads"), "pandas C reader, to a data frame", &ours2, &frames);
    }
    table.note(format!(
        "Edges between nodes drawn at random from {nodes}, separated by tabs; names are user_ and a number. From the page \
         cache to a finished graph on both sides. Medians of {rounds} interleaved rounds."
    ));
    table.end();
    peers.quit()
}

/// Writes the edges, each end with a prefix before its number.
fn write_edges(places: &Places, prefix: &str) -> anyhow::Result<PathBuf> {
    let path =
        places.work.join(format!("edges{}.tsv", if prefix.is_empty() { "" } else { "-named" }));
    let mut file = BufWriter::new(File::create(&path)?);
    let (edges, nodes) = large_size(places);
    // A generator that is written down in one line: the steps of splitmix64.
    let mut state = 11u64;
    let mut node = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % nodes
    };
    for _ in 0..edges {
        writeln!(file, "{prefix}{}\t{prefix}{}", node(), node())?;
    }
    file.flush()?;
    Ok(path)
}
