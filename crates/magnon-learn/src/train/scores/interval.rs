//! The interval of an accuracy.

use super::Summary;
use serde::{Deserialize, Serialize};

/// What an interval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// Other test nodes might have been drawn: Wilson's interval of a share.
    Nodes,
    /// Other seeds or splits might have been drawn: Student's t.
    Runs,
}

/// A 95 % confidence interval of an accuracy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What it is about.
    pub over: Spread,
    /// Number of test nodes, or of runs.
    pub n: usize,
}

impl Interval {
    /// The interval of the accuracies of some runs, each on `nodes` test nodes: the wider of that of the
    /// nodes and that of the runs, because neither covers the other. `None` where there is no node.
    pub fn of(accuracies: &[f64], nodes: usize) -> Option<Self> {
        let summary = Summary::of(accuracies)?;
        let (low, high) = wilson(summary.mean, nodes)?;
        let by_node = Self { low, high, over: Spread::Nodes, n: nodes };
        let by_run = summary.ci95.map(|half| Self {
            low: (summary.mean - half).max(0.0),
            high: (summary.mean + half).min(1.0),
            over: Spread::Runs,
            n: summary.n,
        });
        Some(match by_run {
            Some(by_run) if by_run.high - by_run.low > high - low => by_run,
            _ => by_node,
        })
    }
}

/// Wilson's 95 % score interval of a share of `n`: the shares p for which |share − p| is at most
/// z·√(p(1 − p)/n).
fn wilson(share: f64, n: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959_963_984_540_054;
    let n = (n > 0).then_some(n as f64)?;
    let centre = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// statsmodels.stats.proportion.proportion_confint(right, n, method="wilson").
    #[test]
    fn wilson_as_statsmodels_has_it() {
        for (right, n, low, high) in [
            (30.0, 38, 0.636_542_205_246_725_9, 0.889_252_081_570_041_2),
            (0.0, 10, 0.0, 0.277_532_799_862_889_1),
            (10.0, 10, 0.722_467_200_137_110_9, 1.0),
            (500.0, 1000, 0.469_069_600_368_104_2, 0.530_930_399_631_895_8),
        ] {
            let found = wilson(right / n as f64, n).unwrap();
            assert!((found.0 - low).abs() < 1e-9 && (found.1 - high).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(wilson(0.5, 0), None);
    }

    #[test]
    fn the_wider_interval_is_taken() {
        let few = Interval::of(&[0.7895, 0.7895], 38).unwrap();
        assert_eq!((few.over, few.n), (Spread::Nodes, 38));
        let many = Interval::of(&[0.5, 0.7, 0.9], 10_000).unwrap();
        assert_eq!((many.over, many.n), (Spread::Runs, 3));
        assert_eq!(Interval::of(&[0.5], 0), None);
    }
}
