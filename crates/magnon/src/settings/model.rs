//! Which model is trained.

#[cfg(feature = "clap")]
use super::setting::ModelNames;
use super::setting::{self, Setting};
use super::{refused, value};
use crate::Error;
use crate::model::{Gate, ModelConfig};
use crate::nn::Init;
use crate::train::RunConfig;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which model is trained; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Model"))]
pub struct ModelSettings {
    /// The model [default: mgc]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME", value_parser = ModelNames))]
    pub model: Option<String>,
    /// What the bank classifies by, with commas between: x, out, in, out.in, rows-out, filters such as
    /// linear-rank(order=8,charge=1/4), or auto to choose by validation [default: auto]
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST"))]
    #[serde(deserialize_with = "value::joined")]
    pub channels: Option<String>,
    /// Width of the hidden layers [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub hidden: Option<usize>,
    /// Number of layers [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub layers: Option<usize>,
    /// Share of the hidden layers left out in training, below 1 [default: the model's]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "P", allow_negative_numbers = true))]
    pub dropout: Option<f64>,
    /// How MGC's complex hidden layer becomes real [default: tanh]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub gate: Option<Gate>,
    /// How weights are drawn [default: glorot]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub init: Option<Init>,
    /// Any other setting of the model, such as heads=4; `magnon models NAME` lists them
    #[cfg_attr(feature = "clap", arg(long, value_name = "KEY=VALUE"))]
    #[serde(with = "setting::as_map")]
    pub set: Vec<Setting>,
}

impl ModelSettings {
    /// Another model than the configuration's comes with defaults of its own; data, seed and number
    /// of runs stay.
    pub fn choose(&self, config: &mut RunConfig) -> Result<(), Error> {
        let Some(name) = &self.model else { return Ok(()) };
        if name != config.model.info().name {
            let mut other = RunConfig::of(ModelConfig::named(name).map_err(refused)?);
            other.data = std::mem::take(&mut config.data);
            (other.runs, other.train.seed) = (config.runs, config.train.seed);
            *config = other;
        }
        Ok(())
    }

    /// Puts what was given in place of what a configuration has.
    pub fn apply(&self, config: &mut ModelConfig) -> Result<(), Error> {
        let given = [
            ("channels", self.channels.clone().map(Value::from)),
            ("hidden", self.hidden.map(Value::from)),
            ("layers", self.layers.map(Value::from)),
            ("dropout", self.dropout.map(Value::from)),
            ("gate", self.gate.and_then(|gate| serde_json::to_value(gate).ok())),
            ("init", self.init.and_then(|init| serde_json::to_value(init).ok())),
        ];
        let given = given.into_iter().filter_map(|(key, value)| Some((key, value?)));
        let more = self.set.iter().map(|Setting { key, value }| (key.as_str(), value.clone()));
        for (key, value) in given.chain(more) {
            config.set(key, value).map_err(refused)?;
        }
        config.check().map_err(refused)
    }
}
