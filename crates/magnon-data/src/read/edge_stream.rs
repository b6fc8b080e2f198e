//! Edge lists larger than memory: the text is read in blocks of whole lines.

use super::edge_layout::{Layout, looks_whole};
pub(crate) use super::edge_names::Numbering;
use super::edge_scan::{self, Fault, Id, Scanned, weight};
use crate::store::Store;
use crate::text::{Delimiter, Lines, is_comment, settle_line_ends, without_bom};
use crate::weights::Beyond;
use crate::{DataError, LoadConfig};
use memchr::{memchr_iter, memrchr};
use std::io::Read;

/// The edges of a block of text.
pub(crate) struct EdgeBlock<I> {
    pub(crate) pairs: Vec<[I; 2]>,
    /// As many as pairs where edges have weights, else none.
    pub(crate) weights: Vec<f32>,
    /// Weights that single precision cannot hold, by edge of the block; they are 0 above.
    pub(crate) beyond: Beyond,
    /// Whether a weight has more digits than single precision.
    pub(crate) rounded: bool,
}

/// What reading a block came to.
pub(crate) enum Step<T> {
    /// Edges.
    Edges(T),
    /// The text has come to its end.
    End,
    /// An id is too large for its type.
    Wide,
    /// An id is no number.
    Name,
}

/// An edge list that is read block by block.
pub(crate) struct EdgeStream {
    source: Box<dyn Read>,
    file: String,
    layout: Layout,
    /// The text of the block, and of what follows it.
    text: Vec<u8>,
    /// Where the block begins and ends in it.
    block: (usize, usize),
    ended: bool,
    /// Bytes of whole blocks before this one, from the start of the file, and lines in them.
    pub(crate) at: u64,
    pub(crate) lines: u64,
    /// All bytes, where they are known.
    pub(crate) total: Option<u64>,
}

impl EdgeStream {
    /// Opens an edge list whose blocks have about `size` bytes; `None` where no line has content.
    pub(crate) fn open(
        store: &Store,
        name: &str,
        config: &LoadConfig,
        size: usize,
    ) -> Result<Option<Self>, DataError> {
        let (source, total) = store.stream(name)?;
        let file = store.label(name);
        let mut text = Vec::new();
        text.try_reserve_exact(size)
            .map_err(|_| crate::allocate::out_of_memory(&file, size as u64))?;
        let layout = Layout {
            delimiter: Delimiter::Blank,
            width: 2,
            columns: crate::table::EdgeColumns { source: 0, target: 1, weight: None },
            numeric: true,
            header: None,
            header_line: String::new(),
            start: 0,
        };
        let mut stream = Self {
            source,
            file,
            layout,
            text,
            block: (0, 0),
            ended: false,
            at: 0,
            lines: 0,
            total,
        };
        stream.fill()?;
        if stream.text.get(..1024).unwrap_or(&stream.text).contains(&0) {
            let problem = "neither text nor any other format that is known";
            return Err(DataError::format(&stream.file, problem));
        }
        let block = &stream.text[..stream.block.1];
        let mark = block.len() - without_bom(block).len();
        let Some(layout) = Layout::detect(&block[mark..], &stream.file, config)? else {
            return match stream.ended {
                true => Ok(None),
                false => Err(DataError::format(
                    &stream.file,
                    "its first lines are comments without end; no edge was found",
                )),
            };
        };
        let start = mark + layout.start;
        stream.at = start as u64;
        stream.lines = memchr_iter(b'\n', &stream.text[..start]).count() as u64;
        stream.block.0 = start;
        stream.layout = layout;
        Ok(Some(stream))
    }

    /// Whether ids look like numbers.
    pub(crate) fn is_numeric(&self) -> bool {
        self.layout.numeric
    }

    /// Whether edges have weights.
    pub(crate) fn is_weighted(&self) -> bool {
        self.layout.columns.weight.is_some()
    }

    /// What a user should know about the layout.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.layout.remarks(&crate::raw_dataset::Raw::default())
    }

    /// Passes over what was read before: the first `at` bytes, which have so many lines.
    pub(crate) fn skip_to(&mut self, at: u64, lines: u64) -> Result<(), DataError> {
        while self.at < at {
            let left = (self.block.1 - self.block.0) as u64;
            if left == 0 {
                self.fill()?;
                if self.block.1 == self.block.0 {
                    let problem = "it has become shorter since packing began; remove the folder that ends in \
                                   .packing and begin again";
                    return Err(DataError::format(&self.file, problem));
                }
                continue;
            }
            let step = left.min(at - self.at);
            self.block.0 += step as usize;
            self.at += step;
        }
        self.lines = lines;
        Ok(())
    }

    /// Draws the next block of whole lines into memory.
    fn fill(&mut self) -> Result<(), DataError> {
        self.text.drain(..self.block.1);
        self.block = (0, 0);
        loop {
            let room = self.text.capacity().max(1 << 12) - self.text.len();
            let before = self.text.len();
            let read = (&mut self.source).take(room as u64).read_to_end(&mut self.text);
            read.map_err(|error| {
                DataError::format(&self.file, format!("it cannot be read to its end ({error})"))
            })?;
            self.ended = self.text.len() - before < room;
            // A lone return ends a line; one at the end of the text may belong to a line feed.
            let whole =
                self.text.len() - usize::from(self.text.last() == Some(&b'\r') && !self.ended);
            settle_line_ends(&mut self.text[..whole]);
            let end = memrchr(b'\n', &self.text[..whole]).map(|end| end + 1);
            match end {
                _ if self.ended => self.block.1 = self.text.len(),
                Some(end) => self.block.1 = end,
                // A line that is longer than the block.
                None => {
                    let more = self.text.len();
                    crate::allocate::reserve(&mut self.text, more, &self.file)?;
                    continue;
                }
            }
            return Ok(());
        }
    }

    /// The text of the next block; empty at the end.
    fn next(&mut self) -> Result<(), DataError> {
        if self.block.0 == self.block.1 && !self.ended {
            self.fill()?;
        }
        Ok(())
    }

    /// The next edges of numbered nodes.
    pub(crate) fn numbers<I: Id>(&mut self) -> Result<Step<EdgeBlock<I>>, DataError> {
        self.next()?;
        let block = &self.text[self.block.0..self.block.1];
        if block.is_empty() {
            return Ok(Step::End);
        }
        let blank;
        let layout = match self.layout.delimiter {
            // Between two numbers a tab is a blank like any other.
            Delimiter::Byte(b'\t') if self.layout.width == 2 => {
                blank = Layout { delimiter: Delimiter::Blank, ..self.layout.clone() };
                &blank
            }
            _ => &self.layout,
        };
        let Scanned { pairs, weights, beyond, rounded, .. } =
            match edge_scan::scan::<I>(block, layout) {
                Ok(scanned) => scanned,
                Err((_, Fault::Wide)) => return Ok(Step::Wide),
                Err((_, Fault::NotANumber)) => return Ok(Step::Name),
                Err((at, fault)) => {
                    let line = self.lines as usize + crate::text::line_of(block, at);
                    return Err(fault.into_error(&self.file, line, layout));
                }
            };
        let pairs = pairs.into_iter().map(|(source, target)| [source, target]).collect();
        self.pass();
        Ok(Step::Edges(EdgeBlock { pairs, weights, beyond, rounded }))
    }

    /// The next edges of named nodes, numbered as they come.
    pub(crate) fn names(
        &mut self,
        names: &mut Numbering,
        remarks: &mut Vec<String>,
    ) -> Result<Step<EdgeBlock<u32>>, DataError> {
        self.next()?;
        let block = &self.text[self.block.0..self.block.1];
        if block.is_empty() {
            return Ok(Step::End);
        }
        let (layout, file) = (&self.layout, self.file.as_str());
        let mut edges = EdgeBlock {
            pairs: Vec::new(),
            weights: Vec::new(),
            beyond: Vec::new(),
            rounded: false,
        };
        let mut fields = Vec::new();
        for (number, line) in Lines::new(block).filter(|(_, line)| !is_comment(line)) {
            layout.delimiter.split(line, &mut fields);
            let line = self.lines as usize + number;
            let fault = |fault: Fault| fault.into_error(file, line, layout);
            if fields.len() != layout.width {
                return Err(fault(Fault::Ragged(fields.len())));
            }
            let ends = [fields[layout.columns.source], fields[layout.columns.target]];
            if layout.numeric && remarks.is_empty() && !ends.iter().all(|name| looks_whole(name)) {
                remarks.push(format!("ids are taken as names, as line {line} has no numbers"));
            }
            let mut node = |name: &[u8]| names.number(String::from_utf8_lossy(name), file);
            edges.pairs.push([node(ends[0])?, node(ends[1])?]);
            if let Some(column) = layout.columns.weight {
                let weight = weight(fields[column], layout.delimiter).map_err(fault)?;
                edges.beyond.extend(weight.beyond.map(|number| (edges.weights.len(), number)));
                edges.weights.push(weight.value);
                edges.rounded |= weight.rounded;
            }
        }
        self.pass();
        Ok(Step::Edges(edges))
    }

    /// Takes note that the block was read.
    fn pass(&mut self) {
        let block = &self.text[self.block.0..self.block.1];
        self.at += block.len() as u64;
        self.lines += memchr_iter(b'\n', block).count() as u64;
        self.block.0 = self.block.1;
    }
}
