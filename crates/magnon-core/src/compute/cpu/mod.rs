//! The engine that works in main memory.

mod activation;
mod apply;
mod attention;
mod chains;
mod clock;
mod columns;
mod engine;
mod filter;
mod gather;
mod join;
mod kernel;
mod map;
mod mask;
mod nll_loss;
mod optimise;
mod pool;
mod product;
mod rows;
mod scatter;
mod strips;

use clock::{Clock, Work};

pub use clock::Breakdown;
pub use map::Map;

use super::Scalar;
use crate::compute::instructions::{Instructions, Kernel};
use pool::Pool;
use rayon::prelude::*;

/// Numbers that one task sweeps over; a multiple of what masks are drawn in.
const BLOCK: usize = 1 << 15;

/// Matrices in main memory; dense products by faer, loops compiled for the processor's vectors.
#[derive(Debug)]
pub struct Cpu<T> {
    instructions: Instructions,
    /// Whether large products are shared between threads.
    parallel: bool,
    /// Blocks that filters and sums work in, kept for the next time.
    scratch: Pool<T>,
    /// Blocks that each thread works in as it goes through chains.
    strips: Pool<T>,
    clock: Clock,
}

impl<T: Scalar> Cpu<T> {
    /// An engine that shares large products between the threads of the current pool.
    pub fn parallel() -> Self {
        Self { parallel: true, ..Self::sequential() }
    }

    /// An engine that keeps to the calling thread. Its results are those of the parallel one.
    pub fn sequential() -> Self {
        Self {
            instructions: Instructions::detect(),
            parallel: false,
            scratch: Pool::new(),
            strips: Pool::new(),
            clock: Clock::default(),
        }
    }

    /// A sequential engine that measures where its time goes.
    pub fn timed() -> Self {
        Self { clock: Clock::on(), ..Self::sequential() }
    }

    /// Where the time went so far; zero unless the engine is [`timed`](Self::timed).
    pub fn breakdown(&self) -> Breakdown {
        self.clock.breakdown()
    }

    /// Elementwise work in the best instructions.
    #[inline(always)]
    fn sweep<K: Kernel>(&self, kernel: K) -> K::Output {
        self.clock.time(Work::Elementwise, || self.instructions.compute(kernel))
    }

    /// Elementwise work on blocks of the result, on all threads where it is large. Every number is
    /// made by itself, so the cuts change nothing.
    fn sweep_blocks(&self, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
        self.clock.time(Work::Elementwise, || match self.parallel && out.len() > 2 * BLOCK {
            true => out
                .par_chunks_mut(BLOCK)
                .enumerate()
                .for_each(|(block, out)| work(block * BLOCK, out)),
            false => work(0, out),
        });
    }

    /// The same on blocks of whole rows of `width` numbers; `work` is told the first of them.
    fn sweep_rows(&self, width: usize, out: &mut [T], work: impl Fn(usize, &mut [T]) + Sync) {
        let (width, rows) = (width.max(1), (BLOCK / width.max(1)).max(1));
        self.clock.time(Work::Elementwise, || match self.parallel && out.len() > 2 * BLOCK {
            true => out
                .par_chunks_mut(rows * width)
                .enumerate()
                .for_each(|(block, out)| work(block * rows, out)),
            false => work(0, out),
        });
    }

    fn take(&self, len: usize) -> Vec<T> {
        self.scratch.take(len)
    }

    fn give(&self, block: Vec<T>) {
        self.scratch.give(block);
    }
}
