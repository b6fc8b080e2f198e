//! The splits that a comparison is made on.

use super::CompareConfig;
use crate::Error;
use crate::data::{Dataset, Split, SplitChoice, SplitError};
use crate::train::{SplitSizes, Targets};
use serde::Serialize;

/// Percentages of splits that are drawn where the data have too few of their own.
const DRAWN: [f64; 3] = [60.0, 20.0, 20.0];

/// Which splits were used.
#[derive(Clone, Debug, Serialize)]
pub struct SplitInfo {
    /// How many.
    pub count: usize,
    /// Labelled training nodes of the first.
    pub train: usize,
    /// Labelled validation nodes of the first.
    pub val: usize,
    /// Labelled test nodes of the first.
    pub test: usize,
    /// Whether they came with the data.
    pub given: bool,
    /// In words.
    pub text: String,
}

impl SplitInfo {
    /// What the corrected variance needs.
    pub(super) fn sizes(&self) -> SplitSizes {
        SplitSizes { test: self.test, fitted: self.train + self.val }
    }
}

/// The splits that were asked for; where nothing was, those of the data if there are enough, or else
/// drawn ones.
pub(super) fn choose(
    dataset: &Dataset,
    choice: Option<SplitChoice>,
    config: &CompareConfig,
) -> Result<(Vec<Split>, SplitInfo), Error> {
    let labels = dataset.labels.as_ref().ok_or(SplitError::NoLabels)?;
    let enough = dataset.splits.len() >= config.splits;
    let choice = choice.unwrap_or(match enough {
        true => SplitChoice::Given(0),
        false => SplitChoice::Random(DRAWN),
    });
    let splits: Result<Vec<Split>, SplitError> = (0..config.splits)
        .map(|k| {
            let seed = config.seed.wrapping_add(k as u64);
            choice.shifted(k).choose(&dataset.splits, Some(labels), seed)
        })
        .collect();
    let splits = splits?;
    let sizes = |split: &Split| {
        [&split.train, &split.val, &split.test].map(|nodes| Targets::of(nodes, labels).len())
    };
    for (k, split) in splits.iter().enumerate() {
        let parts = ["training", "validation", "test"].iter().zip(sizes(split));
        if let Some((part, _)) = parts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Error::Argument(format!(
                "split {k} has no labelled {part} nodes, and a comparison needs all three parts; \
                 give a split that has them, or have one drawn with --split 60/20/20"
            )));
        }
    }
    let [train, val, test] = splits.first().map_or([0; 3], sizes);
    let count = splits.len();
    let (given, how) = match choice {
        SplitChoice::Given(_) => (true, "that came with the data".to_owned()),
        SplitChoice::Random([a, b, c]) => (false, format!("drawn as {a}/{b}/{c} % of each class")),
        SplitChoice::PerClass { train, val, .. } => (
            false,
            format!("drawn with {train} training nodes of each class and {val} for validation"),
        ),
    };
    let noun = if count == 1 { "split" } else { "splits" };
    let text =
        format!("{count} {noun} {how}: {train} training, {val} validation, {test} test nodes");
    Ok((splits, SplitInfo { count, train, val, test, given, text }))
}
