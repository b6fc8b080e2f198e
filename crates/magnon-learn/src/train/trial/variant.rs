//! `Variant`: a model with what is left open decided, and the network that is built of it.

use super::{Repeat, Trial, Trials};
use crate::model::{Inputs, ModelConfig, Network, Purpose};
use crate::train::TrainError;
use magnon_core::compute::Engine;
use magnon_core::filter::FilterConfig;
use magnon_core::graph::DiGraph;
use magnon_core::operator::{Charge, OperatorConfig, Pattern};
use magnon_core::progress::Progress;
use std::sync::Arc;

/// A model with what is left open decided.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::train) struct Variant {
    pub model: ModelConfig,
    pub charge: Option<Charge>,
    /// Which of the model's configurations, where it leaves some open.
    pub choice: usize,
    /// Whether the graph is symmetrised first.
    pub symmetrised: bool,
}

/// A variant with its operator and its filter.
pub(in crate::train) struct Spec {
    pub variant: Variant,
    pub operator: Option<OperatorConfig>,
    pub filter: Option<FilterConfig>,
}

impl<'a> Trials<'a> {
    /// The operator and the filter that a variant takes.
    pub fn spec(&self, variant: &Variant) -> Spec {
        let operator = match (&self.config.operator, variant.charge, self.pass) {
            (Some(choice), Some(charge), Some(pass)) => Some(choice.config(charge, pass.high)),
            _ => None,
        };
        let filter = operator.as_ref().and(self.config.filter.clone());
        Spec { variant: variant.clone(), operator, filter }
    }

    /// Builds the network of a variant on the graph of the experiment, or on a symmetrised one.
    pub fn build<'n>(
        &'n self,
        engine: &Engine,
        spec: &'n Spec,
        pattern: &'n Arc<Pattern>,
        symmetrised: Option<(&'n DiGraph, &'n Arc<Pattern>)>,
        purpose: Purpose,
        progress: &'n dyn Progress,
    ) -> Result<Box<dyn Network + 'n>, TrainError>
    where
        'a: 'n,
    {
        let Spec { variant, operator, filter } = spec;
        let (graph, pattern) = symmetrised.unwrap_or((self.graph, pattern));
        let mapped = self.mapped.as_ref();
        let mapped =
            mapped.filter(|(charge, _)| filter.is_some() && variant.charge == Some(*charge));
        let inputs = Inputs {
            graph,
            pattern,
            features: self.features,
            classes: self.labels.names.len(),
            operator: operator.as_ref(),
            filter: filter.as_ref(),
            filtered: mapped.map(|(_, rows)| rows),
            shared: self.shared.filter(|_| symmetrised.is_none()),
            field: None,
            purpose,
            progress,
        };
        Ok(variant.model.build(engine, &inputs)?)
    }

    /// What one run of a variant trains.
    pub fn named(&self, variant: &Variant, run: usize) -> Trial {
        let Repeat { seed, split } = self.repeats[run];
        let Variant { charge, choice, symmetrised, .. } = *variant;
        Trial { model: variant.model.info().name, charge, choice, symmetrised, seed, split }
    }
}
