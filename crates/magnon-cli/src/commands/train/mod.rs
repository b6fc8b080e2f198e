//! `magnon train`: fit a model, and leave a run folder.

mod describe;

use crate::args::Common;
use crate::command_line;
use crate::data::locate;
use crate::interrupt::resumable;
use crate::outputs;
use crate::progress::Watcher;
use crate::report::{Clock, Report};
use clap::Args;
use magnon::Error;
use magnon::run::{FileError, RunFolder};
use magnon::settings::TrainSettings;
use magnon::train::RunConfig;
use magnon::workflow::TrainOptions;

#[derive(Args)]
pub struct TrainArgs {
    #[command(flatten)]
    pub settings: TrainSettings,
}

pub fn run(args: &TrainArgs, common: &Common) -> anyhow::Result<()> {
    let settings = &args.settings;
    outputs::check_folder("--output", settings.output.as_deref())?;
    let mut config = settings.config(common.seed)?;
    locate(&settings.data, &mut config.data, common)?;
    train(&settings.settled(config)?, &settings.options(command_line), common)
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
