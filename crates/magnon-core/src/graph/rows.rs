//! Rows of a graph under construction: placing, sorting, merging.

use super::{BuildReport, Duplicates, GraphError, SelfLoops};
use crate::memory;

/// Puts every edge behind the others of its source. Where there is no memory for that, the error is
/// the number of bytes that are needed.
pub(super) fn place(
    offsets: Vec<usize>,
    edges: &[(u32, u32)],
    weights: Option<Vec<f32>>,
) -> Result<Rows, usize> {
    let next = memory::try_collect(offsets.iter().copied());
    let mut next = next.ok_or(size_of_val(&offsets[..]))?;
    let bytes = edges.len() * size_of::<u32>();
    let mut targets = memory::try_zeroed::<u32>(edges.len()).ok_or(bytes)?;
    let mut placed = match &weights {
        Some(weights) => Some(memory::try_zeroed::<f32>(weights.len()).ok_or(bytes)?),
        None => None,
    };
    for (e, &(u, v)) in edges.iter().enumerate() {
        let slot = &mut next[u as usize];
        targets[*slot] = v;
        if let (Some(to), Some(from)) = (&mut placed, &weights) {
            to[*slot] = from[e];
        }
        *slot += 1;
    }
    Ok(Rows { offsets, targets, weights: placed })
}

/// Rows under construction.
pub(super) struct Rows {
    pub offsets: Vec<usize>,
    pub targets: Vec<u32>,
    pub weights: Option<Vec<f32>>,
}

impl Rows {
    /// Sorts each row by target; equal targets keep their input order, so that sums are
    /// reproducible.
    pub fn sort(&mut self) {
        let mut scratch: Vec<(u32, f32)> = Vec::new();
        for row in self.offsets.windows(2) {
            let targets = &mut self.targets[row[0]..row[1]];
            if targets.is_sorted() {
                continue;
            }
            let Some(weights) = &mut self.weights else {
                targets.sort_unstable();
                continue;
            };
            let weights = &mut weights[row[0]..row[1]];
            scratch.clear();
            scratch.extend(targets.iter().copied().zip(weights.iter().copied()));
            scratch.sort_by_key(|cell| cell.0);
            for (i, &(target, weight)) in scratch.iter().enumerate() {
                targets[i] = target;
                weights[i] = weight;
            }
        }
    }

    /// Refuses sums of weights that are no longer finite.
    pub fn check_sums(&self) -> Result<(), GraphError> {
        let weights = self.weights.as_deref().unwrap_or_default();
        let Some(index) = weights.iter().position(|w| !w.is_finite()) else { return Ok(()) };
        let source_node = self.offsets.partition_point(|&offset| offset <= index) as u32 - 1;
        let (target, weight) = (self.targets[index], weights[index]);
        Err(GraphError::BadWeight { index, source_node, target, weight })
    }

    /// Merges duplicates and drops self loops in place, packing towards the front.
    pub fn merge(
        &mut self,
        duplicates: Duplicates,
        self_loops: SelfLoops,
    ) -> Result<BuildReport, GraphError> {
        let mut report = BuildReport::default();
        let (mut kept, mut start) = (0, 0);
        for u in 0..self.offsets.len() - 1 {
            let end = self.offsets[u + 1];
            let row = &self.targets[start..end];
            let distinct = row.windows(2).all(|pair| pair[0] < pair[1]);
            if distinct && !row.contains(&(u as u32)) {
                // Nothing to merge or drop, as nearly always.
                if kept != start {
                    self.targets.copy_within(start..end, kept);
                    if let Some(weights) = &mut self.weights {
                        weights.copy_within(start..end, kept);
                    }
                }
                kept += end - start;
                self.offsets[u + 1] = kept;
                start = end;
                continue;
            }
            let mut previous = None;
            let row_start = kept;
            for e in start..end {
                let target = self.targets[e];
                let repeated = previous == Some(target);
                previous = Some(target);
                if repeated {
                    report.duplicates += 1;
                    if duplicates == Duplicates::Error {
                        return Err(GraphError::Duplicate { source_node: u as u32, target });
                    }
                    if kept == row_start || self.targets[kept - 1] != target {
                        continue; // a repeated self loop that was dropped
                    }
                    if let Some(weights) = &mut self.weights {
                        let new = weights[e];
                        let old = &mut weights[kept - 1];
                        *old =
                            if duplicates == Duplicates::Max { old.max(new) } else { *old + new };
                    }
                    continue;
                }
                if target as usize == u {
                    report.self_loops += 1;
                    if self_loops == SelfLoops::Drop {
                        continue;
                    }
                }
                self.targets[kept] = target;
                if let Some(weights) = &mut self.weights {
                    weights[kept] = weights[e];
                }
                kept += 1;
            }
            self.offsets[u + 1] = kept;
            start = end;
        }
        self.targets.truncate(kept);
        self.targets.shrink_to_fit();
        if let Some(weights) = &mut self.weights {
            weights.truncate(kept);
            weights.shrink_to_fit();
        }
        Ok(report)
    }
}
