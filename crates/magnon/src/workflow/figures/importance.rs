//! What mattered in a search.

use crate::workflow::tune::{Importance, Tuning};
use magnon_report::SharesFigure;
use serde_json::Value;

/// How much each setting mattered.
pub fn importance(tuning: &Tuning) -> SharesFigure {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let note = |of: &Importance| {
        let means = of.values.iter();
        let means = means.map(|v| format!("{}: {:.1} %", text(&v.value), 100.0 * v.val_accuracy));
        format!("mean validation accuracy by value: {}", means.collect::<Vec<_>>().join(", "))
    };
    SharesFigure {
        title: format!("What mattered for {} on {}", tuning.model, tuning.dataset),
        label: "share of the variance of validation accuracies between trials".to_owned(),
        names: tuning.importance.iter().map(|of| of.setting.clone()).collect(),
        shares: tuning.importance.iter().map(|of| of.share).collect(),
        notes: tuning.importance.iter().map(note).collect(),
    }
}
