//! What makes up the configuration of a model: preset, operator, filter, model, training.

use super::{FilterSettings, ModelSettings, OperatorSettings, TrainingSettings, refused};
use crate::Error;
use crate::train::RunConfig;
use crate::workflow::preset;
use serde::{Deserialize, Serialize};

/// What makes up the configuration of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ConfigSettings {
    /// Which operator is built.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Which filter is applied.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub filter: FilterSettings,
    /// Which model is trained.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub model: ModelSettings,
    /// How it is trained.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub training: TrainingSettings,
}

impl ConfigSettings {
    /// What the settings are put on top of: a preset, or the defaults of the model.
    pub fn config(&self) -> Result<RunConfig, Error> {
        let mut config = match &self.training.preset {
            Some(name) => preset(name)?,
            None => RunConfig::default(),
        };
        self.model.choose(&mut config)?;
        Ok(config)
    }

    /// Puts what was given on top.
    pub fn apply(&self, config: &mut RunConfig) -> Result<(), Error> {
        self.apply_operator(config)?;
        self.apply_filter(config)?;
        self.model.apply(&mut config.model)?;
        self.training.apply(&mut config.train)
    }

    /// The operator, where the model takes one.
    fn apply_operator(&self, config: &mut RunConfig) -> Result<(), Error> {
        match (&mut config.operator, self.operator.first_given()) {
            (Some(operator), _) => self.operator.apply(operator),
            (None, None) => Ok(()),
            (None, Some(parameter)) => {
                let name = config.model.info().name;
                let problem = format!("would have no effect, as {name} takes no operator");
                Err(Error::parameter(parameter, problem))
            }
        }
    }

    /// The filter, where the model takes one. Some models have an order or the like of their own.
    fn apply_filter(&self, config: &mut RunConfig) -> Result<(), Error> {
        if let Some(filter) = &mut config.filter {
            return self.filter.apply(filter);
        }
        for (parameter, value) in self.filter.given() {
            match value {
                Some(value) if config.model.has(parameter) => {
                    config.model.set(parameter, value).map_err(refused)?;
                }
                _ => {
                    let name = config.model.info().name;
                    let problem = format!("would have no effect, as {name} takes no filter");
                    return Err(Error::parameter(parameter, problem));
                }
            }
        }
        Ok(())
    }
}
