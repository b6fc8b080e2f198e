//! `propagate --channels`: features filtered into all channels of a bank by one call.

mod words;

use super::progress::steps;
use super::{Phases, Progress};
use crate::Error;
use crate::data::write::{NpzArrays, write_npz};
use crate::data::{DataError, Dataset, Features};
use crate::filter::{FilterConfig, FilterError, FilterKind, Propagated, propagate};
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::Channel;
use crate::operator::{Along, MagneticOperator, OperatorConfig, OperatorError, Pattern};
use num_complex::Complex32;
use rayon::prelude::*;
use serde::Serialize;
use std::f64::consts::TAU;
use std::io;
use std::path::Path;
use std::sync::Arc;
use words::{Steps, Told, Word, map, step_config};

/// What [`propagate_channels`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelsReport {
    /// The data set.
    pub name: String,
    /// Its nodes, the rows of every channel.
    pub nodes: usize,
    /// Columns of every channel.
    pub columns: usize,
    /// The channels, in the order in which they were done.
    pub channels: Vec<ChannelRow>,
    /// Products with an operator in all.
    pub products: usize,
    /// Where the time went.
    pub seconds: Phases,
}

/// One channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelRow {
    /// Its text.
    pub channel: String,
    /// What it holds, in words.
    pub words: String,
    /// Type of its numbers: `complex64`, or `float32` of a real operator.
    pub dtype: String,
}

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
pub type TakeChannel<'a> = dyn FnMut(&Channel, ChannelBlock) -> Result<(), Error> + 'a;

/// Filters the features of a data set into channels, and hands each to `take`.
///
/// What channels share is computed once. Words over the edges out and in share their ends: `out.in` is a step from
/// `in`, and one product makes a step both ways. A power of at most two steps, ½^k (e^{i2πq}P + e^{−i2πq}Pᵀ)^k X, is a sum
/// of words, so all its charges come from the same products. Other filters are evaluated one by one.
///
/// Beside the features, memory holds two blocks of the size of a real channel for each step of the longest word and two more
/// while a product is taken apart, a complex one for each power of words, and the channel at hand.
pub fn propagate_channels(
    dataset: &Dataset,
    channels: &[Channel],
    take: &mut TakeChannel<'_>,
    progress: &dyn Progress,
) -> Result<ChannelsReport, Error> {
    check(channels)?;
    let Some(features) = &dataset.features else {
        let problem = format!("{} has no features to filter", dataset.name);
        return Err(Error::Argument(problem));
    };
    let mut seconds = Phases::default();
    let pattern =
        seconds.time("pattern", || Pattern::new(&dataset.graph).map_err(OperatorError::from))?;
    let told = steps(progress, "propagate");
    let mut work = Work {
        pattern: Arc::new(pattern),
        features,
        told: &told,
        take,
        rows: Vec::new(),
        products: 0,
    };
    seconds.time("propagate", || work.all(channels))?;
    Ok(ChannelsReport {
        name: dataset.name.clone(),
        nodes: dataset.graph.nodes(),
        columns: features.cols(),
        channels: work.rows,
        products: work.products,
        seconds,
    })
}

/// [`propagate_channels`] into an `.npz` file, an array for each channel under its text, each written as soon as it is
/// there.
pub fn write_channels(
    path: &Path,
    dataset: &Dataset,
    channels: &[Channel],
    progress: &dyn Progress,
) -> Result<ChannelsReport, Error> {
    let failed = |reason| DataError::Io { path: path.to_owned(), action: "write", reason };
    let mut outcome = None;
    let written = write_npz(path, |arrays| {
        let mut take = |channel: &Channel, block: ChannelBlock| {
            Ok(add(arrays, &channel.to_string(), block).map_err(failed)?)
        };
        let found = outcome.insert(propagate_channels(dataset, channels, &mut take, progress));
        // Nothing stays behind then; why is said below.
        if found.is_ok() { Ok(()) } else { Err(io::Error::other("it was not finished")) }
    });
    match outcome {
        Some(Err(error)) => Err(error),
        Some(Ok(report)) => Ok(written.map(|()| report)?),
        None => Err(written.map_or_else(Error::from, |()| Error::Stopped)),
    }
}

fn add(arrays: &mut NpzArrays, name: &str, block: ChannelBlock) -> io::Result<()> {
    match block {
        ChannelBlock::Sparse(block) => arrays.add_sparse(name, block),
        ChannelBlock::Real(block) => arrays.add(name, block),
        ChannelBlock::Complex(block) => arrays.add(name, block),
    }
}

/// Refuses channels that are no filtered features, and those that are named twice.
fn check(channels: &[Channel]) -> Result<(), Error> {
    for (at, channel) in channels.iter().enumerate() {
        if let Channel::Rows(_) = channel {
            return Err(Error::Argument(format!(
                "{channel} is made of rows of the adjacency, not of features; leave it out"
            )));
        }
        if channels[..at].contains(channel) {
            return Err(Error::Argument(format!("the channel {channel} is named twice")));
        }
    }
    Ok(())
}

struct Work<'a, 't> {
    pattern: Arc<Pattern>,
    features: &'a Features,
    told: Told<'a>,
    take: &'a mut TakeChannel<'t>,
    rows: Vec<ChannelRow>,
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

impl Work<'_, '_> {
    fn all(&mut self, channels: &[Channel]) -> Result<(), Error> {
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
            let mut walk = Steps::new(self.pattern.clone(), self.told)?;
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
                    true => self.hand_over(&channel, plain(block)),
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
                    self.hand_over(sum.channel, ChannelBlock::Real(&real))?;
                }
                false => self.hand_over(sum.channel, ChannelBlock::Complex(&sum.sum))?,
            }
        }
        for channel in rest {
            let Channel::Filter { operator, filter } = channel else { continue };
            let operator = MagneticOperator::from_pattern(self.pattern.clone(), operator)?;
            let filter = filter.build(operator.bounds(), operator.config().kind)?;
            let found = propagate(&operator, &filter, self.features, self.told)?;
            self.products += filter.order().unwrap_or(0);
            let block = match &found {
                Propagated::Real(block) => ChannelBlock::Real(block),
                Propagated::Complex(block) => ChannelBlock::Complex(block),
            };
            self.hand_over(channel, block)?;
        }
        Ok(())
    }

    /// The powers that words add up to: of one step always, of two where that takes fewer products.
    fn sums<'c>(&self, channels: &'c [Channel]) -> Result<Vec<Sum<'c>>, Error> {
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

    fn hand_over(&mut self, channel: &Channel, block: ChannelBlock) -> Result<(), Error> {
        let dtype = match block {
            ChannelBlock::Sparse(_) | ChannelBlock::Real(_) => "float32",
            ChannelBlock::Complex(_) => "complex64",
        };
        self.rows.push(ChannelRow {
            channel: channel.to_string(),
            words: channel.words(),
            dtype: dtype.to_owned(),
        });
        (self.take)(channel, block)
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
    let plain = FilterConfig { kind: filter.kind, order: filter.order, ..Default::default() };
    let right = filter.kind == FilterKind::Power
        && *filter == plain
        && *operator == step_config(operator.charge);
    filter.effective_order().filter(|steps| right && (1..=2).contains(steps))
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
