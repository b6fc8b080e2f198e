//! Graphs whose files name nodes one by one and give them attributes: GraphML, GEXF, GML, JSON.

use super::edge_names::Numbering;
use crate::data::raw::{Raw, loses_double};
use crate::data::room::reserve;
use crate::data::table::{Cells, Column, Meaning, Table, TableKind, meaning};
use crate::data::{DataError, Features, Labels, LoadConfig, NodeNames, Split, TableColumns};
use std::collections::HashMap;

/// A graph under construction.
#[derive(Default)]
pub(super) struct NamedGraph {
    file: String,
    nodes: Numbering,
    edges: Vec<(u32, u32)>,
    /// One per edge; 1 where none is given.
    weights: Vec<f32>,
    weighted: bool,
    rounded: bool,
    undirected: usize,
    /// The nodes' attributes by name, each with one text per node.
    attributes: Vec<(String, Vec<Option<String>>)>,
    places: HashMap<String, usize>,
}

/// More attributes than this are no table.
const MOST_ATTRIBUTES: usize = 100_000;

impl NamedGraph {
    pub(super) fn new(file: String) -> Self {
        Self { file, ..Self::default() }
    }

    /// An error about the file.
    pub(super) fn error(&self, problem: impl Into<String>) -> DataError {
        DataError::format(&self.file, problem)
    }

    /// The node of that id, which may be new.
    pub(super) fn node(&mut self, id: String) -> Result<u32, DataError> {
        self.nodes.number(id, &self.file)
    }

    /// The node of that id, if it is known.
    pub(super) fn find(&self, id: &str) -> Option<u32> {
        self.nodes.get(id)
    }

    /// Adds an edge; one without direction runs both ways.
    pub(super) fn edge(
        &mut self,
        source: u32,
        target: u32,
        weight: Option<f64>,
        directed: bool,
    ) -> Result<(), DataError> {
        let number = weight.unwrap_or(1.0);
        if !(number as f32).is_finite() {
            return Err(
                self.error(format!("the weight {number} of an edge is not a finite number"))
            );
        }
        self.weighted |= weight.is_some();
        self.rounded |= loses_double(number);
        self.undirected += usize::from(!directed);
        let twice = !directed && source != target;
        for edge in
            [Some((source, target)), twice.then_some((target, source))].into_iter().flatten()
        {
            reserve(&mut self.edges, 1, &self.file)?;
            reserve(&mut self.weights, 1, &self.file)?;
            self.edges.push(edge);
            self.weights.push(number as f32);
        }
        Ok(())
    }

    /// Gives a node an attribute.
    pub(super) fn attribute(
        &mut self,
        node: u32,
        name: &str,
        text: String,
    ) -> Result<(), DataError> {
        let place = match self.places.get(name) {
            Some(&place) => place,
            None if self.attributes.len() >= MOST_ATTRIBUTES => {
                return Err(self.error(format!("more than {MOST_ATTRIBUTES} attributes of nodes")));
            }
            None => {
                self.places.insert(name.to_owned(), self.attributes.len());
                self.attributes.push((name.to_owned(), Vec::new()));
                self.attributes.len() - 1
            }
        };
        let cells = &mut self.attributes[place].1;
        let node = node as usize;
        if cells.len() <= node {
            let more = node + 1 - cells.len();
            reserve(cells, more, &self.file)?;
            cells.resize(node + 1, None);
        }
        cells[node] = Some(text);
        Ok(())
    }

    /// Whether a node has an attribute.
    pub(super) fn has_attribute(&self, node: u32, name: &str) -> bool {
        let place = self.places.get(name).and_then(|&place| self.attributes.get(place));
        place.is_some_and(|(_, cells)| cells.get(node as usize).is_some_and(Option::is_some))
    }

    /// The graph with the features, labels and parts that its nodes' attributes give. Where the
    /// attribute `names` tells all nodes apart, it is what they are called.
    pub(super) fn finish(mut self, names: &str, config: &LoadConfig) -> Result<Raw, DataError> {
        let nodes = self.nodes.len();
        let mut raw = Raw { file: self.file.clone(), ..Raw::default() };
        if self.undirected > 0 {
            let count = self.undirected;
            raw.remarks.push(format!("{count} edges have no direction and run both ways"));
        }
        let mut called = None;
        let mut columns = Vec::new();
        for (name, mut cells) in std::mem::take(&mut self.attributes) {
            cells.resize(nodes, None);
            let column = Column::from_texts(name, cells);
            let distinct = nodes > 1 && column.cells.are_distinct(&self.file)?;
            if column.name == names && distinct {
                called = (0..nodes).map(|row| column.cells.text(row)).collect::<Option<Vec<_>>>();
                continue;
            }
            columns.push(column);
        }
        let gaps = |column: &Column| match &column.cells {
            Cells::Numbers(numbers) => numbers.iter().any(|number| !(*number as f32).is_finite()),
            Cells::Words(_) => false,
        };
        let wanted = config.columns.label.as_deref();
        let is_label = |column: &Column| {
            meaning(&column.name) == Some(Meaning::Label)
                || wanted.is_some_and(|label| label.eq_ignore_ascii_case(&column.name))
        };
        let (kept, left): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|column| !gaps(column) || is_label(column));
        if !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|column| column.name.as_str()).collect();
            raw.remarks.push(format!(
                "attributes that not all nodes have were left out: {}",
                names.join(", ")
            ));
        }
        if !kept.is_empty() {
            let table = Table { file: self.file.clone(), named: true, columns: kept, rows: nodes };
            let columns = TableColumns { id: Some("none".to_owned()), ..config.columns.clone() };
            let table = table.into_nodes(TableKind::Nodes, &columns, &|_| false)?;
            raw.features = table.features.map(Features::Dense);
            let labels = table.labels.map(|labels| Labels::from_texts(&labels, &self.file));
            raw.labels = labels.transpose()?;
            raw.splits.extend(table.parts.as_deref().map(Split::from_parts));
            raw.remarks.extend(table.remarks);
        }
        raw.edges = self.edges;
        raw.weights = self.weighted.then_some(self.weights);
        raw.rounded = self.weighted && self.rounded;
        raw.nodes = nodes;
        let names = called.unwrap_or_else(|| self.nodes.into_names());
        // Nodes stay in the order of the file, which attributes follow.
        let plain = names.iter().enumerate().all(|(node, name)| *name == node.to_string());
        raw.node_names = (!plain).then_some(NodeNames::Words(names));
        Ok(raw)
    }
}
