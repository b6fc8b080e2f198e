//! Cutting a packed graph by rows: each part has its rows and the nodes outside that they speak of, its halo.
//!
//! A part is a file like a packed graph, with a header that says which part it is of how many. Its nodes are its own
//! rows and its halo in the order of the whole graph, so that every row has its entries in the order that it
//! has there, and sums to the same bits. Rows of the halo are empty.

use super::format::{Header, PAGE, PartOf, Section};
use super::open::open;
use crate::DataError;
use crate::allocate::zeroed;
use crate::write::write_seekable;
use magnon_core::compute::pattern::{COLUMN, PADDING};
use magnon_core::graph::Merged;
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A part that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartReport {
    /// Its file.
    pub file: PathBuf,
    /// Rows of its own.
    pub rows: u64,
    /// Nodes outside that its rows speak of.
    pub halo: u64,
    /// Entries of its rows.
    pub stored: u64,
}

/// The rows of a part: the nodes are cut evenly.
pub(super) fn rows_of(part: u64, parts: u64, nodes: u64) -> Range<u64> {
    let cut = |part: u64| (u128::from(part) * u128::from(nodes) / u128::from(parts.max(1))) as u64;
    cut(part)..cut(part + 1)
}

/// The file of a part: the graph's name with the number of the part before the ending.
pub fn part_file(graph: &Path, part: usize) -> PathBuf {
    graph.with_extension(format!("{part}.magnon"))
}

/// Cuts the packed graph at `path` into parts, see [`part_file`].
///
/// The cut opens the cycles that run across it: the charge is found on the whole graph, and parts are given it.
pub fn cut(path: &Path, parts: usize) -> Result<Vec<PartReport>, DataError> {
    let label = path.display().to_string();
    let packed = open(path)?;
    let nodes = packed.graph.nodes();
    if parts == 0 || parts > nodes {
        let problem = format!("it has {nodes} nodes, which cannot be cut into {parts} parts");
        return Err(DataError::format(label, problem));
    }
    let merged = packed.graph.merged();
    let merged = merged.ok_or_else(|| DataError::format(&label, "it has no pattern"))?;
    (0..parts).map(|index| write_part(path, merged, index, parts)).collect()
}

/// Which nodes are in a part, and how many of them are before each.
struct Ranks {
    words: Vec<u64>,
    before: Vec<u32>,
}

impl Ranks {
    fn new(nodes: usize, file: &str) -> Result<Self, DataError> {
        let words = nodes.div_ceil(64);
        Ok(Self { words: zeroed(words, file)?, before: zeroed(words, file)? })
    }

    fn insert(&mut self, node: usize) {
        self.words[node / 64] |= 1 << (node % 64);
    }

    /// Counts; gives the number of all.
    fn count(&mut self) -> u32 {
        let mut sum = 0;
        for (word, before) in self.words.iter().zip(&mut self.before) {
            *before = sum;
            sum += word.count_ones();
        }
        sum
    }

    fn rank(&self, node: usize) -> u32 {
        let below = (1u64 << (node % 64)) - 1;
        self.before[node / 64] + (self.words[node / 64] & below).count_ones()
    }

    fn nodes(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |(k, &word): (usize, &u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 64 * k + bit)
        };
        self.words.iter().enumerate().flat_map(bits)
    }
}

/// Writes the numbers of a section; it is asked twice, for the checksum and for the file.
type Content<'a> = Box<dyn Fn(&mut dyn Write) -> io::Result<()> + 'a>;

fn write_part(
    path: &Path,
    merged: &Merged,
    index: usize,
    parts: usize,
) -> Result<PartReport, DataError> {
    let nodes = merged.offsets.len() - 1;
    let own = rows_of(index as u64, parts as u64, nodes as u64);
    let own = own.start as usize..own.end as usize;
    let entries = merged.offsets[own.start]..merged.offsets[own.end];
    let file = part_file(path, index);
    let label = file.display().to_string();
    let mut ranks = Ranks::new(nodes, &label)?;
    own.clone().for_each(|row| ranks.insert(row));
    merged.columns[entries.clone()]
        .iter()
        .for_each(|column| ranks.insert((column & COLUMN) as usize));
    let count = u64::from(ranks.count());
    let stored = entries.len() as u64;

    let offsets = |target: &mut dyn Write| {
        target.write_all(&0u64.to_le_bytes())?;
        let mut end = 0u64;
        for node in ranks.nodes() {
            if own.contains(&node) {
                end += (merged.offsets[node + 1] - merged.offsets[node]) as u64;
            }
            target.write_all(&end.to_le_bytes())?;
        }
        Ok(())
    };
    let columns = |target: &mut dyn Write| {
        for column in &merged.columns[entries.clone()] {
            let local = ranks.rank((column & COLUMN) as usize) | (column & !COLUMN);
            target.write_all(&local.to_le_bytes())?;
        }
        target.write_all(&[0; 4 * PADDING])
    };
    let weights = |target: &mut dyn Write| {
        let weights = merged.weights.as_deref().unwrap_or_default();
        for pair in weights.get(entries.clone()).unwrap_or_default() {
            pair.iter().try_for_each(|weight| target.write_all(&weight.to_le_bytes()))?;
        }
        target.write_all(&[0; 8 * PADDING])
    };
    let of = |target: &mut dyn Write| {
        ranks.nodes().try_for_each(|node| target.write_all(&(node as u64).to_le_bytes()))
    };
    let mut contents: Vec<(&str, Content)> = vec![
        ("offsets", Box::new(offsets)),
        ("columns", Box::new(columns)),
        ("nodes", Box::new(of)),
    ];
    if merged.weights.is_some() {
        contents.push(("weights", Box::new(weights)));
    }
    let failed = |reason| DataError::Io { path: file.clone(), action: "write", reason };
    let mut header = Header {
        nodes: count,
        stored,
        directed: merged.directed,
        weighted: merged.weights.is_some(),
        part: Some(PartOf { index: index as u64, parts: parts as u64, nodes: nodes as u64 }),
        ..Header::default()
    };
    let mut start = PAGE;
    for (name, content) in &contents {
        let mut sum = Sum::default();
        content(&mut sum).map_err(failed)?;
        let crc32 = sum.hasher.finalize();
        header.sections.push(Section { name: (*name).to_owned(), start, bytes: sum.bytes, crc32 });
        start = (start + sum.bytes).next_multiple_of(PAGE);
    }
    let page = header.encode(&file)?;
    write_seekable(&file, |target| {
        target.write_all(&page)?;
        for (section, (_, content)) in header.sections.iter().zip(&contents) {
            target.seek(io::SeekFrom::Start(section.start))?;
            content(&mut *target)?;
        }
        Ok(())
    })?;
    Ok(PartReport { rows: own.len() as u64, halo: count - own.len() as u64, stored, file })
}

/// Sums up what is written to it.
#[derive(Default)]
struct Sum {
    hasher: crc32fast::Hasher,
    bytes: u64,
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
