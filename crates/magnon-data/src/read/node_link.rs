//! Node-link JSON: what `networkx.node_link_data` gives, and what d3 draws.

use super::ends_early;
use super::graphml::is_weight;
use super::named_graph::NamedGraph;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, LoadConfig};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A file that was named, or one in a folder that starts like node-link data: other things are JSON, too.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some();
    let starts = |name: &str| {
        let start = store.start(name);
        let has = |key: &[u8]| start.windows(key.len()).any(|part| part == key);
        has(b"\"directed\"") || has(b"\"nodes\"")
    };
    let fits = |name: &&str| name.ends_with(".json") && (named || starts(name));
    store.candidates().filter(fits).map(str::to_owned).collect()
}

/// The file. What is not named here is passed over.
#[derive(Deserialize)]
struct File {
    directed: Option<bool>,
    nodes: Vec<Map<String, Value>>,
    #[serde(alias = "edges")]
    links: Vec<Map<String, Value>>,
}

/// Reads the graph.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    parse(&store.read(name)?, store.label(name), config)
}

fn parse(bytes: &[u8], label: String, config: &LoadConfig) -> Result<Raw, DataError> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| {
        if error.is_eof() {
            return ends_early(bytes, &label, "the JSON is not complete");
        }
        let problem = format!(
            "not node-link JSON, which has \"nodes\" and \"links\" (or \"edges\"): {error}; write it \
             with networkx.node_link_data"
        );
        DataError::format(&label, problem)
    })?;
    let mut graph = NamedGraph::new(label.clone(), bytes.len());
    let key = ["id", "name", "key"].into_iter().find(|key| {
        !file.nodes.is_empty() && file.nodes.iter().all(|node| node.contains_key(*key))
    });
    for (row, node) in file.nodes.iter().enumerate() {
        let id = key.and_then(|key| node.get(key)).and_then(text);
        let number = graph.node(id.unwrap_or_else(|| row.to_string()))?;
        if number as usize != row {
            return Err(
                graph.error(format!("the node {row} (counted from 0) has the id of another"))
            );
        }
        for (name, value) in node.iter().filter(|(name, _)| Some(name.as_str()) != key) {
            match value {
                // A list of numbers is as many features.
                Value::Array(items) => {
                    for (k, item) in items.iter().enumerate() {
                        if let Some(text) = text(item) {
                            graph.attribute(number, &format!("{name}_{k}"), text)?;
                        }
                    }
                }
                value => {
                    if let Some(text) = text(value) {
                        graph.attribute(number, name, text)?;
                    }
                }
            }
        }
    }
    let directed = file.directed.unwrap_or(true);
    for (row, link) in file.links.iter().enumerate() {
        let end = |name: &str| -> Result<u32, DataError> {
            let found = link.get(name).and_then(text).and_then(|id| graph.find(&id));
            found.ok_or_else(|| {
                let shown = link.get(name).map_or("nothing".to_owned(), Value::to_string);
                graph.error(format!("link {row}, counted from 0: its {name} {shown} is not a node"))
            })
        };
        let (source, target) = (end("source")?, end("target")?);
        let weight = link.iter().find(|(name, _)| is_weight(name, config));
        let weight = match weight {
            None => None,
            Some((_, value)) => Some(value.as_f64().ok_or_else(|| {
                graph.error(format!(
                    "link {row}, counted from 0: the weight {value} is not a number"
                ))
            })?),
        };
        graph.edge(source, target, weight, directed)?;
    }
    let mut raw = graph.finish("", config)?;
    if file.directed.is_none() {
        raw.remarks
            .push("the file does not say whether links are directed; they are taken so".into());
    }
    Ok(raw)
}

/// A plain value as text; `None` for nothing, lists and objects.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(set) => Some(set.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeNames;

    fn read(text: &str) -> Result<Raw, String> {
        parse(text.as_bytes(), "f".to_owned(), &LoadConfig::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn nodes_links_and_attributes() {
        let raw = read(
            r#"{"directed": true, "multigraph": false, "graph": {},
            "nodes": [{"id": "anna", "x": [0.5, 1], "label": 3}, {"id": "ben", "x": [2, 1.5], "label": 4}],
            "edges": [{"source": "ben", "target": "anna", "weight": 2.5}]}"#,
        )
        .unwrap();
        assert_eq!((raw.edges, raw.weights), (vec![(1, 0)], Some(vec![2.5])));
        let names = ["anna", "ben"].map(str::to_owned).to_vec();
        assert_eq!(raw.node_names, Some(NodeNames::Words(names)));
        assert_eq!(raw.features.unwrap().values(), [0.5, 1.0, 2.0, 1.5]);
        assert_eq!(raw.labels.unwrap().names, ["3", "4"]);
        let plain = read(r#"{"nodes": [{}, {}], "links": [{"source": 0, "target": 1}]}"#).unwrap();
        assert_eq!((plain.edges, plain.node_names), (vec![(0, 1)], None));
        assert!(plain.remarks[0].contains("does not say whether links are directed"));
    }

    #[test]
    fn other_json_is_no_graph() {
        let graph = br#"{"directed": true, "nodes": [{}, {}], "links": []}"#;
        let folder =
            crate::testing::Folder::new(&[("g.json", graph), ("meta.json", b"{\"a\": 1}")]);
        assert_eq!(finds(&Store::open(folder.root()).unwrap()), ["g.json"]);
        assert_eq!(finds(&Store::open(&folder.path("meta.json")).unwrap()), ["meta.json"]);
    }

    #[test]
    fn strangers_are_refused() {
        assert!(read("{}").unwrap_err().contains("networkx.node_link_data"));
        let error = read(r#"{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}"#);
        assert!(error.unwrap_err().contains("its target 2 is not a node"));
        let error = read(r#"{"nodes": [{"id": 1}, {"id": 1}], "links": []}"#).unwrap_err();
        assert!(error.contains("the id of another"), "{error}");
    }
}
