//! The model beside its controls, the classes' scores, and where the report came from.

use super::evidence::dash;
use crate::ClassScore;
use crate::figure::draw::escape::Escaped;
use crate::figure::draw::number::{self, fixed, per_cent};
use crate::figure::draw::pen::Px;
use crate::figure::draw::scale::Domain;
use crate::figure::draw::table::Table;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// A model's accuracy, to set beside others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Control {
    /// The model, as `MGC`, `MLP` or `MGC, q = 0`.
    pub name: String,
    /// Accuracy, a share of 1; the mean where there are several runs.
    pub accuracy: f64,
    /// Half the width of its confidence interval.
    pub half_width: Option<f64>,
    /// How many runs it is the mean of.
    pub runs: usize,
    /// What the control tells.
    pub note: String,
    /// The model that the report is about.
    pub main: bool,
}

/// A table with the intervals drawn on one scale.
pub(super) fn controls(controls: &[Control], note: &str) -> String {
    if controls.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Accuracy beside controls\">\
         <table class=\"controls\"><caption>Test accuracy</caption><thead><tr><th scope=\"col\">model</th>\
         <th scope=\"col\">accuracy</th>",
    );
    let scale = scale(controls);
    let _ = write!(
        out,
        "<th scope=\"col\">{} to {}\u{a0}%</th><th scope=\"col\">runs</th><th scope=\"col\">what it tells</th>\
         </tr></thead><tbody>",
        fixed(100.0 * scale.low, 0),
        fixed(100.0 * scale.high, 0)
    );
    for control in controls {
        let class = if control.main { " class=\"main\"" } else { "" };
        let value = match control.half_width {
            Some(half) => {
                format!(
                    "{}\u{a0}±\u{a0}{}\u{a0}%",
                    fixed(100.0 * control.accuracy, 1),
                    fixed(100.0 * half, 1)
                )
            }
            None => per_cent(control.accuracy),
        };
        let _ = write!(
            out,
            "<tr{class}><th scope=\"row\"><bdi>{}</bdi></th><td>{value}</td><td>{}</td><td>{}</td>\
             <td><bdi>{}</bdi></td></tr>",
            Escaped(&control.name),
            whisker(control, scale),
            if control.runs == 0 { dash() } else { control.runs.to_string() },
            Escaped(&control.note)
        );
    }
    out.push_str("</tbody></table></div>\n");
    if !note.is_empty() {
        let sign = if controls.iter().any(|one| one.half_width.is_some()) { "±: " } else { "" };
        let _ = writeln!(out, "<p class=\"note\"><bdi>{sign}{}</bdi></p>", Escaped(note));
    }
    out
}

/// Whole tens of per cent around all intervals.
fn scale(controls: &[Control]) -> Domain {
    let ends = controls.iter().flat_map(|control| {
        let half = control.half_width.unwrap_or(0.0);
        [control.accuracy - half, control.accuracy + half]
    });
    let all = Domain::of(ends.filter(|end| end.is_finite()));
    let low = (10.0 * all.low).floor().clamp(0.0, 9.0) / 10.0;
    let high = (10.0 * all.high).ceil().clamp(0.0, 10.0) / 10.0;
    Domain { low, high: high.max(low + 0.1) }
}

/// A dot and its interval on the scale; the number beside it says the same.
fn whisker(control: &Control, scale: Domain) -> String {
    if !control.accuracy.is_finite() {
        return String::new();
    }
    let place = |share: f64| Px(scale.place(share.clamp(scale.low, scale.high), [4.0, 156.0]));
    let half = control.half_width.filter(|half| half.is_finite()).unwrap_or(0.0);
    let (low, high) = (place(control.accuracy - half), place(control.accuracy + half));
    let slot = if control.main { 0 } else { 6 };
    format!(
        "<svg class=\"whisker\" viewBox=\"0 0 160 16\" aria-hidden=\"true\"><path class=\"grid\" d=\"M4 8H156\"/>\
         <path class=\"line s{slot}\" d=\"M{low} 8H{high}\" stroke-width=\"2\"/>\
         <circle class=\"fill s{slot}\" cx=\"{}\" cy=\"8\" r=\"4\"/></svg>",
        place(control.accuracy)
    )
}

/// Precision, recall and F1 of every class.
pub(super) fn scores(scores: &[ClassScore]) -> String {
    let share = |value: Option<f64>| value.map_or_else(dash, |value| fixed(value, 3));
    let row = |score: &ClassScore| {
        let support = number::count(score.support as usize);
        vec![
            score.name.clone(),
            share(score.precision),
            share(score.recall),
            share(score.f1),
            support,
        ]
    };
    let table = Table {
        caption: "Scores by class".into(),
        head: ["class", "precision", "recall", "F1", "support"].map(str::to_owned).into(),
        rows: scores.iter().map(row).collect(),
    };
    format!("<div class=\"block\">{}</div>\n", table.html())
}

/// The command and the configuration.
pub(super) fn origin(command: &str, configuration: &Option<serde_json::Value>) -> String {
    let mut out = String::new();
    if !command.is_empty() {
        let _ = write!(
            out,
            "<h3>Command</h3>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"Command\"><code>{}</code></pre>\n",
            Escaped(command)
        );
    }
    if let Some(value) = configuration {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        let _ = write!(
            out,
            "<h3>Configuration</h3>\n<pre tabindex=\"0\" role=\"region\" aria-label=\"Configuration\"><code>{}</code></pre>\n",
            Escaped(&text)
        );
    }
    out
}
