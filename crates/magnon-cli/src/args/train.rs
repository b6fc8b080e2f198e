//! Flags that say which model is trained, and how.

use crate::report::usage;
use clap::Args;
use magnon::model::{Gate, ModelConfig, ModelKind};
use magnon::nn::{Decay, Init, Schedule};
use magnon::run::{RunsConfig, Vary};
use magnon::train::TrainConfig;
use std::str::FromStr;

#[derive(Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// The model [default: mgc]
    #[arg(long, value_enum)]
    pub model: Option<ModelKind>,
    /// Width of the hidden layer [default: 64]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Share of the hidden layer left out in training, below 1 [default: 0.5]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub dropout: Option<f64>,
    /// How the complex hidden layer becomes real [default: tanh]
    #[arg(long, value_enum)]
    pub gate: Option<Gate>,
    /// How weights are drawn [default: glorot]
    #[arg(long, value_enum)]
    pub init: Option<Init>,
}

impl ModelArgs {
    /// Puts the flags that were given in place of what a recipe has.
    pub fn apply(&self, config: &mut ModelConfig) -> anyhow::Result<()> {
        config.kind = self.model.unwrap_or(config.kind);
        config.hidden = self.hidden.unwrap_or(config.hidden);
        config.dropout = self.dropout.unwrap_or(config.dropout);
        config.gate = self.gate.unwrap_or(config.gate);
        config.init = self.init.unwrap_or(config.init);
        config.check().map_err(usage)
    }
}

#[derive(Args)]
#[command(next_help_heading = "Training")]
pub struct TrainFlags {
    /// Most epochs [default: 10000]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better validation loss [default: 50]
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,
    /// Rows a step [default: all training rows]
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Learning rate [default: 0.01]
    #[arg(long, value_name = "R", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Strength of the weight decay [default: 0.0001]
    #[arg(long, value_name = "L", allow_negative_numbers = true)]
    pub weight_decay: Option<f64>,
    /// How the decay acts [default: l2]
    #[arg(long, value_enum)]
    pub decay: Option<Decay>,
    /// Largest norm of the gradient [default: none]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub clip: Option<f64>,
    /// How the rate changes: constant, step:EVERY,FACTOR or cosine:EPOCHS,LEAST [default: constant]
    #[arg(long, value_name = "S")]
    pub schedule: Option<ScheduleArg>,
}

/// A schedule as it is written on the command line.
#[derive(Clone, Copy)]
pub struct ScheduleArg(Schedule);

impl FromStr for ScheduleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let syntax =
            || format!("'{text}' is no schedule; write constant, step:100,0.5 or cosine:1000,0.01");
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let (count, factor) = values.split_once(',').unwrap_or((values, "0"));
        let count = || count.parse().map_err(|_| syntax());
        let factor = || factor.parse().map_err(|_| syntax());
        Ok(Self(match name {
            "constant" if values.is_empty() => Schedule::Constant,
            "step" => Schedule::Step { every: count()?, factor: factor()? },
            "cosine" => Schedule::Cosine { epochs: count()?, least: factor()? },
            _ => return Err(syntax()),
        }))
    }
}

impl TrainFlags {
    /// Puts the flags that were given in place of what a recipe has.
    pub fn apply(&self, config: &mut TrainConfig) -> anyhow::Result<()> {
        config.epochs = self.epochs.unwrap_or(config.epochs);
        config.patience = self.patience.unwrap_or(config.patience);
        config.batch = self.batch.or(config.batch);
        let optimiser = &mut config.optimiser;
        optimiser.rate = self.rate.unwrap_or(optimiser.rate);
        optimiser.weight_decay = self.weight_decay.unwrap_or(optimiser.weight_decay);
        optimiser.decay = self.decay.unwrap_or(optimiser.decay);
        optimiser.clip = self.clip.or(optimiser.clip);
        optimiser.schedule = self.schedule.map_or(optimiser.schedule, |s| s.0);
        config.check().map_err(usage)
    }
}

#[derive(Args)]
#[command(next_help_heading = "Runs")]
pub struct RunsArgs {
    /// Train so many times, several at once, and give mean and confidence interval [default: 1]
    #[arg(long, value_name = "N")]
    pub runs: Option<usize>,
    /// What changes from one run to the next [default: seeds]
    #[arg(long, value_enum)]
    pub vary: Option<Vary>,
    /// Train the controls too: a network without the graph, and one without direction
    #[arg(long)]
    pub controls: bool,
}

impl RunsArgs {
    /// Puts the flags that were given in place of what a recipe has.
    pub fn apply(&self, config: &mut RunsConfig) -> anyhow::Result<()> {
        config.count = self.runs.unwrap_or(config.count);
        config.vary = self.vary.unwrap_or(config.vary);
        config.controls |= self.controls;
        config.check().map_err(usage)
    }
}
