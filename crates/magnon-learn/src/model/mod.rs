//! The models, one file each and one line each in the table below.
//!
//! An [`Architecture`] is a configuration that describes itself and builds a [`Network`] on a graph
//! with its features. A network has a [`Layout`](crate::nn::Layout) of parameters and gives [`View`]s:
//! what the logits of some nodes need, so that a step computes no more rows than the nodes it is
//! about can see. Nothing outside of a model's own file asks which model it is.

mod error;
mod graph;
mod info;
mod network;
mod rows;
mod select;
mod shared;
mod table;
mod tunable;

mod appnp;
mod bank;
mod chebynet;
mod digcn;
mod dirgnn;
mod fabernet;
mod fsgnn;
mod gat;
mod gcn;
mod gdc;
mod gfnn;
mod gprgnn;
mod linkx;
mod magnet;
mod mgc;
mod mlp;
mod ppnp;
mod s2gc;
mod sgc;

pub use bank::{BankActivation, Channel, ChannelBlock, Channels, filter_channels};
#[doc(hidden)] // for the tests of their gradients
pub use bank::{Join, MapChain, MapChains};
pub use dirgnn::JumpingKnowledge;
pub use error::ModelError;
pub use graph::{GraphModel, GraphNetwork, GraphView, operator};
pub use info::{Direction, FilterNeed, ModelInfo, OperatorNeed, TrainingDefaults};
pub use mgc::Gate;
pub use network::{
    Architecture, BuildSeconds, Gathered, InputShare, Inputs, Masked, Mode, Network, Purpose,
    Reach, RowClassifier, View,
};
pub use rows::{MappedRows, ProductOrder, RowSource};
pub use select::{ChargeChoice, KindChoice, OperatorChoice, PassChoice, PassEvidence, choose_pass};
pub use shared::SharedInputs;
pub(crate) use table::names_hint;
pub use table::{ModelConfig, register};
pub use tunable::{Tunable, Values};

table::models! {
    mgc::MgcConfig,
    mlp::MlpConfig,
    sgc::SgcConfig,
    gfnn::GfnnConfig,
    s2gc::S2gcConfig,
    gcn::GcnConfig,
    chebynet::ChebynetConfig,
    ppnp::PpnpConfig,
    appnp::AppnpConfig,
    gdc::GdcPprConfig,
    gdc::GdcHkprConfig,
    gprgnn::GprgnnConfig,
    gat::GatConfig,
    digcn::DigcnConfig,
    magnet::MagnetConfig,
    dirgnn::DirgnnConfig,
    fabernet::FabernetConfig,
    fsgnn::FsgnnConfig,
    linkx::LinkxConfig,
    bank::BankConfig,
}
