//! A bank as a network, and its views.

use super::blocks::Blocks;
use super::compute::Computed;
use super::head::Head;
use crate::model::network::{BuildSeconds, Gathered, RowClassifier, evaluate, named};
use crate::model::{Mode, ModelError, Network, Reach, View};
use crate::nn::{Layout, Parameters, Trace, Var};
use magnon_core::compute::{Engine, Map, Relabelling};
use magnon_core::matrix::Matrix;
use std::sync::Arc;

/// Nodes that are predicted at a time, where each has rows of its own.
const PART: usize = 1 << 12;

/// A bank on data.
pub(super) struct Bank<'a> {
    layout: Layout,
    head: Head,
    computed: Computed<'a>,
}

impl<'a> Bank<'a> {
    pub fn new(layout: Layout, head: Head, computed: Computed<'a>) -> Self {
        Self { layout, head, computed }
    }

    fn view_of(&self, blocks: Blocks) -> Box<dyn View> {
        Box::new(BankView { head: self.head.clone(), blocks })
    }
}

impl Network for Bank<'_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn view(&self, engine: &Engine, nodes: &[u32]) -> Result<Box<dyn View>, ModelError> {
        let [blocks] =
            self.computed.repeated_blocks(engine, [nodes], self.head.takes_chains(engine))?;
        Ok(self.view_of(blocks))
    }

    fn views(&self, engine: &Engine, parts: [&[u32]; 2]) -> Result<[Box<dyn View>; 2], ModelError> {
        // Weights that are dropped in training are others than those of validation, and lanes go both ways at once.
        let apart = self.head.drops_weights() || engine.has_lanes();
        if apart || !self.computed.shares(parts) {
            return Ok([self.view(engine, parts[0])?, self.view(engine, parts[1])?]);
        }
        let blocks =
            self.computed.repeated_blocks(engine, parts, self.head.takes_chains(engine))?;
        Ok(blocks.map(|blocks| self.view_of(blocks)))
    }

    fn reach(&self) -> Reach {
        self.computed.reach()
    }

    fn seen(&self, nodes: &[u32]) -> Option<usize> {
        self.computed.seen(nodes)
    }

    fn places(&self, nodes: &[u32]) -> Option<Relabelling> {
        self.computed.places(nodes)
    }

    fn by_rows(&self) -> Option<&dyn RowClassifier> {
        self.computed.has_rows().then_some(self)
    }

    fn seconds(&self) -> BuildSeconds {
        self.computed.seconds
    }

    fn predict(
        &self,
        engine: &Engine,
        parameters: &Parameters,
        nodes: Option<&[u32]>,
    ) -> Result<Matrix<f32>, ModelError> {
        let nodes = named(nodes, self.computed.nodes());
        if !self.computed.has_rows() {
            let view = self.view_of(self.computed.blocks(engine, &nodes)?);
            return evaluate(engine, parameters, view.as_ref());
        }
        // What lies on disk, or may be as large, is looked at a part at a time.
        let (mut all, mut cols) = (Vec::new(), 0);
        for part in nodes.chunks(PART) {
            let view = self.view_of(self.computed.blocks(engine, part)?);
            let table = evaluate(engine, parameters, view.as_ref())?;
            cols = table.cols();
            all.extend_from_slice(table.as_slice());
        }
        let table = Matrix::from_vec(nodes.len(), cols, all);
        Ok(table.unwrap_or_else(|_| Matrix::zeros(0, cols)))
    }
}

impl RowClassifier for Bank<'_> {
    fn logits_of(
        &self,
        trace: &mut Trace,
        nodes: &[u32],
        _: &mut Gathered,
        mode: Mode,
    ) -> Result<Var, ModelError> {
        let blocks = self.computed.blocks(trace.engine(), nodes)?;
        Ok(self.head.logits(trace, &blocks, mode))
    }
}

/// The channels of some nodes.
struct BankView {
    head: Head,
    blocks: Blocks,
}

impl View for BankView {
    fn maps(&self) -> Option<Vec<Arc<Map>>> {
        self.blocks.maps()
    }

    fn with_maps(&self, maps: Vec<Arc<Map>>) -> Option<Box<dyn View>> {
        let blocks = self.blocks.with_maps(maps)?;
        Some(Box::new(Self { head: self.head.clone(), blocks }))
    }

    fn logits(&self, trace: &mut Trace, _: Option<Var>, mode: Mode) -> Var {
        self.head.logits(trace, &self.blocks, mode)
    }
}
