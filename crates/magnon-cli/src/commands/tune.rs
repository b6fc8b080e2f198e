//! `magnon tune`: better settings of a model, found on validation nodes.

use crate::args::Common;
use crate::data::{locate, read_training_data};
use crate::jobs::{self, Kept, run_jobs};
use crate::outputs::{self, CSV, JSON, PICTURE, output};
use anyhow::bail;
use clap::Args;
use magnon::data::write::{write_atomic, write_csv};
use magnon::settings::TuneSettings;
use magnon::workflow::tune::{TuneRecord, Tuning, tune};
use magnon::workflow::{Journal, choose_splits, figures};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Args)]
pub struct TuneArgs {
    #[command(flatten)]
    pub settings: TuneSettings,
    /// Write the best configuration to this .json file, which `train --preset` takes
    #[arg(short, long, value_name = "F.json", value_parser = output(), help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write the table of trials to this .csv file
    #[arg(long, value_name = "F.csv", value_parser = output(), help_heading = "Output")]
    pub csv: Option<PathBuf>,
    /// Draw what mattered into this .svg, .png or .html file
    #[arg(long, value_name = "F.svg", value_parser = output(), help_heading = "Output")]
    pub plot: Option<PathBuf>,
}

pub fn run(args: &TuneArgs, common: &Common) -> anyhow::Result<()> {
    let start = Instant::now();
    outputs::check(
        common,
        &[
            ("--output", args.output.as_deref(), JSON),
            ("--csv", args.csv.as_deref(), CSV),
            ("--plot", args.plot.as_deref(), PICTURE),
        ],
    )?;
    let (settings, seed) = (&args.settings, common.seed());
    let (mut base, config) = (settings.base(seed)?, settings.config(seed)?);
    locate(&settings.data, &mut base.data, common)?;
    let dataset = read_training_data(&base.data, seed, common)?;
    let splits = choose_splits(&dataset, &base.data, settings.splits, seed)?;
    let load_seconds = start.elapsed().as_secs_f64();
    let name = Journal::<TuneRecord>::file_name(&dataset);
    let mut kept = Kept::open(None, &name, common, |place| Journal::open(place, &dataset))?;
    kept.remark_known(Journal::<TuneRecord>::len, "trainings", common);
    let words = kept.words("what was trained is kept, and the same command goes on from it");
    let mut tuning = run_jobs(common, words, |progress| {
        tune(&dataset, &base, &splits, &config, kept.journal.as_mut(), progress)
    })?;
    if tuning.trials.iter().all(|trial| trial.error.is_some()) {
        let first = tuning.trials.iter().find_map(|trial| trial.error.as_deref());
        bail!("no trial could be trained: {}", first.unwrap_or_default());
    }
    tuning.seconds = tuning.seconds.after("load", load_seconds);
    write(args, &tuning)?;
    kept.close(common);
    let json = serde_json::to_string(&tuning)?;
    jobs::print(common, &json, || describe(args, &tuning))
}

fn write(args: &TuneArgs, tuning: &Tuning) -> anyhow::Result<()> {
    if let Some(path) = &args.output {
        // The data are named when it is used, and the seed and number of runs too.
        let mut config = serde_json::to_value(&tuning.config)?;
        if let Some(object) = config.as_object_mut() {
            object.shift_remove("data");
            object.shift_remove("runs");
        }
        let text = serde_json::to_string_pretty(&config)?;
        write_atomic(path, |out| writeln!(out, "{text}"))?;
    }
    if let Some(path) = &args.csv {
        let columns = tuning.csv_columns();
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        write_csv(path, &columns, tuning.csv_rows())?;
    }
    if let Some(path) = &args.plot {
        figures::save(&figures::importance(tuning), path)?;
    }
    Ok(())
}

/// Best settings and what mattered, for people.
fn describe(args: &TuneArgs, tuning: &Tuning) -> String {
    let seconds = tuning.seconds.total();
    let percent =
        |share: Option<f64>| share.map_or("–".to_owned(), |x| format!("{:.2} %", 100.0 * x));
    let (first, best) = (&tuning.trials[0], &tuning.trials[tuning.best]);
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let settings: Vec<String> =
        best.settings.iter().map(|(name, value)| format!("{name} = {}", text(value))).collect();
    let finished = tuning.trials.iter().filter(|trial| trial.finished).count();
    let mattered: Vec<String> = tuning
        .importance
        .iter()
        .filter(|of| of.share >= 0.01)
        .map(|of| format!("{} {:.0} %", of.setting, 100.0 * of.share))
        .collect();
    let loss = |loss: Option<f64>| loss.map_or("–".to_owned(), |loss| format!("{loss:.4}"));
    let mut lines = vec![
        format!("data      {}", tuning.dataset),
        format!("model     {}", tuning.model),
        format!(
            "trials    {}, of which {finished} were trained to the end, {seconds:.0} s",
            tuning.trials.len()
        ),
        format!(
            "as given  validation accuracy {}, loss {}",
            percent(first.val_accuracy),
            loss(first.val_loss)
        ),
        format!(
            "best      validation accuracy {}, loss {}",
            percent(best.val_accuracy),
            loss(best.val_loss)
        ),
        format!("          {}", settings.join(", ")),
        match mattered.is_empty() {
            true => "mattered  no setting by itself".to_owned(),
            false => format!("mattered  {}", mattered.join(", ")),
        },
    ];
    lines.push(match &args.output {
        Some(path) => use_it(path, tuning),
        None => "          keep the configuration with -o F.json".to_owned(),
    });
    lines.join("\n")
}

fn use_it(path: &Path, tuning: &Tuning) -> String {
    format!(
        "written   {}; use it: magnon train {} --preset {}",
        path.display(),
        tuning.dataset,
        path.display()
    )
}
