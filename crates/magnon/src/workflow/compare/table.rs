//! Views of a comparison as rows of text.

use super::result::{Comparison, ModelRow};
use super::verdict::p_text;
use crate::train::Summary;
use crate::workflow::signed;

/// The heads of [`Comparison::csv_rows`].
pub const CSV_COLUMNS: [&str; 17] = [
    "row",
    "model",
    "control",
    "test_accuracy",
    "std",
    "ci95",
    "n",
    "val_accuracy",
    "difference",
    "difference_ci95",
    "p",
    "p_holm",
    "train_seconds",
    "filter_seconds",
    "parameters",
    "training_bytes",
    "error",
];

impl Comparison {
    /// Models and controls as rows of a csv file with the columns [`CSV_COLUMNS`].
    pub fn csv_rows(&self) -> Vec<[String; CSV_COLUMNS.len()]> {
        let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let count = |value: Option<usize>| value.map_or(String::new(), |value| value.to_string());
        let summary = |of: Option<Summary>| {
            let ci95 = number(of.and_then(|of| of.ci95));
            let n = count(of.map(|of| of.n));
            [number(of.map(|of| of.mean)), number(of.map(|of| of.std)), ci95, n]
        };
        let models = self.models.iter().map(|row| {
            let [mean, std, ci95, n] = summary(row.test_accuracy);
            let of = row.difference;
            [
                "model".to_owned(),
                row.model.clone(),
                String::new(),
                mean,
                std,
                ci95,
                n,
                number(row.val_accuracy),
                number(of.map(|of| of.mean)),
                number(of.and_then(|of| of.ci95)),
                number(of.map(|of| of.p)),
                number(of.map(|of| of.p_holm)),
                number(Some(row.train_seconds)),
                number(Some(row.filter_seconds)),
                count(row.parameters),
                count(row.training_bytes),
                row.error.clone().unwrap_or_default(),
            ]
        });
        let controls = self.controls.iter().map(|row| {
            let [mean, std, ci95, n] = summary(row.test_accuracy);
            let mut cells: [String; CSV_COLUMNS.len()] = Default::default();
            let model = row.model.clone().unwrap_or_default();
            cells[..7].clone_from_slice(&[
                "control".to_owned(),
                model,
                row.control.to_owned(),
                mean,
                std,
                ci95,
                n,
            ]);
            cells[CSV_COLUMNS.len() - 1] = row.error.clone().unwrap_or_default();
            cells
        });
        models.chain(controls).collect()
    }

    /// Heads and rows of the table that people read.
    pub fn table(&self) -> Vec<[String; 7]> {
        let heads = [
            "model",
            "test accuracy",
            "difference",
            "p (Holm)",
            "training",
            "filtering",
            "parameters",
        ];
        let mut rows = vec![heads.map(str::to_owned)];
        rows.extend(self.models.iter().map(|row| self.model_cells(row)));
        rows.extend(self.controls.iter().map(|row| {
            let accuracy = accuracy(row.test_accuracy, row.error.as_deref());
            let mut cells: [String; 7] = Default::default();
            (cells[0], cells[1]) = (row.text.clone(), accuracy);
            cells
        }));
        rows
    }

    fn model_cells(&self, row: &ModelRow) -> [String; 7] {
        let own = self.reference.as_deref() == Some(row.model.as_str());
        let (difference, p) = match row.difference {
            Some(of) => {
                let half = of.ci95.map_or(String::new(), |half| format!(" ± {:.2}", 100.0 * half));
                (format!("{}{half}", signed(100.0 * of.mean, 2)), p_text(of.p_holm))
            }
            None if own => ("reference".to_owned(), String::new()),
            None => Default::default(),
        };
        let charges = match &row.charges[..] {
            _ if !row.directed => String::new(),
            [only] => format!(", q = {}", only.charge),
            [first, second, ..] => {
                let more = if row.charges.len() > 2 { ", …" } else { "" };
                format!(
                    ", q = {} ({}×), {} ({}×){more}",
                    first.charge, first.runs, second.charge, second.runs
                )
            }
            [] => String::new(),
        };
        [
            format!("{}{charges}", row.model),
            accuracy(row.test_accuracy, row.error.as_deref()),
            difference,
            p,
            format!("{:.2} s", row.train_seconds),
            format!("{:.2} s", row.filter_seconds),
            row.parameters.map_or(String::new(), |count| count.to_string()),
        ]
    }

    /// The table and the verdict in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{}\n\n{} nodes, {} edges; {}, {} seed(s) on each. Intervals: {}.\n\n",
            self.dataset,
            self.verdict.text,
            self.nodes,
            self.edges,
            self.splits.text,
            self.runs,
            self.intervals
        );
        for (k, row) in self.table().iter().enumerate() {
            let cells = row.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>();
            text += &format!("| {} |\n", cells.join(" | "));
            if k == 0 {
                text += &format!("|{}\n", "---|".repeat(row.len()));
            }
        }
        text
    }
}

fn accuracy(of: Option<Summary>, error: Option<&str>) -> String {
    match (of, error) {
        (Some(Summary { mean, ci95: Some(half), .. }), _) => {
            format!("{:.2} ± {:.2} %", 100.0 * mean, 100.0 * half)
        }
        (Some(Summary { mean, .. }), _) => format!("{:.2} %", 100.0 * mean),
        (None, Some(error)) => format!("failed: {error}"),
        (None, None) => "–".to_owned(),
    }
}
