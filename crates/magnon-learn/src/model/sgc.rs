//! SGC: a linear classifier on filtered features.

use super::rows::{Head, RowInput, RowNetwork};
use super::{
    Architecture, Direction, FilterNeed, Inputs, Mode, ModelError, ModelInfo, Network,
    OperatorNeed, TrainingDefaults,
};
use crate::nn::{Init, Layout, Linear, Trace, Var};
use magnon_core::compute::{Engine, Shape};
use magnon_core::filter::FilterKind;
use serde::{Deserialize, Serialize};

/// softmax(X̄W + b) with X̄ = h(S)X; by default h(S) = S².
///
/// Any filter and operator may take their place. Where X̄ is complex, its real and imaginary parts are
/// columns of their own.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SgcConfig {
    /// How weights are drawn.
    pub init: Init,
}

impl Architecture for SgcConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "sgc",
        title: "SGC",
        summary: "a linear classifier on filtered features, with any filter",
        source: "Wu et al., Simplifying Graph Convolutional Networks, 2019",
        direction: Direction::Charge,
        operator: Some(OperatorNeed::UNDIRECTED),
        filter: Some(FilterNeed::of_order(FilterKind::Power, 2)),
        training: TrainingDefaults { rate: 0.2, weight_decay: 5e-6, ..TrainingDefaults::MGC },
        tunable: &[],
    };

    fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }

    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let input = filtered(engine, inputs, Self::INFO.name)?;
        linear_on(engine, input, inputs.classes, self.init)
    }
}

/// The filtered features of a model that takes an operator and a filter, for a real head.
pub(super) fn filtered<'a>(
    engine: &Engine,
    inputs: &Inputs<'a>,
    model: &'static str,
) -> Result<RowInput<'a>, ModelError> {
    let filter = inputs.filter.ok_or(ModelError::Missing { model, what: "a filter" })?;
    RowInput::filtered(
        engine,
        inputs,
        |operator| Ok(filter.build(operator.bounds(), operator.config().kind)?),
        true,
    )
}

/// A linear classifier on rows.
pub(super) fn linear_on<'a>(
    engine: &Engine,
    input: RowInput<'a>,
    classes: usize,
    init: Init,
) -> Result<Box<dyn Network + 'a>, ModelError> {
    let mut layout = Layout::default();
    let shape = Shape::real(input.cols() * input.field().parts(), classes);
    let head = OneLayer(layout.linear("layers.0", shape, init));
    Ok(Box::new(RowNetwork::new(engine, layout, head, input)?))
}

/// X̄W + b.
#[derive(Clone, Copy, Debug)]
struct OneLayer(Linear);

impl Head for OneLayer {
    fn first(&self) -> Linear {
        self.0
    }

    fn finish(&self, trace: &mut Trace, product: Var, _: Mode) -> Var {
        self.0.add_bias(trace, product)
    }
}
