//! Evaluating a polynomial on one tile: Horner's rule and Clenshaw's recurrence.

use super::{Exchange, FilterError};
use crate::compute::tile::Scaling;
use crate::compute::tile::{Factors, Source, Stepper};
use crate::compute::tile::{Line, Real, flat_mut};

/// The two tiles that a recurrence runs on; the result is in `now`.
pub(super) struct Pair<T, const N: usize> {
    pub now: Vec<Line<T, N>>,
    pub next: Vec<Line<T, N>>,
}

/// What is done between products.
#[derive(Clone, Copy)]
pub(super) struct Between<'a> {
    /// Called after each product; says whether to go on.
    pub tick: &'a (dyn Fn() -> bool + Sync),
    /// Fetches the lines of other workers before each product.
    pub exchange: Option<&'a dyn Exchange>,
}

impl Between<'_> {
    /// For whoever is by itself, and not to be stopped.
    pub const NOTHING: Self = Self { tick: &|| true, exchange: None };

    fn fetch<T: Real, const N: usize>(&self, lines: &mut [Line<T, N>]) -> Result<(), FilterError> {
        let Some(worker) = self.exchange else { return Ok(()) };
        match worker.exchange(bytemuck::cast_slice_mut(flat_mut(lines)), N * size_of::<T>()) {
            true => Ok(()),
            false => Err(FilterError::Stopped),
        }
    }
}

/// Σ θ_k S^k x into `pair.now`.
pub(super) fn powers<T: Real, const N: usize, const COMPLEX: bool>(
    stepper: &Stepper<T, N, COMPLEX>,
    theta: &[f64],
    scaling: &Scaling<T>,
    source: Source<T, N>,
    pair: &mut Pair<T, N>,
    between: Between,
) -> Result<(), FilterError> {
    let (last, rest) = theta.split_last().unwrap_or((&0.0, &[]));
    stepper.start(*last, source, &mut pair.now);
    for &theta in rest.iter().rev() {
        let factors = Factors { scale: 1.0, keep: 0.0, theta };
        between.fetch(&mut pair.now)?;
        stepper.step(scaling, factors, source, &pair.now, &mut pair.next);
        std::mem::swap(&mut pair.now, &mut pair.next);
        if !(between.tick)() {
            return Err(FilterError::Stopped);
        }
    }
    Ok(())
}

/// Σ c_k T_k(S) x into `pair.now`, where `scaling` maps the operator to [−1, 1].
///
/// b_k = 2 S b_{k+1} − b_{k+2} + c_k x is written where b_{k+2} was; the last step takes S b_1 once.
pub(super) fn chebyshev<T: Real, const N: usize, const COMPLEX: bool>(
    stepper: &Stepper<T, N, COMPLEX>,
    coefficients: &[f64],
    scaling: &Scaling<T>,
    source: Source<T, N>,
    pair: &mut Pair<T, N>,
    between: Between,
) -> Result<(), FilterError> {
    let (last, rest) = coefficients.split_last().unwrap_or((&0.0, &[]));
    stepper.start(*last, source, &mut pair.now);
    for (k, &theta) in rest.iter().enumerate().rev() {
        let scale = if k == 0 { 1.0 } else { 2.0 };
        let keep = if k + 1 == rest.len() { 0.0 } else { -1.0 };
        between.fetch(&mut pair.now)?;
        stepper.step(scaling, Factors { scale, keep, theta }, source, &pair.now, &mut pair.next);
        std::mem::swap(&mut pair.now, &mut pair.next);
        if !(between.tick)() {
            return Err(FilterError::Stopped);
        }
    }
    Ok(())
}
