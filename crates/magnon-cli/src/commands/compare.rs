//! `magnon compare`: which model, and does direction help?

use crate::args::{Common, DataArgs, finite, size};
use crate::data::{locate, read_training_data};
use crate::jobs::{self, Kept, run_jobs};
use crate::outputs::{self, CSV, HTML, MARKDOWN, output};
use crate::report::usage;
use anyhow::bail;
use clap::Args;
use magnon::compute::Device;
use magnon::data::write::{file_in, write_atomic, write_csv};
use magnon::model::{MODELS, ModelConfig};
use magnon::train::{DataConfig, RunConfig};
use magnon::workflow::compare::{
    CSV_COLUMNS, CompareConfig, CompareRecord, Comparison, Contestant, ModelRow, TuneBudget,
    compare,
};
use magnon::workflow::{Journal, pages, preset};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Trials on a split where the time decides.
const MOST_TRIALS: usize = 10_000;
/// What is compared where nothing is named.
const MODELS_BY_DEFAULT: &str = "mgc,gcn,sgc,appnp,magnet,dirgnn,fsgnn,linkx";

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub data: DataArgs,
    /// Models by name, or configurations in files such as the config.json of a run
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', default_value = MODELS_BY_DEFAULT, help_heading = "Comparison")]
    pub models: Vec<String>,
    /// Splits that each model is trained on: those of the data where there are enough, or drawn ones
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "Comparison")]
    pub splits: usize,
    /// Seeds on each split
    #[arg(long, value_name = "M", default_value_t = 1, help_heading = "Comparison")]
    pub runs: usize,
    /// Graphs with the directions of one-way edges drawn by coin, as a control
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Comparison")]
    pub draws: usize,
    /// Search the settings of each model first, for so many minutes each, on the validation nodes of each split
    #[arg(long, value_parser = finite, value_name = "MINUTES", help_heading = "Comparison")]
    pub tune: Option<f64>,
    /// Search with so many trials on each split, which gives the same on every machine
    #[arg(long, value_name = "N", conflicts_with = "tune", help_heading = "Comparison")]
    pub tune_trials: Option<usize>,
    /// Memory that the process may hold, such as 8G; a model that needs more is a row that says so
    #[arg(long, value_name = "BYTES", value_parser = size, help_heading = "Comparison")]
    pub memory: Option<u64>,
    /// Where the models are trained: cpu, cuda, cuda:1 or auto [default: cpu]
    #[arg(long, value_name = "D", help_heading = "Comparison")]
    pub device: Option<Device>,
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

impl CompareArgs {
    pub fn config(&self, common: &Common) -> anyhow::Result<CompareConfig> {
        let (splits, runs, draws, memory) = (self.splits, self.runs, self.draws, self.memory);
        let models = self.models.iter().map(|name| contestant(name));
        let mut models: Vec<Contestant> = models.collect::<Result<_, _>>()?;
        if let Some(device) = self.device {
            models.iter_mut().for_each(|model| model.config.train.device = device);
        }
        let seed = common.seed();
        let tune = match (self.tune, self.tune_trials) {
            (None, None) => None,
            (minutes, trials) => {
                Some(TuneBudget { trials: trials.unwrap_or(MOST_TRIALS), minutes })
            }
        };
        let config = CompareConfig { models, splits, runs, draws, tune, memory, seed };
        config.check()?;
        Ok(config)
    }
}

/// A model by its name, or a configuration by its file.
fn contestant(name: &str) -> anyhow::Result<Contestant> {
    if MODELS.iter().any(|info| info.name == name) {
        let config = RunConfig::of(ModelConfig::named(name).map_err(usage)?);
        return Ok(Contestant { name: name.to_owned(), config });
    }
    let path = Path::new(name);
    if !path.is_file() {
        let error = ModelConfig::named(name).err().map(|error| error.to_string());
        return Err(usage(error.unwrap_or_default()));
    }
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok(Contestant { name: stem.unwrap_or_else(|| name.to_owned()), config: preset(name)? })
}

pub fn run(args: &CompareArgs, common: &Common) -> anyhow::Result<()> {
    let start = Instant::now();
    let config = args.config(common)?;
    outputs::check(
        common,
        &[
            ("--csv", args.csv.as_deref(), CSV),
            ("--markdown", args.markdown.as_deref(), MARKDOWN),
            ("--html", args.html.as_deref(), HTML),
        ],
    )?;
    outputs::check_folder("--output", args.output.as_deref())?;
    let mut data = DataConfig::default();
    args.data.apply(&mut data)?;
    locate(&args.data, &mut data, common)?;
    let dataset = read_training_data(&data, common.seed(), common)?;
    let load_seconds = start.elapsed().as_secs_f64();
    let name = Journal::<CompareRecord>::file_name(&dataset);
    let open = |place: &Path| Journal::open(place, &dataset);
    let mut kept = Kept::open(args.output.as_deref(), &name, common, open)?;
    kept.remark_known(Journal::<CompareRecord>::runs, "runs", common);
    let words =
        kept.words("the runs that were done are kept, and the same command goes on from them");
    let mut comparison = run_jobs(common, words, |progress| {
        compare(&dataset, args.data.flags.split, &config, kept.journal.as_mut(), progress)
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
