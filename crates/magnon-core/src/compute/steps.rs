//! Recurrences on tiles, as the solvers for spectra make them, in main memory or on a card.

use super::instructions::Instructions;
use super::recurrence::Factors;
use super::tile::{CHUNK, F64_LANES, Line, Real, Scaling, Source, Stepper, TileOperator, tile};
use super::{Engine, EngineError};
use rayon::prelude::*;

/// A few columns of all nodes.
pub(crate) type Tile<T, const N: usize> = Vec<Line<T, N>>;

/// A step on tiles that have numbers: `out` ← scale·S z + keep·`out` + θ·source.
#[derive(Clone, Copy)]
pub(crate) struct TileStep {
    pub factors: Factors,
    pub source: Option<usize>,
    pub z: usize,
    pub out: usize,
}

/// Hears ⟨z, out⟩ and ⟨out, out⟩ after a step, for each number of a line, and says whether to go on.
pub(crate) type Listener<'a, const N: usize> = &'a mut dyn FnMut([f64; N], [f64; N]) -> bool;

/// Products of the numbers of two lines.
pub(crate) type Block = [[f64; F64_LANES]; F64_LANES];

/// Tiles of double precision that stay where steps are made on them, by number.
pub(crate) trait HeldTiles {
    /// A tile of these numbers.
    fn put(&self, numbers: &[f64]) -> Result<usize, EngineError>;
    /// A tile of any numbers.
    fn room(&self) -> Result<usize, EngineError>;
    /// Lets another tile have its place.
    fn free(&self, tile: usize);
    /// The numbers of a tile.
    fn get(&self, tile: usize, numbers: &mut [f64]) -> Result<(), EngineError>;
    /// Makes steps on three tiles.
    fn advance(&self, tiles: [usize; 3], steps: &[TileStep]) -> Result<(), EngineError>;
    /// Σ_u w(u)·a(u)ᵀb(u) of each of many tiles with one, with the weights of the inner product.
    fn products(&self, many: &[usize], one: usize) -> Result<Vec<Block>, EngineError>;
    /// `out` ← keep·`out` + Σ a·block over many tiles, a block for each; `out` is none of them.
    fn combine(
        &self,
        many: &[usize],
        blocks: &[Block],
        keep: f64,
        out: usize,
    ) -> Result<(), EngineError>;
}

/// One operator, shifted and scaled, where its steps are made.
pub(crate) trait TileWork<T, const N: usize> {
    /// Makes steps, or as many as the listener wants. What the first tile holds goes in, and the result of
    /// the last step comes out. A tile that steps write to holds anything else before and afterwards.
    fn run(
        &self,
        tiles: &mut [Tile<T, N>; 3],
        steps: &[TileStep],
        listener: Option<Listener<N>>,
    ) -> Result<(), EngineError>;

    /// Tiles that stay there, where that is not main memory.
    fn held(&self) -> Option<&dyn HeldTiles> {
        None
    }
}

impl Engine {
    /// (S − centre) / half in the space of [`TileOperator::scaling`], for steps on tiles. In main memory `shared` lets
    /// all threads take part in a step.
    pub(crate) fn steps<'a, T: Real, const N: usize, const COMPLEX: bool>(
        &'a self,
        operator: &'a impl TileOperator,
        (centre, half): (f64, f64),
        shared: bool,
    ) -> Result<Box<dyn TileWork<T, N> + 'a>, EngineError> {
        #[cfg(feature = "cuda")]
        if let Some(card) = self.card() {
            return Ok(Box::new(card.tiles::<T, N>(operator, (centre, half))?));
        }
        Ok(Box::new(HostSteps::<T, N, COMPLEX> {
            stepper: Stepper::new(operator, Instructions::detect(), shared),
            scaling: operator.scaling(centre, half),
            nodes: operator.pattern().nodes(),
            weights: weights(operator),
        }))
    }
}

/// The work in main memory.
struct HostSteps<'a, T, const N: usize, const COMPLEX: bool> {
    stepper: Stepper<'a, T, N, COMPLEX>,
    scaling: Scaling<T>,
    nodes: usize,
    weights: Vec<T>,
}

impl<T: Real, const N: usize, const COMPLEX: bool> TileWork<T, N> for HostSteps<'_, T, N, COMPLEX> {
    fn run(
        &self,
        tiles: &mut [Tile<T, N>; 3],
        steps: &[TileStep],
        mut listener: Option<Listener<N>>,
    ) -> Result<(), EngineError> {
        let weights = &self.weights;
        for step in steps {
            let mut out = std::mem::take(&mut tiles[step.out]);
            if out.len() != self.nodes {
                out = tile(self.nodes);
            }
            let z = &tiles[step.z];
            let lines = step.source.map(|source| &tiles[source][..]);
            let source = Source { lines, enter: None };
            self.stepper.step(&self.scaling, step.factors, source, z, &mut out);
            let on = match &mut listener {
                Some(listener) => listener(inner(weights, z, &out), inner(weights, &out, &out)),
                None => true,
            };
            tiles[step.out] = out;
            if !on {
                break;
            }
        }
        Ok(())
    }
}

/// w(u) of the inner product under which the operator is self-adjoint.
pub(crate) fn weights<T: Real>(operator: &impl TileOperator) -> Vec<T> {
    operator.inner_weights().iter().map(|&w| T::from_f64(w)).collect()
}

/// Σ_u w(u)·a(u)·b(u) for every number of a line, in double precision, over fixed runs of rows.
pub(crate) fn inner<T: Real, const N: usize>(
    weights: &[T],
    a: &[Line<T, N>],
    b: &[Line<T, N>],
) -> [f64; N] {
    const RUN: usize = 64;
    let set = Instructions::detect();
    let parts: Vec<[f64; N]> = weights
        .par_chunks(CHUNK)
        .zip(a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK)))
        .map(|(weights, (a, b))| {
            set.run(|| {
                let mut total = [0.0; N];
                // Short runs in single precision lose nothing that counts here.
                for (weights, (a, b)) in weights.chunks(RUN).zip(a.chunks(RUN).zip(b.chunks(RUN))) {
                    let mut sum = [T::ZERO; N];
                    for (&w, (a, b)) in weights.iter().zip(a.iter().zip(b)) {
                        (0..N).for_each(|j| sum[j] = sum[j] + w * a.0[j] * b.0[j]);
                    }
                    (0..N).for_each(|j| total[j] += sum[j].to_f64());
                }
                total
            })
        })
        .collect();
    let mut total = [0.0; N];
    for part in parts {
        (0..N).for_each(|j| total[j] += part[j]);
    }
    total
}
