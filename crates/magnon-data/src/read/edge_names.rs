//! Edge lists whose nodes have names.

use super::edge_layout::Layout;
use super::edge_scan::is_padded;
use super::name_scan::{self, NamedEdges};
use super::node_ids;
use crate::allocate::{collect, out_of_memory, reserve};
use crate::raw_dataset::Raw;
use crate::text::line_of;
use crate::{DataError, NodeNames};
use rayon::prelude::*;
use std::collections::HashMap;

/// Names in the order of their first appearance.
#[derive(Default)]
pub(super) struct Names<'a> {
    numbers: HashMap<&'a [u8], u32>,
    order: Vec<&'a [u8]>,
}

impl<'a> Names<'a> {
    /// The number of a name; `None` once 32 bits are spent.
    pub(super) fn number(&mut self, name: &'a [u8], file: &str) -> Result<Option<u32>, DataError> {
        if let Some(&number) = self.numbers.get(name) {
            return Ok(Some(number));
        }
        let Ok(number) = u32::try_from(self.order.len()) else { return Ok(None) };
        let known = self.numbers.capacity() as u64;
        let cell = size_of::<(&[u8], u32)>() as u64;
        // As a table grows, it is doubled.
        self.numbers.try_reserve(1).map_err(|_| out_of_memory(file, 2 * known * cell))?;
        reserve(&mut self.order, 1, file)?;
        self.numbers.insert(name, number);
        self.order.push(name);
        Ok(Some(number))
    }

    /// The number of a name that is known.
    pub(super) fn get(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// A remark where two names are one number, such as 7 and 007.
    pub(super) fn remark_twins(&self) -> Option<String> {
        remark_twins(&self.order)
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) -> Result<(), DataError> {
        settle(&self.order, raw)
    }

    /// The names as text, by number.
    pub(super) fn into_strings(self, file: &str) -> Result<Vec<String>, DataError> {
        strings(&self.order, file)
    }
}

/// Gives the nodes of `raw` their names, by number. Where all names are numbers, the nodes are put in their order.
fn settle(order: &[&[u8]], raw: &mut Raw) -> Result<(), DataError> {
    let file = raw.file.clone();
    if let Some(numbers) = distinct_numbers(order, &file)? {
        let id = |node: u32| numbers.get(node as usize).copied().unwrap_or_default();
        let mut pairs = collect(raw.edges.iter().map(|&(u, v)| (id(u), id(v))), &file)?;
        let top = numbers.iter().copied().max().unwrap_or_default();
        // A node without edges counts, too: it stands here as an edge to itself, which goes away again.
        let mut is_lone: Vec<bool> = Vec::new();
        reserve(&mut is_lone, order.len(), &file)?;
        is_lone.resize(order.len(), true);
        for node in raw.edges.iter().flat_map(|&(u, v)| [u, v]) {
            if let Some(lone) = is_lone.get_mut(node as usize) {
                *lone = false;
            }
        }
        let lone = numbers.iter().zip(&is_lone).filter(|(_, lone)| **lone).map(|(&id, _)| (id, id));
        reserve(&mut pairs, is_lone.iter().filter(|lone| **lone).count(), &file)?;
        pairs.extend(lone);
        if let Ok(numbered) = node_ids::compact(pairs, top) {
            let edges = raw.edges.len();
            raw.edges = numbered.edges;
            raw.edges.truncate(edges);
            raw.nodes = numbered.count;
            raw.node_names = numbered.names;
            return Ok(());
        }
    }
    raw.remarks.extend(remark_twins(order));
    raw.nodes = order.len();
    raw.node_names = Some(NodeNames::Words(strings(order, &file)?));
    Ok(())
}

/// The names as text.
fn strings(names: &[&[u8]], file: &str) -> Result<Vec<String>, DataError> {
    let mut strings = Vec::new();
    reserve(&mut strings, names.len(), file)?;
    let text = |name: &&[u8]| String::from_utf8_lossy(name).into_owned();
    names.par_iter().with_min_len(1 << 12).map(text).collect_into_vec(&mut strings);
    Ok(strings)
}

/// A remark where two names are one number, such as 7 and 007.
fn remark_twins(order: &[&[u8]]) -> Option<String> {
    // The number that a name is, where it is written with zeros before it.
    fn bare(name: &[u8]) -> &[u8] {
        let zeros = name.iter().take(name.len() - 1).take_while(|&&byte| byte == b'0').count();
        &name[zeros..]
    }
    let padded = || order.iter().filter(|name| is_padded(name)).copied();
    let mut written = HashMap::new(); // how a number was written before
    written.try_reserve(padded().count()).ok()?; // a remark can be done without
    written.extend(padded().map(|name| (bare(name), None)));
    if written.is_empty() {
        return None;
    }
    for &name in order.iter().filter(|name| !is_padded(name)) {
        written.entry(name).and_modify(|known| *known = Some(name));
    }
    padded().find_map(|name| {
        let twin = String::from_utf8_lossy(written.insert(bare(name), Some(name))??);
        let name = String::from_utf8_lossy(name);
        Some(format!("ids are taken as names, so {twin} and {name} are different nodes"))
    })
}

/// The names as numbers, where they are numbers. Different texts such as 7 and 07 stay different nodes.
fn distinct_numbers(order: &[&[u8]], file: &str) -> Result<Option<Vec<u64>>, DataError> {
    let number = |name: &&[u8]| -> Option<u64> { std::str::from_utf8(name).ok()?.parse().ok() };
    if order.iter().any(|name| number(name).is_none()) {
        return Ok(None);
    }
    let numbers = collect(order.iter().map(|name| number(name).unwrap_or_default()), file)?;
    let mut sorted = collect(numbers.iter().copied(), file)?;
    sorted.sort_unstable();
    Ok(sorted.is_sorted_by(|a, b| a < b).then_some(numbers))
}

/// Names that are owned, numbered in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Numbering {
    numbers: HashMap<Box<str>, u32>,
    order: Vec<Box<str>>,
}

impl Numbering {
    /// The number of a name, which may be new.
    pub(crate) fn number(&mut self, name: impl AsRef<str>, file: &str) -> Result<u32, DataError> {
        let name = name.as_ref();
        if let Some(&number) = self.numbers.get(name) {
            return Ok(number);
        }
        let number = u32::try_from(self.order.len())
            .map_err(|_| DataError::format(file, "there are more nodes than 32 bits can number"))?;
        let name: Box<str> = name.into();
        self.numbers.insert(name.clone(), number);
        reserve(&mut self.order, 1, file)?;
        self.order.push(name);
        Ok(number)
    }

    /// The number of a name that is known.
    pub(super) fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// How many names there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The names from a number on.
    pub(crate) fn names_from(&self, first: usize) -> impl Iterator<Item = &str> {
        self.order.iter().skip(first).map(AsRef::as_ref)
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) -> Result<(), DataError> {
        let order = collect(self.order.iter().map(|name| name.as_bytes()), &raw.file)?;
        settle(&order, raw)
    }

    /// The names, by number.
    pub(super) fn into_names(self) -> Vec<String> {
        self.order.into_iter().map(String::from).collect()
    }
}

/// Reads all lines after the header.
pub(super) fn parse(text: &[u8], layout: &Layout, file: &str) -> Result<Raw, DataError> {
    let body = text.get(layout.start..).unwrap_or_default();
    let line = |at: usize| line_of(text, layout.start + at);
    let NamedEdges { interned, weights, beyond, rounded, word } = name_scan::scan(body, layout)
        .map_err(|(at, fault)| fault.into_error(file, line(at), layout))?;
    let order = collect(interned.first.iter().map(|span| span.of(body)), file)?;
    let mut raw = Raw { file: file.to_owned(), edges: interned.edges, rounded, ..Raw::default() };
    raw.weights = layout.columns.weight.map(|_| weights);
    raw.beyond = beyond;
    let remark = |at| format!("ids are taken as names, as line {} has no numbers", line(at));
    raw.remarks.extend(word.map(remark));
    settle(&order, &mut raw)?;
    Ok(raw)
}
