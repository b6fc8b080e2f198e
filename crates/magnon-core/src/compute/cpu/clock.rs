//! Where the time of a step goes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Kinds of work.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// Dense and sparse products.
    Products,
    /// Activations, dropout, bias, loss.
    Elementwise,
    /// The optimiser.
    Optimiser,
}

/// Time spent by kind of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breakdown {
    /// Dense and sparse products.
    pub products: Duration,
    /// Activations, dropout, bias, loss.
    pub elementwise: Duration,
    /// The optimiser.
    pub optimiser: Duration,
}

/// Sums times where it is asked to.
#[derive(Debug, Default)]
pub struct Clock {
    on: bool,
    nanoseconds: [AtomicU64; 3],
}

impl Clock {
    pub fn on() -> Self {
        Self { on: true, ..Self::default() }
    }

    #[inline(always)]
    pub fn time<T>(&self, kind: Work, work: impl FnOnce() -> T) -> T {
        if !self.on {
            return work();
        }
        let start = Instant::now();
        let result = work();
        let spent = start.elapsed().as_nanos() as u64;
        self.nanoseconds[kind as usize].fetch_add(spent, Relaxed);
        result
    }

    pub fn breakdown(&self) -> Breakdown {
        let [products, elementwise, optimiser] =
            [0, 1, 2].map(|i: usize| Duration::from_nanos(self.nanoseconds[i].load(Relaxed)));
        Breakdown { products, elementwise, optimiser }
    }
}
