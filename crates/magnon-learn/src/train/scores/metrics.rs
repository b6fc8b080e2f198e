//! How good a classification is.

use serde::{Deserialize, Serialize};

/// Scores of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassScore {
    /// Its name.
    pub class: String,
    /// Share of the nodes predicted as the class that are of it; `None` where there is none.
    pub precision: Option<f64>,
    /// Share of the nodes of the class that are predicted as it; `None` where there is none.
    pub recall: Option<f64>,
    /// Harmonic mean of the two; `None` where neither is above 0.
    pub f1: Option<f64>,
    /// Nodes of the class.
    pub support: usize,
}

/// A classification against the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Share of nodes classified correctly.
    pub accuracy: f64,
    /// Mean F1 of the classes that appear.
    pub macro_f1: f64,
    /// Nodes of class `i` that were predicted as class `j`.
    pub confusion: Vec<Vec<usize>>,
    /// By class.
    pub classes: Vec<ClassScore>,
}

/// Counts (true, predicted) pairs and scores them.
pub fn confusion(pairs: impl Iterator<Item = (u32, u32)>, names: &[String]) -> Metrics {
    let mut table = vec![vec![0usize; names.len()]; names.len()];
    for (truth, predicted) in pairs {
        table[truth as usize][predicted as usize] += 1;
    }
    let total: usize = table.iter().flatten().sum();
    let right: usize = (0..names.len()).map(|c| table[c][c]).sum();
    let share = |part: usize, of: usize| (of > 0).then(|| part as f64 / of as f64);
    let classes: Vec<ClassScore> = names
        .iter()
        .enumerate()
        .map(|(c, name)| {
            let support = table[c].iter().sum();
            let predicted = table.iter().map(|row| row[c]).sum();
            let (precision, recall) = (share(table[c][c], predicted), share(table[c][c], support));
            let f1 =
                share(2 * table[c][c], support + predicted).filter(|_| support + predicted > 0);
            ClassScore { class: name.clone(), precision, recall, f1, support }
        })
        .collect();
    let f1: Vec<f64> = classes.iter().filter_map(|class| class.f1).collect();
    let macro_f1 = f1.iter().sum::<f64>() / f1.len().max(1) as f64;
    let accuracy = share(right, total).unwrap_or(0.0);
    Metrics { accuracy, macro_f1, confusion: table, classes }
}

/// Place of the largest number; the first of equals.
pub fn argmax(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_by_hand() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let pairs = [(0, 0), (0, 0), (0, 1), (1, 1), (1, 0)];
        let metrics = confusion(pairs.into_iter(), &names);
        assert_eq!(metrics.accuracy, 0.6);
        assert_eq!(metrics.confusion, [[2, 1, 0], [1, 1, 0], [0, 0, 0]]);
        assert_eq!(metrics.classes[0].precision, Some(2.0 / 3.0));
        assert_eq!(metrics.classes[1].recall, Some(0.5));
        assert_eq!(metrics.classes[2].f1, None);
        assert!((metrics.macro_f1 - (2.0 / 3.0 + 0.5) / 2.0).abs() < 1e-12);
    }
}
