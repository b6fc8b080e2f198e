//! Steps on tiles on a card.

use super::Cuda;
use super::abi::{self, Address};
use super::apply::THREADS;
use super::held::Held;
use super::lists::Lists;
use crate::compute::operands::Done;
use crate::compute::steps::{HeldTiles, Listener, Tile, TileStep, TileWork, weights};
use crate::compute::tile::{CoefficientStore, F64_LANES, Line, Real, TileOperator, flat, flat_mut};
use crate::compute::{EdgeValues, EngineError};
use cudarc::driver::CudaSlice;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

/// Rows that a block takes, a warp each.
const WARPS: usize = 8;
/// Blocks that an inner product is cut into at most.
const PARTS: usize = 256;
/// Steps after which the listener hears of them.
const HEARD: usize = 32;

/// One operator on a card. Numbers of either precision are kept as bytes.
pub(super) struct CardTiles<'a, T, const N: usize> {
    pub(super) engine: &'a Cuda,
    pub(super) nodes: usize,
    kernel: String,
    lists: Lists,
    values: CudaSlice<u8>,
    gain: CudaSlice<u8>,
    own: CudaSlice<u8>,
    pub(super) weights: CudaSlice<u8>,
    tiles: Mutex<Vec<CudaSlice<u8>>>,
    /// Tiles that stay, each in its place.
    pub(super) held: Mutex<Held>,
    precision: PhantomData<T>,
}

impl Cuda {
    /// The operator (S − centre) / half, for steps on tiles.
    pub(crate) fn tiles<T: Real, const N: usize>(
        &self,
        operator: &impl TileOperator,
        (centre, half): (f64, f64),
    ) -> Result<impl TileWork<T, N>, EngineError> {
        let pattern = operator.pattern();
        let bytes = |numbers: &[T]| self.list(bytemuck::cast_slice::<T, u8>(numbers));
        let (kind, values) = match operator.coefficients::<T>() {
            CoefficientStore::Classes(table) => ("classes", bytes(table.as_flattened())?),
            CoefficientStore::Entries(values) => ("pairs", bytes(values.as_flattened())?),
            // Degrees out and in do not come apart; here every entry has its own number.
            CoefficientStore::Degrees { .. } => {
                let edges = operator.edges();
                let EdgeValues::Entries { forward, .. } = &edges.values else {
                    let problem = "such an operator has no steps on the card";
                    return Err(EngineError::Unsupported(problem.to_owned()));
                };
                let values = forward.as_flattened().iter().map(|&x| T::from_f64(x));
                ("pairs", bytes(&values.collect::<Vec<T>>())?)
            }
        };
        let field = if operator.is_real() { "real" } else { "complex" };
        let scaling = operator.scaling::<T>(centre, half);
        let offsets: Vec<u64> = pattern.offsets.iter().map(|&at| at as u64).collect();
        let columns = &pattern.columns[..pattern.stored()];
        Ok(CardTiles {
            engine: self,
            nodes: pattern.nodes(),
            kernel: format!("tile_step_{kind}_{field}_{}", name::<T>()),
            lists: Lists::new(self, &offsets, columns, pattern.nodes())?,
            values,
            gain: bytes(&scaling.gain)?,
            own: bytes(&scaling.own)?,
            weights: bytes(&weights::<T>(operator))?,
            tiles: Mutex::default(),
            held: Mutex::default(),
            precision: PhantomData,
        })
    }
}

/// What the kernels call the precision.
fn name<T>() -> &'static str {
    if size_of::<T>() == size_of::<f64>() { "f64" } else { "f32" }
}

impl<T: Real, const N: usize> CardTiles<'_, T, N> {
    pub(super) fn step(&self, step: &TileStep, tiles: &[Address; 3]) -> Done {
        let at = |list| self.engine.address(list);
        let lists = self.lists.rows(self.engine);
        let rows = abi::TileRows {
            offsets: lists.offsets,
            columns: lists.columns,
            values: at(&self.values),
            gain: at(&self.gain),
            own: at(&self.own),
            long_rows: lists.long_rows,
            long_count: lists.long_count,
            nodes: self.nodes as i64,
        };
        let crate::compute::recurrence::Factors { scale, keep, theta } = step.factors;
        let source = step.source.map_or(0, |source| tiles[source]);
        let step =
            abi::TileStep { z: tiles[step.z], source, out: tiles[step.out], scale, keep, theta };
        let blocks = super::ceil(self.nodes, WARPS)? + self.lists.long_count as u32;
        self.engine.launch(&self.kernel, (blocks, 1, 1), THREADS, &[&rows, &step])
    }

    /// An inner product of two tiles, left on the card.
    fn inner(&self, a: Address, b: Address, parts: Address, to: Address) -> Done {
        let (engine, run) = (self.engine, self.nodes.div_ceil(PARTS).max(THREADS as usize));
        let blocks = self.nodes.div_ceil(run);
        engine.launch(
            &format!("tile_inner_{}", name::<T>()),
            (blocks as u32, 1, 1),
            THREADS,
            &[&engine.address(&self.weights), &a, &b, &parts, &(self.nodes as i64), &(run as i64)],
        )?;
        let sizes = [blocks as i64, N as i64];
        engine.launch("tile_inner_sum", (1, 1, 1), 32, &[&parts, &sizes[0], &sizes[1], &to])
    }
}

impl<T: Real, const N: usize> TileWork<T, N> for CardTiles<'_, T, N> {
    fn run(
        &self,
        tiles: &mut [Tile<T, N>; 3],
        steps: &[TileStep],
        mut listener: Option<Listener<N>>,
    ) -> Result<(), EngineError> {
        let engine = self.engine;
        let mut here = self.tiles.lock().unwrap_or_else(PoisonError::into_inner);
        while here.len() < 3 {
            here.push(engine.zeroed(self.nodes * size_of::<Line<T, N>>())?);
        }
        let at = [0, 1, 2].map(|k| engine.address(&here[k]));
        engine.put(bytemuck::cast_slice(flat(&tiles[0])), &mut here[0])?;
        let parts = engine.zeroed::<f64>(PARTS * N)?;
        let found = engine.zeroed::<f64>(2 * HEARD * N)?;
        'all: for some in steps.chunks(HEARD) {
            for (k, step) in some.iter().enumerate() {
                self.step(step, &at)?;
                if listener.is_some() {
                    let to = |k: usize| engine.address(&found) + (k * N * size_of::<f64>()) as u64;
                    let (z, out, parts) = (at[step.z], at[step.out], engine.address(&parts));
                    self.inner(z, out, parts, to(2 * k))?;
                    self.inner(out, out, parts, to(2 * k + 1))?;
                }
            }
            let Some(listener) = &mut listener else { continue };
            let mut heard = vec![[0f64; N]; 2 * some.len()];
            engine.get(&found, heard.as_flattened_mut())?;
            for pair in heard.as_chunks::<2>().0 {
                if !listener(pair[0], pair[1]) {
                    break 'all;
                }
            }
        }
        let Some(last) = steps.last() else { return Ok(()) };
        let out = &mut tiles[last.out];
        out.resize(self.nodes, Line::ZERO);
        engine.get(&here[last.out], bytemuck::cast_slice_mut(flat_mut(out)))
    }

    fn held(&self) -> Option<&dyn HeldTiles> {
        (size_of::<T>() == size_of::<f64>() && N == F64_LANES).then_some(self)
    }
}
