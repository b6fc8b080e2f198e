//! `magnon compare`: which model, and does direction help?

use crate::args::Common;
use crate::data::{locate, read_training_data};
use crate::jobs::{self, Kept, run_jobs};
use crate::outputs::{self, CSV, HTML, MARKDOWN, output};
use anyhow::bail;
use clap::Args;
use magnon::data::write::{file_in, write_atomic, write_csv};
use magnon::settings::CompareSettings;
use magnon::workflow::compare::{CSV_COLUMNS, CompareRecord, Comparison, ModelRow, compare};
use magnon::workflow::{Journal, pages};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub settings: CompareSettings,
    /// Keep the finished runs in this folder, with comparison.json, .csv, .md and .html
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write the table to this .csv file
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Write table and verdict to this .md file
    #[arg(long, value_name = "F.md", value_parser = output(), help_heading = "Output")]
    pub markdown: Option<PathBuf>,
    /// Write a page with the intervals as a chart to this .html file
    #[arg(long, value_name = "F.html", value_parser = output(), help_heading = "Output")]
    pub html: Option<PathBuf>,
}

pub fn run(args: &CompareArgs, common: &Common) -> anyhow::Result<()> {
    let start = Instant::now();
    let settings = &args.settings;
    let config = settings.config(common.seed())?;
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--markdown", args.markdown.as_deref(), MARKDOWN),
            ("--html", args.html.as_deref(), HTML),
        ],
    )?;
    outputs::check_folder("--output", args.output.as_deref())?;
    let mut data = settings.data.config()?;
    locate(&settings.data, &mut data, common)?;
    let dataset = read_training_data(&data, common.seed(), common)?;
    let load_seconds = start.elapsed().as_secs_f64();
    let name = Journal::<CompareRecord>::file_name(&dataset);
    let open = |place: &Path| Journal::open(place, &dataset);
    let mut kept = Kept::open(args.output.as_deref(), &name, common, open)?;
    kept.remark_known(Journal::<CompareRecord>::runs, "runs", common);
    let words =
        kept.words("the runs that were done are kept, and the same command goes on from them");
    let mut comparison = run_jobs(common, words, |progress| {
        compare(&dataset, settings.data.split, &config, kept.journal.as_mut(), progress)
    })?;
    if comparison.models.iter().all(|row| row.error.is_some()) {
        bail!("no model could be trained: {}", reasons(&comparison.models));
    }
    comparison.seconds = comparison.seconds.after("load", load_seconds);
    let json = serde_json::to_string(&comparison)?;
    write(args, &comparison, &json)?;
    kept.close(common);
    jobs::print(common, &json, || describe(&comparison))
}

/// Why models failed, each reason once.
fn reasons(models: &[ModelRow]) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in models {
        let Some(error) = row.error.as_deref() else { continue };
        match reasons.iter_mut().find(|(reason, _)| *reason == error) {
            Some((_, names)) => names.push(&row.model),
            None => reasons.push((error, vec![&row.model])),
        }
    }
    let words = reasons.iter().map(|(error, names)| format!("{}: {error}", names.join(", ")));
    words.collect::<Vec<_>>().join("; ")
}

/// Writes the files that were asked for.
fn write(args: &CompareArgs, comparison: &Comparison, json: &str) -> anyhow::Result<()> {
    let own = |name: &str| args.output.as_ref().map(|folder| file_in(folder, name)).transpose();
    let text = |path: &Path, text: &str| write_atomic(path, |out| out.write_all(text.as_bytes()));
    for path in [own("comparison.csv")?, args.csv.clone()].into_iter().flatten() {
        write_csv(&path, &CSV_COLUMNS, comparison.csv_rows())?;
    }
    for path in [own("comparison.md")?, args.markdown.clone()].into_iter().flatten() {
        text(&path, &comparison.markdown())?;
    }
    for path in [own("comparison.html")?, args.html.clone()].into_iter().flatten() {
        pages::save(&pages::comparison(comparison), &path)?;
    }
    if let Some(path) = own("comparison.json")? {
        text(&path, &format!("{json}\n"))?;
    }
    Ok(())
}

/// Verdict and table for people.
fn describe(comparison: &Comparison) -> String {
    let seconds = comparison.seconds.total();
    let table = comparison.table();
    let width = |column: usize| table.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..7).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).enumerate().map(|(k, (cell, &width))| match k {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let rows: Vec<String> = table.iter().map(line).collect();
    let runs = comparison.runs;
    let seeds = if runs == 1 { "one seed".to_owned() } else { format!("{runs} seeds") };
    format!(
        "{}\n\n{}\n\n{}, {seeds} on each, {seconds:.0} s in all. Intervals: {}.",
        comparison.verdict.text,
        rows.join("\n"),
        comparison.splits.text,
        comparison.intervals
    )
}
