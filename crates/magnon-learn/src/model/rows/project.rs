//! From features and weights to predictions, for many nodes.

use super::network::Head;
use super::source::RowSource;
use crate::model::network::log_probabilities;
use crate::model::{Mode, ModelError};
use crate::nn::{Parameters, Tape};
use magnon_core::compute::{Engine, Scalar, Shape};
use magnon_core::filter::{Filter, Propagated, propagate_on};
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::MagneticOperator;

/// Rows of the hidden layer before its bias.
pub struct Block {
    /// Their shape.
    shape: Shape,
    /// Their numbers.
    numbers: Vec<f32>,
}

/// Rows that go through the network at a time.
const ROWS: usize = 4096;

/// h(S)XW for all nodes, or XW where there is no filter. Features or hidden columns are filtered,
/// whichever are fewer.
pub fn project(
    engine: &Engine,
    parameters: &Parameters,
    head: &impl Head,
    features: &Features,
    filter: Option<(&MagneticOperator, &Filter)>,
    real: bool,
) -> Result<Block, ModelError> {
    let Some((operator, filter)) = filter else {
        return multiply(engine, parameters, head, features, real);
    };
    let hidden = head.first().shape.width();
    let unwound = real && !operator.is_real();
    if features.cols() < hidden || unwound {
        let filtered = propagate_on(engine, operator, filter, features, &())?;
        return multiply(engine, parameters, head, &filtered, real);
    }
    let Block { shape, numbers } = multiply(engine, parameters, head, features, real)?;
    // Real and imaginary parts are filtered as columns of their own: h(S) is linear.
    let Ok(columns) = Matrix::from_vec(shape.rows(), shape.width(), numbers) else {
        unreachable!("the numbers fill the shape")
    };
    let columns = Features::Dense(columns);
    Ok(match propagate_on(engine, operator, filter, &columns, &())? {
        Propagated::Real(h) => Block { shape, numbers: h.into_vec() },
        Propagated::Complex(h) => {
            let pair = |[a, b]: &[num_complex::Complex32; 2]| {
                // h(S)·Re + i·h(S)·Im
                [a.re - b.im, a.im + b.re]
            };
            let numbers = h.as_slice().as_chunks().0.iter().flat_map(pair).collect();
            Block { shape, numbers }
        }
    })
}

/// X·W in blocks of rows; complex rows are twice as many real columns where `real`.
pub fn multiply(
    engine: &Engine,
    parameters: &Parameters,
    head: &impl Head,
    rows: &(impl RowSource + ?Sized),
    real: bool,
) -> Result<Block, ModelError> {
    let from = if real { rows.shape().as_real() } else { rows.shape() };
    let weight = head.first();
    let shape =
        Shape::new(from.rows(), weight.shape.cols(), from.field().join(weight.shape.field()));
    let mut numbers = Vec::with_capacity(shape.len());
    let mut row = vec![0.0; from.width()];
    let mut tape = Tape::new(engine);
    for start in (0..from.rows()).step_by(ROWS) {
        let part = from.with_rows(ROWS.min(from.rows() - start));
        let mut input = Vec::with_capacity(part.len());
        for node in start..start + part.rows() {
            rows.copy(node, &mut row);
            input.extend_from_slice(&row);
        }
        let mut trace = tape.trace(parameters);
        let x = trace.input(part, &input);
        let weight = trace.parameter(weight.weight);
        let y = trace.product(x, weight);
        let mut out = vec![0f32; part.rows() * shape.width()];
        engine.download(trace.value(y)?, &mut out)?;
        numbers.extend(out.into_iter().map(|x| x.to_f64() as f32));
    }
    Ok(Block { shape, numbers })
}

/// Log-probabilities of the classes, one row for each row of `block`.
pub fn classify(
    engine: &Engine,
    parameters: &Parameters,
    head: &impl Head,
    block: &Block,
) -> Result<Matrix<f32>, ModelError> {
    let mut tape = Tape::new(engine);
    let (mut all, mut cols) = (Vec::new(), 0);
    for numbers in block.numbers.chunks((ROWS * block.shape.width()).max(1)) {
        let rows = numbers.len() / block.shape.width().max(1);
        let mut trace = tape.trace(parameters);
        let x = trace.input(block.shape.with_rows(rows), numbers);
        let logits = head.finish(&mut trace, x, Mode::Evaluate);
        let table = log_probabilities(engine, &mut trace, logits)?;
        cols = table.cols();
        all.extend_from_slice(table.as_slice());
    }
    let rows = all.len().checked_div(cols).unwrap_or(0);
    Ok(Matrix::from_vec(rows, cols, all).unwrap_or_else(|_| Matrix::zeros(0, cols)))
}
