//! What a run says, in one paragraph.

use super::report::{ControlRow, TrainReport};
use crate::train::{Difference, Interval, Spread};
use crate::workflow::grouped;

/// Differences with a smaller p-value count as shown.
const LEVEL: f64 = 0.05;

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// The interval in words: `63.7 to 88.9 %, by its 38 test nodes`.
pub(super) fn interval_words(interval: &Interval) -> String {
    let source = match interval.over {
        Spread::Nodes => format!("{} test nodes", grouped(interval.n)),
        Spread::Runs => format!("{} runs", grouped(interval.n)),
    };
    format!(
        "{:.1} to {:.1} %, 95 % interval of {source}",
        100.0 * interval.low,
        100.0 * interval.high
    )
}

/// A difference in words: `8.9 ± 3.2 points`.
fn points(difference: &Difference) -> String {
    let mean = 100.0 * difference.mean.abs();
    match difference.ci95 {
        Some(half) => format!("{mean:.1} ± {:.1} points", 100.0 * half),
        None => format!("{mean:.1} points"),
    }
}

/// What a control says: that the model beats it, loses to it, or cannot be told from it.
fn against(control: &ControlRow, gain: &str, loss: &str, neither: &str) -> Option<String> {
    let difference = control.difference.as_ref()?;
    let words = match (difference.p < LEVEL, difference.mean > 0.0) {
        (true, true) => gain,
        (true, false) => loss,
        (false, _) => neither,
    };
    let sign = if difference.mean < 0.0 { "−" } else { "" };
    Some(format!("{words} ({sign}{})", points(difference)))
}

/// The verdict: how well it does, against chance, and whether graph and direction help.
pub(super) fn verdict(report: &TrainReport) -> String {
    let accuracy = report.test_accuracy().map_or(0.0, |summary| summary.mean);
    let mut text = format!("{} of the test nodes are classified rightly", percent(accuracy));
    if let Some(interval) = &report.test_interval {
        text.push_str(&format!(" ({})", interval_words(interval)));
    }
    let supports = report.parts.test.classes.iter().map(|class| class.support);
    let (total, most) = supports.fold((0, 0), |(sum, most), n| (sum + n, most.max(n)));
    if total > 0 {
        let share = most as f64 / total as f64;
        text.push_str(&format!("; the most frequent class alone has {}", percent(share)));
    }
    text.push('.');
    let direction = report.controls.get("undirected").and_then(|control| {
        against(control, "Direction helps", "Direction hurts", "That direction helps is not shown")
    });
    let graph = report.controls.get("mlp").and_then(|control| {
        against(control, "the graph helps", "the graph hurts", "that the graph helps is not shown")
    });
    match (direction, graph) {
        (Some(direction), Some(graph)) => text.push_str(&format!(" {direction}; {graph}.")),
        (Some(direction), None) => text.push_str(&format!(" {direction}.")),
        (None, Some(graph)) => {
            let mut letters = graph.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            text.push_str(&format!(" {first}{}.", letters.as_str()));
        }
        (None, None) => {
            text.push_str(" Whether graph and direction help was not tried; --controls does.")
        }
    }
    text
}
