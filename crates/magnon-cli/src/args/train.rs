//! Flags that say which model is trained, and how.

use super::finite;
use crate::report::usage;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use magnon::compute::Device;
use magnon::model::{Gate, MODELS, ModelConfig, ModelInfo};
use magnon::nn::{Decay, Init, Schedule};
use magnon::train::{RunConfig, RunsConfig, TrainConfig, Vary};
use serde_json::Value;
use std::str::FromStr;

/// One of the models, by name; the help lists them all with their sentence.
#[derive(Clone)]
pub struct ModelName(pub &'static str);

impl clap::builder::ValueParserFactory for ModelName {
    type Parser = ModelParser;
    fn value_parser() -> ModelParser {
        ModelParser
    }
}

#[derive(Clone)]
pub struct ModelParser;

impl TypedValueParser for ModelParser {
    type Value = ModelName;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<ModelName, clap::Error> {
        let names = MODELS.iter().map(|info| info.name).collect::<Vec<_>>();
        let name = PossibleValuesParser::new(names).parse_ref(command, argument, value)?;
        let found = MODELS.iter().find(|info| info.name == name);
        Ok(ModelName(found.map_or("mgc", |info| info.name)))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let value = |info: &ModelInfo| PossibleValue::new(info.name).help(info.summary);
        Some(Box::new(MODELS.iter().map(value)))
    }
}

/// A setting as it is written on the command line, KEY=VALUE.
#[derive(Clone)]
pub struct Setting(String, Value);

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is no setting; write KEY=VALUE, as in heads=4"))?;
        // Numbers and truth values are themselves; anything else is a word.
        let value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        Ok(Self(key.trim().replace('-', "_"), value))
    }
}

#[derive(Args)]
#[command(next_help_heading = "Model")]
pub struct ModelArgs {
    /// The model [default: mgc]
    #[arg(long, value_name = "NAME", hide_possible_values = false)]
    pub model: Option<ModelName>,
    /// What the bank classifies by, with commas between: x, out, in, out.in, rows-out, filters such as
    /// linear-rank(order=8,charge=1/4), or auto to choose by validation [default: auto]
    #[arg(long, value_name = "LIST")]
    pub channels: Option<String>,
    /// Width of the hidden layers [default: the model's]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Number of layers [default: the model's]
    #[arg(long, value_name = "N")]
    pub layers: Option<usize>,
    /// Share of the hidden layers left out in training, below 1 [default: the model's]
    #[arg(long, value_parser = finite, value_name = "P", allow_negative_numbers = true)]
    pub dropout: Option<f64>,
    /// How MGC's complex hidden layer becomes real [default: tanh]
    #[arg(long, value_enum)]
    pub gate: Option<Gate>,
    /// How weights are drawn [default: glorot]
    #[arg(long, value_enum)]
    pub init: Option<Init>,
    /// Any other setting of the model, such as heads=4; `magnon models NAME` lists them
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
}

impl ModelArgs {
    /// Another model than the configuration's comes with defaults of its own; data, seed and number
    /// of runs stay.
    pub fn choose(&self, config: &mut RunConfig) -> anyhow::Result<()> {
        let Some(ModelName(name)) = self.model else { return Ok(()) };
        if name != config.model.info().name {
            let mut other = RunConfig::of(ModelConfig::named(name).map_err(usage)?);
            other.data = std::mem::take(&mut config.data);
            (other.runs, other.train.seed) = (config.runs, config.train.seed);
            *config = other;
        }
        Ok(())
    }

    /// Puts the flags that were given in place of what a configuration has.
    pub fn apply(&self, config: &mut ModelConfig) -> anyhow::Result<()> {
        let given = [
            ("channels", self.channels.clone().map(Value::from)),
            ("hidden", self.hidden.map(Value::from)),
            ("layers", self.layers.map(Value::from)),
            ("dropout", self.dropout.map(Value::from)),
            ("gate", self.gate.and_then(|gate| serde_json::to_value(gate).ok())),
            ("init", self.init.and_then(|init| serde_json::to_value(init).ok())),
        ];
        let given = given.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let more = self.set.iter().map(|Setting(key, value)| (key.as_str(), value.clone()));
        for (key, value) in given.chain(more) {
            config.set(key, value).map_err(usage)?;
        }
        config.check().map_err(usage)
    }
}

#[derive(Args)]
#[command(next_help_heading = "Training")]
pub struct TrainFlags {
    /// Most epochs [default: 10000]
    #[arg(long, value_name = "N")]
    pub epochs: Option<usize>,
    /// Stop after so many epochs without a better validation loss [default: the model's]
    #[arg(long, value_name = "N")]
    pub patience: Option<usize>,
    /// Rows per step [default: all training rows]
    #[arg(long, value_name = "N")]
    pub batch: Option<usize>,
    /// Learning rate [default: the model's]
    #[arg(long, value_parser = finite, value_name = "R", allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Strength of the weight decay [default: the model's]
    #[arg(long, value_parser = finite, value_name = "L", allow_negative_numbers = true)]
    pub weight_decay: Option<f64>,
    /// How the decay acts [default: l2]
    #[arg(long, value_enum)]
    pub decay: Option<Decay>,
    /// Largest norm of the gradient [default: none]
    #[arg(long, value_parser = finite, value_name = "C", allow_negative_numbers = true)]
    pub clip: Option<f64>,
    /// How the rate changes: constant, step:EVERY,FACTOR or cosine:EPOCHS,LEAST [default: constant]
    #[arg(long, value_name = "S")]
    pub schedule: Option<ScheduleArg>,
    /// Where it runs: cpu, cuda, cuda:1 or auto [default: cpu]
    #[arg(long, value_name = "D")]
    pub device: Option<Device>,
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
    /// Puts the flags that were given in place of what a configuration has.
    pub fn apply(&self, config: &mut TrainConfig) -> anyhow::Result<()> {
        config.epochs = self.epochs.unwrap_or(config.epochs);
        config.patience = self.patience.unwrap_or(config.patience);
        config.batch = self.batch.or(config.batch);
        config.device = self.device.unwrap_or(config.device);
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
    /// Puts the flags that were given in place of what a configuration has.
    pub fn apply(&self, config: &mut RunsConfig) -> anyhow::Result<()> {
        config.count = self.runs.unwrap_or(config.count);
        config.vary = self.vary.unwrap_or(config.vary);
        config.controls |= self.controls;
        config.check().map_err(usage)
    }
}
