//! Edge lists whose nodes have names.

use super::edge_layout::{Layout, looks_whole};
use super::edge_scan::{Fault, is_padded, weight};
use super::node_ids;
use crate::data::raw::Raw;
use crate::data::room::reserve;
use crate::data::text::{Lines, is_comment};
use crate::data::{DataError, NodeNames};
use std::collections::HashMap;

/// Names in the order of their first appearance.
#[derive(Default)]
pub(super) struct Names<'a> {
    numbers: HashMap<&'a [u8], u32>,
    order: Vec<&'a [u8]>,
}

impl<'a> Names<'a> {
    /// The number of a name; `None` once 32 bits are spent.
    pub(super) fn number(&mut self, name: &'a [u8]) -> Option<u32> {
        if let Some(&number) = self.numbers.get(name) {
            return Some(number);
        }
        let number = u32::try_from(self.order.len()).ok()?;
        self.numbers.insert(name, number);
        self.order.push(name);
        Some(number)
    }

    /// The number of a name that is known.
    pub(super) fn get(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// A remark where two names are one number, such as 7 and 007.
    pub(super) fn remark_twins(&self) -> Option<String> {
        let mut padded = HashMap::new();
        self.order.iter().filter(|name| is_padded(name)).find_map(|&name| {
            let zeros = name.iter().take(name.len() - 1).take_while(|&&byte| byte == b'0').count();
            let number = &name[zeros..];
            let twin = self.numbers.contains_key(number).then_some(number);
            let twin = String::from_utf8_lossy(twin.or_else(|| padded.insert(number, name))?);
            let name = String::from_utf8_lossy(name);
            Some(format!("ids are taken as names, so {twin} and {name} are different nodes"))
        })
    }

    /// The names as text, by number.
    pub(super) fn into_strings(self) -> Vec<String> {
        self.order.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) {
        let number = |name: &&[u8]| -> Option<u64> { std::str::from_utf8(name).ok()?.parse().ok() };
        let numbers: Option<Vec<u64>> = self.order.iter().map(number).collect();
        // Different texts such as 7 and 07 stay different nodes.
        let distinct = |numbers: &Vec<u64>| {
            numbers.iter().collect::<std::collections::HashSet<_>>().len() == numbers.len()
        };
        if let Some(numbers) = numbers.filter(distinct) {
            let id = |node: u32| numbers.get(node as usize).copied().unwrap_or_default();
            let pairs: Vec<(u64, u64)> = raw.edges.iter().map(|&(u, v)| (id(u), id(v))).collect();
            let top = numbers.iter().copied().max().unwrap_or_default();
            if let Ok(numbered) = node_ids::compact(pairs, top) {
                raw.edges = numbered.edges;
                raw.nodes = numbered.count;
                raw.node_names = numbered.names;
                return;
            }
        }
        raw.remarks.extend(self.remark_twins());
        raw.nodes = self.order.len();
        raw.node_names = Some(NodeNames::Words(self.into_strings()));
    }
}

/// Names that are owned, numbered in the order of their first appearance.
#[derive(Default)]
pub(super) struct Numbering {
    numbers: HashMap<Box<str>, u32>,
    order: Vec<Box<str>>,
}

impl Numbering {
    /// The number of a name, which may be new.
    pub(super) fn number(&mut self, name: String, file: &str) -> Result<u32, DataError> {
        if let Some(&number) = self.numbers.get(name.as_str()) {
            return Ok(number);
        }
        let number = u32::try_from(self.order.len())
            .map_err(|_| DataError::format(file, "there are more nodes than 32 bits can number"))?;
        let name = name.into_boxed_str();
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
    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) {
        let mut names = Names::default();
        self.order.iter().for_each(|name| {
            names.number(name.as_bytes());
        });
        names.settle(raw);
    }

    /// The names, by number.
    pub(super) fn into_names(self) -> Vec<String> {
        self.order.into_iter().map(String::from).collect()
    }
}

/// Reads all lines after the header.
pub(super) fn parse(text: &[u8], layout: &Layout, file: &str) -> Result<Raw, DataError> {
    let mut names = Names::default();
    let mut raw = Raw::default();
    let mut weights = Vec::new();
    let mut fields = Vec::new();
    let skipped = text.get(..layout.start).unwrap_or_default();
    let before = memchr::memchr_iter(b'\n', skipped).count();
    let body = text.get(layout.start..).unwrap_or_default();
    for (number, line) in Lines::new(body) {
        if is_comment(line) {
            continue;
        }
        layout.delimiter.split(line, &mut fields);
        let fault = |fault: Fault| fault.into_error(file, before + number, layout);
        if fields.len() != layout.width {
            return Err(fault(Fault::Ragged(fields.len())));
        }
        let (source, target) = (fields[layout.columns.source], fields[layout.columns.target]);
        if layout.numeric && raw.remarks.is_empty() && !(looks_whole(source) && looks_whole(target))
        {
            let line = before + number;
            raw.remarks.push(format!("ids are taken as names, as line {line} has no numbers"));
        }
        let mut node = |name| names.number(name).ok_or_else(|| fault(Fault::TooMany));
        reserve(&mut raw.edges, 1, file)?;
        raw.edges.push((node(source)?, node(target)?));
        if let Some(column) = layout.columns.weight {
            let (weight, rounded) = weight(fields[column], layout.delimiter).map_err(fault)?;
            reserve(&mut weights, 1, file)?;
            weights.push(weight);
            raw.rounded |= rounded;
        }
    }
    raw.weights = layout.columns.weight.map(|_| weights);
    names.settle(&mut raw);
    Ok(raw)
}
