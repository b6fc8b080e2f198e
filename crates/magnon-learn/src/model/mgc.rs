//! MGC, the paper's model.

use super::error::{check_dropout, check_width};
use super::rows::{Head, RowInput, RowNetwork};
use super::tunable::Tunable;
use super::{
    Architecture, Direction, FilterNeed, Inputs, Mode, ModelError, ModelInfo, Network,
    OperatorNeed, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, Shape};
use magnon_core::filter::FilterKind;
use serde::{Deserialize, Serialize};

/// How MGC's complex hidden layer becomes real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Gate {
    /// tanh(Re z)·tanh(Im z), as in the paper
    #[default]
    Tanh,
    /// Re z · tanh(exp(Im z)), as in the authors' published code
    Exponential,
}

/// softmax(ς(X̄W⁰ + b⁰)W¹ + b¹) with X̄ = h(S)X.
///
/// Where the operator is complex, so are W⁰ and b⁰, and ς(z) = tanh(Re z)·tanh(Im z). Where it is
/// real (q = 0, or q = ½ with unit weights) the whole network is, with tanh for ς. X̄ is computed
/// once, and a step needs its training and validation rows only.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `hidden` | 64 | width of the hidden layer | 1 to 65536 |
/// | `dropout` | 0.5 | share of the hidden layer left out in training | [0, 1) |
/// | `gate` | `tanh` | activation where the network is complex | `tanh`, `exponential` |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MgcConfig {
    /// Width of the hidden layer.
    pub hidden: usize,
    /// Share of the hidden layer left out in training.
    pub dropout: f64,
    /// Activation where the network is complex.
    pub gate: Gate,
    /// How weights are drawn.
    pub init: Init,
}

impl Default for MgcConfig {
    fn default() -> Self {
        Self { hidden: 64, dropout: 0.5, gate: Gate::Tanh, init: Init::Glorot }
    }
}

impl Architecture for MgcConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "mgc",
        title: "MGC",
        summary: "features filtered by the magnetic operator, and a complex network",
        source: "MGC: A Complex-Valued Graph Convolutional Network for Directed Graphs",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::ANY),
        filter: Some(FilterNeed {
            kind: FilterKind::LinearRank,
            order: None,
            alpha: None,
            exact: false,
        }),
        training: TrainingDefaults::MGC,
        tunable: &[Tunable::HIDDEN, Tunable::DROPOUT],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_dropout(self.dropout)
    }

    fn suits(&self, field: Field) -> Result<(), ModelError> {
        match (field, self.gate) {
            (Field::Real, Gate::Exponential) => Err(ModelError::Unsupported(
                "a gate is for complex networks, and this operator is real; choose another charge, \
                 or leave the gate out"
                    .to_owned(),
            )),
            _ => Ok(()),
        }
    }

    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let missing = ModelError::Missing { model: Self::INFO.name, what: "a filter" };
        let filter = inputs.filter.ok_or(missing)?;
        let input = RowInput::filtered(
            engine,
            inputs,
            |operator| Ok(filter.build(operator.bounds(), operator.config().kind)?),
            false,
        )?;
        let field = input.field();
        let activation = match (field, self.gate) {
            (Field::Real, _) => Activation::Tanh,
            (Field::Complex, Gate::Tanh) => Activation::GatedTanh,
            (Field::Complex, Gate::Exponential) => Activation::ExponentialGate,
        };
        let mut layout = Layout::default();
        let first = Shape::new(input.cols(), self.hidden, field);
        let head = TwoLayer {
            first: layout.linear("layers.0", first, self.init),
            second: layout.linear("layers.1", Shape::real(self.hidden, inputs.classes), self.init),
            activation,
            dropout: self.dropout,
        };
        Ok(Box::new(RowNetwork::new(engine, layout, head, input)?))
    }
}

/// σ(X̄W⁰ + b⁰)W¹ + b¹, with a real second layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwoLayer {
    pub first: Linear,
    pub second: Linear,
    pub activation: Activation,
    pub dropout: f64,
}

impl Head for TwoLayer {
    fn first(&self) -> Linear {
        self.first
    }

    fn finish(&self, trace: &mut Trace, product: Var, mode: Mode) -> Var {
        let sum = self.first.add_bias(trace, product);
        let hidden = trace.activate(self.activation, sum);
        let hidden = mode.dropout(trace, hidden, self.dropout, 0);
        self.second.apply(trace, hidden)
    }
}
