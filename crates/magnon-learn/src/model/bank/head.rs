//! From the channels of a bank to logits.

use super::blocks::Blocks;
use super::compute::Computed;
use super::join::Join;
use super::{BankActivation, BankConfig};
use crate::model::{Inputs, Mode};
use crate::nn::{Layout, Linear, NamedNumbers, ParameterId, Trace, Var};
use magnon_core::compute::{Activation, Engine, Field, Shape};

/// The name of the parameter that weighs the channels.
const CHANNEL_WEIGHTS: &str = "channel_weights";

/// The layers of a bank.
#[derive(Clone)]
pub(super) struct Head {
    channels: Vec<Linear>,
    weights: ParameterId,
    /// Scales of the channels' biases, where rows are scaled to norm 1.
    sizes: Option<ParameterId>,
    /// Hidden layers after that of the channels.
    deeper: Vec<Linear>,
    last: Linear,
    activation: BankActivation,
    dropout: f64,
    weight_dropout: f64,
}

/// The dropout of the first channel's weights; those of the hidden layers come before.
const WEIGHTS: u32 = 16;

impl Head {
    pub fn new(config: &BankConfig, inputs: &Inputs, computed: &Computed) -> (Layout, Self) {
        let mut layout = Layout::default();
        let gated = config.activation == BankActivation::GatedTanh;
        let mut channels = Vec::new();
        for (c, channel) in computed.channels.iter().enumerate() {
            let name = format!("channels.{c}");
            let shape = Shape::new(channel.inputs, config.hidden, channel.field);
            let weight = layout.weight(&format!("{name}.weight"), shape, config.init);
            // Where the real part is taken, only the real part of a bias would count.
            let row = if gated { shape.with_rows(1) } else { Shape::real(1, config.hidden) };
            let bias = layout.bias(&format!("{name}.bias"), row, shape.rows(), config.init);
            channels.push(Linear { weight, bias: Some(bias), shape });
        }
        let count = channels.len();
        let weights = layout.given(CHANNEL_WEIGHTS, Shape::real(1, count), vec![0.0; count]);
        layout.without_decay(weights);
        let sizes = config.normalize_rows.then(|| {
            let sizes = computed.channels.iter().map(|channel| channel.size(config.hidden));
            let sizes = layout.given("bias_scales", Shape::real(1, count), sizes.collect());
            layout.without_decay(sizes);
            sizes
        });
        let mut width = config.hidden * count;
        let mut deeper = Vec::new();
        for l in 1..config.layers {
            let shape = Shape::real(width, config.hidden);
            deeper.push(layout.linear(&format!("layers.{l}"), shape, config.init));
            width = config.hidden;
        }
        let last = layout.linear("readout", Shape::real(width, inputs.classes), config.init);
        layout.scale_decay(config.decay);
        let BankConfig { activation, dropout, weight_dropout, .. } = *config;
        let head =
            Self { channels, weights, sizes, deeper, last, activation, dropout, weight_dropout };
        (layout, head)
    }

    pub fn logits(&self, trace: &mut Trace, blocks: &Blocks, mode: Mode) -> Var {
        let shares = trace.parameter(self.weights);
        let shares = trace.softmax(shares);
        let join = Join {
            normalize: self.sizes.is_some(),
            activation: match self.activation {
                BankActivation::Relu => Some(Activation::Relu),
                BankActivation::Tanh => Some(Activation::Tanh),
                BankActivation::GatedTanh => None,
            },
            dropout: mode.key(0).map(|key| (self.dropout, key)),
        };
        let weights = self.channel_weights(trace, mode);
        let mut hidden = match (blocks, self.last.bias) {
            (Blocks::Together { chains, part }, Some(bias)) => {
                let x = chains.apply(trace, &weights, *part);
                let biases = self.channels.iter().enumerate();
                let biases: Vec<Var> =
                    biases.filter_map(|(c, channel)| self.bias(trace, c, channel)).collect();
                let readout = [self.last.weight, bias].map(|id| trace.parameter(id));
                return join.read(trace, x, &biases, shares, readout);
            }
            (Blocks::Together { .. }, None) => unreachable!("a readout has a bias"),
            (Blocks::Apart(blocks), _) => {
                let mut parts = Vec::with_capacity(self.channels.len());
                for (c, (channel, block)) in self.channels.iter().zip(blocks).enumerate() {
                    let product = block.times(trace, weights[c]);
                    let bias = self.bias(trace, c, channel);
                    parts.push(self.read(trace, product, bias));
                }
                join.apply(trace, &parts, shares)
            }
        };
        for (layer, site) in self.deeper.iter().zip(1..) {
            let sum = layer.apply(trace, hidden);
            let active = self.activate(trace, sum);
            hidden = mode.dropout(trace, active, self.dropout, site);
        }
        self.last.apply(trace, hidden)
    }

    /// The weights of all channels, some of them dropped.
    fn channel_weights(&self, trace: &mut Trace, mode: Mode) -> Vec<Var> {
        let mut weights = Vec::with_capacity(self.channels.len());
        for (site, channel) in (WEIGHTS..).zip(&self.channels) {
            let weight = trace.parameter(channel.weight);
            weights.push(match self.drops_weights() {
                true => mode.dropout(trace, weight, self.weight_dropout, site),
                false => weight,
            });
        }
        weights
    }

    /// Whether an engine takes all channels at once, where they are chains of sparse maps.
    pub fn takes_chains(&self, engine: &Engine) -> bool {
        let Some(first) = self.channels.first() else { return false };
        let (cols, classes) = (first.shape.cols(), self.last.shape.cols());
        self.deeper.is_empty()
            && self.activation == BankActivation::Relu
            && engine.has_chains(cols)
            && engine.joins_channels(cols, classes)
    }

    /// Whether training leaves out weights of the channels.
    pub fn drops_weights(&self) -> bool {
        self.weight_dropout > 0.0
    }

    /// The bias of a channel. Beside rows that are scaled to norm 1 afterwards it counts by its size in relation to
    /// theirs: it is measured in their size, so that the scale of the features does not matter.
    fn bias(&self, trace: &mut Trace, c: usize, channel: &Linear) -> Option<Var> {
        let bias = trace.parameter(channel.bias?);
        Some(match self.sizes {
            Some(sizes) => {
                let sizes = trace.parameter(sizes);
                trace.scale_by(sizes, c, bias)
            }
            None => bias,
        })
    }

    /// A channel's product as real numbers, and the bias that is still to be added.
    fn read(&self, trace: &mut Trace, product: Var, bias: Option<Var>) -> (Var, Option<Var>) {
        let complex = trace.shape(product).field() == Field::Complex;
        if self.activation == BankActivation::GatedTanh {
            let f = if complex { Activation::GatedTanh } else { Activation::Tanh };
            let sum = bias.map_or(product, |bias| trace.bias(product, bias));
            return (trace.activate(f, sum), None);
        }
        if !complex {
            return (product, bias);
        }
        let real = trace.activate(Activation::RealPart, product);
        // A bias takes over its summand, which an activation keeps.
        (trace.sum(&[(1.0, real)]), bias)
    }

    fn activate(&self, trace: &mut Trace, x: Var) -> Var {
        let f = match self.activation {
            BankActivation::Relu => Activation::Relu,
            BankActivation::Tanh | BankActivation::GatedTanh => Activation::Tanh,
        };
        trace.activate(f, x)
    }
}

/// The softmax of trained channel weights.
pub(super) fn shares(weights: &[NamedNumbers]) -> Vec<f64> {
    let found = weights.iter().find(|(name, ..)| name == CHANNEL_WEIGHTS);
    let Some((_, _, numbers)) = found else { return Vec::new() };
    let most = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f64> = numbers.iter().map(|&x| f64::from(x - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.iter().map(|power| power / sum).collect()
}
