//! What denoising is asked for.

#[cfg(feature = "clap")]
use super::value;
use super::{DataSettings, OperatorSettings};
use crate::Error;
use crate::denoise::{DenoiseConfig, DenoiseForm};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What [`denoise`](crate::workflow::denoise) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DenoiseSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// The form decides between adjacency and Laplacian, without self loops.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Weight of closeness to the signal against smoothness, above 0
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "MU", default_value_t = DenoiseConfig::default().mu, allow_negative_numbers = true, help_heading = "Denoising"))]
    pub mu: f64,
    /// The closed form: β(I − αA)⁻¹x, or (I + L/μ)⁻¹x; they are equal
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, default_value = "laplacian", help_heading = "Denoising")
    )]
    pub form: DenoiseForm,
    /// The signal, real or complex, one row per node [default: the features of DATA]
    #[cfg_attr(feature = "clap", arg(long, value_name = "F.npy", help_heading = "Denoising"))]
    pub signal: Option<PathBuf>,
}

impl Default for DenoiseSettings {
    fn default() -> Self {
        let (data, operator) = Default::default();
        let DenoiseConfig { mu, form, .. } = DenoiseConfig::default();
        Self { data, operator, mu, form, signal: None }
    }
}

impl DenoiseSettings {
    /// The library's configuration.
    pub fn config(&self) -> Result<DenoiseConfig, Error> {
        for (name, given) in
            [("pass", self.operator.pass.is_some()), ("kind", self.operator.kind.is_some())]
        {
            if given {
                let problem = "would have no effect: the form decides the operator";
                return Err(Error::parameter(name, problem));
            }
        }
        if self.operator.no_self_loops {
            let problem = "has no effect: denoising never adds self loops";
            return Err(Error::parameter("no_self_loops", problem));
        }
        let config = DenoiseConfig { mu: self.mu, form: self.form };
        config.check()?;
        Ok(config)
    }
}
