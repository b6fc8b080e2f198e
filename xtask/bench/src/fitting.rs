//! A network on data, fitted for a number of epochs through the library.

use anyhow::Context;
use magnon::compute::Engine;
use magnon::data::Dataset;
use magnon::model::{
    ChargeChoice, Inputs, Network, OperatorChoice, ProductOrder, Purpose, View, choose_pass,
};
use magnon::operator::{OperatorConfig, Pattern};
use magnon::train::{Feed, Fitted, RunConfig, Targets, TrainConfig, Watch, fit};
use std::sync::Arc;

/// A data set with everything that a network is built from.
pub struct Problem<'d> {
    dataset: &'d Dataset,
    config: RunConfig,
    pattern: Arc<Pattern>,
    operator: Option<OperatorConfig>,
    targets: [Targets; 2],
}

impl<'d> Problem<'d> {
    /// The first split of the data, and the operator that the configuration means.
    pub fn new(dataset: &'d Dataset, config: RunConfig) -> anyhow::Result<Self> {
        let labels = dataset.labels.as_ref().context("no labels")?;
        let split = dataset.splits.first().context("no split")?;
        let operator = |choice: &OperatorChoice| -> anyhow::Result<OperatorConfig> {
            let ChargeChoice::Fixed(charge) = choice.charge else {
                anyhow::bail!("the charge is left open");
            };
            let pass = choose_pass(choice.pass, &dataset.graph, labels, split)?;
            Ok(choice.config(charge, pass.high))
        };
        let operator = config.operator.as_ref().map(operator).transpose()?;
        let pattern = Arc::new(Pattern::new(&dataset.graph)?);
        let targets = [&split.train, &split.val].map(|nodes| Targets::of(nodes, labels));
        Ok(Self { dataset, config, pattern, operator, targets })
    }

    /// Builds the network, and the views of training and validation nodes.
    pub fn build(&self) -> anyhow::Result<Prepared<'_>> {
        let engine = Engine::cpu();
        let [train, val] = &self.targets;
        let inputs = Inputs {
            graph: &self.dataset.graph,
            pattern: &self.pattern,
            features: self.dataset.features.as_ref().context("no features")?,
            classes: self.dataset.labels.as_ref().map_or(0, |labels| labels.names.len()),
            operator: self.operator.as_ref(),
            filter: self.config.filter.as_ref(),
            filtered: None,
            shared: None,
            field: None,
            purpose: Purpose::Train { train: train.len(), val: val.len(), batches: false },
            progress: &(),
        };
        let network = self.config.model.build(&engine, &inputs)?;
        let views = network.views(&engine, [&train.nodes, &val.nodes])?;
        Ok(Prepared { problem: self, network, views })
    }
}

/// A network with its views.
pub struct Prepared<'p> {
    problem: &'p Problem<'p>,
    network: Box<dyn Network + 'p>,
    views: [Box<dyn View>; 2],
}

impl Prepared<'_> {
    /// In which order products with the filtered features are made, where there are any.
    pub fn order(&self) -> Option<ProductOrder> {
        self.network.order()
    }

    /// Trains anew for so many epochs, whatever the validation loss does; on a thread of the pool, as the command does.
    pub fn fit(
        &self,
        engine: &Engine,
        epochs: usize,
        watch: &mut (dyn Watch + Send),
    ) -> anyhow::Result<Fitted> {
        let Problem { config, targets: [train, val], .. } = self.problem;
        let config = TrainConfig { epochs, patience: epochs, ..config.train };
        let mut parameters = self.network.layout().draw(engine, config.seed)?;
        let [train_view, val_view] = &self.views;
        let feed = Feed::Full { train: train_view.as_ref(), val: val_view.as_ref() };
        let mut fit = || fit(engine, &mut parameters, &feed, [train, val], &config, None, watch);
        Ok(rayon::scope(|_| fit())?)
    }
}
