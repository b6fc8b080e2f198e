//! Conjugate gradients for Q y = b, all columns of a block side by side, for every place where blocks can be.
//!
//! With the residual r, the direction p and q = Q p, a step is
//!
//! α = ⟨r, r⟩ / ⟨p, q⟩,  y ← y + α p,  r ← r − α q,  p ← r + (⟨r, r⟩ / ⟨r, r⟩ before) p.

use super::recurrence::Pair;
use std::mem::swap;

/// The blocks that conjugate gradients work in.
pub(crate) struct Descent<B> {
    /// y; zero at the start.
    pub solution: B,
    /// r; b at the start.
    pub residual: B,
    /// p; b at the start.
    pub direction: B,
    /// q is `now`, after a product.
    pub pair: Pair<B>,
}

/// Q, positive definite under an inner product, in the place where its blocks are.
pub(crate) trait LinearSystem {
    /// A few columns of all nodes.
    type Block;
    /// A number for each column. A card keeps them to itself.
    type Scalars;
    /// Why a step was not made.
    type Error;
    /// Where it ends, converged or not.
    const MAX_ITERATIONS: usize;

    /// Room for a number per column.
    fn scalars(&self) -> Result<Self::Scalars, Self::Error>;

    /// Q x into `pair.now`.
    fn product(&mut self, x: &Self::Block, pair: &mut Pair<Self::Block>)
    -> Result<(), Self::Error>;

    /// ⟨a, b⟩ of every column.
    fn inner(
        &mut self,
        a: &Self::Block,
        b: &Self::Block,
        to: &mut Self::Scalars,
    ) -> Result<(), Self::Error>;

    /// y ← y + α p and r ← r − α q, where α = `square` / `curvature`.
    fn descend(
        &mut self,
        square: &Self::Scalars,
        curvature: &Self::Scalars,
        blocks: &mut Descent<Self::Block>,
    ) -> Result<(), Self::Error>;

    /// p ← r + β p, where β = `square` / `before`.
    fn redirect(
        &mut self,
        square: &Self::Scalars,
        before: &Self::Scalars,
        blocks: &mut Descent<Self::Block>,
    ) -> Result<(), Self::Error>;

    /// Whether ⟨r, r⟩ is small enough, or does not shrink any more. The first call, with iteration 0, has ⟨b, b⟩, and
    /// nothing in `before`.
    fn converged(
        &mut self,
        iteration: usize,
        square: &Self::Scalars,
        before: &Self::Scalars,
    ) -> Result<bool, Self::Error>;
}

/// Solves Q y = b, as [`Descent`] has it, and says after how many steps it ended.
pub(crate) fn solve<S: LinearSystem>(
    system: &mut S,
    blocks: &mut Descent<S::Block>,
) -> Result<usize, S::Error> {
    let [mut square, mut before, mut curvature] =
        [system.scalars()?, system.scalars()?, system.scalars()?];
    system.inner(&blocks.residual, &blocks.residual, &mut square)?;
    for iteration in 0..S::MAX_ITERATIONS {
        if system.converged(iteration, &square, &before)? {
            return Ok(iteration);
        }
        system.product(&blocks.direction, &mut blocks.pair)?;
        system.inner(&blocks.direction, &blocks.pair.now, &mut curvature)?;
        system.descend(&square, &curvature, blocks)?;
        swap(&mut square, &mut before);
        system.inner(&blocks.residual, &blocks.residual, &mut square)?;
        system.redirect(&square, &before, blocks)?;
    }
    Ok(S::MAX_ITERATIONS)
}
