//! `Slices`: the entries of a pattern by slices of its columns, so that gathered lines stay in the last-level cache.
//!
//! A product with a tile fetches a line of 64 bytes for each entry. Where the lines are spread over a tile that no cache
//! holds, each comes from memory. So the columns are cut into slices whose lines a cache holds, and all rows are visited
//! once for each slice; what a row has so far waits in its line of the result.
//!
//! Sums are added up slice by slice, so where the cuts lie decides the last bits. They depend on the pattern alone: not on
//! the machine, the threads or the columns of the features.

use super::pattern::{COLUMN, PADDING, Pattern, Weights};
use crate::memory;

/// Columns of a slice: their lines are 8 MB. With slices of 16 MB for larger graphs, 3 million nodes took longer than
/// without.
const WIDTH: usize = 1 << 17;
/// Graphs with no more nodes are not cut: a tile of 16 MB is in the cache anyway.
const SMALL: usize = 1 << 18;
/// Tenths of an entry that a row must have in a slice on average, to be worth a visit.
const LEAST: usize = 15;
/// Entries of the stretch of rows whose lines are counted.
const STRETCH: usize = 1 << 20;

/// The entries of a pattern, slice after slice.
#[derive(Debug)]
pub(crate) struct Slices {
    nodes: usize,
    /// Where each slice begins in `columns`, and where the last one ends.
    starts: Vec<usize>,
    /// For each slice, where each row begins in it, and where the last one ends.
    offsets: Vec<u32>,
    /// Packed columns, followed by [`PADDING`] zeros.
    columns: Vec<u32>,
}

impl Slices {
    /// Whether products with a pattern are faster slice by slice.
    pub fn pay(pattern: &Pattern) -> bool {
        let (nodes, stored) = (pattern.nodes(), pattern.stored());
        let enough = || 10 * stored / nodes >= LEAST * nodes.div_ceil(WIDTH);
        let unit = matches!(pattern.weights, Weights::Unit);
        nodes > SMALL && unit && enough() && scattered(pattern)
    }

    /// Bytes that they need.
    pub fn bytes(pattern: &Pattern) -> usize {
        let rows = (pattern.nodes() + 1).saturating_mul(pattern.nodes().div_ceil(WIDTH) + 1);
        size_of::<u32>().saturating_mul(rows.saturating_add(pattern.stored() + PADDING))
    }

    /// Puts the entries in order. `None` where a slice has more entries than are counted, or the system has no memory
    /// for them.
    pub fn new(pattern: &Pattern) -> Option<Self> {
        Self::of_width(pattern, WIDTH)
    }

    pub(super) fn of_width(pattern: &Pattern, width: usize) -> Option<Self> {
        let (nodes, entries) = (pattern.nodes(), &*pattern.columns);
        let count = nodes.div_ceil(width);
        let mut starts = vec![0];
        let mut offsets = memory::try_zeroed::<u32>(count * (nodes + 1))?;
        let mut columns = memory::try_zeroed::<u32>(pattern.stored() + PADDING)?;
        // Where the entries of each row begin that are in no slice yet, counted from its own.
        let mut taken = memory::try_zeroed::<u32>(nodes)?;
        let mut at = 0;
        for (slice, rows) in offsets.chunks_exact_mut(nodes + 1).enumerate() {
            let (start, end) = (at, ((slice + 1) * width) as u32);
            for (u, taken) in taken.iter_mut().enumerate() {
                rows[u] = u32::try_from(at - start).ok()?;
                let row = &entries[pattern.offsets[u] + *taken as usize..pattern.offsets[u + 1]];
                let inside = row.iter().take_while(|&&packed| packed & COLUMN < end).count();
                columns[at..at + inside].copy_from_slice(&row[..inside]);
                *taken += inside as u32;
                at += inside;
            }
            rows[nodes] = u32::try_from(at - start).ok()?;
            starts.push(at);
        }
        Some(Self { nodes, starts, offsets, columns })
    }

    /// Number of slices.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Nodes of the pattern.
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// Packed columns of all slices, followed by [`PADDING`] zeros.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Where a slice begins in the columns, and where each row begins in the slice.
    pub fn slice(&self, slice: usize) -> (usize, &[u32]) {
        let rows = self.nodes + 1;
        (self.starts[slice], &self.offsets[slice * rows..(slice + 1) * rows])
    }
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
        for u in 0..90 {
            let mut row = Vec::new();
            for slice in 0..3 {
                let (start, offsets) = slices.slice(slice);
                let part = start + offsets[u] as usize..start + offsets[u + 1] as usize;
                let part = &slices.columns()[part];
                assert!(part.iter().all(|packed| (packed & COLUMN) as usize / 32 == slice));
                row.extend_from_slice(part);
            }
            assert_eq!(row, pattern.columns[pattern.offsets[u]..pattern.offsets[u + 1]]);
        }
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
