//! Training curves.

use super::draw::chart::{Axis, Chart, Mark, MarkKind, Panel, Series, thin};
use super::draw::check::{Check, drawable};
use super::draw::number;
use super::draw::plan::{Plan, Plot};
use super::draw::scale::Domain;
use crate::PlotError;
use serde::{Deserialize, Serialize};

/// Loss and accuracy per epoch. A list may be empty; a value that is not finite leaves a gap, so
/// that a run that diverged still has its picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingFigure {
    /// The title.
    pub title: String,
    /// Training loss, one value an epoch.
    pub train_loss: Vec<f64>,
    /// Validation loss.
    pub val_loss: Vec<f64>,
    /// Training accuracy, a share of 1.
    pub train_accuracy: Vec<f64>,
    /// Validation accuracy, a share of 1.
    pub val_accuracy: Vec<f64>,
    /// The epoch that was kept; the first value of each list is epoch 1.
    pub best_epoch: Option<usize>,
}

impl TrainingFigure {
    fn panel(&self, label: &str, lists: [&[f64]; 2], epochs: usize) -> Option<Panel> {
        let curves = ["training", "validation"].into_iter().zip(lists).enumerate();
        let series: Vec<Series> = curves
            .filter(|(_, (_, values))| !values.is_empty())
            .map(|(place, (name, values))| {
                let points = (1u32..).zip(values).map(|(epoch, &value)| [f64::from(epoch), value]);
                let mut series = Series::line(name, thin(points.collect()), place);
                if place == 1 {
                    series.stroke.dash = super::draw::palette::DASHED;
                }
                series
            })
            .collect();
        if series.is_empty() {
            return None;
        }
        let values = lists.into_iter().flatten().copied().filter(|&value| drawable(value));
        let y = Domain::of(values).airy();
        let best = self.best_epoch.map(|epoch| Mark {
            at: [epoch as f64, y.low],
            label: format!("best: {epoch}"),
            kind: MarkKind::Line,
        });
        Some(Panel {
            x: Axis::new("epoch", Domain::of([1.0, epochs as f64])),
            y: Axis::new(label, y),
            series,
            marks: best.into_iter().collect(),
            along_y: false,
        })
    }
}

impl Plot for TrainingFigure {
    fn plan(&self) -> Result<Plan, PlotError> {
        let check = Check("training figure");
        let lists = [&self.train_loss, &self.val_loss, &self.train_accuracy, &self.val_accuracy];
        let epochs = lists.iter().map(|list| list.len()).max().unwrap_or(0);
        check.some("every list", &vec![(); epochs])?;
        let names = ["train_loss", "val_loss", "train_accuracy", "val_accuracy"];
        for (name, list) in names.into_iter().zip(lists) {
            if !list.is_empty() {
                check.length(name, list.len(), epochs)?;
            }
        }
        if let Some(best) = self.best_epoch {
            let place = best.checked_sub(1).unwrap_or(epochs);
            check.below("best_epoch", 0, place, epochs)?;
        }
        let loss = self.panel("loss", [&self.train_loss, &self.val_loss], epochs);
        let accuracy = self.panel("accuracy", [&self.train_accuracy, &self.val_accuracy], epochs);
        let gaps = lists.into_iter().flatten().filter(|&&value| !drawable(value)).count();
        let last = |list: &[f64]| list.last().map(|&value| number::short(value, 3));
        let mut description = format!("Training over {} epochs", number::count(epochs));
        if let Some(best) = self.best_epoch {
            description += &format!("; the best is epoch {best}");
        }
        if let Some(loss) = last(&self.val_loss) {
            description += &format!("; the last validation loss is {loss}");
        }
        if let Some(accuracy) = last(&self.val_accuracy) {
            description += &format!("; the last validation accuracy is {accuracy}");
        }
        description += ".";
        if gaps > 0 {
            description += &format!(" {gaps} values are not finite and left out.");
        }
        let panels: Vec<Panel> = [loss, accuracy].into_iter().flatten().collect();
        let shares = vec![1.0 / panels.len() as f64; panels.len()];
        let chart =
            Chart { panels, shares, stack: true, common: None, frames: Vec::new(), start: 0 };
        Ok(Plan::chart(&self.title, description, chart))
    }
}
