//! `Slices`: the entries of a pattern by slices of its columns, so that gathered lines stay in the last-level cache.
//!
//! A product with a tile fetches a line of 64 bytes for each entry. Where the lines are spread over a tile that no cache
//! holds, each comes from memory. So the columns are cut into slices whose lines a cache holds, and all rows are visited
//! once for each slice, while what a row has so far waits in its line of the result.
//!
//! A row has few entries in a slice, so that a loop for each row would end where the processor does not expect it. There
//! is one loop over all entries instead: an entry says how many rows it lies below the last one. It is added to the line of its row
//! at once. So the entries of a row are added up by ascending column wherever the cuts lie, and these change no bit.

use super::line::LINE;
use super::pattern::{COLUMN, PADDING, Pattern, Weights};
use crate::memory;
use rayon::prelude::*;
use std::ops::Range;

/// Of the last-level cache, one part of so many is for the lines of a slice.
const SHARE: usize = 4;
/// The widest slice, whose lines are 16 MB.
const WIDEST: usize = 1 << COLUMN_BITS;
/// The narrowest one, so that a strange cache does not make slices of no use.
const NARROWEST: usize = 1 << 14;
/// Graphs with no more nodes are not cut: a tile of 16 MB is in the cache anyway.
const SMALL: usize = 1 << 18;
/// Tenths of an entry that a row must have in a slice on average, to be worth a visit.
const LEAST: usize = 15;
/// Entries of the stretch of rows whose lines are counted.
const STRETCH: usize = 1 << 20;

/// An entry of a slice: from the lowest bit, its column in the slice, its phase class, and how many rows it lies below the
/// entry before.
#[derive(Clone, Copy)]
pub(crate) struct Entry(u32);

const COLUMN_BITS: u32 = 18;
const CLASS_BITS: u32 = 2;
/// The most rows that an entry can say.
const FARTHEST: usize = (1 << (32 - COLUMN_BITS - CLASS_BITS)) - 1;

impl Entry {
    fn new(column: usize, class: u32, rows: usize) -> Self {
        Self(column as u32 | class << COLUMN_BITS | (rows as u32) << (COLUMN_BITS + CLASS_BITS))
    }

    /// Its column in the slice.
    #[inline(always)]
    pub fn column(self) -> usize {
        (self.0 & ((1 << COLUMN_BITS) - 1)) as usize
    }

    /// Its phase class.
    #[inline(always)]
    pub fn class(self) -> u32 {
        self.0 >> COLUMN_BITS & ((1 << CLASS_BITS) - 1)
    }

    /// Rows between the entry before and this one.
    #[inline(always)]
    pub fn rows(self) -> usize {
        (self.0 >> (COLUMN_BITS + CLASS_BITS)) as usize
    }
}

/// Entries that follow each other closely enough to say how many rows they lie apart.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Row of the first.
    row: usize,
    /// Where they begin; they end where the next run begins.
    start: usize,
}

/// The entries of a pattern, slice after slice, in each of them by the blocks of its rows.
#[derive(Debug)]
pub(crate) struct Slices {
    nodes: usize,
    width: usize,
    blocks: usize,
    /// The first run of each slice and block, and the end of the last one.
    firsts: Vec<usize>,
    /// All runs, and one where the entries end.
    runs: Vec<Run>,
    /// [`Entry`] after entry, followed by [`PADDING`] zeros.
    entries: Vec<u32>,
}

impl Slices {
    /// Whether products with a pattern are faster slice by slice.
    pub fn pay(pattern: &Pattern) -> bool {
        let (nodes, stored) = (pattern.nodes(), pattern.stored());
        let enough = || 10 * stored / nodes >= LEAST * nodes.div_ceil(WIDEST);
        let unit = matches!(pattern.weights, Weights::Unit);
        nodes > SMALL && unit && enough() && scattered(pattern)
    }

    /// Bytes that they need.
    pub fn bytes(pattern: &Pattern) -> usize {
        let runs = pattern.blocks.len() * pattern.nodes().div_ceil(width(pattern));
        let entries = size_of::<u32>().saturating_mul(pattern.stored() + PADDING);
        entries.saturating_add((size_of::<Run>() + size_of::<usize>()).saturating_mul(runs))
    }

    /// Puts the entries in order. `None` where the system has no memory for them.
    pub fn new(pattern: &Pattern) -> Option<Self> {
        Self::of_width(pattern, width(pattern))
    }

    pub(super) fn of_width(pattern: &Pattern, width: usize) -> Option<Self> {
        let nodes = pattern.nodes();
        let (count, blocks) = (nodes.div_ceil(width), pattern.blocks.len() - 1);
        let mut entries = memory::try_zeroed::<u32>(pattern.stored() + PADDING)?;
        // How many entries of each block lie in each slice.
        let counts: Vec<Vec<usize>> = block_rows(pattern)
            .map(|rows| {
                let mut counts = vec![0; count];
                let columns =
                    &pattern.columns[pattern.offsets[rows.start]..pattern.offsets[rows.end]];
                columns.iter().for_each(|packed| counts[(packed & COLUMN) as usize / width] += 1);
                counts
            })
            .collect();
        let mut places: Vec<Vec<(usize, &mut [u32])>> = Vec::new();
        places.resize_with(blocks, || Vec::with_capacity(count));
        let (mut rest, mut start) = (&mut entries[..], 0);
        for slice in 0..count {
            for (places, counts) in places.iter_mut().zip(&counts) {
                let (place, tail) = rest.split_at_mut(counts[slice]);
                places.push((start, place));
                (rest, start) = (tail, start + counts[slice]);
            }
        }
        let tasks = block_rows(pattern).zip(places);
        let runs: Vec<_> = tasks.map(|(rows, places)| fill(pattern, width, rows, places)).collect();
        let mut slices = Self { nodes, width, blocks, firsts: vec![0], runs: Vec::new(), entries };
        for slice in 0..count {
            for block in &runs {
                slices.runs.extend_from_slice(&block[slice]);
                slices.firsts.push(slices.runs.len());
            }
        }
        slices.runs.push(Run { row: nodes, start });
        Some(slices)
    }

    /// Number of slices.
    pub fn count(&self) -> usize {
        self.nodes.div_ceil(self.width)
    }

    /// Nodes of the pattern.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The first column of a slice.
    pub fn first(&self, slice: usize) -> usize {
        slice * self.width
    }

    /// The entry at a place.
    ///
    /// # Safety
    /// The place is at most [`PADDING`] beyond an entry of a run.
    #[inline(always)]
    pub unsafe fn entry(&self, at: usize) -> Entry {
        // SAFETY: as many zeros follow the last entry.
        Entry(unsafe { *self.entries.get_unchecked(at) })
    }

    /// The runs of a block of rows in a slice: the row of the first entry, and where the entries lie.
    pub fn runs(&self, slice: usize, block: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let at = slice * self.blocks + block;
        let runs = &self.runs[self.firsts[at]..=self.firsts[at + 1]];
        runs.windows(2).map(|run| (run[0].row, run[0].start..run[1].start))
    }
}

/// Columns of a slice: by the cache of this machine, and twice as many where rows would have too few entries in each.
fn width(pattern: &Pattern) -> usize {
    let lines = memory::last_level_cache() / SHARE / LINE;
    let width = lines.clamp(NARROWEST, WIDEST);
    let few = 10 * pattern.stored() < LEAST * pattern.nodes() * pattern.nodes().div_ceil(width);
    if few { (2 * width).min(WIDEST) } else { width }
}

/// The rows of each block.
fn block_rows(pattern: &Pattern) -> impl IndexedParallelIterator<Item = Range<usize>> + '_ {
    pattern.blocks.par_windows(2).map(|rows| rows[0]..rows[1])
}

/// Writes the entries of a block to where each slice begins and has room for them, and gives the runs of each slice.
fn fill(
    pattern: &Pattern,
    width: usize,
    rows: Range<usize>,
    places: Vec<(usize, &mut [u32])>,
) -> Vec<Vec<Run>> {
    let mut runs = vec![Vec::new(); places.len()];
    // How many entries each slice has, and the row of its last one.
    let mut filled = vec![(0, 0); places.len()];
    let mut places = places;
    for u in rows {
        for packed in &pattern.columns[pattern.offsets[u]..pattern.offsets[u + 1]] {
            let column = (packed & COLUMN) as usize;
            let slice = column / width;
            let (start, place) = &mut places[slice];
            let (len, last) = &mut filled[slice];
            if *len == 0 || u - *last > FARTHEST {
                runs[slice].push(Run { row: u, start: *start + *len });
                *last = u;
            }
            place[*len] = Entry::new(column % width, packed >> 30, u - *last).0;
            (*len, *last) = (*len + 1, u);
        }
    }
    runs
}

/// Whether the rows in the middle gather more lines than a cache holds: where neighbours lie close together, or are
/// mostly the same few, the cache has what the next rows need anyway.
fn scattered(pattern: &Pattern) -> bool {
    let (nodes, stored) = (pattern.nodes(), pattern.stored());
    let first = stored.saturating_sub(STRETCH) / 2;
    let stretch = &pattern.columns[first..stored.min(first + STRETCH)];
    let mut seen = vec![0u64; nodes.div_ceil(64)];
    for packed in stretch {
        let column = (packed & COLUMN) as usize;
        seen[column / 64] |= 1 << (column % 64);
    }
    let lines: usize = seen.iter().map(|bits| bits.count_ones() as usize).sum();
    lines > SMALL.min(stretch.len() / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::GraphBuilder;

    fn pattern(nodes: usize, edges: impl Iterator<Item = (u32, u32)>) -> Pattern {
        let edges = edges.filter(|(u, v)| u != v);
        Pattern::new(&GraphBuilder::new(nodes).edges(edges).build().unwrap().graph).unwrap()
    }

    #[test]
    fn every_entry_is_in_its_slice() {
        let edges = (0..90u32).flat_map(|u| [(u, (u * 7 + 3) % 90), (u, (u * u + 11) % 90)]);
        let pattern = pattern(90, edges);
        let slices = Slices::of_width(&pattern, 32).unwrap();
        assert_eq!(slices.count(), 3);
        let mut rows = vec![Vec::new(); 90];
        for slice in 0..3 {
            for (row, entries) in slices.runs(slice, 0) {
                let mut u = row;
                for e in entries {
                    let entry = Entry(slices.entries[e]);
                    u += entry.rows();
                    rows[u].push((32 * slice + entry.column()) as u32 | entry.class() << 30);
                }
            }
        }
        for (u, row) in rows.iter().enumerate() {
            assert_eq!(*row, pattern.columns[pattern.offsets[u]..pattern.offsets[u + 1]]);
        }
    }

    /// Entries that lie more rows apart than they can say are in runs of their own.
    #[test]
    fn rows_far_apart_begin_a_new_run() {
        let far = FARTHEST as u32 + 3;
        let pattern = pattern(20_000, [(1, 0), (far, 0), (2 * far + 5, 0)].into_iter());
        let slices = Slices::of_width(&pattern, 16).unwrap();
        let runs: Vec<_> = (0..pattern.blocks.len() - 1)
            .flat_map(|block| slices.runs(0, block))
            .map(|(row, entries)| (row, entries.len()))
            .collect();
        assert_eq!(runs, [(0, 2), (far as usize, 1), (2 * far as usize + 5, 1)]);
    }

    /// Cuts are for large graphs whose neighbours lie far apart.
    #[test]
    fn cuts_are_made_where_they_pay() {
        let nodes = 300_000u32;
        // Neighbours far apart, by multiplying with numbers that are coprime to the number of nodes.
        let far =
            |u: u32| (1..8).map(move |k| (u, (u64::from(u) * (7919 * k + 4) % 300_000) as u32));
        let near = |u: u32| (1..8).map(move |k| (u, (u + k) % nodes));
        let small = pattern(1000, (0..1000).flat_map(|u| (1..8).map(move |k| (u, u * k % 1000))));
        assert!(!Slices::pay(&small));
        assert!(!Slices::pay(&pattern(nodes as usize, (0..nodes).flat_map(near))));
        assert!(Slices::pay(&pattern(nodes as usize, (0..nodes).flat_map(far))));
    }
}
