//! GML, the graph modelling language: nested lists of keys and values.

use super::ends_early;
use super::graphml::is_weight;
use super::named_graph::NamedGraph;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::text::{line_of, without_bom};
use crate::{DataError, LoadConfig};

pub(crate) fn finds(store: &Store) -> Vec<String> {
    super::with_endings(store, &[".gml"], b"graph [")
}

/// A quote runs to the end of the text.
const OPEN_QUOTE: &str = "a quote is not closed";

/// A part of the text.
#[derive(Debug, PartialEq)]
enum Token {
    /// A key, or a number.
    Word(String),
    Quoted(String),
    Open,
    Close,
}

/// The text, token by token.
struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl Tokens<'_> {
    /// The next token; `None` at the end. An open quote is an error.
    fn next(&mut self) -> Result<Option<Token>, String> {
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            self.at += blanks;
            let rest = rest.get(blanks..).unwrap_or_default();
            let Some(&first) = rest.first() else { return Ok(None) };
            match first {
                b'#' => self.at += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
                b'[' | b']' => {
                    self.at += 1;
                    return Ok(Some(if first == b'[' { Token::Open } else { Token::Close }));
                }
                b'"' => {
                    let inner = rest.get(1..).unwrap_or_default();
                    let end = memchr::memchr(b'"', inner).ok_or(OPEN_QUOTE)?;
                    self.at += end + 2;
                    let text = String::from_utf8_lossy(inner.get(..end).unwrap_or_default());
                    let plain = quick_xml::escape::unescape(&text);
                    return Ok(Some(Token::Quoted(match plain {
                        Ok(plain) => plain.into_owned(),
                        Err(_) => text.into_owned(),
                    })));
                }
                _ => {
                    let ends =
                        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'[' | b']');
                    let end = rest.iter().position(ends).unwrap_or(rest.len());
                    self.at += end;
                    let word = String::from_utf8_lossy(rest.get(..end).unwrap_or_default());
                    return Ok(Some(Token::Word(word.into_owned())));
                }
            }
        }
    }
}

/// Reads the graph. What a node is called is its `label`, where it has one.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    let file = store.label(name);
    let text = store.read_text(name)?;
    parse(without_bom(&text), file, config)
}

/// A node or an edge that is being read: its keys and their values.
type Item = Vec<(String, String)>;

fn parse(text: &[u8], file: String, config: &LoadConfig) -> Result<Raw, DataError> {
    let mut tokens = Tokens { text, at: 0 };
    let mut graph = NamedGraph::new(file.clone(), text.len());
    // The keys of the lists that are open, from the outermost.
    let mut open: Vec<String> = Vec::new();
    let mut item: Item = Vec::new();
    let mut directed = false;
    let (mut edges, mut any) = (Vec::new(), false);
    loop {
        let at = tokens.at;
        let broken = |problem: &str| match problem {
            OPEN_QUOTE => {
                ends_early(text, &file, &format!("{problem} (see line {})", line_of(text, at)))
            }
            _ => DataError::line(&file, line_of(text, at), format!("broken GML: {problem}")),
        };
        let key = match tokens.next().map_err(|problem| broken(&problem))? {
            None if open.is_empty() => break,
            None => return Err(ends_early(text, &file, "a list is not closed")),
            Some(Token::Close) => {
                let closed = open.pop().ok_or_else(|| broken("a ']' has no '['"))?;
                if open.len() == 1 && closed == "node" {
                    add_node(&mut graph, std::mem::take(&mut item))?;
                } else if open.len() == 1 && closed == "edge" {
                    edges.push(std::mem::take(&mut item));
                }
                continue;
            }
            Some(Token::Word(key)) => key,
            Some(_) => return Err(broken("a key is needed here")),
        };
        let value = tokens.next().map_err(|problem| broken(&problem))?;
        match value {
            Some(Token::Open) => {
                any |= open.is_empty() && key == "graph";
                open.push(key);
            }
            Some(Token::Word(value) | Token::Quoted(value)) => match &open[..] {
                [graph] if graph == "graph" && key == "directed" => directed = value == "1",
                [graph, list] if graph == "graph" && (list == "node" || list == "edge") => {
                    item.push((key, value));
                }
                _ => {}
            },
            None => return Err(ends_early(text, &file, "its last key has no value")),
            Some(Token::Close) => return Err(broken("a key has no value")),
        }
    }
    if !any {
        return Err(graph.error("there is no graph in it"));
    }
    for edge in edges {
        let of =
            |name: &str| edge.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        let (Some(source), Some(target)) = (of("source"), of("target")) else {
            return Err(graph.error("an edge lacks its source or target"));
        };
        let weight = edge.iter().find(|(key, _)| is_weight(key, config));
        let weight = weight.map(|(_, text)| super::weight_of(text, &file)).transpose()?;
        let (source, target) = (graph.node(source)?, graph.node(target)?);
        graph.edge(source, target, weight, directed)?;
    }
    graph.finish(NAME, config)
}

/// The attribute that holds what a node is called.
const NAME: &str = "\u{0}name";

fn add_node(graph: &mut NamedGraph, item: Item) -> Result<(), DataError> {
    let Some((_, id)) = item.iter().find(|(key, _)| key == "id") else {
        return Err(graph.error("a node lacks its id"));
    };
    let node = graph.node(id.clone())?;
    for (key, value) in item.into_iter().filter(|(key, _)| key != "id") {
        let name = if key == "label" { NAME } else { key.as_str() };
        graph.attribute(node, name, value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NodeNames;

    #[test]
    fn nodes_edges_and_attributes() {
        let text =
            b"Creator \"me\"\n# a comment\ngraph [ directed 1\n node [ id 5 label \"anna & co\" \
                     value 2 graphics [ x 1.0 ] ]\n node [ id 7 label \"ben\" value 3 ]\n\
                     edge [ source 7 target 5 weight 2.5 ] ]";
        let raw = parse(text, "f".to_owned(), &LoadConfig::default()).unwrap();
        assert_eq!((raw.edges, raw.weights), (vec![(1, 0)], Some(vec![2.5])));
        let names = ["anna & co", "ben"].map(str::to_owned).to_vec();
        assert_eq!(raw.node_names, Some(NodeNames::Words(names)));
        assert_eq!(raw.features.unwrap().values(), [2.0, 3.0]);
    }

    #[test]
    fn broken_files_name_their_line() {
        let error = |text: &[u8]| {
            parse(text, "f".to_owned(), &LoadConfig::default()).unwrap_err().to_string()
        };
        assert!(error(b"graph [\n node [ id 1").contains("f, line 2: the file ends early: a list"));
        assert!(error(b"graph [\n \"x\" ]").contains("f, line 1: broken GML: a key is needed"));
        assert!(error(b"graph [ node [ label \"x\n").contains("a quote is not closed"));
        assert!(error(b"]").contains("has no '['"));
        assert!(error(b"x 1").contains("there is no graph"));
    }
}
