//! Blocks of columns that fit a budget of memory.

use super::{Filter, FilterError};
use crate::compute::pattern::Weights;
use crate::compute::tile::{F32_LANES, F64_LANES, LINE};
use crate::operator::MagneticOperator;

/// Bytes that `propagate` needs for `columns` columns of single precision, which are in memory beside their result;
/// the pattern is not counted.
pub fn bytes_for(operator: &MagneticOperator, filter: &Filter, columns: usize) -> usize {
    let nodes = operator.nodes();
    let (tiles, number) =
        if filter.is_exact() { (7, size_of::<f64>()) } else { (2, size_of::<f32>()) };
    // Four vectors of factors, and weights and degrees in double precision; a tile of the input.
    let fixed = tiles * LINE + LINE + 4 * number + 2 * size_of::<f64>();
    let cell = if operator.is_real() { 4 } else { 8 };
    let entries = match operator.pattern().weights {
        Weights::Explicit(_) => operator.pattern().stored().saturating_mul(2 * number),
        Weights::Unit => 0,
    };
    nodes.saturating_mul(fixed.saturating_add((4 + cell) * columns)).saturating_add(entries)
}

/// The most columns, of `all`, that can be filtered at a time within `memory` bytes: all of them, or whole tiles
/// where one fits.
pub fn columns_within(
    operator: &MagneticOperator,
    filter: &Filter,
    all: usize,
    memory: u64,
) -> Result<usize, FilterError> {
    let bytes = |columns: usize| bytes_for(operator, filter, columns) as u64;
    if bytes(all) <= memory {
        return Ok(all);
    }
    let lanes = if filter.is_exact() { F64_LANES } else { F32_LANES };
    let width = if operator.is_real() { lanes } else { lanes / 2 };
    if bytes(1) > memory {
        let (rows, bytes) = (operator.nodes(), bytes_for(operator, filter, 1));
        return Err(FilterError::OverBudget { rows, bytes, memory });
    }
    let column = bytes(2) - bytes(1);
    let most = ((memory - bytes(0)) / column.max(1)) as usize;
    Ok(if most >= width { most / width * width } else { most.max(1) })
}
