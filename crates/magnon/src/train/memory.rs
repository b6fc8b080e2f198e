//! What training needs beside the model and its input.

use super::inputs::Targets;
use super::trainer::Feed;
use super::{EpochRecord, TrainConfig};
use crate::model::Model;
use crate::nn::{Engine, Field, Map, Shape};

/// Bytes that [`fit`](super::fit) holds at its peak beside the model and the feed.
///
/// Not counted is what products pack their factors in: a thread asks for it once, twice the size of
/// the processor's last cache, and touches as much of it as the factors fill.
///
/// With P numbers in the model, H hidden units of w numbers (2H where they are complex, H where not)
/// and C classes, it holds
/// - 4P numbers: gradients, two moments, and the best weights;
/// - for each training row 2w + 3H + 3C numbers (2H more where the layer is complex), and for each
///   validation row w + H + 2C, of those that go through the model at a time;
/// - where the input is factored as H·X, w for every row of X, forward and backward;
/// - where rows come in batches, twice the rows of a batch. A last batch that is shorter has buffers
///   of its own;
/// - a record for each epoch.
///
/// A model without dropout needs 2H a training row less.
pub fn memory<E>(
    model: &impl Model<E>,
    feed: &Feed,
    [train, val]: [&Targets; 2],
    config: &TrainConfig,
) -> usize
where
    E: Engine<Real = f32, Map = Map<f32>>,
{
    let first = model.parameters().shape(model.first_weight());
    let classes = model.parameters().iter().last().map_or(0, |(_, shape, _)| shape.cols);
    let (hidden, width) = (first.cols, first.width());
    let forward = width + hidden + 2 * classes;
    // A real layer's gradient takes over the buffer of the activation's.
    let back = match first.field {
        Field::Real => 2 * hidden + classes,
        Field::Complex => 2 * hidden + width + classes,
    };
    let learning = forward + 2 * hidden + back;
    let (rows, targets) = match feed {
        Feed::Full(inputs) => {
            let shared = inputs.source.as_ref().map_or(0, |x| 2 * x.shape().rows * width);
            (train.len() * learning + val.len() * forward + shared, train.len() + val.len())
        }
        Feed::Batches { rows, size } => {
            let Shape { cols, field, .. } = rows.shape();
            let input = cols * field.parts();
            let largest = |of: &Targets| of.len().min(*size);
            let mut sizes = vec![largest(train)];
            let mut numbers = largest(train).max(largest(val)) * input + largest(train) * learning;
            let others = [train.len() % size, largest(val), val.len() % size];
            for (count, each) in others.into_iter().zip([learning, forward, forward]) {
                if !sizes.contains(&count) {
                    sizes.push(count);
                    numbers += count * each;
                }
            }
            (numbers + sizes.iter().sum::<usize>() * input, 2 * largest(train) + train.len())
        }
    };
    let numbers = 4 * model.parameters().count() + rows;
    let records = config.epochs.min(super::trainer::RECORDS) * size_of::<EpochRecord>();
    numbers * size_of::<f32>() + targets * size_of::<(u32, u32)>() + records
}
