//! Flags that make up the configuration of a model: preset, operator, filter, model, training.

use super::{FilterArgs, ModelArgs, OperatorArgs, TrainFlags};
use crate::report::usage;
use clap::Args;
use magnon::train::RunConfig;
use magnon::workflow::preset;

#[derive(Args)]
pub struct ConfigArgs {
    #[command(flatten)]
    pub operator: OperatorArgs,
    #[command(flatten)]
    pub filter: FilterArgs,
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub train: TrainFlags,
    /// Start from the paper's hyper-parameters for a data set, or from a file such as the
    /// config.json of a run; flags given beside it come first
    #[arg(long, value_name = "NAME", help_heading = "Training")]
    pub preset: Option<String>,
}

impl ConfigArgs {
    /// What the flags are put on top of: a preset, or the defaults of the model.
    pub fn config(&self) -> anyhow::Result<RunConfig> {
        let mut config = match &self.preset {
            Some(name) => preset(name)?,
            None => RunConfig::default(),
        };
        self.model.choose(&mut config)?;
        Ok(config)
    }

    /// Puts the flags that were given on top.
    pub fn apply(&self, config: &mut RunConfig) -> anyhow::Result<()> {
        self.apply_operator(config)?;
        self.apply_filter(config)?;
        self.model.apply(&mut config.model)?;
        self.train.apply(&mut config.train)
    }

    /// Puts the operator's flags on top, where the model takes an operator.
    fn apply_operator(&self, config: &mut RunConfig) -> anyhow::Result<()> {
        match (&mut config.operator, self.operator.first_given()) {
            (Some(operator), _) => self.operator.apply(operator),
            (None, None) => Ok(()),
            (None, Some(flag)) => {
                let name = config.model.info().name;
                Err(usage(format!("{name} takes no operator, so {flag} would have no effect")))
            }
        }
    }

    /// Puts the filter's flags on top, where the model takes a filter. Some models have an order or
    /// the like of their own.
    fn apply_filter(&self, config: &mut RunConfig) -> anyhow::Result<()> {
        if let Some(filter) = &mut config.filter {
            return self.filter.apply(filter);
        }
        for (flag, value) in self.filter.given() {
            match value {
                Some(value) if config.model.has(flag) => {
                    config.model.set(flag, value).map_err(usage)?;
                }
                _ => {
                    let name = config.model.info().name;
                    let problem =
                        format!("{name} takes no filter, so --{flag} would have no effect");
                    return Err(usage(problem));
                }
            }
        }
        Ok(())
    }
}
