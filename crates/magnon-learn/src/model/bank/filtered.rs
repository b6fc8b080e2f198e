//! Features filtered into the channels of a bank.

use super::channel::Channel;
use super::words::{Steps, Word, map, step_config};
use magnon_core::compute::Bounds;
use magnon_core::filter::{FilterConfig, FilterError, Propagated, propagate};
use magnon_core::matrix::Features;
use magnon_core::matrix::{Matrix, SparseMatrix};
use magnon_core::operator::{Along, MagneticOperator, OperatorConfig, OperatorError, Pattern};
use magnon_core::progress::Progress;
use num_complex::Complex32;
use rayon::prelude::*;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The numbers of a channel, one row per node.
#[derive(Clone, Copy, Debug)]
pub enum ChannelBlock<'a> {
    /// The features themselves, where they are sparse.
    Sparse(&'a SparseMatrix),
    /// Real numbers.
    Real(&'a Matrix<f32>),
    /// Complex numbers.
    Complex(&'a Matrix<Complex32>),
}

/// Called with each channel once it is there.
type TakeChannel<'a, F> = dyn FnMut(&Channel, ChannelBlock) -> Result<(), F> + 'a;

/// Filters features into channels, hands each to `take`, and says how many products with an operator that took.
/// Rows of the adjacency are no filtered features and are left out.
///
/// What channels share is computed once. Words over the edges out and in share their ends: `out.in` is a step from
/// `in`, and one product makes a step both ways. A power of at most two steps, ½^k (e^{i2πq}P + e^{−i2πq}Pᵀ)^k X, is a sum
/// of words, so all its charges come from the same products. Other filters are evaluated one by one.
///
/// Beside the features, memory holds two blocks of the size of a real channel for each step of the longest word and two more
/// while a product is taken apart, a complex one for each power of words, and the channel at hand.
pub fn filter_channels<F: From<FilterError> + From<OperatorError>>(
    pattern: &Arc<Pattern>,
    features: &Features,
    channels: &[Channel],
    progress: &dyn Progress,
    take: &mut TakeChannel<'_, F>,
) -> Result<usize, F> {
    let pattern = pattern.clone();
    let mut work = Work { pattern, features, progress, take, products: 0 };
    work.all(channels)?;
    Ok(work.products)
}

struct Work<'a, F> {
    pattern: Arc<Pattern>,
    features: &'a Features,
    progress: &'a dyn Progress,
    take: &'a mut TakeChannel<'a, F>,
    products: usize,
}

/// A power that is added up from words.
struct Sum<'a> {
    channel: &'a Channel,
    steps: usize,
    /// 2π times the charge.
    angle: f64,
    real: bool,
    sum: Matrix<Complex32>,
}

impl<F: From<FilterError> + From<OperatorError>> Work<'_, F> {
    fn all(&mut self, channels: &[Channel]) -> Result<(), F> {
        let mut sums = self.sums(channels)?;
        let mut words: Vec<Word> = Vec::new();
        for channel in channels {
            match channel {
                Channel::Features => words.push(Word::new()),
                Channel::Steps(word) => words.push(word.clone()),
                _ => (),
            }
        }
        let asked = words.clone();
        for steps in sums.iter().map(|sum| sum.steps) {
            words.extend(every_word(steps));
        }
        if !words.is_empty() {
            let mut walk = Steps::new::<F>(self.pattern.clone(), self.progress)?;
            let features = self.features;
            walk.walk(features, &words, &mut |word, block| {
                sums.iter_mut()
                    .filter(|sum| sum.steps == word.len())
                    .for_each(|s| s.add(word, block));
                let channel = match word {
                    [] => Channel::Features,
                    word => Channel::Steps(word.to_vec()),
                };
                match asked.iter().any(|asked| asked == word) {
                    true => (self.take)(&channel, plain(block)),
                    false => Ok(()),
                }
            })?;
            self.products += walk.products;
        }
        let summed: Vec<&Channel> = sums.iter().map(|sum| sum.channel).collect();
        let rest: Vec<&Channel> =
            channels.iter().filter(|channel| !summed.contains(channel)).collect();
        for sum in sums {
            match sum.real {
                true => {
                    let real = map(&sum.sum, |z| z.re)?;
                    (self.take)(sum.channel, ChannelBlock::Real(&real))?;
                }
                false => (self.take)(sum.channel, ChannelBlock::Complex(&sum.sum))?,
            }
        }
        for channel in rest {
            let Channel::Filter { operator, filter } = channel else { continue };
            let operator = MagneticOperator::from_pattern(self.pattern.clone(), operator)?;
            let filter = filter.build(operator.bounds(), operator.config().kind)?;
            let found = propagate(&operator, &filter, self.features, self.progress)?;
            self.products += filter.order().unwrap_or(0);
            let block = match &found {
                Propagated::Real(block) => ChannelBlock::Real(block),
                Propagated::Complex(block) => ChannelBlock::Complex(block),
            };
            (self.take)(channel, block)?;
        }
        Ok(())
    }

    /// The powers that words add up to: of one step always, of two where that takes fewer products.
    fn sums<'c>(&self, channels: &'c [Channel]) -> Result<Vec<Sum<'c>>, F> {
        let powers = || {
            channels.iter().filter_map(|channel| match channel {
                Channel::Filter { operator, filter } => {
                    let steps = power_steps(operator, filter)?;
                    Some((channel, operator, steps))
                }
                _ => None,
            })
        };
        let squares = powers().filter(|(_, _, steps)| *steps == 2).count();
        let cheap = powers().filter(|(_, _, steps)| *steps == 1 || squares > 1);
        let sum = |(channel, operator, steps): (&'c Channel, &OperatorConfig, usize)| {
            let (rows, cols) = (self.features.rows(), self.features.cols());
            let bytes = rows.saturating_mul(cols).saturating_mul(size_of::<Complex32>());
            let refused = FilterError::OutOfMemory { rows, cols, bytes };
            let sum = Matrix::try_zeros(rows, cols).ok_or(refused)?;
            let angle = TAU * operator.charge.value();
            let real = MagneticOperator::from_pattern(self.pattern.clone(), operator)?.is_real();
            Ok(Sum { channel, steps, angle, real, sum })
        };
        cheap.map(sum).collect()
    }
}

impl Sum<'_> {
    /// Adds ½^k e^{iθ(out − in)} times a word with so many letters of both kinds.
    fn add(&mut self, word: &[Along], block: &Features) {
        let Features::Dense(block) = block else { return };
        let turns: f64 =
            word.iter().map(|&along| if along == Along::Out { 1.0 } else { -1.0 }).sum();
        let (sin, cos) = (self.angle * turns).sin_cos();
        let share = 0.5f64.powi(word.len() as i32);
        let factor = Complex32::new((share * cos) as f32, (share * sin) as f32);
        let pairs = self.sum.as_mut_slice().par_iter_mut().zip(block.as_slice());
        pairs.for_each(|(sum, &value)| *sum += factor * value);
    }
}

/// The number of steps of a power of ½(e^{i2πq}P + e^{−i2πq}Pᵀ), where it is one or two.
fn power_steps(operator: &OperatorConfig, filter: &FilterConfig) -> Option<usize> {
    if *operator != step_config(operator.charge) {
        return None;
    }
    // The response of a power is that of any operator.
    let filter = filter.build(Bounds { min: -1.0, max: 1.0 }, operator.kind).ok()?;
    filter.as_power().filter(|steps| (1..=2).contains(steps))
}

/// All words of so many steps.
fn every_word(steps: usize) -> Vec<Word> {
    let mut words = vec![Word::new()];
    for _ in 0..steps {
        let longer =
            |word: Word| [Along::Out, Along::In].map(|along| [&[along], &word[..]].concat());
        words = words.into_iter().flat_map(longer).collect();
    }
    words
}

fn plain(block: &Features) -> ChannelBlock<'_> {
    match block {
        Features::Dense(block) => ChannelBlock::Real(block),
        Features::Sparse(block) => ChannelBlock::Sparse(block),
    }
}
