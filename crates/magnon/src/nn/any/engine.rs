//! Every operation, handed to the chosen engine.

use super::own::Own;
use super::{AnyBuffer, AnyEngine, AnyMap, AnyReplay, AnyTargets};
use crate::data::Features;
use crate::filter::{Filter, FilterError, Progress, Propagated};
use crate::nn::attention::{Attention, AttentionGradient};
use crate::nn::chains::ChainMaps;
use crate::nn::engine::{Activation, Done, DrawKey, Engine, Factor, Propagator, Side};
use crate::nn::join::{JoinedChannels, JoinedGradient};
use crate::nn::replay::ReplayConfig;
use crate::nn::{AdamStep, LaneConfig, Moved, Relabelling};
use crate::nn::{EngineError, MapSource, Shape};
use crate::operator::MagneticOperator;

/// Hands an operation to the engine that there is, with what it was given as that engine's own.
macro_rules! hand {
    ($self:ident, |$engine:ident $(, $given:ident)*| $body:expr) => {
        match $self {
            AnyEngine::Cpu($engine) => {
                $(let $given = Own::cpu($given)?;)*
                $body
            }
            #[cfg(feature = "cuda")]
            AnyEngine::Cuda($engine) => {
                $(let $given = Own::cuda($given)?;)*
                $body
            }
        }
    };
}

/// Makes something of the engine's own.
macro_rules! make {
    ($self:ident, $of:ident, |$engine:ident| $body:expr) => {
        match $self {
            AnyEngine::Cpu($engine) => $body.map($of::Cpu),
            #[cfg(feature = "cuda")]
            AnyEngine::Cuda($engine) => $body.map($of::Cuda),
        }
    };
}

impl Engine for AnyEngine {
    type Real = f32;
    type Buffer = AnyBuffer;
    type Map = AnyMap;
    type Targets = AnyTargets;
    type Replay = AnyReplay;

    fn sequential(&self) -> Self {
        match self {
            Self::Cpu(engine) => Self::Cpu(engine.sequential()),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => Self::Cuda(Box::new(engine.sequential())),
        }
    }

    fn lanes(&self, lanes: &[LaneConfig]) -> Option<Result<Self, EngineError>> {
        match self {
            Self::Cpu(engine) => Some(engine.lanes(lanes)?.map(Self::Cpu)),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => {
                Some(engine.lanes(lanes)?.map(|engine| Self::Cuda(Box::new(engine))))
            }
        }
    }

    fn fork(&self) -> Done {
        hand!(self, |engine| engine.fork())
    }

    fn aside(&self, aside: bool) {
        hand!(self, |engine| engine.aside(aside))
    }

    fn join(&self) -> Done {
        hand!(self, |engine| engine.join())
    }

    fn relabel(&self, lanes: &[Relabelling]) -> Done {
        hand!(self, |engine| engine.relabel(lanes))
    }

    fn has_lanes(&self) -> bool {
        hand!(self, |engine| engine.has_lanes())
    }

    fn put_lane(&self, lane: usize, from: &AnyBuffer, to: &mut AnyBuffer) -> Done {
        hand!(self, |engine, from, to| engine.put_lane(lane, from, to))
    }

    fn take_lane(&self, lane: usize, from: &AnyBuffer, to: &mut AnyBuffer) -> Done {
        hand!(self, |engine, from, to| engine.take_lane(lane, from, to))
    }

    fn stack(&self, maps: &[&AnyMap]) -> Option<Result<AnyMap, EngineError>> {
        match self {
            Self::Cpu(_) => {
                let _ = maps;
                None
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => {
                let own: Result<Vec<_>, _> = maps.iter().map(|map| Own::cuda(*map)).collect();
                match own {
                    Ok(maps) => Some(engine.stack(&maps)?.map(AnyMap::Cuda)),
                    Err(error) => Some(Err(error)),
                }
            }
        }
    }

    fn replay(&self, config: &ReplayConfig) -> Option<Result<AnyReplay, EngineError>> {
        match self {
            Self::Cpu(_) => {
                let _ = config;
                None
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => Some(engine.replay(config)?.map(AnyReplay::Cuda)),
        }
    }

    fn zeros(&self, len: usize) -> Result<AnyBuffer, EngineError> {
        make!(self, AnyBuffer, |engine| engine.zeros(len))
    }

    fn len(&self, buffer: &AnyBuffer) -> usize {
        match buffer {
            AnyBuffer::Cpu(own) => own.len(),
            #[cfg(feature = "cuda")]
            AnyBuffer::Cuda(own) => own.len(),
        }
    }

    fn scratch_bytes(&self) -> usize {
        hand!(self, |engine| engine.scratch_bytes())
    }

    fn clear(&self, buffer: &mut AnyBuffer) -> Done {
        hand!(self, |engine, buffer| engine.clear(buffer))
    }

    fn upload(&self, numbers: &[f32], to: &mut AnyBuffer) -> Done {
        hand!(self, |engine, to| engine.upload(numbers, to))
    }

    fn copy(&self, from: &AnyBuffer, to: &mut AnyBuffer) -> Done {
        hand!(self, |engine, from, to| engine.copy(from, to))
    }

    fn download(&self, from: &AnyBuffer, numbers: &mut [f32]) -> Done {
        hand!(self, |engine, from| engine.download(from, numbers))
    }

    fn product(
        &self,
        left: Factor<AnyBuffer>,
        right: Factor<AnyBuffer>,
        out: (&mut AnyBuffer, Shape),
        add: bool,
    ) -> Done {
        hand!(self, |engine, left, right, out| engine.product(left, right, out, add))
    }

    fn propagate(
        &self,
        operator: &MagneticOperator,
        filter: &Filter,
        features: &Features,
        progress: Progress,
    ) -> Result<Propagated, FilterError> {
        hand!(self, |engine| engine.propagate(operator, filter, features, progress))
    }

    fn propagator<'a>(
        &'a self,
        operator: &'a MagneticOperator,
        filter: &'a Filter,
    ) -> Result<Propagator<'a>, FilterError> {
        hand!(self, |engine| engine.propagator(operator, filter))
    }

    fn prepare(&self, source: MapSource<f32>) -> Result<AnyMap, EngineError> {
        make!(self, AnyMap, |engine| engine.prepare(source))
    }

    fn map_shape(&self, map: &AnyMap) -> Shape {
        match map {
            AnyMap::Cpu(own) => own.shape(),
            #[cfg(feature = "cuda")]
            AnyMap::Cuda(own) => own.shape(),
        }
    }

    fn map_stored(&self, map: &AnyMap) -> usize {
        match map {
            AnyMap::Cpu(own) => own.stored(),
            #[cfg(feature = "cuda")]
            AnyMap::Cuda(own) => own.stored(),
        }
    }

    fn map(
        &self,
        map: &AnyMap,
        side: Side,
        values: Option<&AnyBuffer>,
        x: (&AnyBuffer, Shape),
        y: (&mut AnyBuffer, Shape),
        add: bool,
    ) -> Done {
        hand!(self, |engine, map, values, x, y| engine.map(map, side, values, x, y, add))
    }

    fn mask_map(&self, map: &AnyMap, mask: &mut AnyBuffer) -> Done {
        hand!(self, |engine, map, mask| engine.mask_map(map, mask))
    }

    fn add_bias(&self, bias: &AnyBuffer, y: (&mut AnyBuffer, Shape)) -> Done {
        hand!(self, |engine, bias, y| engine.add_bias(bias, y))
    }

    fn sum_rows(&self, y: (&AnyBuffer, Shape), bias: &mut AnyBuffer, add: bool) -> Done {
        hand!(self, |engine, y, bias| engine.sum_rows(y, bias, add))
    }

    fn activate(&self, f: Activation, shape: Shape, x: &AnyBuffer, y: &mut AnyBuffer) -> Done {
        hand!(self, |engine, x, y| engine.activate(f, shape, x, y))
    }

    fn activate_gradient(
        &self,
        f: Activation,
        shape: Shape,
        x: &AnyBuffer,
        y: &AnyBuffer,
        dy: &AnyBuffer,
        dx: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, x, y, dy, dx| engine.activate_gradient(f, shape, x, y, dy, dx))
    }

    fn draw_mask(&self, rate: f64, key: DrawKey, shape: Shape, mask: &mut AnyBuffer) -> Done {
        hand!(self, |engine, mask| engine.draw_mask(rate, key, shape, mask))
    }

    fn multiply(&self, a: &AnyBuffer, x: &AnyBuffer, y: &mut AnyBuffer, add: bool) -> Done {
        hand!(self, |engine, a, x, y| engine.multiply(a, x, y, add))
    }

    fn scale(&self, factor: f64, x: &AnyBuffer, y: &mut AnyBuffer, add: bool) -> Done {
        hand!(self, |engine, x, y| engine.scale(factor, x, y, add))
    }

    fn scale_by(
        &self,
        c: (&AnyBuffer, usize),
        x: &AnyBuffer,
        y: &mut AnyBuffer,
        add: bool,
    ) -> Done {
        hand!(self, |engine, c, x, y| engine.scale_by(c, x, y, add))
    }

    fn dot(&self, x: &AnyBuffer, y: &AnyBuffer, out: (&mut AnyBuffer, usize), add: bool) -> Done {
        hand!(self, |engine, x, y, out| engine.dot(x, y, out, add))
    }

    fn maximum(&self, a: &AnyBuffer, b: &AnyBuffer, y: &mut AnyBuffer) -> Done {
        hand!(self, |engine, a, b, y| engine.maximum(a, b, y))
    }

    fn maximum_gradient(
        &self,
        x: &AnyBuffer,
        other: &AnyBuffer,
        strict: bool,
        dy: &AnyBuffer,
        dx: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, x, other, dy, dx| engine.maximum_gradient(x, other, strict, dy, dx))
    }

    fn put_columns(&self, x: (&AnyBuffer, Shape), y: (&mut AnyBuffer, Shape), at: usize) -> Done {
        hand!(self, |engine, x, y| engine.put_columns(x, y, at))
    }

    fn add_columns(&self, y: (&AnyBuffer, Shape), at: usize, x: (&mut AnyBuffer, Shape)) -> Done {
        hand!(self, |engine, y, x| engine.add_columns(y, at, x))
    }

    fn normalize_rows(&self, x: (&AnyBuffer, Shape), y: &mut AnyBuffer) -> Done {
        hand!(self, |engine, x, y| engine.normalize_rows(x, y))
    }

    fn normalize_rows_gradient(
        &self,
        x: (&AnyBuffer, Shape),
        y: &AnyBuffer,
        dy: &AnyBuffer,
        dx: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, x, y, dy, dx| engine.normalize_rows_gradient(x, y, dy, dx))
    }

    fn softmax(&self, x: (&AnyBuffer, Shape), y: &mut AnyBuffer) -> Done {
        hand!(self, |engine, x, y| engine.softmax(x, y))
    }

    fn softmax_gradient(&self, y: (&AnyBuffer, Shape), dy: &AnyBuffer, dx: &mut AnyBuffer) -> Done {
        hand!(self, |engine, y, dy, dx| engine.softmax_gradient(y, dy, dx))
    }

    fn group_dot(
        &self,
        x: (&AnyBuffer, Shape),
        a: &AnyBuffer,
        groups: usize,
        y: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, x, a, y| engine.group_dot(x, a, groups, y))
    }

    fn group_dot_gradient(
        &self,
        a: &AnyBuffer,
        groups: usize,
        dy: &AnyBuffer,
        dx: (&mut AnyBuffer, Shape),
    ) -> Done {
        hand!(self, |engine, a, dy, dx| engine.group_dot_gradient(a, groups, dy, dx))
    }

    fn group_sum(
        &self,
        x: (&AnyBuffer, Shape),
        groups: usize,
        dy: &AnyBuffer,
        da: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, x, dy, da| engine.group_sum(x, groups, dy, da))
    }

    fn attend(&self, input: &Attention<Self>, out: &mut AnyBuffer, norms: &mut AnyBuffer) -> Done {
        hand!(self, |engine, input, out, norms| engine.attend(&input, out, norms))
    }

    fn attend_gradient(&self, input: &Attention<Self>, back: AttentionGradient<Self>) -> Done {
        hand!(self, |engine, input, back| engine.attend_gradient(&input, back))
    }

    fn has_chains(&self, cols: usize) -> bool {
        match self {
            Self::Cpu(engine) => engine.has_chains(cols),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => engine.has_chains(cols),
        }
    }

    fn map_chains(
        &self,
        chains: Vec<ChainMaps<Self>>,
        weights: Vec<&AnyBuffer>,
        cols: usize,
        outs: Vec<&mut AnyBuffer>,
    ) -> Done {
        hand!(self, |engine, chains, weights, outs| engine.map_chains(chains, weights, cols, outs))
    }

    fn map_chains_gradient(
        &self,
        chains: Vec<ChainMaps<Self>>,
        dy: &AnyBuffer,
        cols: usize,
        outs: Vec<&mut AnyBuffer>,
    ) -> Done {
        hand!(self, |engine, chains, dy, outs| engine.map_chains_gradient(chains, dy, cols, outs))
    }

    fn joins_channels(&self, cols: usize, classes: usize) -> bool {
        match self {
            Self::Cpu(engine) => engine.joins_channels(cols, classes),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => engine.joins_channels(cols, classes),
        }
    }

    fn read_channels(
        &self,
        of: &JoinedChannels<Self>,
        x: (&AnyBuffer, Shape),
        bias: &AnyBuffer,
        kept: &mut AnyBuffer,
        y: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, of, x, bias, kept, y| engine.read_channels(&of, x, bias, kept, y))
    }

    fn read_channels_gradient(
        &self,
        of: &JoinedChannels<Self>,
        back: JoinedGradient<Self>,
        shape: Shape,
    ) -> Done {
        hand!(self, |engine, of, back| engine.read_channels_gradient(&of, back, shape))
    }

    fn log_softmax(&self, x: (&AnyBuffer, Shape), y: &mut AnyBuffer) -> Done {
        hand!(self, |engine, x, y| engine.log_softmax(x, y))
    }

    fn targets(&self, lanes: &[&[(u32, u32)]], to: &mut AnyTargets) -> Done {
        match self {
            Self::Cpu(engine) => engine.targets(lanes, &mut to.cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => engine.targets(lanes, &mut to.cuda),
        }
    }

    fn nll_loss(
        &self,
        y: (&AnyBuffer, Shape),
        targets: &AnyTargets,
    ) -> Result<(f64, usize), EngineError> {
        match self {
            Self::Cpu(engine) => engine.nll_loss(y.cpu()?, &targets.cpu),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => engine.nll_loss(y.cuda()?, &targets.cuda),
        }
    }

    fn nll_loss_gradient(
        &self,
        y: (&AnyBuffer, Shape),
        targets: &AnyTargets,
        dx: &mut AnyBuffer,
    ) -> Done {
        match self {
            Self::Cpu(engine) => engine.nll_loss_gradient(y.cpu()?, &targets.cpu, dx.cpu()?),
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => engine.nll_loss_gradient(y.cuda()?, &targets.cuda, dx.cuda()?),
        }
    }

    fn clip(&self, gradients: &[AnyBuffer], most: f64, factor: &mut AnyBuffer) -> Done {
        self.clip_all(gradients, most, factor)
    }

    fn adam(
        &self,
        step: AdamStep,
        clip: Option<&AnyBuffer>,
        gradient: &AnyBuffer,
        weights: &mut AnyBuffer,
        first: &mut AnyBuffer,
        second: &mut AnyBuffer,
    ) -> Done {
        hand!(self, |engine, clip, gradient, weights, first, second| {
            engine.adam(step, clip, gradient, weights, first, second)
        })
    }

    fn adam_all(&self, step: AdamStep, decays: &[f64], all: Moved<Self>) -> Done {
        self.step_all(step, decays, all)
    }
}
