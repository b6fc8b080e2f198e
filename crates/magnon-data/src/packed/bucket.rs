//! One bucket of records becomes rows: placed, sorted and merged in memory.

use super::distribute::LEAVES;
use super::spill::read_all;
use super::state::{Work, bucket};
use crate::DataError;
use magnon_core::compute::pattern::{BACKWARD, BOTH, FORWARD};
use magnon_core::graph::{Duplicates, GraphError, SelfLoops};
use magnon_core::memory;
use rayon::prelude::*;
use std::ops::Range;

/// The rows of a bucket.
#[derive(Default)]
pub(super) struct Rows {
    /// Columns with their phase class.
    pub columns: Vec<u32>,
    /// `[A(u,v), A(v,u)]` of each, where edges have weights.
    pub weights: Vec<[f32; 2]>,
    /// Entries of each row.
    pub lengths: Vec<u32>,
    /// Edges out of and into each node.
    pub degrees: Vec<[u32; 2]>,
    pub self_loops: u64,
    pub duplicates: u64,
    pub directed: bool,
    /// Whether any weight is other than 1.
    pub unlike: bool,
}

/// What is done about loops and repeated edges.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    pub duplicates: Duplicates,
    pub self_loops: SelfLoops,
}

/// Reads and sorts the records of `rows`; a record is a row, a column with what the edge does there, and perhaps a
/// weight.
pub(super) fn run(
    work: &Work,
    records: Vec<u32>,
    rows: Range<usize>,
    weighted: bool,
    rules: Rules,
) -> Result<Vec<Rows>, DataError> {
    let placed = place(work, records, &rows, weighted)?;
    let Placed { starts, mut keys, mut weights } = placed;
    // Tasks of similar work; what they give does not depend on the cuts.
    let cuts = magnon_core::compute::pattern::balance(&starts);
    let mut tasks = Vec::with_capacity(cuts.len());
    let (mut keys_left, mut weights_left) = (&mut keys[..], &mut weights[..]);
    for cut in cuts.windows(2) {
        let len = starts[cut[1]] - starts[cut[0]];
        let (keys, rest) = keys_left.split_at_mut(len);
        let (weights, more) = weights_left.split_at_mut(if weighted { len } else { 0 });
        (keys_left, weights_left) = (rest, more);
        tasks.push((cut[0]..cut[1], keys, weights));
    }
    let merged = tasks.into_par_iter().map(|(local, keys, weights)| {
        let starts = &starts[local.start..=local.end];
        merge(rows.start + local.start, starts, keys, weights, rules)
    });
    let merged: Result<Vec<Rows>, GraphError> = merged.collect();
    let file = || work.output.display().to_string();
    merged.map_err(|reason| DataError::Graph { file: file(), reason })
}

/// Records in the order of their rows.
struct Placed {
    starts: Vec<usize>,
    keys: Vec<u32>,
    weights: Vec<f32>,
}

/// The records of a bucket that lies in a file.
pub(super) fn read(
    work: &Work,
    index: usize,
    records: u64,
    weighted: bool,
) -> Result<Vec<u32>, DataError> {
    read_all::<u32>(&work.path(&bucket(index)), if weighted { 12 } else { 8 } * records)
}

/// Counting sort by row: records of a row keep the order of the text.
fn place(
    work: &Work,
    all: Vec<u32>,
    rows: &Range<usize>,
    weighted: bool,
) -> Result<Placed, DataError> {
    let label = work.output.display().to_string();
    let width = if weighted { 3 } else { 2 };
    let records = all.len() / width;
    let refused = || crate::allocate::out_of_memory(&label, 4 * all.len() as u64);
    let local = |row: u32| (row as usize).wrapping_sub(rows.start);
    let mut starts = memory::try_zeroed::<usize>(rows.len() + 1).ok_or_else(refused)?;
    for record in all.chunks_exact(width) {
        let count = starts.get_mut(local(record[0]) + 1);
        *count.ok_or_else(|| {
            DataError::format(&label, "a record is not of this bucket; begin again")
        })? += 1;
    }
    for u in 0..rows.len() {
        starts[u + 1] += starts[u];
    }
    let mut next = memory::try_collect(starts.iter().copied()).ok_or_else(refused)?;
    let mut keys = memory::try_zeroed::<u32>(records).ok_or_else(refused)?;
    let values = if weighted { records } else { 0 };
    let mut weights = memory::try_zeroed::<f32>(values).ok_or_else(refused)?;
    for record in all.chunks_exact(width) {
        let place = &mut next[local(record[0])];
        keys[*place] = record[1];
        if let Some(weight) = weights.get_mut(*place) {
            *weight = f32::from_bits(record[2]);
        }
        *place += 1;
    }
    Ok(Placed { starts, keys, weights })
}

/// Sorts and merges some rows, of which the first is node `first`.
fn merge(
    first: usize,
    starts: &[usize],
    keys: &mut [u32],
    weights: &mut [f32],
    rules: Rules,
) -> Result<Rows, GraphError> {
    let mut rows = Rows::default();
    let mut pairs: Vec<(u32, f32)> = Vec::new();
    for (u, span) in (first..).zip(starts.windows(2)) {
        let span = span[0] - starts[0]..span[1] - starts[0];
        let keys = &mut keys[span.clone()];
        pairs.clear();
        if weights.is_empty() {
            keys.sort_unstable();
            pairs.extend(keys.iter().map(|&key| (key, 1.0)));
        } else {
            pairs.extend(keys.iter().copied().zip(weights[span].iter().copied()));
            // Repeated edges stay in the order of the text, so that sums are reproducible.
            pairs.sort_by_key(|pair| pair.0);
        }
        let before = rows.columns.len();
        let mut degree = [0; 2];
        for entry in pairs.chunk_by(|a, b| a.0 >> 2 == b.0 >> 2) {
            rows.entry(u, entry, !weights.is_empty(), rules, &mut degree)?;
        }
        rows.lengths.push((rows.columns.len() - before) as u32);
        rows.degrees.push(degree);
    }
    Ok(rows)
}

impl Rows {
    /// Merges what is known of one entry of row `u`.
    fn entry(
        &mut self,
        u: usize,
        entry: &[(u32, f32)],
        weighted: bool,
        rules: Rules,
        degree: &mut [u32; 2],
    ) -> Result<(), GraphError> {
        let Some(&(key, _)) = entry.first() else { return Ok(()) };
        let column = key >> 2;
        let leaving = entry.partition_point(|pair| pair.0 & 3 == LEAVES);
        let (leaving, entering) = entry.split_at(leaving);
        self.duplicates += leaving.len().saturating_sub(1) as u64;
        if leaving.len() > 1 && rules.duplicates == Duplicates::Error {
            return Err(GraphError::Duplicate { source_node: u as u32, target: column });
        }
        if column as usize == u {
            self.self_loops += 1;
            if rules.self_loops == SelfLoops::Drop {
                return Ok(());
            }
        }
        let sum = |edges: &[(u32, f32)]| {
            let weights = edges.iter().map(|edge| edge.1);
            let joined = weights.reduce(|sum, w| match (weighted, rules.duplicates) {
                (false, _) => 1.0,
                (true, Duplicates::Max) => sum.max(w),
                (true, _) => sum + w,
            });
            joined.unwrap_or(0.0)
        };
        let (out, back) = (sum(leaving), sum(entering));
        if let Some(weight) = [out, back].into_iter().find(|weight| !weight.is_finite()) {
            let (source_node, target) = (u as u32, column);
            return Err(GraphError::BadWeight {
                index: self.columns.len(),
                source_node,
                target,
                weight,
            });
        }
        let class = match (leaving.is_empty(), entering.is_empty()) {
            (false, true) => FORWARD,
            (true, false) => BACKWARD,
            _ => BOTH,
        };
        degree[0] += u32::from(!leaving.is_empty());
        degree[1] += u32::from(!entering.is_empty());
        self.directed |= out != back;
        self.columns.push(column | class << 30);
        if weighted {
            self.weights.push([out, back]);
            self.unlike |= !leaving.is_empty() && out != 1.0;
        }
        Ok(())
    }

    /// The targets of the edges that leave these rows, row after row.
    pub fn targets(&self) -> Vec<u32> {
        let leaves = self.columns.iter().filter(|&&packed| packed >> 30 != BACKWARD);
        leaves.map(|packed| packed & magnon_core::compute::pattern::COLUMN).collect()
    }

    /// The weights of these edges.
    pub fn out_weights(&self) -> Vec<f32> {
        let pairs = self.columns.iter().zip(&self.weights);
        pairs.filter(|(packed, _)| *packed >> 30 != BACKWARD).map(|(_, pair)| pair[0]).collect()
    }
}

/// Whether the file of a bucket has all of its records.
pub(super) fn is_whole(work: &Work, index: usize, records: u64, weighted: bool) -> bool {
    let width = if weighted { 12 } else { 8 };
    std::fs::metadata(work.path(&bucket(index))).is_ok_and(|meta| meta.len() == width * records)
}
