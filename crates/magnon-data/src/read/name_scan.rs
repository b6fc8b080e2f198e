//! The scanner for edge lists of named nodes.
//!
//! Nearly all lines are fields without quotes and take the fast way; any other line takes the slow one.

use super::distinct::Distinct;
use super::edge_chunks::{Part, scan_parts};
use super::edge_layout::{Layout, looks_whole};
use super::edge_scan::{Fault, weight};
use super::edge_stops::{FieldEnds, Stops};
use super::name_table::{Interned, LONGEST, LONGEST_TEXT, NameHash, Span, intern};
use crate::text::{Delimiter, is_comment};
use crate::weights::Beyond;
use memchr::memchr;

/// Edges of named nodes.
pub(super) struct NamedEdges {
    pub(super) interned: Interned,
    /// As many as edges where the layout has weights, else none.
    pub(super) weights: Vec<f32>,
    /// Weights that single precision cannot hold, by edge.
    pub(super) beyond: Beyond,
    /// Whether a weight has more digits than single precision.
    pub(super) rounded: bool,
    /// Where the first line starts that has an id that is no whole number, where others seem to be.
    pub(super) word: Option<usize>,
}

/// Scans all lines and numbers the nodes as they come. The first fault of the text is given back with its offset.
pub(super) fn scan(text: &[u8], layout: &Layout) -> Result<NamedEdges, (usize, Fault)> {
    if text.len() > LONGEST_TEXT {
        return Err((0, Fault::OutOfMemory(text.len())));
    }
    let hash = NameHash::default();
    let weighted = layout.columns.weight.is_some();
    let edges = scan_parts(text, weighted, |part: Part<'_, '_, [Span; 2]>| {
        let result = ChunkResult {
            distinct: Distinct::new(),
            beyond: Vec::new(),
            rounded: false,
            word: None,
        };
        let fields = Vec::new();
        let mut chunk = Chunk { part, layout, hash: hash.clone(), fields, found: 0, result };
        chunk.run()?;
        Ok((chunk.found, chunk.result))
    })?;
    let (mut distinct, mut rounded, mut word) = (Distinct::new(), false, None);
    let mut beyond = Vec::new();
    for (first, result) in &edges.results {
        distinct.join(&result.distinct);
        beyond.extend(result.beyond.iter().map(|(edge, number)| (first + edge, *number)));
        rounded |= result.rounded;
        word = word.or(result.word);
    }
    let expected = (1.1 * distinct.estimate()) as usize;
    let mut interned = intern(text, &edges.pairs, &hash, expected).map_err(|fault| (0, fault))?;
    // Names were numbered as they stand in the text; a source comes before its target, wherever its column is.
    if layout.columns.target < layout.columns.source {
        interned = interned.by_edges().map_err(|fault| (0, fault))?;
    }
    Ok(NamedEdges { interned, weights: edges.weights, beyond, rounded, word })
}

/// What a chunk has to tell.
struct ChunkResult {
    distinct: Distinct,
    beyond: Beyond,
    rounded: bool,
    word: Option<usize>,
}

/// One chunk under the scanner.
struct Chunk<'a, 'o> {
    part: Part<'a, 'o, [Span; 2]>,
    layout: &'a Layout,
    hash: NameHash,
    fields: Vec<&'a [u8]>,
    found: usize,
    result: ChunkResult,
}

/// Source, target and weight of a line.
#[derive(Clone, Copy, Default)]
struct Edge<'a> {
    source: &'a [u8],
    target: &'a [u8],
    weight: &'a [u8],
}

impl<'a> Chunk<'a, '_> {
    fn run(&mut self) -> Result<(), (usize, Fault)> {
        let text = self.part.text;
        let ends = match self.layout.delimiter {
            Delimiter::Blank => FieldEnds { delimiter: b' ', limit: b' ' },
            Delimiter::Byte(delimiter) => FieldEnds { delimiter, limit: b'\n' },
        };
        let mut stops = Stops::new(text, ends);
        let mut at = 0;
        while at < text.len() {
            if let Some((edge, next)) = self.plain(at, &mut stops) {
                self.push(at, edge).map_err(|fault| (at, fault))?;
                at = next;
                continue;
            }
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |end| at + end);
            self.slow(at, &text[at..end]).map_err(|fault| (at, fault))?;
            at = end + 1;
            stops.seek(at);
        }
        Ok(())
    }

    /// The edge of a line of plain fields, and where the next line starts; `None` for any other line.
    #[inline(always)]
    fn plain(&self, at: usize, stops: &mut Stops<'a, FieldEnds>) -> Option<(Edge<'a>, usize)> {
        let (text, columns) = (self.part.text, self.layout.columns);
        let byte = |at: usize| text.get(at).copied().unwrap_or(b'\n');
        let mut edge = Edge::default();
        let mut start = at;
        let last = self.layout.width.checked_sub(1)?;
        for column in 0..=last {
            let end = stops.next();
            let mut next = end + 1;
            let fits = match (self.layout.delimiter, byte(end)) {
                (_, b'\n') => column == last,
                (Delimiter::Byte(delimiter), byte) => column < last && byte == delimiter,
                (Delimiter::Blank, b' ' | b'\t') => column < last && end > start,
                (Delimiter::Blank, b'\r') => {
                    next = stops.next() + 1;
                    column == last && next == end + 2 && byte(end + 1) == b'\n'
                }
                _ => false,
            };
            if !fits {
                return None;
            }
            let field = text.get(start..end)?.trim_ascii();
            // The line is taken without outer blanks, which may be delimiters.
            if field.is_empty() && (column == 0 || column == last) {
                return None;
            }
            if column == columns.source {
                edge.source = field;
            }
            if column == columns.target {
                edge.target = field;
            }
            if Some(column) == columns.weight {
                edge.weight = field;
            }
            start = next;
        }
        let line = text.get(at..)?;
        let comment = is_comment(line) || line.first().is_some_and(u8::is_ascii_whitespace);
        (!comment).then_some((edge, start))
    }

    /// A line of any form, without its line end.
    #[inline(never)]
    fn slow(&mut self, at: usize, line: &'a [u8]) -> Result<(), Fault> {
        let line = line.trim_ascii();
        if line.is_empty() || is_comment(line) {
            return Ok(());
        }
        self.layout.delimiter.split(line, &mut self.fields);
        if self.fields.len() != self.layout.width {
            return Err(Fault::Ragged(self.fields.len()));
        }
        let columns = self.layout.columns;
        let field = |column: usize| self.fields.get(column).copied().unwrap_or_default();
        let weight = columns.weight.map_or(&[][..], field);
        self.push(at, Edge { source: field(columns.source), target: field(columns.target), weight })
    }

    /// Stores the edge of the line that starts at `at`.
    #[inline(always)]
    fn push(&mut self, at: usize, edge: Edge<'a>) -> Result<(), Fault> {
        if self.layout.numeric
            && self.result.word.is_none()
            && !(looks_whole(edge.source) && looks_whole(edge.target))
        {
            self.result.word = Some(self.part.at + at);
        }
        let pair = [self.span(edge.source)?, self.span(edge.target)?];
        if let Some(place) = self.part.pairs.get_mut(self.found) {
            *place = pair;
        }
        if self.layout.columns.weight.is_some() {
            let weight = weight(edge.weight, self.layout.delimiter)?;
            self.result.rounded |= weight.rounded;
            self.result.beyond.extend(weight.beyond.map(|number| (self.found, number)));
            if let Some(place) = self.part.weights.get_mut(self.found) {
                *place = weight.value;
            }
        }
        self.found += 1;
        Ok(())
    }

    /// Where a name stands in the whole text, which it is a part of.
    #[inline(always)]
    fn span(&mut self, name: &'a [u8]) -> Result<Span, Fault> {
        if name.len() > LONGEST {
            return Err(Fault::LongName(name.len()));
        }
        let offset = (name.as_ptr() as usize).saturating_sub(self.part.text.as_ptr() as usize);
        let hash = self.hash.of(name);
        self.result.distinct.add(hash);
        Ok(Span::new(self.part.at + offset, name.len(), hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LoadConfig;
    use crate::text::Lines;
    use rand::{RngExt, SeedableRng};
    use std::collections::HashMap;

    struct Plain {
        edges: Vec<(u32, u32)>,
        names: Vec<Vec<u8>>,
        weights: Vec<f32>,
    }

    /// Edges, names by number and weights, line by line and by a table of the standard library.
    fn plainly(text: &[u8], layout: &Layout) -> Plain {
        let (mut known, mut order) = (HashMap::new(), Vec::new());
        let (mut edges, mut weights, mut fields) = (Vec::new(), Vec::new(), Vec::new());
        for (_, line) in Lines::new(text).filter(|(_, line)| !is_comment(line)) {
            layout.delimiter.split(line, &mut fields);
            assert_eq!(fields.len(), layout.width, "{}", String::from_utf8_lossy(line));
            let mut number = |name: &[u8]| {
                *known.entry(name.to_vec()).or_insert_with(|| {
                    order.push(name.to_vec());
                    order.len() as u32 - 1
                })
            };
            let columns = layout.columns;
            edges.push((number(fields[columns.source]), number(fields[columns.target])));
            if let Some(column) = columns.weight {
                weights.push(weight(fields[column], layout.delimiter).unwrap().value);
            }
        }
        Plain { edges, names: order, weights }
    }

    #[test]
    fn the_same_graph_on_any_number_of_threads() {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(11);
        let mut below = move |most: u32| random.random_range(0..most);
        for (delimiter, widths) in [(",", 2..4), ("\t", 2..4), (" ", 2..4), ("; ", 2..3)] {
            for (width, turned) in widths.flat_map(|width| [(width, false), (width, true)]) {
                let mut text = String::from("first");
                text += &[delimiter, "second"].concat().repeat(width - 1);
                text = text.replace("second", if width == 2 { "b" } else { "7" }) + "\n";
                while text.len() < 600_000 {
                    let name = |number: u32, form: u32| match form {
                        0 => format!("\"n{number}\""),
                        1 => format!("é{number}"),
                        2 => number.to_string(),
                        _ => format!("name-{number}"),
                    };
                    let fields: Vec<String> = (0..width)
                        .map(|column| match column {
                            2 => format!("{}.5", below(100)),
                            _ => name(below(3000), below(20)),
                        })
                        .collect();
                    let (before, after) = match below(30) {
                        0 => ("# a comment\n\n", " \r\n"),
                        1 => ("  ", "\r\n"),
                        2 => ("", "\r\n"),
                        _ => ("", "\n"),
                    };
                    text += before;
                    text += &fields.join(delimiter);
                    text += after;
                }
                text.truncate(text.trim_end().len());
                let layout = Layout::detect(text.as_bytes(), "f", &LoadConfig::default());
                let mut layout = layout.unwrap().unwrap();
                if turned {
                    let columns = &mut layout.columns;
                    std::mem::swap(&mut columns.source, &mut columns.target);
                }
                assert_eq!((layout.width, layout.start), (width, 0), "{delimiter:?}");
                let plain = plainly(text.as_bytes(), &layout);
                for threads in [1, 2, 7] {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                    let found = pool.unwrap().install(|| scan(text.as_bytes(), &layout)).unwrap();
                    assert_eq!(
                        found.interned.edges, plain.edges,
                        "{delimiter:?}, {threads} threads"
                    );
                    assert_eq!(found.weights, plain.weights);
                    let names = found.interned.first.iter().map(|span| span.of(text.as_bytes()));
                    assert!(names.eq(plain.names.iter().map(Vec::as_slice)));
                }
            }
        }
    }

    #[test]
    fn blanks_at_the_ends_are_no_fields() {
        let of = |text: &str, delimiter: u8, width: usize| {
            let sample = ["a"; 9][..width].join(std::str::from_utf8(&[delimiter]).unwrap());
            let config = LoadConfig { unweighted: true, ..LoadConfig::default() };
            let layout = Layout::detect(sample.as_bytes(), "f", &config).unwrap().unwrap();
            scan(text.as_bytes(), &layout).map(|found| found.interned.edges).map_err(|(_, f)| f)
        };
        assert_eq!(of("\ta\tb\n", b'\t', 3), Err(Fault::Ragged(2)));
        assert_eq!(of("a\tb\t\n", b'\t', 3), Err(Fault::Ragged(2)));
        assert_eq!(of("\ta\tb\t\n", b'\t', 2), Ok(vec![(0, 1)]));
        assert_eq!(of(",b\n", b',', 2), Ok(vec![(0, 1)]));
        assert_eq!(of("a,\n", b',', 2), Ok(vec![(0, 1)]));
        let long = format!("a,{}\n", "b".repeat(LONGEST + 1));
        assert_eq!(of(&long, b',', 2), Err(Fault::LongName(LONGEST + 1)));
        assert_eq!(of(&long[..LONGEST + 2], b',', 2), Ok(vec![(0, 1)]));
    }
}
