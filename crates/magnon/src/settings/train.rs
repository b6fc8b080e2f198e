//! What training is asked for.

use super::{ConfigSettings, DataSettings, RunsSettings, excludes, refused, requires};
use crate::Error;
use crate::run::RunFolder;
use crate::train::RunConfig;
use crate::workflow::{TrainOptions, generator};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What [`train`](crate::workflow::train) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TrainSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// The configuration of the model.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub config: ConfigSettings,
    /// How often it is trained.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub runs: RunsSettings,
    /// Take the filtered features from this .npy file of `magnon propagate`, read row by row and not loaded
    #[cfg_attr(feature = "clap", arg(long, value_name = "F.npy", help_heading = "Training"))]
    pub filtered: Option<PathBuf>,
    /// Write model, history and metrics to this folder
    #[cfg_attr(
        feature = "clap",
        arg(
            short,
            long = "output",
            visible_alias = "out",
            value_name = "RUN",
            help_heading = "Output"
        )
    )]
    pub output: Option<PathBuf>,
    /// Replace the run that the folder holds
    #[cfg_attr(feature = "clap", arg(long, requires = "output", help_heading = "Output"))]
    pub overwrite: bool,
    /// Go on with the interrupted run that the folder holds
    #[cfg_attr(feature = "clap", arg(long, requires = "output", conflicts_with_all = ["overwrite", "preset"], help_heading = "Output"))]
    pub resume: bool,
    /// Leave out report.html, whose spectra and map take a while on large graphs
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Output"))]
    pub no_report: bool,
    /// Epochs between two checkpoints in the folder
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", default_value_t = 500, help_heading = "Output")
    )]
    pub checkpoint_every: usize,
}

impl Default for TrainSettings {
    fn default() -> Self {
        Self {
            data: DataSettings::default(),
            config: ConfigSettings::default(),
            runs: RunsSettings::default(),
            filtered: None,
            output: None,
            overwrite: false,
            resume: false,
            no_report: false,
            checkpoint_every: TrainOptions::default().every,
        }
    }
}

impl TrainSettings {
    /// The configuration: a preset, an earlier run or the model's defaults, with what was given on top. `seed` is the
    /// seed that was given.
    pub fn config(&self, seed: Option<u64>) -> Result<RunConfig, Error> {
        self.check()?;
        let stored = self.stored()?;
        let mut config = match &stored {
            Some(stored) => stored.clone(),
            None => self.config.config()?,
        };
        if let (None, Some(name)) = (&self.data.data, &self.config.training.preset)
            && !Path::new(name).is_file()
        {
            let problem = format!("{name} has hyper-parameters only; name the data, too");
            return Err(Error::parameter("preset", problem));
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
        config.train.seed = seed.unwrap_or(config.train.seed);
        if config.data.source.is_empty() {
            let problem = "the name of the data is empty; name a folder, a file or a generator";
            return Err(Error::Argument(problem.to_owned()));
        }
        config.check().map_err(refused)?;
        Ok(config)
    }

    fn check(&self) -> Result<(), Error> {
        let (output, preset) = (self.output.is_some(), self.config.training.preset.is_some());
        requires(("overwrite", self.overwrite), ("output", output))?;
        requires(("resume", self.resume), ("output", output))?;
        let others = [("overwrite", self.overwrite), ("preset", preset)];
        excludes(("resume", self.resume), &others)?;
        if self.checkpoint_every == 0 {
            return Err(Error::parameter("checkpoint_every", "must be at least 1"));
        }
        Ok(())
    }

    /// What becomes of the run. `page` is the call that its page shows, and makes the page.
    #[cfg_attr(not(feature = "report"), expect(unused_variables))]
    pub fn options(&self, page: impl FnOnce() -> String) -> TrainOptions {
        TrainOptions {
            out: self.output.clone(),
            overwrite: self.overwrite,
            resume: self.resume,
            every: self.checkpoint_every,
            #[cfg(feature = "report")]
            page: (!self.no_report).then(page),
        }
    }

    /// The configuration of the run that is resumed.
    fn stored(&self) -> Result<Option<RunConfig>, Error> {
        let resumed = self.output.as_ref().filter(|_| self.resume);
        Ok(resumed.map(|folder| RunFolder::begun_config(folder)).transpose()?)
    }

    /// The configuration as a run folder keeps it, once the data are in their place: with whole paths.
    pub fn settled(&self, mut config: RunConfig) -> Result<RunConfig, Error> {
        absolute(&mut config)?;
        self.check_resumed(&config)?;
        Ok(config)
    }

    /// Refuses a configuration other than that of the run that is resumed.
    pub fn check_resumed(&self, config: &RunConfig) -> Result<(), Error> {
        match self.stored()? {
            Some(stored) if stored != *config => {
                let problem = "goes on with the configuration that the run was begun with; leave out what changes it, \
                               or begin a new run";
                Err(Error::parameter("resume", problem))
            }
            _ => Ok(()),
        }
    }
}

/// Makes paths independent of the folder that the call was made in.
fn absolute(config: &mut RunConfig) -> Result<(), Error> {
    let whole = |path: &Path| {
        let failed = |error| Error::Argument(format!("{}: {error}", path.display()));
        std::path::absolute(path).map_err(failed)
    };
    let data = &mut config.data;
    if generator(&data.source).is_none() {
        data.source = whole(Path::new(&data.source))?.to_string_lossy().into_owned();
    }
    let files = [&mut data.features, &mut data.labels, &mut data.filtered];
    for path in files.into_iter().flatten() {
        *path = whole(path)?;
    }
    Ok(())
}
