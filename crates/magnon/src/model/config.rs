//! `ModelConfig`: the recipe of a model.

use crate::nn::{Activation, Init};
use serde::{Deserialize, Serialize};

/// Which model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ModelKind {
    /// The paper's: filtered features and a complex network
    #[default]
    Mgc,
    /// A plain network on the features as they are, blind to the graph
    Mlp,
}

impl ModelKind {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mgc => "mgc",
            Self::Mlp => "mlp",
        }
    }
}

/// How MGC's complex hidden layer becomes real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Gate {
    /// tanh(Re z)·tanh(Im z), as in the paper
    #[default]
    Tanh,
    /// Re z · tanh(exp(Im z)), as in the authors' published code
    Exponential,
}

impl Gate {
    pub(super) fn activation(self) -> Activation {
        match self {
            Self::Tanh => Activation::GatedTanh,
            Self::Exponential => Activation::ExponentialGate,
        }
    }
}

/// Recipe of a model.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `kind` | `mgc` | which model | |
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0.5 | share of the hidden layer left out in training | [0, 1) |
/// | `gate` | `tanh` | MGC's activation where it is complex | |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelConfig {
    /// Which model.
    pub kind: ModelKind,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of the hidden layer left out in training.
    pub dropout: f64,
    /// MGC's activation where it is complex.
    pub gate: Gate,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for ModelConfig {
    fn default() -> Self {
        Self {
            kind: ModelKind::default(),
            hidden: 64,
            dropout: 0.5,
            gate: Gate::default(),
            init: Init::default(),
        }
    }
}

/// A model that cannot be built.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ModelError {
    /// A width out of range.
    #[error("the hidden layer has {0} units; it must have from 1 to 65536")]
    Hidden(usize),
    /// A rate out of range.
    #[error("the dropout rate is {0}; it must be at least 0 and below 1")]
    Dropout(f64),
}

impl ModelConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), ModelError> {
        if !(1..=65_536).contains(&self.hidden) {
            return Err(ModelError::Hidden(self.hidden));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(ModelError::Dropout(self.dropout));
        }
        Ok(())
    }
}
