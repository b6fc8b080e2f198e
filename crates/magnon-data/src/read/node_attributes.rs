//! The attributes of nodes, kept as sparsely as a file gives them.
//!
//! A file may give every node an attribute of its own. A column of texts exists only for an attribute that all nodes
//! have, so that memory follows the bytes of the file and not nodes times attributes.

use crate::DataError;
use crate::allocate::{out_of_memory, reserve};
use crate::table::Column;
use std::collections::HashMap;
use std::sync::Arc;

/// More attributes than this are no table.
const MOST_ATTRIBUTES: usize = 100_000;

/// A text of a node.
struct Cell {
    attribute: u32,
    node: u32,
    text: Box<str>,
}

/// An attribute by name, and what the nodes have that do not say.
struct Attribute {
    name: Arc<str>,
    default: Option<Box<str>>,
}

/// The attributes that are being read.
#[derive(Default)]
pub(super) struct Attributes {
    file: String,
    /// Bytes of the file.
    bytes: usize,
    cells: Vec<Cell>,
    attributes: Vec<Attribute>,
    places: HashMap<Arc<str>, u32>,
    /// Bytes of all names.
    names: usize,
    /// The nodes that defaults are for.
    declared: Vec<u32>,
}

/// An attribute when all is read.
pub(super) struct AttributeColumn<'a> {
    pub(super) name: &'a str,
    default: Option<&'a str>,
    /// By node; the last text that a node was given.
    cells: &'a [Cell],
    declared: &'a [u32],
    nodes: usize,
    pub(super) is_complete: bool,
}

impl Attributes {
    pub(super) fn new(file: String, bytes: usize) -> Self {
        Self { file, bytes, ..Self::default() }
    }

    fn error(&self, problem: String) -> DataError {
        DataError::format(&self.file, problem)
    }

    fn place(&mut self, name: &str) -> Result<u32, DataError> {
        if let Some(&place) = self.places.get(name) {
            return Ok(place);
        }
        if self.attributes.len() >= MOST_ATTRIBUTES {
            return Err(self.error(format!("more than {MOST_ATTRIBUTES} attributes of nodes")));
        }
        // The items of a list share its name, which is written once.
        self.names += name.len();
        if self.names > self.bytes.saturating_mul(16).saturating_add(1 << 20) {
            let problem = "the names of its lists are too long to be given to every item of them";
            return Err(self.error(problem.to_owned()));
        }
        let place = self.attributes.len() as u32;
        let name: Arc<str> = name.into();
        self.places.try_reserve(1).map_err(|_| out_of_memory(&self.file, self.names as u64))?;
        self.places.insert(name.clone(), place);
        reserve(&mut self.attributes, 1, &self.file)?;
        self.attributes.push(Attribute { name, default: None });
        Ok(place)
    }

    /// Gives a node an attribute.
    pub(super) fn give(&mut self, node: u32, name: &str, text: String) -> Result<(), DataError> {
        let attribute = self.place(name)?;
        reserve(&mut self.cells, 1, &self.file)?;
        self.cells.push(Cell { attribute, node, text: text.into_boxed_str() });
        Ok(())
    }

    /// What declared nodes have that do not say. The first default of an attribute holds.
    pub(super) fn set_default(&mut self, name: &str, text: &str) -> Result<(), DataError> {
        let place = self.place(name)? as usize;
        if let Some(attribute) = self.attributes.get_mut(place) {
            attribute.default.get_or_insert_with(|| text.into());
        }
        Ok(())
    }

    /// Defaults are for this node, too.
    pub(super) fn declare(&mut self, node: u32) -> Result<(), DataError> {
        reserve(&mut self.declared, 1, &self.file)?;
        self.declared.push(node);
        Ok(())
    }

    /// Puts the texts in order: by attribute, then by node. Of several for one place the last holds.
    pub(super) fn settle(&mut self) {
        // Stable, so that the last stays the last.
        self.cells.sort_by_key(|cell| (cell.attribute, cell.node));
        self.cells.dedup_by(|later, kept| {
            let same = (later.attribute, later.node) == (kept.attribute, kept.node);
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        self.declared.sort_unstable();
        self.declared.dedup();
    }

    /// The attributes of so many nodes, in the order of their first appearance.
    pub(super) fn all(&self, nodes: usize) -> impl Iterator<Item = AttributeColumn<'_>> {
        let mut rest = &self.cells[..];
        self.attributes.iter().zip(0u32..).map(move |(attribute, place)| {
            let (cells, others) =
                rest.split_at(rest.partition_point(|cell| cell.attribute <= place));
            rest = others;
            let default = attribute.default.as_deref();
            let declared = if default.is_some() { &self.declared[..] } else { &[] };
            let is_given = |node: &&u32| cells.binary_search_by_key(*node, |c| c.node).is_ok();
            let filled = declared.iter().filter(|node| !is_given(node)).count();
            let is_complete = cells.len() + filled == nodes;
            AttributeColumn { name: &attribute.name, default, cells, declared, nodes, is_complete }
        })
    }

    /// Cells that defaults may fill: not far more than the file has bytes for.
    pub(super) fn room_for_defaults(&self) -> usize {
        self.bytes.saturating_mul(4).saturating_add(1 << 20)
    }
}

impl AttributeColumn<'_> {
    /// The texts that there are: those of nodes, and the default.
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|cell| &*cell.text).chain(self.default)
    }

    /// A column with a cell for each node. `room` is what is left of [`Attributes::room_for_defaults`].
    pub(super) fn column(&self, file: &str, room: &mut usize) -> Result<Column, DataError> {
        if let Some(text) = self.default {
            // A long text takes the place of several cells.
            let filled = self.declared.len().saturating_sub(self.cells.len());
            let cells = filled.saturating_mul(1 + text.len() / 8);
            *room = room.checked_sub(cells).ok_or_else(|| {
                let problem = format!(
                    "the defaults of its attributes fill far more cells than it has bytes, such as \
                     {filled} nodes with the default of '{}'; leave out defaults that all nodes share",
                    self.name.chars().take(40).collect::<String>()
                );
                DataError::format(file, problem)
            })?;
        }
        let mut texts: Vec<Option<Arc<str>>> = Vec::new();
        reserve(&mut texts, self.nodes, file)?;
        texts.resize(self.nodes, None);
        // A default is kept once, whoever has it.
        let default: Option<Arc<str>> = self.default.map(Arc::from);
        for &node in self.declared {
            if let Some(place) = texts.get_mut(node as usize) {
                place.clone_from(&default);
            }
        }
        for cell in self.cells {
            if let Some(place) = texts.get_mut(cell.node as usize) {
                *place = Some(Arc::from(&*cell.text));
            }
        }
        Ok(Column::from_texts(self.name.to_owned(), texts))
    }
}
