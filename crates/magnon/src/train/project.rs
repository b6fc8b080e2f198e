//! From features and weights to predictions, for all nodes.

use super::TrainError;
use super::rows::RowSource;
use crate::data::Features;
use crate::filter::{Filter, Propagated, propagate};
use crate::matrix::Matrix;
use crate::model::{Mode, Model, Rows};
use crate::nn::{Engine, Map, Parameters, Shape, Tape};
use crate::operator::MagneticOperator;

/// Rows of the hidden layer before its bias.
pub struct Block {
    /// Their shape.
    pub shape: Shape,
    /// Their numbers.
    pub numbers: Vec<f32>,
}

/// Rows that go through the network at a time.
const ROWS: usize = 4096;

/// h(S)XW for all nodes, or XW where there is no filter. Features or hidden columns are filtered,
/// whichever are fewer.
pub fn project<E>(
    engine: &E,
    model: &impl Model<E>,
    features: &Features,
    filter: Option<(&MagneticOperator, &Filter)>,
) -> Result<Block, TrainError>
where
    E: Engine<Real = f32, Map = Map<f32>>,
{
    let Some((operator, filter)) = filter else { return Ok(multiply(engine, model, features)) };
    let hidden = model.parameters().shape(model.first_weight()).width();
    if features.cols() < hidden {
        let filtered = propagate(operator, filter, features, &|_, _| ())?;
        return Ok(multiply(engine, model, &filtered));
    }
    let Block { shape, numbers } = multiply(engine, model, features);
    // Real and imaginary parts are filtered as columns of their own: h(S) is linear.
    let Ok(columns) = Matrix::from_vec(shape.rows, shape.width(), numbers) else {
        unreachable!("the numbers fill the shape")
    };
    Ok(match propagate(operator, filter, &Features::Dense(columns), &|_, _| ())? {
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

/// X·W in blocks of rows.
pub fn multiply<E>(engine: &E, model: &impl Model<E>, rows: &(impl RowSource + ?Sized)) -> Block
where
    E: Engine<Real = f32, Map = Map<f32>>,
{
    let from = rows.shape();
    let weight = model.parameters().shape(model.first_weight());
    let shape = Shape { rows: from.rows, cols: weight.cols, field: from.field.join(weight.field) };
    let mut numbers = vec![0.0; shape.len()];
    let mut input = vec![0.0; ROWS.min(from.rows) * from.width()];
    let mut tape = Tape::new(engine);
    for (block, out) in numbers.chunks_mut((ROWS * shape.width()).max(1)).enumerate() {
        let count = out.len() / shape.width().max(1);
        let part = Shape { rows: count, ..from };
        for (row, input) in input.chunks_exact_mut(from.width().max(1)).take(count).enumerate() {
            rows.copy(block * ROWS + row, input);
        }
        let mut pass = tape.pass(model.parameters());
        let x = pass.input(part, &input[..part.len()]);
        let weight = pass.parameter(model.first_weight());
        let y = pass.product(x, weight);
        engine.download(pass.value(y), out);
    }
    Block { shape, numbers }
}

/// Log-probabilities of the classes, one row a row of `block`.
pub fn classify<E>(engine: &E, model: &impl Model<E>, block: &Block) -> Matrix<f32>
where
    E: Engine<Real = f32>,
{
    let parameters: &Parameters<E> = model.parameters();
    let mut tape = Tape::new(engine);
    let (mut all, mut cols) = (Vec::new(), 0);
    for numbers in block.numbers.chunks((ROWS * block.shape.width()).max(1)) {
        let rows = numbers.len() / block.shape.width().max(1);
        let mut pass = tape.pass(parameters);
        let x = pass.input(Shape { rows, ..block.shape }, numbers);
        let logits = model.logits(&mut pass, x, Rows::Projected(x), Mode::Evaluate);
        let logits = pass.log_softmax(logits);
        let shape = pass.shape(logits);
        cols = shape.cols;
        let start = all.len();
        all.resize(start + shape.len(), 0.0);
        engine.download(pass.value(logits), &mut all[start..]);
    }
    let rows = all.len().checked_div(cols).unwrap_or(0);
    Matrix::from_vec(rows, cols, all).unwrap_or_else(|_| Matrix::zeros(0, cols))
}
