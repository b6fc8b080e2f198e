//! What mattered: how much of the differences between trials each setting tells.

use super::search::Tried;
use super::space::Dimension;
use serde::Serialize;

/// How much one setting mattered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Importance {
    /// The setting.
    pub setting: String,
    /// Share of the variance of the validation accuracies that the setting by itself tells: between the
    /// means of its values, less what as many groups at random would tell. 0 to 1.
    pub share: f64,
    /// Each value with the mean validation accuracy of its trials and their number.
    pub values: Vec<ValueMean>,
}

/// A value, and how the trials with it did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueMean {
    /// The value.
    pub value: serde_json::Value,
    /// Mean accuracy on validation nodes.
    pub val_accuracy: f64,
    /// Trials.
    pub trials: usize,
}

/// Main effects over the first records of all trials that were drawn, which had the same epochs: ω² of a
/// one-way analysis of variance, bounded below by 0.
pub(super) fn importance(space: &[Dimension], trials: &[Tried]) -> Vec<Importance> {
    let drawn: Vec<(&Tried, f64)> = trials
        .iter()
        .skip(1)
        .filter_map(|trial| Some((trial, trial.rungs.first()?.1.val_accuracy?)))
        .collect();
    let n = drawn.len() as f64;
    let mean = drawn.iter().map(|(_, accuracy)| accuracy).sum::<f64>() / n.max(1.0);
    let total: f64 = drawn.iter().map(|(_, accuracy)| (accuracy - mean).powi(2)).sum();
    let one = |(k, dimension): (usize, &Dimension)| {
        let values: Vec<ValueMean> = dimension
            .values
            .iter()
            .filter_map(|value| {
                let of: Vec<f64> = drawn
                    .iter()
                    .filter(|(trial, _)| trial.values[k] == *value)
                    .map(|(_, accuracy)| *accuracy)
                    .collect();
                let mean = of.iter().sum::<f64>() / of.len() as f64;
                let (value, trials) = (value.clone(), of.len());
                (trials > 0).then_some(ValueMean { value, val_accuracy: mean, trials })
            })
            .collect();
        let groups: Vec<(f64, usize)> =
            values.iter().map(|value| (value.val_accuracy, value.trials)).collect();
        let share = omega_squared(&groups, mean, total);
        Importance { setting: dimension.name.clone(), share, values }
    };
    let mut list: Vec<Importance> = space.iter().enumerate().map(one).collect();
    list.sort_by(|a, b| b.share.total_cmp(&a.share));
    list
}

/// ω² = (SS_between − (k − 1)·MS_within) / (SS_total + MS_within) of groups given by mean and size.
fn omega_squared(groups: &[(f64, usize)], mean: f64, total: f64) -> f64 {
    let between: f64 = groups.iter().map(|&(of, n)| n as f64 * (of - mean).powi(2)).sum();
    let n: usize = groups.iter().map(|&(_, n)| n).sum();
    let within = (total - between).max(0.0) / (n as f64 - groups.len() as f64).max(1.0);
    let share = (between - (groups.len() as f64 - 1.0) * within) / (total + within);
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::omega_squared;

    /// By hand: groups 1, 2, 3 | 2, 3, 4 | 5, 6, 7 have SS_between = 26, SS_within = 6, so
    /// ω² = (26 − 2·1)/(32 + 1).
    #[test]
    fn a_known_analysis_of_variance() {
        let share = omega_squared(&[(2.0, 3), (3.0, 3), (6.0, 3)], 11.0 / 3.0, 32.0);
        assert!((share - 24.0 / 33.0).abs() < 1e-12, "{share}");
        assert_eq!(omega_squared(&[(1.0, 3), (1.0, 3)], 1.0, 0.0), 0.0);
    }
}
