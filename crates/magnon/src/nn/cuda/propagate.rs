//! h(S)X on a card: as many columns at a time as there is memory for.

use super::Cuda;
use crate::data::Features;
use crate::filter::{Filter, FilterError, Progress, Propagated};
use crate::matrix::Matrix;
use crate::nn::engine::Side;
use crate::nn::{Engine, EngineError, Field, MapSource, Shape};
use crate::operator::MagneticOperator;
use num_complex::Complex32;
use rayon::prelude::*;

/// Blocks that a filter needs beside its input: the source, the result and up to three of a recurrence.
const BLOCKS: usize = 6;

impl Cuda {
    /// h(S)X in single precision, whatever the filter.
    pub(super) fn filter_features(
        &self,
        operator: &MagneticOperator,
        filter: &Filter,
        features: &Features,
        progress: Progress,
    ) -> Result<Propagated, FilterError> {
        let (rows, cols) = (features.rows(), features.cols());
        if rows != operator.nodes() {
            return Err(FilterError::Shape { features: rows, nodes: operator.nodes() });
        }
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        let whole = Shape::real(rows, cols).with_field(field);
        let mut out =
            crate::memory::try_zeroed::<f32>(whole.len()).ok_or(FilterError::OutOfMemory {
                rows,
                cols,
                bytes: whole.len() * size_of::<f32>(),
            })?;
        let map = self.prepare(MapSource::filter(operator, filter))?;
        let column = (rows * field.parts() * size_of::<f32>()).max(1);
        let free = self.memory()?.0 / 10 * 9;
        let mut width = (free / (BLOCKS * column)).clamp(1, cols.max(1));
        let mut at = 0;
        while at < cols {
            let count = width.min(cols - at);
            let block = (at..at + count, Shape::real(rows, count));
            match self.filter_block(&map, features, block, field, (&mut out, whole)) {
                // Somebody else has taken memory since.
                Err(EngineError::OutOfMemory { .. }) if count > 1 => {
                    self.pool().clear();
                    width = count / 2;
                    continue;
                }
                done => done?,
            }
            at += count;
            if !progress(at, cols) {
                return Err(FilterError::Stopped);
            }
        }
        self.pool().clear();
        if let Some(at) = out.par_iter().position_first(|x| !x.is_finite()) {
            let at = at / field.parts();
            return Err(FilterError::Overflow { node: at / cols, column: at % cols });
        }
        let lost = |_| FilterError::OutOfMemory { rows, cols, bytes: 0 };
        Ok(match field {
            Field::Real => Propagated::Real(Matrix::from_vec(rows, cols, out).map_err(lost)?),
            Field::Complex => {
                let pairs: Vec<Complex32> = bytemuck::allocation::try_cast_vec(out)
                    .unwrap_or_else(|(_, out)| bytemuck::cast_slice(&out).to_vec());
                Propagated::Complex(
                    Matrix::from_vec(rows, cols, pairs).map_err(|_| FilterError::OutOfMemory {
                        rows,
                        cols,
                        bytes: 0,
                    })?,
                )
            }
        })
    }

    fn filter_block(
        &self,
        map: &super::Map,
        features: &Features,
        (columns, shape): (std::ops::Range<usize>, Shape),
        field: Field,
        (out, whole): (&mut [f32], Shape),
    ) -> Result<(), EngineError> {
        let count = columns.len();
        let mut x = self.zeros(shape.len())?;
        match features {
            Features::Dense(matrix) if count == matrix.cols() => {
                self.upload(matrix.as_slice(), &mut x)?
            }
            _ => self.upload(&part(features, columns.clone()), &mut x)?,
        }
        let to = shape.with_field(field);
        let mut y = self.zeros(to.len())?;
        self.map(map, Side::Forward, None, (&x, shape), (&mut y, to), false)?;
        drop(x);
        if to == whole {
            return self.download(&y, out);
        }
        let mut numbers = vec![0f32; to.len()];
        self.download(&y, &mut numbers)?;
        let (at, parts) = (columns.start * field.parts(), count * field.parts());
        let rows = out.par_chunks_mut(whole.width()).zip(numbers.par_chunks(parts));
        rows.for_each(|(out, numbers)| out[at..at + parts].copy_from_slice(numbers));
        Ok(())
    }
}

/// Some columns, row after row.
fn part(features: &Features, columns: std::ops::Range<usize>) -> Vec<f32> {
    let count = columns.len();
    let mut numbers = vec![0f32; features.rows() * count];
    numbers.par_chunks_mut(count.max(1)).enumerate().for_each(|(u, to)| match features {
        Features::Dense(matrix) => to.copy_from_slice(&matrix.row(u)[columns.clone()]),
        Features::Sparse(matrix) => {
            let (places, values) = matrix.row(u);
            for (&place, &value) in places.iter().zip(values) {
                let place = place as usize;
                if columns.contains(&place) {
                    to[place - columns.start] = value;
                }
            }
        }
    });
    numbers
}
