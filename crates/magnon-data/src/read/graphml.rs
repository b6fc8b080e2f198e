//! GraphML, as networkx, igraph, Gephi and yEd write it.

use super::named_graph::NamedGraph;
use super::xml::{self, Step, value};
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::table::{Meaning, meaning};
use crate::{DataError, LoadConfig};
use std::collections::HashMap;

pub(crate) fn finds(store: &Store) -> Vec<String> {
    super::with_endings(store, &[".graphml"], b"<graphml")
}

/// An attribute that a file declares.
struct Key {
    name: String,
    /// Whether it is one of nodes or of edges; others do not matter.
    of_nodes: bool,
    of_edges: bool,
    default: Option<String>,
}

/// An edge that is not yet complete.
struct Edge {
    source: String,
    target: String,
    directed: bool,
    weight: Option<f64>,
}

/// Reads the first graph of a file.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    let file = store.label(name);
    let bytes = store.read(name)?;
    let mut graph = NamedGraph::new(file.clone(), bytes.len());
    let mut keys: HashMap<String, Key> = HashMap::new();
    // Attributes of nodes that have a default, in the order of the file.
    let mut defaults: Vec<String> = Vec::new();
    let mut hyperedges = 0usize;
    let (mut directed, mut graphs, mut weight_key) = (true, 0, None::<String>);
    let (mut key, mut node, mut edge, mut data, mut text) =
        (None::<String>, None::<u32>, None::<Edge>, None::<String>, String::new());
    xml::walk(&bytes, &file, |step| {
        match step {
            Step::Start(element, attributes) => {
                let given = |name: &str| value(&attributes, name).map(str::to_owned);
                let needed = |name: &str| {
                    given(name).ok_or_else(|| {
                        DataError::format(&file, format!("a {element} lacks its '{name}'"))
                    })
                };
                match element.as_str() {
                    "key" => {
                        let id = needed("id")?;
                        let kind = given("for").unwrap_or_else(|| "all".to_owned());
                        let name = given("attr.name").unwrap_or_else(|| id.clone());
                        let of = |wanted: &str| kind == wanted || kind == "all";
                        let found =
                            Key { of_nodes: of("node"), of_edges: of("edge"), name, default: None };
                        if found.of_edges && weight_key.is_none() && is_weight(&found.name, config)
                        {
                            weight_key = Some(id.clone());
                        }
                        keys.insert(id.clone(), found);
                        key = Some(id);
                    }
                    "graph" => {
                        graphs += 1;
                        directed = given("edgedefault").is_none_or(|kind| kind != "undirected");
                    }
                    "node" if graphs == 1 => node = Some(graph.node(needed("id")?)?),
                    "edge" if graphs == 1 => {
                        let own = given("directed");
                        edge = Some(Edge {
                            source: needed("source")?,
                            target: needed("target")?,
                            directed: own.map_or(directed, |own| own != "false"),
                            weight: None,
                        });
                    }
                    "data" => {
                        data = given("key");
                        text.clear();
                    }
                    "default" => text.clear(),
                    "hyperedge" if graphs == 1 => hyperedges += 1,
                    _ => {}
                }
            }
            Step::Text(part) => text.push_str(&part),
            Step::End(element) => match element.as_str() {
                "default" => {
                    if let Some((id, key)) =
                        key.as_ref().and_then(|id| Some((id, keys.get_mut(id)?)))
                    {
                        key.default = Some(std::mem::take(&mut text));
                        if key.of_nodes {
                            defaults.push(id.clone());
                        }
                    }
                }
                "key" => key = None,
                "data" => {
                    let id = data.take().unwrap_or_default();
                    if let Some(edge) = &mut edge {
                        if Some(&id) == weight_key.as_ref() {
                            edge.weight = Some(super::weight_of(&text, &file)?);
                        }
                    } else if let (Some(node), Some(key)) = (node, keys.get(&id))
                        && key.of_nodes
                    {
                        graph.attribute(node, &key.name, std::mem::take(&mut text))?;
                    }
                }
                "node" => {
                    // What a node does not say is the key's default.
                    if let Some(node) = node.take() {
                        graph.attributes.declare(node)?;
                        for id in defaults.drain(..) {
                            if let Some(Key { name, default: Some(text), .. }) = keys.get(&id) {
                                graph.attributes.set_default(name, text)?;
                            }
                        }
                    }
                }
                "edge" => {
                    if let Some(edge) = edge.take() {
                        let default =
                            weight_key.as_ref().and_then(|id| keys.get(id)?.default.clone());
                        let weight = match (edge.weight, default) {
                            (None, Some(text)) => Some(super::weight_of(&text, &file)?),
                            (weight, _) => weight,
                        };
                        let (source, target) = (graph.node(edge.source)?, graph.node(edge.target)?);
                        graph.edge(source, target, weight, edge.directed)?;
                    }
                }
                _ => {}
            },
        }
        Ok(())
    })?;
    if graphs == 0 {
        return Err(graph.error("there is no <graph> in it"));
    }
    let mut raw = graph.finish("label", config)?;
    if hyperedges > 0 {
        raw.remarks.push(format!(
            "hyperedges were left out ({hyperedges} in the file), as they join any number of nodes; \
             write each as edges between two nodes"
        ));
    }
    if graphs > 1 {
        raw.remarks.push(format!("of {graphs} graphs in the file, the first was read"));
    }
    Ok(raw)
}

/// Whether an attribute of edges is their weight.
pub(super) fn is_weight(name: &str, config: &LoadConfig) -> bool {
    match &config.columns.weight {
        Some(wanted) => wanted == name,
        None => meaning(name) == Some(Meaning::Weight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeNames;
    use crate::testing::Folder;

    const FILE: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d2" for="edge" attr.name="weight" attr.type="double"/>
  <key id="d1" for="node" attr.name="label" attr.type="string"/>
  <key id="d0" for="node" attr.name="age" attr.type="double"><default>5</default></key>
  <graph edgedefault="directed">
    <node id="anna"><data key="d0">20.5</data><data key="d1">x</data></node>
    <node id="b&amp;n"><data key="d1">y</data></node>
    <node id="carl"><data key="d0">40</data><data key="d1">x</data></node>
    <edge source="anna" target="b&amp;n"><data key="d2">2.5</data></edge>
    <edge source="carl" target="anna" directed="false"/>
  </graph>
</graphml>"#;

    #[test]
    fn nodes_edges_and_attributes() {
        let folder = Folder::new(&[("g.graphml", FILE.as_bytes())]);
        let store = Store::open(folder.root()).unwrap();
        let raw = read(&store, &finds(&store)[0], &LoadConfig::default()).unwrap();
        assert_eq!(raw.edges, [(0, 1), (2, 0), (0, 2)]);
        assert_eq!(raw.weights.unwrap(), [2.5, 1.0, 1.0]);
        let names = ["anna", "b&n", "carl"].map(str::to_owned).to_vec();
        assert_eq!(raw.node_names, Some(NodeNames::Words(names)));
        assert_eq!(raw.features.unwrap().values(), [20.5, 5.0, 40.0]);
        assert_eq!(raw.labels.unwrap().classes, [Some(0), Some(1), Some(0)]);
        assert_eq!(raw.remarks, ["1 edges have no direction and run both ways"]);
    }

    #[test]
    fn broken_files_name_their_line() {
        let folder = Folder::new(&[("g.graphml", b"<graphml>\n<graph>\n<node>\n</graph>")]);
        let store = Store::open(folder.root()).unwrap();
        let error = read(&store, "g.graphml", &LoadConfig::default()).unwrap_err().to_string();
        assert!(error.contains("a node lacks its 'id'"), "{error}");
    }
}
