//! Products on tiles: a few columns of all nodes, a line of the cache per node.
//!
//! A recurrence goes many times over the same columns. Taken a tile at a time, what it works on stays as near as it can.

mod coefficients;
mod input;
mod kernel;
mod line;
mod output;
mod stepper;

pub(crate) use coefficients::{CoefficientStore, Scaling};
pub(crate) use input::Columns;
pub(crate) use line::{F32_LANES, F64_LANES, LINE, Line, Real, flat, flat_mut, tile};
pub(crate) use output::{Cell, Place, first_not_finite, write};
pub(crate) use stepper::{CHUNK, Source, Stepper};

#[cfg(feature = "cuda")]
use super::EdgeMatrix;
use super::Pattern;
use std::sync::Arc;

/// An operator S, as products on tiles need it.
pub(crate) trait TileOperator: Sync {
    /// Which entries it has.
    fn pattern(&self) -> &Arc<Pattern>;
    /// Whether all of them are real.
    #[cfg(feature = "cuda")]
    fn is_real(&self) -> bool;
    /// The coefficients t(u,v) of its entries.
    fn coefficients<T: Real>(&self) -> CoefficientStore<T>;
    /// (S − centre) / half in a space z = r ⊙ x, where the product needs no factor for the neighbour:
    ///
    /// z ↦ g ⊙ T z + m ⊙ z.
    fn scaling<T: Real>(&self, centre: f64, half: f64) -> Scaling<T>;
    /// w(u) of the inner product under which S is self-adjoint in that space.
    fn inner_weights(&self) -> Vec<f64>;
    /// S with a number for every entry, on all nodes.
    #[cfg(feature = "cuda")]
    fn edges(&self) -> EdgeMatrix;
}
