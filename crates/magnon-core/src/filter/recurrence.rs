//! Recurrences on tiles: what they do between products.

use super::{Exchange, FilterError};
use crate::compute::recurrence::{BlockOperator, Factors, Pair};
use crate::compute::steps::Tile;
use crate::compute::tile::{Line, Real, Scaling, Source, Stepper, flat_mut};

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

/// An operator on tiles, which `scaling` maps to S̃. Every step is made on all nodes.
#[derive(Clone, Copy)]
pub(super) struct TileRecurrence<'a, T, const N: usize, const COMPLEX: bool> {
    pub stepper: &'a Stepper<'a, T, N, COMPLEX>,
    pub scaling: &'a Scaling<T>,
    /// Factors that take x into the space of the steps, where it is not there yet.
    pub enter: Option<&'a [T]>,
    pub between: Between<'a>,
}

impl<T: Real, const N: usize, const COMPLEX: bool> BlockOperator
    for TileRecurrence<'_, T, N, COMPLEX>
{
    type Block = Tile<T, N>;
    type Error = FilterError;

    fn start(
        &mut self,
        theta: f64,
        x: &Tile<T, N>,
        b: &mut Tile<T, N>,
        _: usize,
    ) -> Result<(), FilterError> {
        self.stepper.start(theta, Source { lines: Some(x), enter: self.enter }, b);
        Ok(())
    }

    fn step(
        &mut self,
        factors: Factors,
        x: Option<&Tile<T, N>>,
        pair: &mut Pair<Tile<T, N>>,
        _: [usize; 2],
    ) -> Result<(), FilterError> {
        self.between.fetch(&mut pair.now)?;
        let source = Source { lines: x.map(|x| &x[..]), enter: self.enter };
        self.stepper.step(self.scaling, factors, source, &pair.now, &mut pair.next);
        if (self.between.tick)() { Ok(()) } else { Err(FilterError::Stopped) }
    }
}
