//! Products with chains of sparse maps, strip by strip: columns never mix, so that a strip of them goes through a whole chain in
//! the cache of one processor. Every number is summed in the order of its row's entries, whatever the strips and threads.

// Indices keep the loops plain enough to be compiled into vector instructions where they stand.
#![allow(clippy::needless_range_loop)]

use super::gather::{AHEAD, add, prefetch_row};
use super::map::{Csr, Kind};
use super::strips::Strip;
use super::{Cpu, Map, Work};
use crate::compute::ChainMaps;
use crate::compute::Done;
use crate::compute::instructions::Kernel;
use crate::compute::{EngineError, Scalar};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Columns that go through a chain together.
pub(super) const STRIP: usize = 32;

/// A strip of one chain: where it comes from, the maps on its way, and those at its end with where they lead.
struct Task<'a, T> {
    from: Columns<'a, T>,
    way: Vec<&'a Csr<T>>,
    ends: Vec<(&'a Csr<T>, Strip<'a, T>)>,
}

/// Columns of a matrix that is stored by rows: the `at`-th [`STRIP`] of `stride` ones.
#[derive(Clone, Copy)]
struct Columns<'a, T> {
    numbers: &'a [T],
    stride: usize,
    at: usize,
}

impl<T> Columns<'_, T> {
    /// Whether all of it is close at hand once it was read.
    fn is_near(&self) -> bool {
        size_of_val(self.numbers) / self.stride.max(1) <= NEAR
    }
}

impl<T: Scalar> Task<'_, T> {
    /// Entries that it goes over.
    fn work(&self) -> usize {
        let way: usize = self.way.iter().map(|map| map.values.len()).sum();
        way + self.ends.iter().map(|(map, _)| map.values.len()).sum::<usize>()
    }
}

impl<T: Scalar> Cpu<T> {
    /// Puts the products of all chains, side by side, into a matrix for each head.
    pub(super) fn chains_there(
        &self,
        chains: &[ChainMaps<Self>],
        weights: &[&Vec<T>],
        cols: usize,
        outs: Vec<&mut Vec<T>>,
    ) -> Done {
        let (each, width) = (cols / STRIP, cols * chains.len());
        let mut tasks = Vec::with_capacity(each * chains.len());
        for (chain, weights) in chains.iter().zip(weights) {
            let mut way = sparse(&chain.tail)?;
            way.reverse();
            for at in 0..each {
                let from = Columns { numbers: weights, stride: each, at };
                tasks.push(Task { from, way: way.clone(), ends: Vec::new() });
            }
        }
        for (part, out) in outs.into_iter().enumerate() {
            for (k, strip) in Strip::cut(out, width, STRIP).enumerate() {
                let head = sparse(&chains[k / each].heads[part..=part])?[0];
                tasks[k].ends.push((head, strip));
            }
        }
        self.run(tasks);
        Ok(())
    }

    /// Puts the gradients of the weights of all chains in their places, from the gradient of the products of one head.
    pub(super) fn chains_back(
        &self,
        chains: &[ChainMaps<Self>],
        dy: &[T],
        cols: usize,
        outs: Vec<&mut Vec<T>>,
    ) -> Done {
        let each = cols / STRIP;
        let mut tasks = Vec::with_capacity(each * chains.len());
        for (k, (chain, out)) in chains.iter().zip(outs).enumerate() {
            let maps: Vec<&Map<T>> = chain.heads.iter().chain(&chain.tail).copied().collect();
            let mut way: Vec<&Csr<T>> = Vec::with_capacity(maps.len());
            for rows in sparse(&maps)? {
                way.push(rows.turned.as_deref().ok_or_else(unsuited)?);
            }
            let Some(end) = way.pop() else { continue };
            for (at, strip) in Strip::cut(out, cols, STRIP).enumerate() {
                let from = Columns { numbers: dy, stride: each * chains.len(), at: k * each + at };
                tasks.push(Task { from, way: way.clone(), ends: vec![(end, strip)] });
            }
        }
        self.run(tasks);
        Ok(())
    }

    /// Does all tasks, the longest ones first, in two blocks of memory for each thread.
    fn run(&self, mut tasks: Vec<Task<T>>) {
        let rows = |task: &Task<T>| task.way.iter().map(|map| map.offsets.len() - 1).max();
        let room = tasks.iter().filter_map(rows).max().unwrap_or(0) * STRIP;
        let count = tasks.len();
        tasks.sort_by_key(Task::work);
        let left = Mutex::new(tasks);
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let work = || {
            let mut block = self.strips.take(2 * room);
            let (here, there) = block.split_at_mut(room);
            let mut blocks = [here, there];
            while let Some(task) = next() {
                self.instructions.compute(Run { task, blocks: &mut blocks });
            }
            self.strips.give(block);
        };
        let threads = if self.parallel { rayon::current_num_threads().min(count) } else { 1 };
        self.clock.time(Work::Products, || match threads {
            0 | 1 => work(),
            _ => (0..threads).into_par_iter().with_max_len(1).for_each(|_| work()),
        });
    }
}

/// The rows of sparse maps.
fn sparse<'a, T: Scalar>(maps: &[&'a Map<T>]) -> Result<Vec<&'a Csr<T>>, EngineError> {
    let rows = |map: &&'a Map<T>| match &map.kind {
        Kind::Sparse(rows) => Ok(rows),
        _ => Err(unsuited()),
    };
    maps.iter().map(rows).collect()
}

fn unsuited() -> EngineError {
    EngineError::Unsupported("chains are made of computed sparse rows".to_owned())
}

struct Run<'a, 'b, 'c, T> {
    task: Task<'a, T>,
    blocks: &'b mut [&'c mut [T]; 2],
}

impl<T: Scalar> Kernel for Run<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Task { from, way, mut ends } = self.task;
        let [mut here, mut there] = self.blocks.each_mut().map(|block| &mut block[..]);
        let (mut first, mut len) = (Some(from), 0);
        for map in way {
            let rows = map.offsets.len() - 1;
            let from = first.take().unwrap_or(Columns { numbers: &here[..len], stride: 1, at: 0 });
            let out = there[..rows * STRIP].as_chunks_mut::<STRIP>().0;
            if from.is_near() {
                for u in 0..rows {
                    gather::<T, false>(map, u, from, &mut out[u]);
                }
            } else {
                for u in 0..rows {
                    gather::<T, true>(map, u, from, &mut out[u]);
                }
            }
            len = rows * STRIP;
            std::mem::swap(&mut here, &mut there);
        }
        let from = first.unwrap_or(Columns { numbers: &here[..len], stride: 1, at: 0 });
        for (map, strip) in &mut ends {
            for u in 0..map.offsets.len() - 1 {
                let Some(out) = strip.row(u).first_chunk_mut() else { continue };
                match from.is_near() {
                    true => gather::<T, false>(map, u, from, out),
                    false => gather::<T, true>(map, u, from, out),
                }
            }
        }
    }
}

/// Bytes of x up to which its rows are taken from a near cache anyway: asking for them ahead would cost more than it saves.
const NEAR: usize = 1 << 19;

/// One row of a product.
#[inline(always)]
fn gather<T: Scalar, const ASK: bool>(
    map: &Csr<T>,
    u: usize,
    from: Columns<T>,
    out: &mut [T; STRIP],
) {
    let span = map.offsets[u]..map.offsets[u + 1];
    let later = if ASK { &map.columns[span.start + AHEAD..span.end + AHEAD] } else { &[] };
    let (columns, values) = (&map.columns[span.clone()], &map.values[span]);
    let values = &values[..columns.len()];
    let rows = from.numbers.as_chunks::<STRIP>().0;
    let mut sum = [T::ZERO; STRIP];
    for e in 0..columns.len() {
        if ASK {
            let row = later[e] as usize * from.stride + from.at;
            prefetch_row(rows.as_ptr().wrapping_add(row));
        }
        add(&mut sum, values[e], &rows[columns[e] as usize * from.stride + from.at]);
    }
    *out = sum;
}
