//! h(S)X on a card, from host memory to host memory, some columns at a time.
//!
//! Columns never mix, so blocks of them pass one after the other: while the card filters one, the host
//! packs and sends the next and unpacks the one before.

use super::card::failure;
use super::staging::{DEPTH, STAGE, Stage};
use super::{Buffer, Cuda, Map};
use crate::compute::kernels::Kernels;
use crate::compute::operands::{Done, Side};
use crate::compute::{Engine, EngineError, Field, Series, Shape};
use crate::matrix::Features;
use crate::progress::{FILTERING, Progress};
use cudarc::driver::{CudaEvent, CudaStream};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Features of more bytes than this are worth several blocks.
const ONE_BLOCK: usize = 64 << 20;
/// Blocks that fill and empty the line quickly enough.
const BLOCKS: usize = 8;
/// Numbers of a row below which the card reads rows with less than its full speed.
const NARROW: usize = 64;
/// Rows that one thread packs or unpacks at a time.
const ROWS: usize = 256;

/// Columns of a block, where a column of the result has so many bytes and the card so many free.
fn width((rows, cols): (usize, usize), field: Field, series: &Series, free: usize) -> usize {
    let column = rows * field.parts() * size_of::<f32>();
    // Two blocks of the features and of the result, what enters and leaves the filter, and its own.
    let blocks = 6 + match series {
        Series::Powers(_) | Series::Chebyshev { .. } => 1,
        Series::Rational { .. } => 5,
    };
    let most = (free / (blocks * column).max(1)).min(STAGE / (field.parts() * size_of::<f32>()));
    let wanted = match rows * cols * size_of::<f32>() <= ONE_BLOCK {
        true => cols,
        false => cols.div_ceil(BLOCKS).next_multiple_of(NARROW / field.parts()),
    };
    wanted.min(most).clamp(1, cols.max(1))
}

/// Filtered features: for each row its columns, the two parts of a complex number side by side.
pub(crate) struct FilteredColumns {
    /// The numbers.
    pub numbers: Vec<f32>,
    /// The place of the first that is not finite.
    pub not_finite: Option<usize>,
}

impl Engine {
    /// h(S)X in single precision on a card, whatever the filter; `None` where main memory has no room for the result.
    pub(crate) fn filter_columns(
        &self,
        map: &super::super::Map,
        series: &Series,
        features: &Features,
        progress: &dyn Progress,
    ) -> Result<Option<FilteredColumns>, EngineError> {
        match (self.card(), map) {
            (Some(card), super::super::Map::Cuda(map)) => {
                card.filter_features((map, series), features, progress)
            }
            _ => Err(EngineError::Unsupported("features are filtered on a card here".to_owned())),
        }
    }
}

impl Cuda {
    fn filter_features(
        &self,
        (map, series): (&Map, &Series),
        features: &Features,
        progress: &dyn Progress,
    ) -> Result<Option<FilteredColumns>, EngineError> {
        let (rows, cols, field) = (features.rows(), features.cols(), map.shape().field());
        let whole = Shape::real(rows, cols).with_field(field);
        let Some(mut out) = crate::memory::try_zeroed::<f32>(whole.len()) else {
            return Ok(None);
        };
        let mut width = width((rows, cols), field, series, self.memory()?.0 / 10 * 9);
        let job = Job { map, features, field, cols, finite: AtomicBool::new(true) };
        let mut done = 0;
        while done < cols {
            match self.filter_columns(&job, width, &mut done, &mut out, progress) {
                // Somebody else has taken memory since.
                Err(EngineError::OutOfMemory { .. }) if width > 1 => {
                    self.pool().clear();
                    width /= 2;
                }
                finished => finished?,
            }
        }
        self.pool().clear();
        let not_finite = match job.finite.into_inner() {
            true => None,
            false => out.par_iter().position_first(|x| !x.is_finite()),
        };
        Ok(Some(FilteredColumns { numbers: out, not_finite }))
    }

    /// The columns from `done` on, in blocks.
    fn filter_columns(
        &self,
        job: &Job,
        width: usize,
        done: &mut usize,
        out: &mut [f32],
        progress: &dyn Progress,
    ) -> Done {
        let mut line = Line::new(self, job, width)?;
        let starts = (*done..job.cols).step_by(width);
        let blocks: Vec<Range<usize>> = starts.map(|at| at..(at + width).min(job.cols)).collect();
        for k in 0..=blocks.len() {
            if let Some(columns) = blocks.get(k) {
                line.send(k, columns)?;
                line.filter(k, columns)?;
            }
            if let Some(k) = k.checked_sub(1) {
                line.fetch(k, &blocks[k], out)?;
                *done = blocks[k].end;
                if !progress.advance(*done, job.cols, FILTERING) {
                    return Err(EngineError::Stopped);
                }
            }
        }
        line.end();
        Ok(())
    }
}

/// What is filtered.
struct Job<'a> {
    map: &'a Map,
    features: &'a Features,
    field: Field,
    cols: usize,
    /// Whether all numbers of the result are, so far.
    finite: AtomicBool,
}

/// Two blocks under way, and the ways to the card and back.
struct Line<'a> {
    engine: &'a Cuda,
    job: &'a Job<'a>,
    there: Arc<CudaStream>,
    back: Arc<CudaStream>,
    sending: Vec<Stage>,
    fetching: Vec<Stage>,
    slots: [Slot; 2],
}

/// A block before and after the filter.
struct Slot {
    x: Buffer,
    y: Buffer,
    filtered: CudaEvent,
}

impl Drop for Line<'_> {
    /// Nothing of it may go while the card is still at work on it.
    fn drop(&mut self) {
        for stream in [&self.there, &self.engine.stream, &self.back] {
            let _ = stream.synchronize();
        }
    }
}

impl<'a> Line<'a> {
    fn new(engine: &'a Cuda, job: &'a Job, width: usize) -> Result<Self, EngineError> {
        let numbers = job.features.rows() * width;
        let slot = || -> Result<Slot, EngineError> {
            let (x, y) = (engine.zeros(numbers)?, engine.zeros(numbers * job.field.parts())?);
            Ok(Slot { x, y, filtered: engine.card.context.new_event(None).map_err(failure)? })
        };
        let slots = [slot()?, slot()?];
        let stream = || engine.card.context.new_stream().map_err(failure);
        let (there, back) = (stream()?, stream()?);
        let (sending, fetching) = (engine.stages()?, engine.stages()?);
        // Other streams may use the blocks only once they are there.
        engine.wait()?;
        Ok(Self { engine, job, there, back, sending, fetching, slots })
    }

    fn end(mut self) {
        for stages in [std::mem::take(&mut self.sending), std::mem::take(&mut self.fetching)] {
            self.engine.keep_stages(stages);
        }
    }

    /// The rows of the parts that a block of so many numbers in a row is copied in.
    fn parts(&self, width: usize) -> Vec<Range<usize>> {
        let rows = self.job.features.rows();
        let step = (STAGE / (width * size_of::<f32>())).max(1);
        (0..rows).step_by(step).map(|at| at..(at + step).min(rows)).collect()
    }

    /// Packs columns and sends them.
    fn send(&mut self, k: usize, columns: &Range<usize>) -> Done {
        let (parts, slot) = (self.parts(columns.len()), &self.slots[k % 2]);
        self.there.wait(&slot.filtered).map_err(failure)?;
        let (width, to) = (columns.len(), self.engine.address(&slot.x.slice));
        for (i, rows) in parts.into_iter().enumerate() {
            let stage = &mut self.sending[i % DEPTH];
            pack(self.job.features, columns, &rows, stage.numbers(rows.len() * width)?);
            let [bytes, at] = [rows.len(), rows.start].map(|n| n * width * size_of::<f32>());
            // SAFETY: the block has a place for every row, it is not freed before the streams have been
            // waited for, and the filter waits for this stream. Tested by `columns_in_blocks`.
            unsafe { stage.send(bytes, to + at as u64, &self.there)? };
        }
        self.engine.stream.join(&self.there).map_err(failure)
    }

    fn filter(&mut self, k: usize, columns: &Range<usize>) -> Done {
        let (engine, job, slot) = (self.engine, self.job, &mut self.slots[k % 2]);
        let shape = Shape::real(job.features.rows(), columns.len());
        let to = shape.with_field(job.field);
        engine.map(job.map, Side::Forward, None, (&slot.x, shape), (&mut slot.y, to), false)?;
        slot.filtered.record(&engine.stream).map_err(failure)
    }

    /// Fetches filtered columns and puts them in their place.
    fn fetch(&mut self, k: usize, columns: &Range<usize>, out: &mut [f32]) -> Done {
        let numbers = self.job.field.parts();
        let (width, whole) = (columns.len() * numbers, self.job.cols * numbers);
        let (parts, slot) = (self.parts(width), &self.slots[k % 2]);
        self.back.wait(&slot.filtered).map_err(failure)?;
        let from = self.engine.address(&slot.y.slice);
        for i in 0..parts.len() + DEPTH {
            let stage = &mut self.fetching[i % DEPTH];
            if let Some(rows) = i.checked_sub(DEPTH).and_then(|i| parts.get(i)) {
                let out = &mut out[rows.start * whole..rows.end * whole];
                let block = stage.numbers(rows.len() * width)?;
                if !unpack(block, width, (out, whole), columns.start * numbers) {
                    self.job.finite.store(false, Ordering::Relaxed);
                }
            }
            if let Some(rows) = parts.get(i) {
                let [bytes, at] = [rows.len(), rows.start].map(|n| n * width * size_of::<f32>());
                // SAFETY: as in `send`; the way back waits for the filter.
                unsafe { stage.receive(bytes, from + at as u64, &self.back)? };
            }
        }
        Ok(())
    }
}

/// Some columns of some rows, row after row.
fn pack(features: &Features, columns: &Range<usize>, rows: &Range<usize>, to: &mut [f32]) {
    let width = columns.len();
    to.par_chunks_mut(ROWS * width).enumerate().for_each(|(piece, to)| {
        let first = rows.start + piece * ROWS;
        for (u, to) in (first..).zip(to.chunks_exact_mut(width)) {
            match features {
                Features::Dense(matrix) => to.copy_from_slice(&matrix.row(u)[columns.clone()]),
                Features::Sparse(matrix) => {
                    to.fill(0.0);
                    let (places, values) = matrix.row(u);
                    for (&place, &value) in places.iter().zip(values) {
                        let place = place as usize;
                        if columns.contains(&place) {
                            to[place - columns.start] = value;
                        }
                    }
                }
            }
        }
    });
}

/// Puts rows of `width` numbers into longer ones, from `at` on; whether all are finite.
fn unpack(block: &[f32], width: usize, (out, whole): (&mut [f32], usize), at: usize) -> bool {
    let pieces = out.par_chunks_mut(ROWS * whole).zip(block.par_chunks(ROWS * width));
    let finite = pieces.map(|(out, block)| {
        let mut finite = true;
        for (out, row) in out.chunks_exact_mut(whole).zip(block.chunks_exact(width)) {
            out[at..at + width].copy_from_slice(row);
            finite &= row.iter().fold(true, |finite, x| finite & x.is_finite());
        }
        finite
    });
    finite.reduce(|| true, |a, b| a & b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Matrix;

    const POWERS: Series = Series::Powers(Vec::new());

    #[test]
    fn blocks_are_as_wide_as_is_useful_and_possible() {
        let gib = 1 << 30;
        assert_eq!(width((5000, 21), Field::Complex, &POWERS, 8 * gib), 21);
        assert_eq!(width((20_000_000, 128), Field::Complex, &POWERS, 128 * gib), 32);
        assert_eq!(width((20_000_000, 128), Field::Real, &POWERS, 128 * gib), 64);
        assert_eq!(width((20_000_000, 128), Field::Complex, &POWERS, 8 * gib), 7);
        assert_eq!(width((20_000_000, 128), Field::Complex, &POWERS, 0), 1);
        assert_eq!(width((0, 128), Field::Complex, &POWERS, 0), 1);
        assert_eq!(width((3, 0), Field::Complex, &POWERS, gib), 1);
    }

    /// What is packed and unpacked in parts is what was there.
    #[test]
    fn columns_go_there_and_back() {
        let (rows, cols) = (700, 5);
        let cells: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let features = Features::Dense(Matrix::from_vec(rows, cols, cells.clone()).unwrap());
        let mut out = vec![0f32; rows * cols];
        for columns in [0..2, 2..5] {
            let width = columns.len();
            let mut block = vec![f32::NAN; 400 * width];
            for part in [0..400, 400..700] {
                let block = &mut block[..part.len() * width];
                pack(&features, &columns, &part, block);
                let to = &mut out[part.start * cols..part.end * cols];
                assert!(unpack(block, width, (to, cols), columns.start));
            }
        }
        assert_eq!(out, cells);
        assert!(!unpack(&[1.0, f32::INFINITY], 1, (&mut [0.0; 2], 1), 0));
    }
}
