//! What is fuzzed: every reader of data sets, run folders, and the way from a graph to filtered features.
//!
//! `TARGETS` is the table of the targets. A reader is added with one line that names its fixtures in
//! `crates/magnon/tests/data_fixtures`; they are its seeds, and say which files a data set is made of.

mod bundle;
mod features;
#[path = "../../crates/magnon/tests/data_fixtures/mod.rs"]
mod fixtures;
mod packed_graph;
mod reader;
mod run;
mod scratch;
mod shaped;

/// Inputs that a target starts from.
type Seeds = Vec<Vec<u8>>;

/// What is done with an input.
type Test = Box<dyn Fn(&[u8]) + Send + Sync>;

/// One line of the table.
struct Line {
    name: &'static str,
    kind: Kind,
}

enum Kind {
    /// A reader, by the first file of its fixtures. The arrays of an `.npz` are inputs of their own, packed
    /// again before they are read: changed bytes of the archive itself would fail its checksum.
    Reader(&'static [&'static str]),
    /// Packed files, whose packing is fuzzed as it is.
    Packed(&'static [&'static str]),
    /// Something else: its seeds, and its test.
    Other(fn() -> Seeds, fn() -> Test),
}
use Kind::{Other, Packed, Reader};

const fn line(name: &'static str, kind: Kind) -> Line {
    Line { name, kind }
}

const TARGETS: &[Line] = &[
    line("authors", Reader(&["adj.npz"])),
    line("ogb", Reader(&["raw/edge.csv.gz"])),
    line("planetoid", Reader(&["ind.tiny.x"])),
    line("linqs", Reader(&["x.content"])),
    line("heterophilous", Reader(&["h.npz"])),
    line("gnn_benchmark", Reader(&["b.npz"])),
    line("geom_gcn", Reader(&["out1_graph_edges.txt"])),
    line("scipy_npz", Reader(&["g.npz", "c.npz", "o.npz", "a.npz"])),
    line("npy_graph", Reader(&["d.npy", "p.npy", "r.npy"])),
    line("matrix_market", Reader(&["m.mtx"])),
    line("cites_tab", Reader(&["p.cites.tab"])),
    line("adjacency_list", Reader(&["w.graph-txt"])),
    line("edge_list", Reader(&["e.csv", "n.tsv", "e.txt"])),
    line("tables", Reader(&["edges.csv"])),
    line("graphml", Reader(&["k.graphml"])),
    line("gexf", Reader(&["k.gexf"])),
    line("gml", Reader(&["k.gml"])),
    line("node_link", Reader(&["k.json"])),
    line("adjlist", Reader(&["k.adjlist"])),
    line("torch", Packed(&["k.pt"])),
    line("packed_graph", Packed(&["g.magnon"])),
    line("packed_graph_shaped", Other(packed_graph::seeds, packed_graph::test)),
    line("packed", Packed(&["e.csv.zst", "z.zip", "t.tar", "t.tgz", "raw/edge.csv.gz", "g.npz"])),
    line("matrix_market_shaped", Other(shaped::seeds, shaped::matrix_market)),
    line("adjacency_list_shaped", Other(shaped::seeds, shaped::adjacency_list)),
    line("run", Other(run::seeds, run::test)),
    line("features", Other(shaped::seeds, features::test)),
];

/// A target that is ready to run.
pub struct Target {
    test: Test,
}

impl Target {
    /// The target that the environment names.
    pub fn chosen() -> Self {
        Self::named(&std::env::var("MAGNON_FUZZ").unwrap_or_default())
    }

    /// The target of that name.
    pub fn named(name: &str) -> Self {
        let Some(line) = TARGETS.iter().find(|line| line.name == name) else {
            panic!("MAGNON_FUZZ must name a target: {}", names().join(", "));
        };
        let test = match line.kind {
            Reader(first) => reader::test(first, true),
            Packed(first) => reader::test(first, false),
            Other(_, test) => test(),
        };
        Self { test }
    }

    /// Runs one input; a find is a panic, or whatever the sanitizer sees.
    pub fn run(&self, input: &[u8]) {
        (self.test)(input);
    }
}

/// The names of all targets.
pub fn names() -> Vec<&'static str> {
    TARGETS.iter().map(|line| line.name).collect()
}

/// The seeds of all targets, by name.
pub fn seeds() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let named = TARGETS.iter().flat_map(|line| match line.kind {
        Reader(first) | Packed(first) => first,
        Other(..) => &[],
    });
    reader::refuse_strays(&named.copied().collect::<Vec<_>>());
    let seeds = |line: &Line| match line.kind {
        Reader(first) => reader::seeds(first, true),
        Packed(first) => reader::seeds(first, false),
        Other(seeds, _) => seeds(),
    };
    TARGETS.iter().map(|line| (line.name, seeds(line))).collect()
}
