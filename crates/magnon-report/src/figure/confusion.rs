//! Confusion matrices and the scores that follow from them.

use super::draw::check::Check;
use super::draw::grid::Grid;
use super::draw::number;
use super::draw::plan::{Art, Plan, Plot};
use super::draw::table::Table;
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// How often each true class was predicted as each class.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfusionFigure {
    /// The title.
    pub title: String,
    /// The classes' names.
    pub class_names: Vec<String>,
    /// Rows are true classes, columns predicted ones.
    pub counts: Vec<Vec<u64>>,
}

/// The scores of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassScore {
    /// The class.
    pub name: String,
    /// Of the nodes predicted as the class, the share that are; none where none were.
    pub precision: Option<f64>,
    /// Of the nodes of the class, the share predicted so; none where there are none.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
    /// How many nodes are of the class.
    pub support: u64,
}

impl ConfusionFigure {
    fn check(&self) -> Result<(), PlotError> {
        let check = Check("confusion figure");
        check.some("the list of classes", &self.class_names)?;
        let count = self.class_names.len();
        check.length("the matrix", self.counts.len(), count)?;
        for (row, name) in self.counts.iter().zip(&self.class_names) {
            check.length(&format!("the row of {name}"), row.len(), count)?;
        }
        Ok(())
    }

    /// Precision, recall and F1 of every class.
    pub fn scores(&self) -> Result<Vec<ClassScore>, PlotError> {
        self.check()?;
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| part / whole);
        let score = |(class, name): (usize, &String)| {
            let hits = self.counts[class][class];
            let support = total(self.counts[class].iter().copied());
            let predicted = total(self.counts.iter().map(|row| row[class])) as f64;
            let (hits, true_ones) = (hits as f64, support as f64);
            ClassScore {
                name: name.clone(),
                precision: share(hits, predicted),
                recall: share(hits, true_ones),
                f1: share(2.0 * hits, predicted + true_ones),
                support,
            }
        };
        Ok(self.class_names.iter().enumerate().map(score).collect())
    }
}

impl Plot for ConfusionFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        self.check()?;
        let nodes = total(self.counts.iter().flatten().copied());
        let hits = total(self.counts.iter().enumerate().map(|(class, row)| row[class]));
        let share = if nodes == 0 { 0.0 } else { hits as f64 / nodes as f64 };
        let description = format!(
            "Confusion matrix of {} classes: {} of {} nodes on the diagonal, {}.",
            self.class_names.len(),
            number::count(hits as usize),
            number::count(nodes as usize),
            number::per_cent(share)
        );
        let rows = self.class_names.iter().zip(&self.counts).map(|(name, counts)| {
            let counts = counts.iter().map(u64::to_string);
            std::iter::once(name.clone()).chain(counts).collect()
        });
        let head = std::iter::once("true \\ predicted".to_owned()).chain(self.class_names.clone());
        let table = Table { caption: "Nodes".into(), head: head.collect(), rows: rows.collect() };
        let grid = Grid {
            names: self.class_names.clone(),
            counts: self.counts.clone(),
            row_label: "true class",
            column_label: "predicted class",
        };
        Ok(Plan {
            title: self.title.clone(),
            description,
            art: Art::Grid(grid),
            tables: vec![table],
        })
    }
}

/// The sum, or the largest number where it is larger still.
fn total(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_follow_from_the_counts() {
        let figure = ConfusionFigure {
            title: String::new(),
            class_names: vec!["a".into(), "b".into(), "never".into()],
            counts: vec![vec![8, 2, 0], vec![1, 9, 0], vec![0, 0, 0]],
        };
        let scores = figure.scores().unwrap();
        assert_eq!(scores[0].precision, Some(8.0 / 9.0));
        assert_eq!(scores[0].recall, Some(0.8));
        assert_eq!(scores[1].f1, Some(18.0 / 21.0));
        assert_eq!((scores[2].precision, scores[2].recall, scores[2].f1), (None, None, None));
        assert_eq!(scores[1].support, 10);
    }
}
