//! `propagate --channels`: features filtered into all channels of a bank by one call.

use super::{Phases, Progress};
use crate::Error;
use crate::data::write::{NpzArrays, write_npz};
use crate::data::{DataError, Dataset};
use crate::model::{Channel, ChannelBlock, filter_channels};
use crate::operator::{OperatorError, Pattern};
use serde::Serialize;
use std::io;
use std::path::Path;
use std::sync::Arc;

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

impl ChannelRow {
    fn new(channel: &Channel, block: ChannelBlock) -> Self {
        let dtype = match block {
            ChannelBlock::Sparse(_) | ChannelBlock::Real(_) => "float32",
            ChannelBlock::Complex(_) => "complex64",
        };
        Self { channel: channel.to_string(), words: channel.words(), dtype: dtype.to_owned() }
    }
}

/// Called with each channel once it is there.
pub type TakeChannel<'a> = dyn FnMut(&Channel, ChannelBlock) -> Result<(), Error> + 'a;

/// Filters the features of a data set into channels, and hands each to `take`; see [`filter_channels`].
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
    let pattern = Arc::new(pattern);
    let mut rows = Vec::new();
    let mut hand_over = |channel: &Channel, block: ChannelBlock| {
        rows.push(ChannelRow::new(channel, block));
        take(channel, block)
    };
    let products = seconds.time("propagate", || {
        filter_channels(&pattern, features, channels, progress, &mut hand_over)
    })?;
    Ok(ChannelsReport {
        name: dataset.name.clone(),
        nodes: dataset.graph.nodes(),
        columns: features.cols(),
        channels: rows,
        products,
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
