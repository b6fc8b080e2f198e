//! Numbering the nodes of an edge list without gaps, by ascending id.

use super::edge_chunks::zeroed;
use super::edge_scan::{Fault, Id};
use crate::NodeNames;
use magnon_core::memory;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

/// Edges of nodes 0, 1, 2….
pub(super) struct Numbered {
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) count: usize,
    /// The ids, where they are not exactly 0, 1, 2….
    pub(super) names: Option<NodeNames>,
}

/// Numbers the ids, of which `top` is the largest. They may be too many, or too many for the memory.
pub(super) fn compact<I: Id>(pairs: Vec<(I, I)>, top: I) -> Result<Numbered, Fault> {
    let top: u64 = top.into();
    if pairs.is_empty() {
        return Ok(Numbered { edges: Vec::new(), count: 0, names: None });
    }
    // A table over all ids up to the largest is quick, where they are not too thinly spread.
    if top <= (pairs.len() as u64).saturating_mul(8).saturating_add(1 << 16) {
        by_table(pairs, top as usize)
    } else {
        by_sorting(pairs)
    }
}

fn by_table<I: Id>(pairs: Vec<(I, I)>, top: usize) -> Result<Numbered, Fault> {
    let mut seen: Vec<AtomicU8> = Vec::new();
    seen.try_reserve_exact(top + 1).map_err(|_| Fault::OutOfMemory(top + 1))?;
    seen.resize_with(top + 1, AtomicU8::default);
    let mark = |id: I| {
        if let Some(flag) = seen.get(id.into() as usize) {
            flag.store(1, Ordering::Relaxed);
        }
    };
    pairs.par_iter().with_min_len(1 << 14).for_each(|&(source, target)| {
        mark(source);
        mark(target);
    });
    let mut count = 0u32;
    let mut ranks = zeroed::<u32>(top + 1)?;
    for (rank, flag) in ranks.iter_mut().zip(&seen) {
        *rank = count;
        count += u32::from(flag.load(Ordering::Relaxed));
    }
    let full = count as usize == top + 1;
    let edges = if full {
        relabel(pairs, |id| id.into() as u32)?
    } else {
        relabel(pairs, |id| ranks.get(id.into() as usize).copied().unwrap_or_default())?
    };
    let mut names = None;
    if !full {
        let ids = seen.iter().enumerate().filter(|(_, flag)| flag.load(Ordering::Relaxed) == 1);
        let mut numbers = zeroed::<u64>(count as usize)?;
        numbers.iter_mut().zip(ids).for_each(|(number, (id, _))| *number = id as u64);
        names = Some(NodeNames::Numbers(numbers));
    }
    Ok(Numbered { edges, count: count as usize, names })
}

fn by_sorting<I: Id>(pairs: Vec<(I, I)>) -> Result<Numbered, Fault> {
    let mut ids = zeroed::<I>(2 * pairs.len())?;
    for (ends, &(source, target)) in ids.as_chunks_mut::<2>().0.iter_mut().zip(&pairs) {
        *ends = [source, target];
    }
    ids.par_sort_unstable();
    ids.dedup();
    let count = u32::try_from(ids.len()).map_err(|_| Fault::TooMany)? as usize;
    let edges = relabel(pairs, |id| ids.partition_point(|&other| other < id) as u32)?;
    let numbers = memory::try_collect(ids.into_iter().map(Into::into));
    let numbers = numbers.ok_or(Fault::OutOfMemory(count * size_of::<u64>()))?;
    Ok(Numbered { edges, count, names: Some(NodeNames::Numbers(numbers)) })
}

/// The edges in new numbers, in the memory of the old ones where these are as wide.
fn relabel<I: Id>(
    pairs: Vec<(I, I)>,
    rank: impl Fn(I) -> u32 + Sync,
) -> Result<Vec<(u32, u32)>, Fault> {
    I::relabel(pairs, |(source, target)| (rank(source), rank(target)))
}
