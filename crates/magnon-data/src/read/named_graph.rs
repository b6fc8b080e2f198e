//! Graphs whose files name nodes one by one and give them attributes: GraphML, GEXF, GML, JSON.

use super::edge_names::Numbering;
use super::node_attributes::Attributes;
use crate::allocate::reserve;
use crate::raw_dataset::Raw;
use crate::table::{Cells, Column, Meaning, NAMED, NodeTable, Table, TableKind, meaning};
use crate::weights::{Weight, Weights};
use crate::{DataError, Features, Labels, LoadConfig, NodeNames, Split, TableColumns};

/// A graph under construction.
#[derive(Default)]
pub(super) struct NamedGraph {
    file: String,
    nodes: Numbering,
    edges: Vec<(u32, u32)>,
    /// One per edge; 1 where none is given.
    weights: Weights,
    weighted: bool,
    undirected: usize,
    pub(super) attributes: Attributes,
}

impl NamedGraph {
    /// A graph that is read from a file of so many bytes.
    pub(super) fn new(file: String, bytes: usize) -> Self {
        let attributes = Attributes::new(file.clone(), bytes);
        Self { file, attributes, ..Self::default() }
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
        let Some(kept) = Weight::of(number) else {
            let problem = format!("the weight {number} of an edge is not a finite number");
            return Err(self.error(problem));
        };
        self.weighted |= weight.is_some();
        self.undirected += usize::from(!directed);
        let twice = !directed && source != target;
        for edge in
            [Some((source, target)), twice.then_some((target, source))].into_iter().flatten()
        {
            reserve(&mut self.edges, 1, &self.file)?;
            self.edges.push(edge);
            self.weights.push(kept, &self.file)?;
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
        self.attributes.give(node, name, text)
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
        self.attributes.settle();
        let mut called = None;
        if let Some(table) = self.node_table(names, config, &mut called, &mut raw.remarks)? {
            raw.features = table.features.map(Features::Dense);
            let labels = table.labels.map(|labels| Labels::from_texts(&labels, &self.file));
            raw.labels = labels.transpose()?;
            raw.splits.extend(table.parts.as_deref().map(Split::from_parts));
            raw.remarks.extend(table.remarks);
        }
        raw.edges = self.edges;
        if self.weighted {
            raw.set_weights(self.weights);
        }
        raw.nodes = nodes;
        let names = called.unwrap_or_else(|| self.nodes.into_names());
        // Nodes stay in the order of the file, which attributes follow.
        let plain = names.iter().enumerate().all(|(node, name)| *name == node.to_string());
        raw.node_names = (!plain).then_some(NodeNames::Words(names));
        Ok(raw)
    }

    /// What the attributes say about the nodes. Names that tell all nodes apart are put into `called`.
    fn node_table(
        &self,
        names: &str,
        config: &LoadConfig,
        called: &mut Option<Vec<String>>,
        remarks: &mut Vec<String>,
    ) -> Result<Option<NodeTable>, DataError> {
        let (file, nodes) = (&self.file, self.nodes.len());
        let mut room = self.attributes.room_for_defaults();
        let wanted = config.columns.label.as_deref();
        let is_label = |name: &str| {
            meaning(name) == Some(Meaning::Label)
                || wanted.is_some_and(|label| label.eq_ignore_ascii_case(name))
        };
        // Attributes that not all nodes have stand here without cells, until it is known what they are for.
        let (mut kept, mut sparse, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for given in self.attributes.all(nodes) {
            let is_numeric = Column::are_numbers(given.texts());
            if given.is_complete {
                let column = given.column(file, &mut room)?;
                let distinct = nodes > 1 && column.cells.are_distinct(file)?;
                if column.name == names && distinct {
                    *called = (0..nodes)
                        .map(|row| column.cells.text(row).map(std::borrow::Cow::into_owned))
                        .collect();
                } else if column.cells.are_too_large() && !is_label(&column.name) {
                    let name = &column.name;
                    remarks.push(format!(
                        "the attribute {name} was left out, as it has numbers larger than any of single \
                         precision (about 3.4e38)"
                    ));
                } else if column.cells.has_gaps() && !is_label(&column.name) {
                    left.push(column.name);
                } else {
                    kept.push(column);
                    sparse.push(None);
                }
            } else if is_numeric && !is_label(given.name) {
                left.push(given.name.to_owned());
            } else {
                let cells = match is_numeric {
                    true => Cells::Numbers(Vec::new()),
                    false => Cells::Words(Vec::new()),
                };
                let name = given.name.to_owned();
                kept.push(Column::new(name, cells));
                sparse.push(Some(given));
            }
        }
        let mut columns = TableColumns { id: Some("none".to_owned()), ..config.columns.clone() };
        let mut table = Table { file: file.clone(), named: true, columns: kept, rows: nodes };
        if !table.columns.is_empty() {
            let roles = table.roles(TableKind::Nodes, &columns, &|_| false)?;
            columns.label = roles.label.and_then(|k| Some(table.columns.get(k)?.name.clone()));
            let used = [roles.label, roles.part];
            for (k, given) in sparse.iter().enumerate().filter(|(k, _)| used.contains(&Some(*k))) {
                if let (Some(given), Some(column)) = (given, table.columns.get_mut(k)) {
                    *column = given.column(file, &mut room)?;
                }
            }
            // Others are no features.
            let (kept, others): (Vec<_>, Vec<_>) =
                table.columns.into_iter().enumerate().partition(|(k, column)| {
                    used.contains(&Some(*k)) || !column.cells.has_gaps_in(nodes)
                });
            table.columns = kept.into_iter().map(|(_, column)| column).collect();
            left.extend(others.into_iter().map(|(_, column)| column.name));
        }
        if !left.is_empty() {
            let shown = left.get(..NAMED * 4).unwrap_or(&left).join(", ");
            let more = match left.len().saturating_sub(NAMED * 4) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            remarks
                .push(format!("attributes that not all nodes have were left out: {shown}{more}"));
        }
        if table.columns.is_empty() {
            return Ok(None);
        }
        table.into_nodes(TableKind::Nodes, &columns, &|_| false).map(Some)
    }
}
