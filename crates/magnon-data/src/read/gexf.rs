//! GEXF, the format of Gephi.

use super::graphml::is_weight;
use super::named_graph::NamedGraph;
use super::xml::{self, Step, value};
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, LoadConfig};
use std::collections::HashMap;

pub(crate) fn finds(store: &Store) -> Vec<String> {
    super::with_endings(store, &[".gexf"], b"<gexf")
}

/// What an attribute is of.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Node,
    Edge,
}

/// An edge that is not yet complete.
struct Edge {
    source: String,
    target: String,
    directed: bool,
    weight: Option<f64>,
}

/// Reads the graph. What a node is called is its `label`, as Gephi shows it.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    let file = store.label(name);
    let bytes = store.read(name)?;
    let mut graph = NamedGraph::new(file.clone(), bytes.len());
    // Names of attributes by what they are of, nodes or edges, and by id.
    let mut titles: HashMap<(Class, String), String> = HashMap::new();
    let mut class = None;
    let (mut directed, mut node, mut edge, mut seen) = (true, None::<u32>, None::<Edge>, false);
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
                    "graph" => {
                        seen = true;
                        directed = given("defaultedgetype").is_some_and(|kind| kind == "directed");
                    }
                    "attributes" => {
                        class = match given("class").as_deref() {
                            Some("node") => Some(Class::Node),
                            Some("edge") => Some(Class::Edge),
                            _ => None,
                        };
                    }
                    "attribute" => {
                        let id = needed("id")?;
                        let title = given("title").unwrap_or_else(|| id.clone());
                        if let Some(class) = class {
                            titles.insert((class, id), title);
                        }
                    }
                    "node" => {
                        let found = graph.node(needed("id")?)?;
                        if let Some(label) = given("label") {
                            graph.attribute(found, NAME, label)?;
                        }
                        node = Some(found);
                    }
                    "edge" => {
                        let own = given("type");
                        let weight = given("weight").filter(|_| is_weight("weight", config));
                        edge = Some(Edge {
                            source: needed("source")?,
                            target: needed("target")?,
                            directed: own.map_or(directed, |own| own == "directed"),
                            weight: weight
                                .map(|text| super::weight_of(&text, &file))
                                .transpose()?,
                        });
                    }
                    "attvalue" => {
                        // Version 1.1 says `id` where later ones say `for`.
                        let id = given("for").or_else(|| given("id")).unwrap_or_default();
                        let text = given("value").unwrap_or_default();
                        let class = if edge.is_some() { Class::Edge } else { Class::Node };
                        let title = titles.get(&(class, id));
                        if let (Some(edge), Some(title)) = (&mut edge, title) {
                            if is_weight(title, config) {
                                edge.weight = Some(super::weight_of(&text, &file)?);
                            }
                        } else if let (Some(node), Some(title)) = (node, title) {
                            graph.attribute(node, title, text)?;
                        }
                    }
                    _ => {}
                }
            }
            Step::Text(_) => {}
            Step::End(element) => match element.as_str() {
                "node" => node = None,
                "edge" => {
                    if let Some(edge) = edge.take() {
                        let (source, target) = (graph.node(edge.source)?, graph.node(edge.target)?);
                        graph.edge(source, target, edge.weight, edge.directed)?;
                    }
                }
                _ => {}
            },
        }
        Ok(())
    })?;
    if !seen {
        return Err(graph.error("there is no <graph> in it"));
    }
    graph.finish(NAME, config)
}

/// The attribute that holds what a node is called.
const NAME: &str = "\u{0}name";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeNames;
    use crate::testing::Folder;

    #[test]
    fn nodes_edges_and_attributes() {
        let file = r#"<?xml version="1.0"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2"><graph defaultedgetype="directed">
<attributes class="node"><attribute id="0" title="age" type="float"/>
<attribute id="1" title="class" type="string"/></attributes>
<nodes><node id="0" label="anna"><attvalues><attvalue for="0" value="1.5"/>
<attvalue for="1" value="x"/></attvalues></node>
<node id="1" label="ben"><attvalues><attvalue for="0" value="2"/></attvalues></node></nodes>
<edges><edge id="0" source="1" target="0" weight="2.5"/></edges></graph></gexf>"#;
        let folder = Folder::new(&[("g.gexf", file.as_bytes())]);
        let store = Store::open(folder.root()).unwrap();
        let raw = read(&store, &finds(&store)[0], &LoadConfig::default()).unwrap();
        assert_eq!((raw.edges, raw.weights), (vec![(1, 0)], Some(vec![2.5])));
        let names = ["anna", "ben"].map(str::to_owned).to_vec();
        assert_eq!(raw.node_names, Some(NodeNames::Words(names)));
        assert_eq!(raw.features.unwrap().values(), [1.5, 2.0]);
        assert_eq!(raw.labels.unwrap().classes, [Some(0), None]);
    }
}
