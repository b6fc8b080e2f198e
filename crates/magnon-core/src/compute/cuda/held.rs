//! Tiles that stay on a card, and the small products between them: the basis of a search for eigenpairs.

use super::abi::Address;
use super::apply::THREADS;
use super::tiles::CardTiles;
use crate::compute::EngineError;
use crate::compute::steps::{Block, HeldTiles, TileStep};
use crate::compute::tile::{F64_LANES, Line, Real};
use cudarc::driver::CudaSlice;
use std::sync::{MutexGuard, PoisonError};

/// Numbers of a block.
const BLOCK: usize = F64_LANES * F64_LANES;
/// Rows that a sum is cut into runs of, at most so many.
const RUNS: usize = 512;
/// Blocks whose coefficients one launch has at hand; as in the kernel.
const AT_HAND: usize = 64;

/// The tiles, those that are free among them.
#[derive(Default)]
pub(super) struct Held {
    tiles: Vec<CudaSlice<u8>>,
    free: Vec<usize>,
}

impl<T: Real, const N: usize> CardTiles<'_, T, N> {
    fn shelf(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where some tiles lie.
    fn places(&self, tiles: &[usize]) -> Result<Vec<Address>, EngineError> {
        let held = self.shelf();
        let place = |&tile: &usize| held.tiles.get(tile).map(|of| self.engine.address(of));
        let all: Option<Vec<Address>> = tiles.iter().map(place).collect();
        all.ok_or_else(|| EngineError::Unsupported("a tile that is not there".to_owned()))
    }
}

impl<T: Real, const N: usize> HeldTiles for CardTiles<'_, T, N> {
    fn put(&self, numbers: &[f64]) -> Result<usize, EngineError> {
        let tile = self.room()?;
        match self.shelf().tiles.get_mut(tile) {
            Some(to) => self.engine.put(bytemuck::cast_slice(numbers), to)?,
            None => return Err(EngineError::Unsupported("a tile that is not there".to_owned())),
        }
        Ok(tile)
    }

    fn room(&self) -> Result<usize, EngineError> {
        let mut held = self.shelf();
        if let Some(tile) = held.free.pop() {
            return Ok(tile);
        }
        held.tiles.push(self.engine.zeroed(self.nodes * size_of::<Line<T, N>>())?);
        Ok(held.tiles.len() - 1)
    }

    fn free(&self, tile: usize) {
        self.shelf().free.push(tile);
    }

    fn get(&self, tile: usize, numbers: &mut [f64]) -> Result<(), EngineError> {
        match self.shelf().tiles.get(tile) {
            Some(from) => self.engine.get(from, bytemuck::cast_slice_mut(numbers)),
            None => Err(EngineError::Unsupported("a tile that is not there".to_owned())),
        }
    }

    fn advance(&self, tiles: [usize; 3], steps: &[TileStep]) -> Result<(), EngineError> {
        let places = self.places(&tiles)?;
        let at = [places[0], places[1], places[2]];
        steps.iter().try_for_each(|step| self.step(step, &at))
    }

    fn products(&self, many: &[usize], one: usize) -> Result<Vec<Block>, EngineError> {
        if many.is_empty() {
            return Ok(Vec::new());
        }
        let engine = self.engine;
        let run = self.nodes.div_ceil(RUNS).max(THREADS as usize);
        let (runs, tiles) = (self.nodes.div_ceil(run).max(1), many.len());
        let places = engine.list(&self.places(many)?)?;
        let parts = engine.zeroed::<f64>(runs * tiles * BLOCK)?;
        let sums = engine.zeroed::<f64>(tiles * BLOCK)?;
        engine.launch(
            "tile_products",
            (runs as u32, super::ceil(tiles, 1)?, 1),
            THREADS,
            &[
                &engine.address(&self.weights),
                &engine.address(&places),
                &self.places(&[one])?[0],
                &engine.address(&parts),
                &(self.nodes as i64),
                &(run as i64),
            ],
        )?;
        let width = tiles * BLOCK;
        engine.launch(
            "tile_products_sum",
            (super::ceil(width, THREADS as usize)?, 1, 1),
            THREADS,
            &[&engine.address(&parts), &(runs as i64), &(width as i64), &engine.address(&sums)],
        )?;
        let mut found = vec![[[0.0; F64_LANES]; F64_LANES]; tiles];
        engine.get(&sums, found.as_flattened_mut().as_flattened_mut())?;
        Ok(found)
    }

    fn combine(
        &self,
        many: &[usize],
        blocks: &[Block],
        keep: f64,
        out: usize,
    ) -> Result<(), EngineError> {
        let engine = self.engine;
        let to = self.places(&[out])?[0];
        let mut keep = keep;
        for (many, blocks) in many.chunks(AT_HAND).zip(blocks.chunks(AT_HAND)) {
            let places = engine.list(&self.places(many)?)?;
            let numbers = engine.list(blocks.as_flattened().as_flattened())?;
            let rows = THREADS as usize / F64_LANES;
            engine.launch(
                "tile_combine",
                (super::ceil(self.nodes, 4 * rows)?.max(1), 1, 1),
                THREADS,
                &[
                    &engine.address(&places),
                    &engine.address(&numbers),
                    &(many.len() as i64),
                    &keep,
                    &to,
                    &(self.nodes as i64),
                ],
            )?;
            // The lists go with this turn.
            engine.wait()?;
            keep = 1.0;
        }
        Ok(())
    }
}
