//! The bank: channels of filtered features, kept apart and weighed.

mod blocks;
mod chain;
mod channel;
mod channels;
mod compute;
mod filtered;
mod head;
mod join;
mod map_chains;
mod network;
mod prepared;
mod probe;
mod table;
mod twins;
mod walks;
mod words;

pub use channel::Channel;
pub use channels::Channels;
pub use filtered::{ChannelBlock, filter_channels};
pub use join::Join;
pub use map_chains::{MapChain, MapChains};

use super::error::{check_count, check_dropout, check_width};
use super::tunable::{Tunable, Values, whole};
use super::{
    Architecture, Direction, InputShare, Inputs, ModelError, ModelInfo, Network, TrainingDefaults,
};
use crate::nn::{Init, NamedNumbers, WEIGHT_COPIES};
use head::Head;
use magnon_core::compute::{Engine, EngineError};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::memory::is_granted;
use network::Bank;
use prepared::Prepared;
use serde::{Deserialize, Serialize};

/// How the hidden layer of a bank is made non-linear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BankActivation {
    /// max(x, 0); of complex channels the real part is taken first.
    #[default]
    Relu,
    /// tanh x; of complex channels the real part is taken first.
    Tanh,
    /// MGC's: tanh(Re z)·tanh(Im z) of complex channels, tanh x of real ones.
    GatedTanh,
}

/// Channels C_c, each a filter of an operator on the features, with a projection of its own:
///
/// softmax(σ([a_1·n(C_1W_1 + b_1), a_2·n(C_2W_2 + b_2), …])·W + b),
///
/// where n scales rows to norm 1, a is a softmax over trained numbers, one for each channel, and σ the
/// activation. The weights a say what the data used.
///
/// A complex channel has a complex projection. With ReLU or tanh its real part is taken: Re(CW) =
/// Re(C)·Re(W) − Im(C)·Im(W), the real network on both parts of C side by side. With the gated tanh, no
/// scaling of rows and one channel `linear-rank(charge=q)`, the bank is MGC.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `channels` | `auto` | what is classified by; `auto` chooses by validation | |
/// | `hidden` | 64 | columns of a channel | 1 to 65536 |
/// | `layers` | 1 | hidden layers, that of the channels included | 1 to 4 |
/// | `activation` | `relu` | what makes it non-linear | `relu`, `tanh`, `gated_tanh` |
/// | `rescale` | false | whether rows of the features are scaled to a largest entry of 1 first | |
/// | `degrees` | false | whether ln(1 + d) of the degrees in and out are two more columns of the features | |
/// | `normalize_rows` | true | whether rows of a channel are scaled to norm 1 | |
/// | `dropout` | 0.5 | share of the hidden layers left out in training | [0, 1) |
/// | `weight_dropout` | 0 | share of the channels' weights left out in training | [0, 1) |
/// | `decay` | 1 | factor of the weight decay | 0 to 1000 |
/// | `init` | `glorot` | how weights are drawn | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BankConfig {
    /// What is classified by.
    pub channels: Channels,
    /// Columns of a channel.
    pub hidden: usize,
    /// Hidden layers, that of the channels included.
    pub layers: usize,
    /// What makes it non-linear.
    pub activation: BankActivation,
    /// Whether rows of the features are scaled to a largest entry of 1 first: 0/1 features that were divided by their row
    /// sums are what they were, so that in sums over neighbours those with many entries count for more.
    pub rescale: bool,
    /// Whether ln(1 + d) of the degrees in and out, which words divide out, are two more columns of the features.
    pub degrees: bool,
    /// Whether rows of a channel are scaled to norm 1.
    pub normalize_rows: bool,
    /// Share of the hidden layers left out in training.
    pub dropout: f64,
    /// Share of the channels' weights left out in training.
    pub weight_dropout: f64,
    /// Factor of the weight decay.
    pub decay: f64,
    /// How weights are drawn.
    pub init: Init,
}

/// Channels that a search tries where they are left open: smoothed features, the raw ones beside them, words over the
/// edges, adjacency rows, and charges.
const TRIED: [&str; 6] = [
    "linear-rank(order=8)",
    "x,linear-rank(order=8)",
    "x,out,in",
    "x,out,in,out.out,out.in,in.out,in.in",
    "x,out,in,out.out,out.in,in.out,in.in,rows-out,rows-in",
    "x,power(order=1,charge=1/8,self_loops=false,normalize=directed),\
     power(order=2,charge=1/8,self_loops=false,normalize=directed)",
];

/// Factor of the weight decay where no channel has weights for each node.
const STRONG_DECAY: f64 = 10.0;

impl Default for BankConfig {
    fn default() -> Self {
        Self {
            channels: Channels::Auto,
            hidden: 64,
            layers: 1,
            activation: BankActivation::Relu,
            rescale: false,
            degrees: false,
            normalize_rows: true,
            dropout: 0.5,
            weight_dropout: 0.0,
            decay: 1.0,
            init: Init::Glorot,
        }
    }
}

impl BankConfig {
    /// Refuses layers that there is no memory for before channels are filtered, which may take minutes: those behind the
    /// channels, whose widths are known without them.
    fn check_memory(&self, channels: usize) -> Result<(), ModelError> {
        let widths = channels.saturating_add(self.layers.saturating_sub(2));
        let numbers = self.hidden.saturating_mul(self.hidden).saturating_mul(widths);
        let bytes = numbers.saturating_mul(4 * WEIGHT_COPIES);
        match self.layers < 2 || is_granted(bytes) {
            true => Ok(()),
            false => Err(EngineError::OutOfMemory { bytes }.into()),
        }
    }

    fn prepared(&self) -> Prepared {
        let Self { rescale, degrees, .. } = *self;
        Prepared { rescale, degrees }
    }
}

impl Architecture for BankConfig {
    const INFO: ModelInfo = ModelInfo {
        name: "bank",
        title: "Bank",
        summary: "channels of directed filters with a projection each, weighed by a softmax",
        source: "Magnon; after FSGNN (Maurya et al., 2021), Dir-GNN (Rossi et al., 2023) and MGC",
        direction: Direction::InAndOut,
        operator: None,
        filter: None,
        training: TrainingDefaults { rate: 0.01, weight_decay: 1e-4, ..TrainingDefaults::MGC },
        tunable: &[
            Tunable { key: "channels", values: Values::Open(&TRIED) },
            Tunable::HIDDEN,
            whole("layers", &[1, 2]),
            Tunable { key: "activation", values: Values::Words(&["relu", "tanh", "gated_tanh"]) },
            Tunable { key: "rescale", values: Values::Flag },
            Tunable { key: "degrees", values: Values::Flag },
            Tunable::NORMALIZE_ROWS,
            Tunable::DROPOUT,
        ],
    };

    fn check(&self) -> Result<(), ModelError> {
        check_width("number of hidden units", self.hidden)?;
        check_count("number of layers", self.layers, 4, "from 1 to 4")?;
        if !(0.0..=1000.0).contains(&self.decay) {
            let (name, value) = ("factor of the weight decay", self.decay);
            return Err(ModelError::OutOfRange { name, value, range: "from 0 to 1000" });
        }
        check_dropout(self.weight_dropout)?;
        check_dropout(self.dropout)
    }

    fn alternatives(&self, graph: &DiGraph, features: &Features) -> Vec<Self> {
        if let Channels::Given(_) = self.channels {
            return Vec::new();
        }
        let rescale = features.values().iter().all(|&x| x >= 0.0);
        // A strong decay keeps few labels from being learnt by heart; weights for each node cannot bear it.
        let strong = Self { decay: STRONG_DECAY * self.decay, ..self.clone() };
        // The size of a row that is a mean over neighbours tells how sure it is.
        let smooth = Self { normalize_rows: false, ..strong.clone() };
        // Few labels are learnt by heart from few of many features; with weights dropped, more of them count. Features that
        // are smoothed over the whole graph do not gain by it.
        let masked = Self { weight_dropout: 0.5, ..smooth.clone() };
        let walks = Self { rescale, ..strong };
        let sized = Self { degrees: true, ..walks.clone() };
        let rowed = Self { decay: self.decay, ..sized.clone() };
        let with =
            |bank: &Self, channels| Self { channels: Channels::Given(channels), ..bank.clone() };
        let mut banks = vec![
            with(&smooth, vec![Channel::low_pass(64)]),
            with(&masked, vec![Channel::low_pass(8)]),
            with(&masked, vec![Channel::page_rank(64)]),
            with(&smooth, channels::walks(graph)),
            with(&walks, channels::walks(graph)),
            with(&sized, channels::walks(graph)),
        ];
        banks.extend(channels::walks_and_rows(graph).map(|channels| with(&rowed, channels)));
        banks
    }

    fn shares(&self, weights: &[NamedNumbers]) -> Vec<InputShare> {
        let Channels::Given(channels) = &self.channels else { return Vec::new() };
        head::shares(weights)
            .into_iter()
            .zip(channels)
            .map(|(share, channel)| InputShare {
                name: channel.to_string(),
                words: channel.words(),
                share,
            })
            .collect()
    }

    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        let channels = self.channels.resolve(inputs);
        self.check_memory(channels.len())?;
        let computed = compute::Computed::new(engine, inputs, &channels, self.prepared())?;
        let (layout, head) = Head::new(self, inputs, &computed);
        Ok(Box::new(Bank::new(layout, head, computed)))
    }
}
