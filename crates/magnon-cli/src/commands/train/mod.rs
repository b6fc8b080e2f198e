//! `magnon train`: fit a model, and leave a run folder.

mod describe;

use crate::args::{Common, ConfigArgs, DataArgs, RunsArgs};
use crate::command_line;
use crate::data::locate;
use crate::interrupt::resumable;
use crate::outputs;
use crate::progress::Watcher;
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::Error;
use magnon::run::{FileError, RunFolder};
use magnon::train::RunConfig;
use magnon::workflow::{TrainOptions, generator};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub data: DataArgs,
    #[command(flatten)]
    pub config: ConfigArgs,
    #[command(flatten)]
    pub runs: RunsArgs,
    /// Take the filtered features from this .npy file of `magnon propagate`, read row by row and not loaded
    #[arg(long, value_name = "F.npy", help_heading = "Training")]
    pub filtered: Option<PathBuf>,
    /// Write model, history and metrics to this folder
    #[arg(
        short,
        long = "output",
        visible_alias = "out",
        value_name = "RUN",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,
    /// Replace the run that the folder holds
    #[arg(long, requires = "out", help_heading = "Output")]
    pub overwrite: bool,
    /// Go on with the interrupted run that the folder holds
    #[arg(long, requires = "out", conflicts_with_all = ["overwrite", "preset"], help_heading = "Output")]
    pub resume: bool,
    /// Leave out report.html, whose spectra and map take a while on large graphs
    #[arg(long, help_heading = "Output")]
    pub no_report: bool,
    /// Epochs between two checkpoints in the folder
    #[arg(long, value_name = "N", default_value_t = 500, help_heading = "Output")]
    pub checkpoint_every: usize,
}

impl TrainArgs {
    /// The configuration: a preset, an earlier run or the model's defaults, with the flags on top.
    pub fn config(&self, common: &Common) -> anyhow::Result<RunConfig> {
        let stored = self.stored()?;
        let mut config = match &stored {
            Some(stored) => stored.clone(),
            None => self.config.config()?,
        };
        if let (None, Some(name)) = (&self.data.data, &self.config.preset)
            && !Path::new(name).is_file()
        {
            return Err(usage(format!(
                "the preset {name} has hyper-parameters only; name the data too, as in: \
                 magnon train DATA --preset {name}"
            )));
        }
        if stored.is_some() {
            self.config.model.choose(&mut config)?;
        }
        self.data.apply(&mut config.data)?;
        config.data.filtered = self.filtered.clone().or(config.data.filtered.take());
        self.config.apply(&mut config)?;
        self.runs.apply(&mut config.runs)?;
        // On the built-in graph the controls are what there is to see.
        config.runs.controls |= stored.is_none() && config.data.source == "demo";
        config.train.seed = common.seed.unwrap_or(config.train.seed);
        if config.data.source.is_empty() {
            return Err(usage("DATA is empty; name a folder, a file or a generator"));
        }
        if self.checkpoint_every == 0 {
            return Err(usage("--checkpoint-every must be at least 1"));
        }
        config.check().map_err(usage)?;
        Ok(config)
    }

    /// The configuration of the run that is resumed.
    fn stored(&self) -> anyhow::Result<Option<RunConfig>> {
        let resumed = self.out.as_ref().filter(|_| self.resume);
        Ok(resumed.map(|out| RunFolder::begun_config(out)).transpose()?)
    }

    /// The configuration as a run folder keeps it, once the data are in their place: with whole paths.
    pub fn settled(&self, mut config: RunConfig) -> anyhow::Result<RunConfig> {
        absolute(&mut config)?;
        self.check_resumed(&config)?;
        Ok(config)
    }

    /// Refuses a configuration other than that of the run that is resumed.
    pub fn check_resumed(&self, config: &RunConfig) -> anyhow::Result<()> {
        match self.stored()? {
            Some(stored) if stored != *config => Err(usage(
                "--resume goes on with the configuration that the run was begun with; leave out the \
                 flags that change it, or begin a new run",
            )),
            _ => Ok(()),
        }
    }
}

/// Makes paths independent of the folder that the command was called in.
fn absolute(config: &mut RunConfig) -> anyhow::Result<()> {
    let data = &mut config.data;
    if generator(&data.source).is_none() {
        let source = std::path::absolute(&data.source)?;
        data.source = source.to_string_lossy().into_owned();
    }
    let files = [&mut data.features, &mut data.labels, &mut data.filtered];
    for path in files.into_iter().flatten() {
        *path = std::path::absolute(&path)?;
    }
    Ok(())
}

pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<()> {
    outputs::check_folder("--output", args.out.as_deref())?;
    let mut config = args.config(common)?;
    locate(&args.data, &mut config.data, common)?;
    let config = args.settled(config)?;
    let options = TrainOptions {
        out: args.out.clone(),
        overwrite: args.overwrite,
        resume: args.resume,
        every: args.checkpoint_every,
        page: (!args.no_report).then(command_line),
    };
    train(&config, &options, common)
}

/// Trains as the configuration says, writes the run folder and reports.
pub fn train(config: &RunConfig, options: &TrainOptions, common: &Common) -> anyhow::Result<()> {
    let out = options.out.clone();
    let words = move || match &out {
        Some(out) if RunFolder::begun_config(out).is_ok() => {
            format!("stopped; go on with: magnon train --resume -o {}", out.display())
        }
        Some(out) if RunFolder::open(out).is_ok() => {
            format!("stopped; the run in {} is whole", out.display())
        }
        Some(_) => "stopped; nothing was trained yet".to_owned(),
        None => "stopped; nothing was kept, as no -o RUN was given".to_owned(),
    };
    let outcome = resumable(words, |stop| {
        let keeps = options.out.is_some();
        let watcher = Watcher::new(common, stop, config.train.patience, keeps);
        magnon::workflow::train(config, options, &watcher)
    });
    let trained = match outcome {
        Err(Error::File(error @ FileError::Occupied { .. })) => {
            anyhow::bail!("{error}, or replace the run with --overwrite, or go on with --resume")
        }
        outcome => outcome?,
    };
    let clock = Clock::from(&trained.report.seconds);
    let mut report = Report::default();
    report.put(&trained.report)?;
    describe::describe(config, &trained, &mut report);
    report.print(common, clock)?;
    if options.out.is_none() && !common.quiet {
        remark!("note: nothing was kept; -o RUN writes model, figures and page to a folder");
    }
    Ok(())
}
