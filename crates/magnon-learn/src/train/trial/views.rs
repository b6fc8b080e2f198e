//! The nodes of a split as a network sees them.

use super::Trials;
use crate::model::{Network, View};
use crate::train::{Targets, TrainError};
use magnon_core::compute::{Engine, Relabelling};
use std::sync::{Arc, Mutex, PoisonError};

/// Training and validation nodes of a split.
pub(in crate::train) type Views = [Arc<dyn View>; 2];

/// What the trials of a variant share.
pub(in crate::train) struct Shared<'n> {
    pub network: &'n dyn Network,
    /// The only split; with several, each trial makes its own and drops it.
    pub ready: Option<Ready>,
    /// A view of all nodes, where one was made.
    whole: Mutex<Option<Arc<dyn View>>>,
}

/// A split, ready for steps of training.
pub(in crate::train) struct Ready {
    pub views: Views,
    /// Training and validation nodes, by their rows in the views.
    pub targets: [Targets; 2],
    /// The places that draws have, where the views are of all nodes.
    pub places: Option<Relabelling>,
}

impl<'n> Shared<'n> {
    pub fn new(network: &'n dyn Network) -> Self {
        Self { network, ready: None, whole: Mutex::default() }
    }

    /// The view of all nodes.
    pub fn everyone(&self, engine: &Engine, nodes: usize) -> Result<Arc<dyn View>, TrainError> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = whole.as_ref() {
            return Ok(view.clone());
        }
        let all: Vec<u32> = (0..nodes as u32).collect();
        let view: Arc<dyn View> = self.network.view(engine, &all)?.into();
        *whole = Some(view.clone());
        Ok(view)
    }
}

impl Trials<'_> {
    /// Whether a split is trained in views of all nodes. Where the engine has lanes, splits share those;
    /// it depends on nothing but the split, so that its results are the same beside others and alone.
    pub(in crate::train) fn is_whole(
        &self,
        engine: &Engine,
        network: &dyn Network,
        split: usize,
    ) -> bool {
        let train = || self.targets(&self.splits[split])[0].nodes.clone();
        let most = |seen: usize| 2 * seen >= self.graph.nodes();
        engine.has_lanes() && network.seen(&train()).is_some_and(most)
    }

    /// What the steps of a split need.
    pub(in crate::train) fn ready(
        &self,
        engine: &Engine,
        shared: &Shared,
        split: usize,
    ) -> Result<Ready, TrainError> {
        let targets = self.targets(&self.splits[split]);
        if self.is_whole(engine, shared.network, split) {
            let view = shared.everyone(engine, self.graph.nodes())?;
            let places = shared.network.places(&targets[0].nodes);
            let targets = targets.map(Targets::among_all);
            return Ok(Ready { views: [view.clone(), view], targets, places });
        }
        let parts = [&targets[0].nodes[..], &targets[1].nodes[..]];
        let views = shared.network.views(engine, parts)?.map(Arc::from);
        Ok(Ready { views, targets, places: None })
    }
}
