//! A system that refuses memory: each large request in turn fails, and an error says so, with the figure.
//!
//! A refusal that is not an error ends the process, so each is tried in a process of its own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod data_fixtures;
mod failing;

use data_fixtures::{Files, f4, i4, npy, write, zip};
use magnon::data::{Features, LoadConfig, load};
use magnon::filter::{Filter, propagate};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use std::path::Path;
use std::process::Command;

const NODES: usize = 40_000;
/// Which case a child runs, and how many large requests it grants.
const CHILD: &str = "MAGNON_REFUSE";
/// What it reads.
const FILES: &str = "MAGNON_REFUSE_FILES";

/// What a child says where nothing was refused.
const WHOLE: i32 = 10;
/// What it says where something was refused, and an error came of it.
const ERROR: i32 = 11;
/// What it says where something was refused, and did without.
const SPARED: i32 = 12;

/// The edges of a ring with chords, as text.
fn lines(edge: impl Fn(usize, usize) -> String) -> Vec<u8> {
    let edges = (0..NODES).flat_map(|u| [(u, (u + 1) % NODES), (u, (7 * u + 3) % NODES)]);
    edges.map(|(u, v)| edge(u, v)).collect::<String>().into_bytes()
}

fn per_node(line: impl Fn(usize) -> String) -> Vec<u8> {
    (0..NODES).map(line).collect::<String>().into_bytes()
}

fn ring(prefix: &str) -> Vec<(String, Vec<u8>)> {
    let targets: Vec<i32> = (1..=NODES as i32).map(|u| u % NODES as i32).collect();
    let starts: Vec<i32> = (0..=NODES as i32).collect();
    let name = |member: &str| format!("{prefix}{member}.npy");
    vec![
        (name("indices"), i4(&targets)),
        (name("indptr"), i4(&starts)),
        (name("format"), npy("|S3", "()", b"csr")),
        (name("shape"), i4(&[NODES as i32; 2])),
        (name("data"), f4(&vec![2.0; NODES], &format!("({NODES},)"))),
    ]
}

fn packed(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    zip(&members.iter().map(|(name, bytes)| (&name[..], bytes.clone())).collect::<Vec<_>>())
}

/// The data sets, one of each kind of file.
const SETS: [&str; 17] = [
    "edges",
    "weighted",
    "far ids",
    "names",
    "market",
    "successors",
    "cites",
    "scipy",
    "array",
    "heterophilous",
    "benchmark",
    "authors",
    "table",
    "joined",
    "linqs",
    "geom",
    "ogb",
];

fn features() -> Vec<u8> {
    f4(&vec![0.5; 2 * NODES], &format!("({NODES}, 2)"))
}

fn labels() -> Vec<u8> {
    npy("|u1", &format!("({NODES},)"), &vec![1; NODES])
}

fn pairs() -> Vec<u8> {
    let numbers = (0..NODES as i32).flat_map(|u| [u, (u + 1) % NODES as i32]);
    let bytes: Vec<u8> = numbers.flat_map(i32::to_le_bytes).collect();
    npy("<i4", &format!("({NODES}, 2)"), &bytes)
}

fn market() -> Vec<u8> {
    let head = "%%MatrixMarket matrix coordinate real general";
    let head = format!("{head}\n{NODES} {NODES} {}\n", 2 * NODES).into_bytes();
    [head, lines(|u, v| format!("{} {} 2\n", u + 1, v + 1))].concat()
}

fn successors() -> Vec<u8> {
    let line = |u: usize| format!("{} {}\n", (u + 1) % NODES, (7 * u + 3) % NODES);
    [format!("{NODES}\n").into_bytes(), per_node(line)].concat()
}

fn cites() -> Vec<u8> {
    let head = b"DIRECTED\tcites\nNO\n".to_vec();
    [head, lines(|u, v| format!("1\tpaper:{u}\t|\tpaper:{v}\n"))].concat()
}

fn heterophilous() -> Vec<u8> {
    zip(&[("edges.npy", pairs()), ("node_labels.npy", labels()), ("node_features.npy", features())])
}

/// What is loaded, and the files of it.
fn set(name: &str) -> (&'static str, Files) {
    let number = |u: usize| format!("{}\n", u % 3);
    match name {
        "edges" => ("e.csv", vec![("e.csv", lines(|u, v| format!("{u},{v}\n")))]),
        "weighted" => ("e.csv", vec![("e.csv", lines(|u, v| format!("{u},{v},0.5\n")))]),
        "far ids" => ("e.csv", vec![("e.csv", lines(|u, v| format!("{u}0007,{v}0007\n")))]),
        "names" => ("n.tsv", vec![("n.tsv", lines(|u, v| format!("a{u}\tb{v}\n")))]),
        "market" => ("m.mtx", vec![("m.mtx", market())]),
        "successors" => ("w.graph-txt", vec![("w.graph-txt", successors())]),
        "cites" => ("p.cites.tab", vec![("p.cites.tab", cites())]),
        "scipy" => ("g.npz", vec![("g.npz", packed(&ring("")))]),
        "array" => ("p.npy", vec![("p.npy", pairs())]),
        "heterophilous" => ("h.npz", vec![("h.npz", heterophilous())]),
        "benchmark" => {
            let members = [ring("adj_"), vec![("labels.npy".to_owned(), labels())]].concat();
            ("b.npz", vec![("b.npz", packed(&members))])
        }
        "authors" => {
            let files = vec![
                ("adj.npz", packed(&ring(""))),
                ("features.npy", features()),
                ("labels.csv", per_node(number)),
                ("idx_train.csv", per_node(|u| format!("{u}\n"))),
            ];
            ("", files)
        }
        "table" => {
            let table = per_node(|u| format!("{u}.25,0.5\n"));
            ("", vec![("adj.npz", packed(&ring(""))), ("features.csv", table)])
        }
        "joined" => {
            let head = |names: &str, rows| [format!("{names}\n").into_bytes(), rows].concat();
            let files = vec![
                ("edges.csv", lines(|u, v| format!("a{u},a{v}\n"))),
                ("features.csv", head("id,x", per_node(|u| format!("a{u},{u}.5\n")))),
                ("labels.csv", head("id,label", per_node(|u| format!("a{u},c{}\n", u % 3)))),
            ];
            ("", files)
        }
        "linqs" => {
            let content = per_node(|u| format!("p{u}\t0\t1\tc{}\n", u % 3));
            ("", vec![("x.content", content), ("x.cites", lines(|u, v| format!("p{u}\tp{v}\n")))])
        }
        "geom" => {
            let nodes = per_node(|u| format!("{u}\t0,1\t{}\n", u % 3));
            let edges = lines(|u, v| format!("{u}\t{v}\n"));
            ("", vec![("out1_graph_edges.txt", edges), ("out1_node_feature_label.txt", nodes)])
        }
        "ogb" => {
            let files = vec![
                ("raw/edge.csv", lines(|u, v| format!("{u},{v}\n"))),
                ("raw/num-node-list.csv", format!("{NODES}\n").into_bytes()),
                ("raw/node-feat.csv", per_node(|_| "0.5\n".to_owned())),
                ("raw/node-label.csv", per_node(number)),
            ];
            ("", files)
        }
        other => panic!("{other}"),
    }
}

/// What a child does: it says with its exit code what came of it.
fn child(case: &str, granted: usize, data: &Path) -> ! {
    let outcome = match case {
        "operator" | "propagate" => filtered(data, case == "propagate", granted),
        _ => {
            failing::arm(granted);
            load(data, &LoadConfig::default()).map(|_| ()).map_err(|error| error.to_string())
        }
    };
    let refused = failing::disarm();
    eprintln!("{outcome:?}");
    std::process::exit(match outcome {
        Ok(()) if refused => SPARED,
        Ok(()) => WHOLE,
        Err(_) => ERROR,
    });
}

/// From data to an operator, or on to filtered features.
fn filtered(data: &Path, propagates: bool, granted: usize) -> Result<(), String> {
    let graph = load(data, &LoadConfig::default()).unwrap().graph;
    let features = Features::Dense(Matrix::zeros(NODES, 4));
    let charge = Charge::fraction(1, 3).unwrap();
    let config = OperatorConfig { charge, ..Default::default() };
    failing::arm(if propagates { usize::MAX } else { granted });
    let operator = MagneticOperator::new(&graph, &config).map_err(|error| error.to_string())?;
    let filter = Filter::linear_rank(2).unwrap();
    failing::arm(if propagates { granted } else { usize::MAX });
    let filtered = propagate(&operator, &filter, &features, &());
    filtered.map(|_| ()).map_err(|error| error.to_string())
}

/// Refuses the large requests of a case in turn, as many as `most`, and gives what went wrong.
fn refuse_each(case: &str, set_name: &str, most: usize) -> Vec<String> {
    let (data, files) = set(set_name);
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    let mut wrong = Vec::new();
    for granted in 0..most {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "every_refusal_is_an_error", "--nocapture"])
            .env(CHILD, format!("{case}:{granted}"))
            .env(FILES, folder.path().join(data))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(WHOLE) => return wrong,
            Some(SPARED) => (),
            Some(ERROR) if said.contains("out of memory") && said.contains("bytes") => (),
            code => wrong.push(format!("{case}, request {granted}: {code:?} {said}")),
        }
    }
    wrong
}

#[test]
fn every_refusal_is_an_error() {
    if let Ok(told) = std::env::var(CHILD) {
        let (case, granted) = told.split_once(':').unwrap();
        child(case, granted.parse().unwrap(), Path::new(&std::env::var_os(FILES).unwrap()));
    }
    // These ask for all that they need at once, before they begin.
    let whole = [("operator", "weighted", 1), ("propagate", "weighted", 1)];
    let cases = SETS.iter().map(|&name| (name, name, usize::MAX)).chain(whole);
    let wrong: Vec<_> = cases.flat_map(|(case, set, most)| refuse_each(case, set, most)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sets_are_whole() {
    for name in SETS {
        let (data, files) = set(name);
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &files);
        let dataset = load(&folder.path().join(data), &LoadConfig::default());
        assert!(dataset.unwrap_or_else(|e| panic!("{name}: {e}")).graph.nodes() >= NODES, "{name}");
    }
}
