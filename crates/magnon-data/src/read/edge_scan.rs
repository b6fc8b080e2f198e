//! The scanner for edge lists of numbered nodes.
//!
//! Nearly all lines are `digits, separator, digits, line end` and take the fast way; any other line takes the slow
//! one.

use super::edge_chunks::{Part, scan_parts, zeroed};
use super::edge_layout::{Layout, looks_whole};
use super::edge_stops::{NonDigits, Stops, number};
use super::name_table::LONGEST;
use crate::DataError;
use crate::allocate::out_of_memory;
use crate::table::number as number_with_comma;
use crate::text::{Delimiter, is_comment};
use crate::weights::{Beyond, Weight, not_a_weight};
use bytemuck::Zeroable;
use memchr::memchr;
use rayon::prelude::*;

/// A node number as it is stored while scanning.
pub(crate) trait Id:
    Copy + Ord + Default + Send + Sync + Zeroable + Into<u64> + TryFrom<u64>
{
    /// Gives every edge new numbers.
    fn relabel(
        pairs: Vec<(Self, Self)>,
        new: impl Fn((Self, Self)) -> (u32, u32) + Sync,
    ) -> Result<Vec<(u32, u32)>, Fault> {
        let mut edges = zeroed::<(u32, u32)>(pairs.len())?;
        edges.par_iter_mut().zip(&pairs).for_each(|(edge, &pair)| *edge = new(pair));
        Ok(edges)
    }
}
impl Id for u64 {}
impl Id for u32 {
    fn relabel(
        mut pairs: Vec<(u32, u32)>,
        new: impl Fn((u32, u32)) -> (u32, u32) + Sync,
    ) -> Result<Vec<(u32, u32)>, Fault> {
        pairs.par_iter_mut().with_min_len(1 << 14).for_each(|pair| *pair = new(*pair));
        Ok(pairs)
    }
}

/// Why a line is no edge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// An id is not a whole number; it may be a name.
    NotANumber,
    /// An id does not fit its type.
    Wide,
    Negative(String),
    Ragged(usize),
    Weight(String),
    /// A name of so many bytes.
    LongName(usize),
    /// More distinct nodes than can be numbered.
    TooMany,
    /// There is no memory for so many bytes.
    OutOfMemory(usize),
}

impl Fault {
    /// The error for a user.
    pub(super) fn into_error(self, file: &str, line: usize, layout: &Layout) -> DataError {
        let problem = match self {
            Self::NotANumber | Self::Wide => "the node numbers cannot be read".into(),
            Self::Negative(id) => format!("the node number {id} is negative; ids count from 0"),
            Self::Ragged(found) => {
                let columns = layout.width;
                format!("ragged: {found} column(s), but the first edge has {columns}")
            }
            Self::Weight(text) => not_a_weight(&text),
            Self::LongName(bytes) => {
                format!("the name of a node has {bytes} bytes, but {LONGEST} are the most")
            }
            Self::TooMany => "there are more nodes than 32 bits can number".into(),
            // This is about the whole file, not about a line of it.
            Self::OutOfMemory(bytes) => return out_of_memory(file, bytes as u64),
        };
        DataError::line(file, line, problem)
    }
}

/// Edges of numbered nodes.
#[derive(Debug)]
pub(super) struct Scanned<I> {
    pub(super) pairs: Vec<(I, I)>,
    /// As many as pairs where the layout has weights, else none.
    pub(super) weights: Vec<f32>,
    /// Weights that single precision cannot hold, by edge.
    pub(super) beyond: Beyond,
    /// Whether a weight has more digits than single precision.
    pub(super) rounded: bool,
    /// The largest id.
    pub(super) top: I,
    /// Where the first line starts that writes an id with zeros before it.
    pub(super) padded: Option<usize>,
}

/// Scans all lines. The first fault of the text is given back with its offset.
pub(super) fn scan<I: Id>(text: &[u8], layout: &Layout) -> Result<Scanned<I>, (usize, Fault)> {
    let weighted = layout.columns.weight.is_some();
    let edges = scan_parts(text, weighted, |part: Part<'_, '_, (I, I)>| {
        let Part { text, at, pairs, weights } = part;
        let (fields, found, beyond) = (Vec::new(), 0, Vec::new());
        let (rounded, padded) = (false, None);
        let mut chunk =
            Chunk { text, layout, fields, pairs, weights, found, beyond, rounded, padded };
        let top = chunk.run()?;
        let padded = chunk.padded.map(|offset| at + offset);
        Ok((chunk.found, (top, chunk.beyond, chunk.rounded, padded)))
    })?;
    let (mut top, mut beyond, mut rounded, mut padded) = (I::default(), Vec::new(), false, None);
    for (first, (largest, unheld, changed, zeros)) in edges.results {
        top = top.max(largest);
        beyond.extend(unheld.into_iter().map(|(edge, number)| (first + edge, number)));
        rounded |= changed;
        padded = padded.or(zeros);
    }
    Ok(Scanned { pairs: edges.pairs, weights: edges.weights, beyond, rounded, top, padded })
}

/// One chunk under the scanner, with a place for the edge of each line.
struct Chunk<'a, 'o, I> {
    text: &'a [u8],
    layout: &'a Layout,
    fields: Vec<&'a [u8]>,
    pairs: &'o mut [(I, I)],
    weights: &'o mut [f32],
    found: usize,
    /// Weights that single precision cannot hold, by edge of the chunk.
    beyond: Beyond,
    /// Whether a weight has more digits than single precision.
    rounded: bool,
    /// Where the first line starts that writes an id with zeros before it.
    padded: Option<usize>,
}

impl<'a, I: Id> Chunk<'a, '_, I> {
    /// Scans the chunk; gives back the largest id.
    fn run(&mut self) -> Result<I, (usize, Fault)> {
        let mut top = I::default();
        let (comma, blank) = match self.layout.delimiter {
            Delimiter::Blank => (b'\t', b' '),
            Delimiter::Byte(byte) => (byte, byte),
        };
        let plain = self.layout.width == 2 && self.layout.columns.source == 0;
        let text = self.text;
        let mut stops = Stops::new(text, NonDigits);
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let mut at = 0;
        while at < text.len() {
            let middle = stops.next();
            let end = stops.next();
            let separator = byte(middle);
            let mut line_end = end;
            if byte(end) == b'\r' {
                line_end = stops.next();
            }
            let regular = plain
                & ((separator == comma) | (separator == blank))
                & (byte(line_end) == b'\n')
                & (line_end - end <= 1);
            if regular
                && let Some(source) = number(text, at, middle)
                && let Some(target) = number(text, middle + 1, end)
            {
                let larger = self.push(source.into(), target.into());
                top = top.max(larger.map_err(|fault| (at, fault))?);
                let zero = |start: usize, end: usize| (byte(start) == b'0') & (end - start > 1);
                if zero(at, middle) | zero(middle + 1, end) {
                    self.padded = self.padded.or(Some(at));
                }
                at = line_end + 1;
                continue;
            }
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            let larger = self.slow(&text[at..end], at).map_err(|fault| (at, fault))?;
            top = top.max(larger);
            at = end + 1;
            stops.seek(at);
        }
        Ok(top)
    }

    /// Stores an edge and gives back its larger end.
    #[inline(always)]
    fn push(&mut self, source: u64, target: u64) -> Result<I, Fault> {
        let source = I::try_from(source).map_err(|_| Fault::Wide)?;
        let target = I::try_from(target).map_err(|_| Fault::Wide)?;
        if let Some(place) = self.pairs.get_mut(self.found) {
            *place = (source, target);
        }
        self.found += 1;
        Ok(source.max(target))
    }

    /// A line of any form that starts at `at`. One without an edge has nothing larger than 0.
    #[inline(never)]
    fn slow(&mut self, line: &'a [u8], at: usize) -> Result<I, Fault> {
        let line = line.trim_ascii();
        if line.is_empty() || is_comment(line) {
            return Ok(I::default());
        }
        self.layout.delimiter.split(line, &mut self.fields);
        if self.fields.len() != self.layout.width {
            return Err(Fault::Ragged(self.fields.len()));
        }
        let columns = self.layout.columns;
        let (source, target) = (self.fields[columns.source], self.fields[columns.target]);
        if is_padded(source) || is_padded(target) {
            self.padded = self.padded.or(Some(at));
        }
        let (source, target) = (id(source)?, id(target)?);
        if let Some(column) = columns.weight {
            let weight = weight(self.fields[column], self.layout.delimiter)?;
            self.rounded |= weight.rounded;
            self.beyond.extend(weight.beyond.map(|number| (self.found, number)));
            if let Some(place) = self.weights.get_mut(self.found) {
                *place = weight.value;
            }
        }
        self.push(source, target)
    }
}

/// Whether a number is written with zeros before it.
pub(super) fn is_padded(field: &[u8]) -> bool {
    field.len() > 1 && field.starts_with(b"0") && looks_whole(field)
}

/// A field as a node number.
fn id(field: &[u8]) -> Result<u64, Fault> {
    if !looks_whole(field) {
        return Err(Fault::NotANumber);
    }
    if field.starts_with(b"-") {
        return Err(Fault::Negative(String::from_utf8_lossy(field).into_owned()));
    }
    std::str::from_utf8(field).ok().and_then(|text| text.parse().ok()).ok_or(Fault::Wide)
}

/// A field as a finite weight.
pub(super) fn weight(field: &[u8], delimiter: Delimiter) -> Result<Weight, Fault> {
    let plain = std::str::from_utf8(field).ok().and_then(Weight::parse);
    // A number with a comma is short of digits on purpose.
    let comma = || {
        let weight = Weight::of(number_with_comma(field, delimiter)?)?;
        Some(Weight { rounded: false, ..weight })
    };
    plain.or_else(comma).ok_or_else(|| {
        Fault::Weight(String::from_utf8_lossy(field.get(..40).unwrap_or(field)).into_owned())
    })
}
