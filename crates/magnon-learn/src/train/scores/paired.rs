//! Accuracies over repeated splits, and paired differences of two models.

use super::Summary;
use super::statistics::{quantile, tail};
use serde::{Deserialize, Serialize};

/// How two models differ on the same splits and nodes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean difference of the accuracies.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval; `None` where one value is all there is.
    pub ci95: Option<f64>,
    /// Two-sided p-value of no difference.
    pub p: f64,
}

/// Sizes that say how strongly the results of several splits hang together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitSizes {
    /// Test nodes.
    pub test: usize,
    /// Nodes whose labels were used to fit or to choose.
    pub fitted: usize,
}

/// Summary of the means of several splits. Splits of the same nodes overlap, so their variance counts
/// s²(1/J + n_test/n_fitted) in place of s²/J, after Nadeau and Bengio (Inference for the Generalization
/// Error, 2003).
pub fn over_splits(means: &[f64], sizes: SplitSizes) -> Option<Summary> {
    let summary = Summary::of(means)?;
    let ci95 = error(&summary, sizes).map(|error| quantile(means.len() - 1) * error);
    Some(Summary { ci95, ..summary })
}

/// The corrected resampled t-test: the mean of the differences over J splits against their corrected
/// standard error, with J − 1 degrees of freedom.
pub fn difference_over_splits(differences: &[f64], sizes: SplitSizes) -> Option<Difference> {
    let summary = Summary::of(differences)?;
    Some(judged(summary.mean, error(&summary, sizes), differences.len()))
}

/// Corrected standard error of the mean over splits. Accuracies come in steps of a node: a spread below
/// half a step is taken for half a step, so that equal differences on few splits do not pass for certain.
fn error(summary: &Summary, sizes: SplitSizes) -> Option<f64> {
    let SplitSizes { test, fitted } = sizes;
    let std = summary.std.max(0.5 / test.max(1) as f64);
    let correction = test as f64 / fitted.max(1) as f64;
    (summary.n > 1).then(|| std * (1.0 / summary.n as f64 + correction).sqrt())
}

/// Accuracy on one split: `nodes` has the share of runs that were right about each test node, `runs` the
/// accuracy of each run. The interval is the wider of those of nodes and of runs.
pub fn over_nodes(nodes: &[f64], runs: &[f64]) -> Option<Summary> {
    let (by_node, by_run) = (Summary::of(nodes)?, Summary::of(runs)?);
    let ci95 = by_node.ci95.into_iter().chain(by_run.ci95).reduce(f64::max);
    Some(Summary { ci95, ..by_run })
}

/// The difference of two models on one split, from their differences on each test node and in each run;
/// the wider error counts.
pub fn difference_over_nodes(nodes: &[f64], runs: &[f64]) -> Option<Difference> {
    let error = |values: &[f64]| {
        let summary = Summary::of(values)?;
        (summary.n > 1).then(|| (summary.std / (summary.n as f64).sqrt(), summary.n))
    };
    let mean = Summary::of(nodes)?.mean;
    let wider = [error(nodes), error(runs)].into_iter().flatten();
    let wider =
        wider.max_by(|a, b| (quantile(a.1 - 1) * a.0).total_cmp(&(quantile(b.1 - 1) * b.0)));
    Some(match wider {
        Some((error, n)) => judged(mean, Some(error), n),
        None => judged(mean, None, 1),
    })
}

fn judged(mean: f64, error: Option<f64>, n: usize) -> Difference {
    match error {
        Some(error) => {
            let p = if mean == 0.0 { 1.0 } else { tail(mean.abs() / error, n - 1) };
            Difference { mean, ci95: Some(quantile(n - 1) * error), p }
        }
        None => Difference { mean, ci95: None, p: 1.0 },
    }
}

/// p-values of several tests, each raised so that the chance of any false alarm among them stays below
/// its level, after Holm.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least = 0.0f64;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max((p[at] * (p.len() - rank) as f64).min(1.0));
        adjusted[at] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against scipy.stats.t: t = mean / (s·√(1/J + n_test/n_fitted)), p = 2·t.sf(|t|, J − 1).
    #[test]
    fn the_corrected_test_is_that_of_nadeau_and_bengio() {
        let differences = [0.02, 0.01, 0.03, -0.01, 0.04, 0.02, 0.00, 0.03, 0.01, 0.02];
        let sizes = SplitSizes { test: 200, fitted: 800 };
        let found = difference_over_splits(&differences, sizes).unwrap();
        assert!((found.mean - 0.017).abs() < 1e-12);
        assert!((found.p - 0.086_664_392_512_1).abs() < 1e-9, "{}", found.p);
        assert!((found.ci95.unwrap() - 0.020_000_164_6).abs() < 1e-9, "{:?}", found.ci95);
    }

    /// statsmodels.stats.multitest.multipletests([.01, .04, .03, .005], method='holm').
    #[test]
    fn holm_as_statsmodels_has_it() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{adjusted:?}");
        }
    }

    #[test]
    fn equal_differences_on_two_splits_are_not_certain() {
        let sizes = SplitSizes { test: 10, fitted: 40 };
        let found = difference_over_splits(&[0.1, 0.1], sizes).unwrap();
        assert!(found.p > 0.05, "{}", found.p);
        let none = difference_over_splits(&[0.0, 0.0], sizes).unwrap();
        assert_eq!(none.p, 1.0);
    }

    #[test]
    fn one_split_takes_the_wider_of_nodes_and_runs() {
        let nodes: Vec<f64> = (0..100).map(|k| f64::from(u8::from(k < 80))).collect();
        let summary = over_nodes(&nodes, &[0.8, 0.8, 0.8]).unwrap();
        assert!((summary.ci95.unwrap() - 0.0798).abs() < 1e-3, "{summary:?}");
        let summary = over_nodes(&nodes, &[0.7, 0.8, 0.9]).unwrap();
        assert!((summary.ci95.unwrap() - 0.2484).abs() < 1e-3, "{summary:?}");
    }
}
