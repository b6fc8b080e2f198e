//! The course of training.

use crate::train::EpochRecord;
use magnon_report::TrainingFigure;

/// Loss and accuracy by epoch.
pub(in crate::workflow) fn training(
    title: String,
    history: &[EpochRecord],
    best: usize,
) -> TrainingFigure {
    let column = |of: fn(&EpochRecord) -> f64| history.iter().map(of).collect();
    TrainingFigure {
        title,
        train_loss: column(|record| record.train_loss),
        val_loss: column(|record| record.val_loss),
        train_accuracy: column(|record| record.train_accuracy),
        val_accuracy: column(|record| record.val_accuracy),
        best_epoch: Some(best),
    }
}
