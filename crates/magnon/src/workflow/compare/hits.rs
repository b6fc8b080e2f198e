//! `Hits`: which test nodes were classified rightly, and what follows from them.

use super::SplitInfo;
use super::job::{JobResult, Setting};
use crate::train::{
    Difference, Summary, Targets, difference_over_nodes, difference_over_splits, over_nodes,
    over_splits,
};

/// Hits of one entrant: for each split, for each run, for each test node; as shares, where several draws
/// of a control are taken together.
pub(super) struct Hits {
    by_split: Vec<Vec<Vec<f64>>>,
}

impl Hits {
    pub fn of(setting: &Setting, jobs: &[&[JobResult]]) -> Option<Self> {
        let labels = setting.dataset.labels.as_ref()?;
        let runs = setting.config.runs;
        if jobs.is_empty() || jobs.iter().any(|of| of.len() != setting.splits.len() * runs) {
            return None;
        }
        let by_split = setting.splits.iter().enumerate().map(|(split, nodes)| {
            let test = Targets::of(&nodes.test, labels).len();
            let run = |run: usize| {
                let mut shares = vec![0.0; test];
                for of in jobs {
                    let hits = of[split * runs + run].hits(test);
                    let share = 1.0 / jobs.len() as f64;
                    shares
                        .iter_mut()
                        .zip(hits)
                        .for_each(|(sum, hit)| *sum += share * f64::from(hit));
                }
                shares
            };
            (0..runs).map(run).collect()
        });
        Some(Self { by_split: by_split.collect() })
    }

    /// The class that is most frequent among the training nodes of each split, for all its test nodes.
    pub fn of_majority(setting: &Setting) -> Option<Self> {
        let labels = setting.dataset.labels.as_ref()?;
        let by_split = setting.splits.iter().map(|split| {
            let mut counts = vec![0usize; labels.names.len()];
            let train = Targets::of(&split.train, labels).pairs;
            train.iter().for_each(|&(_, class)| counts[class as usize] += 1);
            let most = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
            let pairs = Targets::of(&split.test, labels).pairs;
            let hits = pairs.iter().map(|&(_, class)| f64::from(class as usize == most)).collect();
            vec![hits; setting.config.runs]
        });
        Some(Self { by_split: by_split.collect() })
    }

    fn minus(&self, other: &Self) -> Self {
        let by_node =
            |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let by_run =
            |(a, b): (&Vec<Vec<f64>>, &Vec<Vec<f64>>)| a.iter().zip(b).map(by_node).collect();
        Self { by_split: self.by_split.iter().zip(&other.by_split).map(by_run).collect() }
    }

    /// The means of the splits.
    fn split_means(&self) -> Vec<f64> {
        self.by_split
            .iter()
            .map(|runs| mean(&runs.iter().map(|run| mean(run)).collect::<Vec<_>>()))
            .collect()
    }

    /// The means over runs of each test node, and over nodes of each run, of the only split.
    fn of_one_split(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let [runs] = &self.by_split[..] else { return None };
        let nodes = runs.first().map_or(0, Vec::len);
        let node = |k: usize| mean(&runs.iter().map(|run| run[k]).collect::<Vec<_>>());
        Some(((0..nodes).map(node).collect(), runs.iter().map(|run| mean(run)).collect()))
    }

    pub fn summary(&self, info: &SplitInfo) -> Option<Summary> {
        let runs: usize = self.by_split.iter().map(Vec::len).sum();
        let summary = match self.of_one_split() {
            Some((nodes, runs)) => over_nodes(&nodes, &runs)?,
            None => over_splits(&self.split_means(), info.sizes())?,
        };
        Some(Summary { n: runs, ..summary })
    }

    pub fn difference(&self, other: &Self, info: &SplitInfo) -> Option<Difference> {
        let difference = self.minus(other);
        match difference.of_one_split() {
            Some((nodes, runs)) => difference_over_nodes(&nodes, &runs),
            None => difference_over_splits(&difference.split_means(), info.sizes()),
        }
    }
}

/// The mean, and 0 of nothing.
pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
