//! Every real data set is read and counted. The folder is named by `MAGNON_DATA`.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::real_data::real_data;
use magnon::data::{
    Dataset, FeatureNorm, Features, LoadConfig, attach_features, attach_labels, load,
    write::write_dataset,
};
use magnon::graph::SelfLoops;

/// Reads without scaling, and with self loops kept.
fn open(path: &str) -> Option<Dataset> {
    let config = LoadConfig {
        self_loops: SelfLoops::Keep,
        feature_norm: FeatureNorm::None,
        ..LoadConfig::default()
    };
    Some(load(&real_data()?.join(path), &config).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// What is counted of a graph.
#[derive(Debug, PartialEq)]
struct Counts {
    nodes: usize,
    entries: usize,
    self_loops: usize,
    two_cycles: usize,
    undirected: usize,
}

fn counts(nodes: usize, entries: usize, self_loops: usize, two: usize, pairs: usize) -> Counts {
    Counts { nodes, entries, self_loops, two_cycles: two, undirected: pairs }
}

fn count(dataset: &Dataset) -> Counts {
    let graph = &dataset.graph;
    let self_loops = graph.iter().filter(|(u, v)| u == v).count();
    let two_cycles = graph.iter().filter(|&(u, v)| u < v && graph.has_edge(v as usize, u)).count();
    assert_eq!(dataset.report.self_loops, self_loops);
    Counts {
        nodes: graph.nodes(),
        entries: graph.edges(),
        self_loops,
        two_cycles,
        undirected: graph.edges() - self_loops - two_cycles,
    }
}

fn width(dataset: &Dataset) -> usize {
    dataset.features.as_ref().map_or(0, Features::cols)
}

/// Entries of the features that are not zero.
fn stored(dataset: &Dataset) -> usize {
    let values = dataset.features.as_ref().map_or(&[][..], Features::values);
    values.iter().filter(|&&value| value != 0.0).count()
}

fn sizes(dataset: &Dataset) -> Vec<usize> {
    dataset.labels.as_ref().map(|labels| labels.sizes()).unwrap_or_default()
}

fn parts(dataset: &Dataset, k: usize) -> [usize; 3] {
    let split = &dataset.splits[k];
    [split.train.len(), split.val.len(), split.test.len()]
}

/// The edges by the names of the nodes, sorted.
fn named_edges(dataset: &Dataset) -> Vec<(String, String)> {
    let names = dataset.node_names.as_ref().unwrap();
    let name = |node: u32| names.name(node as usize).unwrap().into_owned();
    let mut edges: Vec<_> = dataset.graph.iter().map(|(u, v)| (name(u), name(v))).collect();
    edges.sort_unstable();
    edges
}

/// Features as they are in their files.
fn unscaled() -> LoadConfig {
    LoadConfig { feature_norm: FeatureNorm::None, ..LoadConfig::default() }
}

#[test]
fn the_papers_folders() {
    type Row = (&'static str, Counts, usize, &'static [usize], [usize; 3]);
    let rows: [Row; 7] = [
        (
            "corar",
            counts(2680, 10296, 0, 5148, 5148),
            302,
            &[348, 216, 412, 809, 421, 296, 178],
            [133, 266, 2281],
        ),
        (
            "citeseerr",
            counts(3191, 8344, 0, 4172, 4172),
            0,
            &[237, 574, 637, 673, 574, 496],
            [162, 324, 2705],
        ),
        (
            "pubmed",
            counts(19717, 88648, 0, 44324, 44324),
            500,
            &[4103, 7739, 7875],
            [984, 1968, 16765],
        ),
        ("cornell", counts(195, 301, 0, 18, 283), 1703, &[42, 32, 19, 19, 83], [117, 39, 39]),
        ("texas", counts(187, 310, 0, 30, 280), 1703, &[34, 31, 18, 1, 103], [111, 38, 38]),
        ("washington", counts(230, 395, 0, 29, 366), 1703, &[66, 27, 21, 9, 107], [138, 46, 46]),
        ("wisconsin", counts(265, 510, 0, 51, 459), 1703, &[76, 35, 22, 10, 122], [159, 53, 53]),
    ];
    for (name, expected, columns, classes, split) in rows {
        let Some(dataset) = open(name) else { return };
        assert_eq!(dataset.name, name);
        assert_eq!(count(&dataset), expected, "{name}");
        assert_eq!(width(&dataset), columns, "{name}");
        assert_eq!(sizes(&dataset), classes, "{name}");
        assert_eq!(parts(&dataset, 0), split, "{name}");
        assert!(!dataset.graph.is_weighted());
    }
    for (name, entries) in [
        ("cornell", 18496),
        ("texas", 15437),
        ("washington", 19953),
        ("wisconsin", 25479),
        ("pubmed", 988_031),
    ] {
        assert_eq!(stored(&open(name).unwrap()), entries, "{name}");
    }
}

#[test]
fn derived_files() {
    let Some(data) = real_data() else { return };
    for (path, expected) in [
        ("corar/derived/adj_directed.npz", (2680, 5299, 151)),
        ("citeseerr/derived/adj_directed.npz", (3191, 4275, 103)),
        ("pubmed/derived/adj_directed.npz", (19717, 44335, 11)),
    ] {
        let found = count(&open(path).unwrap());
        // The README counts the pairs of unknown direction apart in corar.
        assert_eq!((found.nodes, found.entries), (expected.0, expected.1), "{path}");
        assert_eq!(found.two_cycles, expected.2, "{path}");
    }
    let mut pickled = open("corar").unwrap();
    let before = pickled.features.clone();
    attach_features(&mut pickled, &data.join("corar/derived/features.npy"), &unscaled()).unwrap();
    assert_eq!(pickled.features, before, "features.pkl and features.npy differ");
    for (name, columns, entries) in [("corar", 1433, 48672), ("citeseerr", 3703, 101_206)] {
        let mut dataset = open(&format!("{name}/adj.npz")).unwrap();
        assert_eq!(width(&dataset), 0);
        let folder = data.join(name);
        let bag = folder.join("derived/bow_features.npz");
        attach_features(&mut dataset, &bag, &unscaled()).unwrap();
        assert_eq!((width(&dataset), stored(&dataset)), (columns, entries));
        attach_labels(&mut dataset, &folder.join("labels.csv"), &unscaled()).unwrap();
        assert_eq!(sizes(&dataset), sizes(&open(name).unwrap()));
    }
}

#[test]
fn webkb_text_equals_the_matrices() {
    for (name, lines, loops) in
        [("cornell", 304, 3), ("texas", 328, 18), ("washington", 446, 51), ("wisconsin", 530, 20)]
    {
        let Some(mut text) = open(&format!("{name}/{name}.cites")) else { return };
        let found = count(&text);
        assert_eq!((found.entries, found.self_loops), (lines, loops), "{name}");
        let config = unscaled();
        text = load(&real_data().unwrap().join(name).join(format!("{name}.content")), &config)
            .unwrap();
        let matrix = open(name).unwrap();
        assert_eq!(text.graph, matrix.graph, "{name}");
        assert_eq!(text.features, matrix.features, "{name}");
        let (text, matrix) = (text.labels.unwrap(), matrix.labels.unwrap());
        assert_eq!(text.classes, matrix.classes, "{name}");
        assert_eq!(text.names, ["course", "faculty", "project", "staff", "student"]);
    }
}

#[test]
fn pubmed_citations() {
    let Some(dataset) = open("pubmed/Pubmed-Diabetes.DIRECTED.cites.tab") else { return };
    assert_eq!(count(&dataset), counts(19717, 44338, 3, 11, 44324));
    // Later papers, with larger ids, cite earlier ones.
    let later = dataset.graph.iter().filter(|(u, v)| u > v).count();
    assert_eq!(later, 39719);
    assert_eq!(dataset.name, "Pubmed-Diabetes");
}

#[test]
fn cora_and_citeseer() {
    for (name, expected, columns, classes) in [
        ("linqs/cora.tgz", counts(2708, 5429, 0, 151, 5278), 1433, 7),
        ("linqs/citeseer.tgz", counts(3312, 4715, 124, 55, 4536), 3703, 6),
        ("gnn_benchmark/cora.npz", counts(2708, 5429, 0, 151, 5278), 1433, 7),
        ("gnn_benchmark/citeseer.npz", counts(3312, 4715, 124, 55, 4536), 3703, 6),
        ("cora_ml/cora_ml.npz", counts(2995, 8416, 0, 258, 8158), 2879, 7),
        ("cora_ml", counts(2995, 8416, 0, 258, 8158), 2879, 7),
        ("planetoid/ind.cora", counts(2708, 10556, 0, 5278, 5278), 1433, 7),
    ] {
        let Some(dataset) = open(name) else { return };
        assert_eq!(count(&dataset), expected, "{name}");
        assert_eq!((width(&dataset), sizes(&dataset).len()), (columns, classes), "{name}");
        assert_eq!(sizes(&dataset).iter().sum::<usize>(), expected.nodes, "{name}");
        assert!(!dataset.graph.is_weighted(), "{name}");
    }
    let unknown = open("linqs/citeseer.tgz").unwrap().remarks;
    assert!(unknown.iter().any(|remark| remark.starts_with("17 lines")), "{unknown:?}");
}

#[test]
fn citing_is_the_same_direction_in_all_files() {
    for name in ["cora", "citeseer"] {
        let Some(text) = open(&format!("linqs/{name}.tgz")) else { return };
        let npz = open(&format!("gnn_benchmark/{name}.npz")).unwrap();
        assert_eq!(named_edges(&text), named_edges(&npz), "{name}");
        assert_eq!(stored(&text), stored(&npz), "{name}");
    }
}

#[test]
fn planetoid() {
    let Some(cora) = open("planetoid/ind.cora.allx") else { return };
    assert_eq!(cora.name, "cora");
    assert_eq!(parts(&cora, 0), [140, 500, 1000]);
    // CoRAR is Planetoid's Cora with 28 nodes left out.
    let ids =
        std::fs::read_to_string(real_data().unwrap().join("corar/derived/node_ids.csv")).unwrap();
    let places: Vec<usize> =
        ids.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let corar = open("corar").unwrap();
    let (all, kept) = (cora.labels.unwrap(), corar.labels.unwrap());
    assert!(places.iter().zip(&kept.classes).all(|(&place, class)| all.classes[place] == *class));
    let mut bag = open("corar/adj.npz").unwrap();
    let path = real_data().unwrap().join("corar/derived/bow_features.npz");
    attach_features(&mut bag, &path, &unscaled()).unwrap();
    let (Some(Features::Sparse(bag)), Some(Features::Sparse(whole))) =
        (bag.features, cora.features)
    else {
        panic!("bags of words are sparse")
    };
    assert!(places.iter().enumerate().all(|(row, &place)| bag.row(row) == whole.row(place)));

    let citeseer = open("planetoid/ind.citeseer").unwrap();
    let found = count(&citeseer);
    assert_eq!((found.nodes, found.undirected), (3327, 4552));
    assert_eq!(width(&citeseer), 3703);
    assert_eq!(parts(&citeseer, 0), [120, 500, 1000]);
    let labels = citeseer.labels.unwrap();
    assert_eq!(labels.classes.iter().filter(|class| class.is_none()).count(), 15);
    assert_eq!(labels.names.len(), 6);
}

#[test]
fn geom_gcn() {
    for (name, expected, classes, split) in [
        ("cornell", counts(183, 298, 3, 18, 277), &[33, 1, 18, 101, 30], [87, 59, 37]),
        ("texas", counts(183, 325, 16, 30, 279), &[33, 1, 18, 101, 30], [87, 59, 37]),
        ("wisconsin", counts(251, 515, 16, 49, 450), &[10, 70, 118, 32, 21], [120, 80, 51]),
    ] {
        let Some(dataset) = open(&format!("geom_gcn_{name}")) else { return };
        assert_eq!(count(&dataset), expected, "{name}");
        assert_eq!(width(&dataset), 1703);
        assert_eq!(sizes(&dataset), classes, "{name}");
        assert_eq!(dataset.splits.len(), 10);
        for k in 0..10 {
            assert_eq!(parts(&dataset, k), split, "{name}");
        }
    }
}

/// Pages of Texas are matched by their features where these are unique; then the edges between
/// matched pages must run the same way in both sources.
#[test]
fn geom_gcn_runs_as_the_hyperlinks() {
    for (name, least) in [("texas", 250), ("wisconsin", 450)] {
        let Some(geom) = open(&format!("geom_gcn_{name}")) else { return };
        let text = open(&format!("{name}/{name}.content")).unwrap();
        let rows = |dataset: &Dataset| -> Vec<Vec<u32>> {
            let Some(Features::Sparse(matrix)) = &dataset.features else { panic!("sparse") };
            (0..matrix.rows()).map(|row| matrix.row(row).0.to_vec()).collect()
        };
        let (from, to) = (rows(&geom), rows(&text));
        let place = |row: &Vec<u32>| {
            let mut found = to.iter().enumerate().filter(|(_, other)| *other == row);
            let own = from.iter().filter(|other| *other == row).count();
            found.next().filter(|_| own == 1 && found.next().is_none()).map(|(node, _)| node)
        };
        let places: Vec<Option<usize>> = from.iter().map(place).collect();
        let (mut same, mut other) = (0, 0);
        for (u, v) in geom.graph.iter() {
            if let (Some(u), Some(v)) = (places[u as usize], places[v as usize]) {
                if text.graph.has_edge(u, v as u32) { same += 1 } else { other += 1 }
            }
        }
        assert!(same >= least && other == 0, "{name}: {same} the same, {other} not");
    }
}

#[test]
fn squirrel() {
    let Some(folder) = open("geom_gcn_squirrel") else { return };
    assert_eq!(folder.name, "squirrel_directed");
    assert_eq!(count(&folder), counts(5201, 217_073, 140, 18580, 198_353));
    assert_eq!((width(&folder), stored(&folder)), (2089, 93477));
    assert_eq!(sizes(&folder), [1042, 1040, 1039, 1040, 1040]);
    assert_eq!(folder.splits.len(), 10);
    assert_eq!(parts(&folder, 9), [2496, 1664, 1041]);
    let text = open("geom_gcn_squirrel/out1_graph_edges.txt").unwrap();
    assert_eq!(text.graph, folder.graph);
    for (a, b) in text.splits.iter().zip(&folder.splits) {
        assert_eq!(a.train, b.train);
    }
    let filtered = open("geom_gcn_squirrel/squirrel_filtered_directed.npz").unwrap();
    assert_eq!(count(&filtered), counts(2223, 65718, 140, 18580, 46998));
    assert_eq!(sizes(&filtered), [756, 516, 397, 321, 233]);
    assert_eq!(width(&filtered), 2089);
}

#[test]
fn weighted_graphs() {
    for (name, expected, weights) in [
        ("pygsd/blog.npz", counts(1222, 19024, 3, 2307, 16714), 1.0..=2.0),
        ("pygsd/migration.npz", counts(3075, 721_432, 0, 175_550, 545_882), 0.0006..=1.0),
        ("pygsd/bitcoin_alpha.csv", counts(3783, 24186, 0, 10062, 14124), -10.0..=10.0),
        ("pygsd/bitcoin_otc.csv", counts(5881, 35592, 0, 14100, 21492), -10.0..=10.0),
    ] {
        let Some(dataset) = open(name) else { return };
        assert_eq!(count(&dataset), expected, "{name}");
        assert!(dataset.graph.is_weighted(), "{name}");
        let graph = &dataset.graph;
        let mut all = (0..graph.nodes()).flat_map(|node| graph.weights(node).unwrap());
        assert!(all.all(|weight| weights.contains(weight)), "{name}");
        assert_eq!(dataset.node_names, None, "{name}");
    }
}

#[test]
fn large_graphs() {
    for (name, expected, gaps) in [
        ("large/wiki-Vote.txt", counts(7115, 103_689, 0, 2927, 100_762), true),
        ("large/p2p-Gnutella31.txt", counts(62586, 147_892, 0, 0, 147_892), false),
        ("large/soc-Epinions1.txt.zip", counts(75879, 508_837, 0, 103_097, 405_740), true),
        (
            "large/cnr-2000.graph-txt.gz",
            counts(325_557, 3_216_152, 87442, 389_741, 2_738_969),
            false,
        ),
    ] {
        let Some(dataset) = open(name) else { return };
        assert_eq!(count(&dataset), expected, "{name}");
        assert_eq!(dataset.node_names.is_some(), gaps, "{name}");
    }
    let names = open("large/wiki-Vote.txt").unwrap().node_names.unwrap();
    assert_eq!(names.name(0).as_deref(), Some("3"));
    assert_eq!(names.name(7114).as_deref(), Some("8297"));
}

#[test]
fn folders_of_many_list_them() {
    let Some(data) = real_data() else { return };
    for (folder, names) in [
        ("linqs", &["citeseer.tgz", "cora.tgz"][..]),
        ("planetoid", &["ind.citeseer", "ind.cora"]),
        ("pygsd", &["blog.npz", "bitcoin_otc.csv"]),
        ("large", &["wiki-Vote.txt", "cnr-2000.graph-txt", "soc-Epinions1.txt.zip"]),
    ] {
        let error = load(&data.join(folder), &LoadConfig::default()).unwrap_err().to_string();
        assert!(error.contains("several data sets"), "{error}");
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
    }
}

#[test]
fn what_is_written_is_read_again() {
    for name in ["cornell", "corar", "pygsd/blog.npz", "planetoid/ind.citeseer"] {
        let Some(before) = open(name) else { return };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inner/out");
        write_dataset(&path, &before).unwrap();
        let config = LoadConfig {
            self_loops: SelfLoops::Keep,
            feature_norm: FeatureNorm::None,
            ..LoadConfig::default()
        };
        let after = load(&path, &config).unwrap();
        assert_eq!(after.graph, before.graph, "{name}");
        assert_eq!(after.features, before.features, "{name}");
        assert_eq!(after.splits, before.splits, "{name}");
        let classes = |dataset: &Dataset| dataset.labels.as_ref().map(|l| l.classes.clone());
        assert_eq!(classes(&after), classes(&before), "{name}");
    }
}
