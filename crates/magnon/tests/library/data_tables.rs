//! People's own tables: edges with columns, features and labels joined by id.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use magnon::data::{Dataset, ExtraIds, FeatureNorm, Features, LoadConfig, NodeNames, load};
use tempfile::TempDir;

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read_with(files: &[(&str, &str)], config: &LoadConfig) -> Result<Dataset, String> {
    load(folder(files).path(), config).map_err(|error| error.to_string())
}

/// Reads a folder with its features as they are.
fn read(files: &[(&str, &str)]) -> Result<Dataset, String> {
    read_with(files, &LoadConfig { feature_norm: FeatureNorm::None, ..LoadConfig::default() })
}

/// The features of the node of that name.
fn row(dataset: &Dataset, name: &str) -> Vec<f32> {
    let node = (0..dataset.graph.nodes()).find(|&node| dataset.node_name(node) == name).unwrap();
    match dataset.features.as_ref().unwrap() {
        Features::Dense(matrix) => matrix.row(node).to_vec(),
        Features::Sparse(_) => panic!("a table is dense"),
    }
}

/// The label of the node of that name.
fn label<'a>(dataset: &'a Dataset, name: &str) -> Option<&'a str> {
    let labels = dataset.labels.as_ref().unwrap();
    let node = (0..dataset.graph.nodes()).find(|&node| dataset.node_name(node) == name).unwrap();
    labels.classes[node].map(|class| labels.names[class as usize].as_str())
}

fn remarked(dataset: &Dataset, words: &str) -> bool {
    dataset.remarks.iter().any(|remark| remark.contains(words))
}

const PAYMENTS: &str = "timestamp,sender,receiver,amount\n1217567877,anna,ben,12.5\n\
                        1217567878,ben,carl,3\n1217567879,carl,anna,7.25\n";

#[test]
fn tables_are_joined_by_id_in_any_order() {
    let dataset = read(&[
        ("edges.csv", PAYMENTS),
        ("features.tsv", "id\tage\tscore\ncarl\t40.5\t-1\nanna\t20\t2\nben\t30\t3\n"),
        ("labels.csv", "node,label\nben,?\ncarl,y\nanna,x\n"),
        ("readme.txt", "text"),
        ("spare.bin", "bytes"),
    ])
    .unwrap();
    assert_eq!(dataset.graph.edges(), 3);
    assert_eq!(dataset.graph.weights(0), Some(&[12.5][..]));
    let first = dataset.reading.first_edge.as_ref().unwrap();
    assert_eq!((first.source.as_str(), first.target.as_str()), ("anna", "ben"));
    assert_eq!(row(&dataset, "anna"), [20.0, 2.0]);
    assert_eq!(row(&dataset, "ben"), [30.0, 3.0]);
    assert_eq!(row(&dataset, "carl"), [40.5, -1.0]);
    assert_eq!((label(&dataset, "anna"), label(&dataset, "ben")), (Some("x"), None));
    assert_eq!(label(&dataset, "carl"), Some("y"));
    assert!(remarked(&dataset, "1 of 3 nodes have no label"));
    assert!(remarked(&dataset, "not used: spare.bin"));
}

#[test]
fn numbers_as_ids_with_gaps() {
    let edges = "from,to\n10,30\n30,20\n20,10\n";
    for features in [
        "node_id,x,y\n30,3,0.5\n10,1,0.5\n20,2,0.5\n",
        ",x,y\n30,3,0.5\n10,1,0.5\n20,2,0.5\n",
        "x,y,id\n3,0.5,30\n1,0.5,10\n2,0.5,20\n",
    ] {
        let dataset = read(&[("edges.csv", edges), ("features.csv", features)]).unwrap();
        for (name, x) in [("10", 1.0), ("20", 2.0), ("30", 3.0)] {
            assert_eq!(row(&dataset, name), [x, 0.5], "{features}");
        }
    }
    // Labels need no header: of two columns, the one with the ids is clear.
    let dataset = read(&[("edges.csv", edges), ("labels.csv", "30,b\n20,a\n10,-1\n")]).unwrap();
    assert_eq!(label(&dataset, "30"), Some("b"));
    let dataset = read(&[("edges.csv", edges), ("labels.csv", "30,2\n20,0\n10,1\n")]).unwrap();
    assert_eq!(label(&dataset, "20"), Some("0"));
}

#[test]
fn nodes_without_edges_come_from_the_table() {
    let edges = ("edges.csv", "source,target\na,b\nb,c\n");
    let table =
        ("nodes.csv", "id,x,label,split\na,1.5,u,train\nb,2,v,val\nc,3,u,test\nd,4,v,train\n");
    let dataset = read(&[edges, table]).unwrap();
    assert_eq!(dataset.graph.nodes(), 4);
    assert_eq!((row(&dataset, "d"), label(&dataset, "d")), (vec![4.0], Some("v")));
    assert!(remarked(&dataset, "1 of 4 ids have no edge and were added as nodes: d"));
    assert_eq!(dataset.splits[0].train, [0, 3]);
    assert_eq!((&dataset.splits[0].val[..], &dataset.splits[0].test[..]), (&[1][..], &[2][..]));
    let drop = LoadConfig { extra_ids: ExtraIds::Drop, ..LoadConfig::default() };
    assert_eq!(read_with(&[edges, table], &drop).unwrap().graph.nodes(), 3);
    // Nodes 0, 1, 2 go on with 3; 7 gives all of them names.
    let plain = ("edges.csv", "0 1\n1 2\n");
    let next = read(&[plain, ("features.csv", "id,x\n0,5\n1,6\n2,7\n3,8\n")]).unwrap();
    assert_eq!((next.graph.nodes(), next.node_names), (4, None));
    let gap = read(&[plain, ("features.csv", "id,x\n0,5\n1,6\n2,7\n7,8\n")]).unwrap();
    assert_eq!(gap.node_names, Some(NodeNames::Numbers(vec![0, 1, 2, 7])));
}

#[test]
fn tables_that_do_not_fit_are_refused() {
    let edges = ("edges.csv", "source,target\na,b\nb,c\nc,d\n");
    for (table, words) in [
        (("features.csv", "id,x\na,1\n"), "3 of 4 nodes of the graph have no row here"),
        (("features.csv", "id,x\nu,1\nv,2\n"), "none of its 2 ids is a node of the graph"),
        (("features.csv", "id,x\na,1\nu,1\nv,2\n"), "--extra-ids add"),
        (("features.csv", "id,x\na,1\nb,2\na,3\n"), "the id 'a' is there twice, in rows 1 and 3"),
        (("features.csv", "id,x\na,1\nb,2\nc,\nd,4\n"), "features.csv, line 4: x: a finite number"),
        (("features.csv", "id,x\na,1\nb,2\nc,three\nd,4\n"), "line 4: the feature 'x' is 'three'"),
        (("features.csv", "id,x\na,1\nb,2,3\n"), "line 3: ragged"),
        (("labels.csv", "id,colour,shape\na,1,2\nb,2,2\n"), "--label-column COLUMN"),
    ] {
        let answer = read(&[edges, table]);
        match answer {
            Err(error) => assert!(error.contains(words), "{error}"),
            Ok(dataset) => panic!("{words}: {:?}", dataset.remarks),
        }
    }
    let numbers = ("edges.csv", "0,1\n1,2\n2,0\n");
    let unclear = ("features.csv", "0,5.5\n1,2.5\n2,3.5\n");
    let error = read(&[numbers, unclear]).unwrap_err();
    assert!(error.contains("--id-column 1 or --id-column none"), "{error}");
    let width = |column: &str| {
        let mut config = LoadConfig::default();
        config.columns.id = Some(column.to_owned());
        read_with(&[numbers, unclear], &config).unwrap().features.unwrap().cols()
    };
    assert_eq!((width("1"), width("none")), (1, 2));
}

#[test]
fn columns_can_be_named() {
    let files = [("edges.csv", "day,buyer,shop,price,tax\n1,u,v,2.5,9\n2,v,w,0.5,9\n")];
    assert!(read(&files).unwrap_err().contains("--source COLUMN and --target COLUMN"));
    let mut config = LoadConfig::default();
    config.columns.source = Some("Buyer".to_owned());
    config.columns.target = Some("3".to_owned());
    let dataset = read_with(&files, &config).unwrap();
    assert!(!dataset.graph.is_weighted());
    assert!(remarked(&dataset, "not used: day, price, tax"));
    config.columns.weight = Some("price".to_owned());
    let dataset = read_with(&files, &config).unwrap();
    assert_eq!(dataset.graph.all_weights(), Some(&[2.5, 0.5][..]));
    let roles: Vec<&str> = dataset.reading.columns.iter().map(|c| c.role.as_str()).collect();
    assert_eq!(roles, ["not used", "source", "target", "weight", "not used"]);
}

#[test]
fn a_label_is_never_a_feature() {
    let edges = ("edges.csv", "a,b\nb,c\nc,a\n");
    let features = ("features.csv", "id,x,class\na,1.5,0\nb,2.5,1\nc,3.5,0\n");
    let dataset = read(&[edges, features]).unwrap();
    assert_eq!(dataset.features.as_ref().unwrap().cols(), 1);
    assert_eq!(label(&dataset, "b"), Some("1"));
    let labels = ("labels.csv", "id,class\na,u\nb,v\nc,unknown\n");
    let config = LoadConfig { missing: vec!["unknown".to_owned()], ..LoadConfig::default() };
    let dataset = read_with(&[edges, features, labels], &config).unwrap();
    assert_eq!(dataset.features.as_ref().unwrap().cols(), 1);
    assert_eq!((label(&dataset, "a"), label(&dataset, "c")), (Some("u"), None));
}
