//! Edge lists whose nodes have names.

use super::edge_layout::{Layout, looks_whole};
use super::edge_scan::{Fault, is_padded, weight};
use super::node_ids;
use crate::data::raw::Raw;
use crate::data::room::{collect, out_of_memory, reserve};
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
        let mut padded = HashMap::new();
        self.order.iter().filter(|name| is_padded(name)).find_map(|&name| {
            let zeros = name.iter().take(name.len() - 1).take_while(|&&byte| byte == b'0').count();
            let number = &name[zeros..];
            let twin = self.numbers.contains_key(number).then_some(number);
            padded.try_reserve(1).ok()?; // a remark can be done without
            let twin = String::from_utf8_lossy(twin.or_else(|| padded.insert(number, name))?);
            let name = String::from_utf8_lossy(name);
            Some(format!("ids are taken as names, so {twin} and {name} are different nodes"))
        })
    }

    /// The names as text, by number.
    pub(super) fn into_strings(self, file: &str) -> Result<Vec<String>, DataError> {
        collect(self.order.iter().map(|name| String::from_utf8_lossy(name).into_owned()), file)
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) -> Result<(), DataError> {
        let file = raw.file.clone();
        if let Some(numbers) = self.distinct_numbers(&file)? {
            let id = |node: u32| numbers.get(node as usize).copied().unwrap_or_default();
            let pairs = collect(raw.edges.iter().map(|&(u, v)| (id(u), id(v))), &file)?;
            let top = numbers.iter().copied().max().unwrap_or_default();
            if let Ok(numbered) = node_ids::compact(pairs, top) {
                raw.edges = numbered.edges;
                raw.nodes = numbered.count;
                raw.node_names = numbered.names;
                return Ok(());
            }
        }
        raw.remarks.extend(self.remark_twins());
        raw.nodes = self.order.len();
        raw.node_names = Some(NodeNames::Words(self.into_strings(&file)?));
        Ok(())
    }

    /// The names as numbers, where they are numbers. Different texts such as 7 and 07 stay different nodes.
    fn distinct_numbers(&self, file: &str) -> Result<Option<Vec<u64>>, DataError> {
        let number = |name: &&[u8]| -> Option<u64> { std::str::from_utf8(name).ok()?.parse().ok() };
        if self.order.iter().any(|name| number(name).is_none()) {
            return Ok(None);
        }
        let numbers =
            collect(self.order.iter().map(|name| number(name).unwrap_or_default()), file)?;
        let mut sorted = collect(numbers.iter().copied(), file)?;
        sorted.sort_unstable();
        Ok(sorted.is_sorted_by(|a, b| a < b).then_some(numbers))
    }
}

/// Names that are owned, numbered in the order of their first appearance.
#[derive(Default)]
pub(crate) struct Numbering {
    numbers: HashMap<Box<str>, u32>,
    order: Vec<Box<str>>,
}

impl Numbering {
    /// The number of a name, which may be new.
    pub(crate) fn number(&mut self, name: String, file: &str) -> Result<u32, DataError> {
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
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The names from a number on.
    pub(crate) fn names_from(&self, first: usize) -> impl Iterator<Item = &str> {
        self.order.iter().skip(first).map(AsRef::as_ref)
    }

    /// Gives the nodes their names. Where all names are numbers, the nodes are put in their order.
    pub(super) fn settle(self, raw: &mut Raw) -> Result<(), DataError> {
        let mut names = Names::default();
        for name in &self.order {
            names.number(name.as_bytes(), &raw.file)?;
        }
        names.settle(raw)
    }

    /// The names, by number.
    pub(super) fn into_names(self) -> Vec<String> {
        self.order.into_iter().map(String::from).collect()
    }
}

/// Reads all lines after the header.
pub(super) fn parse(text: &[u8], layout: &Layout, file: &str) -> Result<Raw, DataError> {
    let mut names = Names::default();
    let mut raw = Raw { file: file.to_owned(), ..Raw::default() };
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
        let mut node = |name| names.number(name, file)?.ok_or_else(|| fault(Fault::TooMany));
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
    names.settle(&mut raw)?;
    Ok(raw)
}
