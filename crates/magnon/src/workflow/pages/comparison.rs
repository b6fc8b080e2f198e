//! The page of a comparison.

use super::fact;
use crate::train::Summary;
use crate::workflow::compare::Comparison;
use crate::workflow::{grouped, signed};
use magnon_report::{Control, Report};

/// The page of a comparison: its verdict, and the intervals of models and controls as a chart.
pub fn comparison(comparison: &Comparison) -> Report {
    let row = |name: &str, of: Option<Summary>, note: String, main: bool| {
        let Summary { mean, ci95, n, .. } = of?;
        Some(Control {
            name: name.to_owned(),
            accuracy: mean,
            half_width: ci95,
            runs: n,
            note,
            main,
        })
    };
    let points = |share: f64| signed(100.0 * share, 2);
    let models = comparison.models.iter().filter_map(|model| {
        let own = comparison.reference.as_deref() == Some(model.model.as_str());
        let note = match model.difference {
            Some(of) if of.p_holm < 0.001 => format!("{} points, p < 0.001", points(of.mean)),
            Some(of) => format!("{} points, p = {:.3}", points(of.mean), of.p_holm),
            None if own => "the best on validation nodes".to_owned(),
            None => String::new(),
        };
        row(&model.model, model.test_accuracy, note, own)
    });
    let controls = comparison.controls.iter().filter_map(|control| {
        row(&control.text, control.test_accuracy, "control".to_owned(), false)
    });
    let mut rows: Vec<Control> = models.chain(controls).collect();
    rows.sort_by(|a, b| b.accuracy.total_cmp(&a.accuracy));
    let failed = comparison.models.iter().filter_map(|model| {
        model.error.as_ref().map(|error| format!("{} failed: {error}", model.model))
    });
    Report {
        title: format!("Models on {}", comparison.dataset),
        subtitle: comparison.verdict.text.clone(),
        facts: vec![
            fact("Nodes", grouped(comparison.nodes)),
            fact("Edges", grouped(comparison.edges)),
            fact("Splits", comparison.splits.count.to_string()),
            fact("Seeds on each", comparison.runs.to_string()),
        ],
        remarks: failed.collect(),
        controls: rows,
        controls_note: comparison.intervals.clone(),
        made_by: format!("magnon {}", env!("CARGO_PKG_VERSION")),
        ..Default::default()
    }
}
