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
pub use dirgnn::JumpingKnowledge;
pub use error::ModelError;
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
pub use tunable::{Tunable, Values};

use magnon_core::compute::Engine;

table::models! {
    Mgc => mgc::MgcConfig,
    Mlp => mlp::MlpConfig,
    Sgc => sgc::SgcConfig,
    Gfnn => gfnn::GfnnConfig,
    S2gc => s2gc::S2gcConfig,
    Gcn => gcn::GcnConfig,
    Chebynet => chebynet::ChebynetConfig,
    Ppnp => ppnp::PpnpConfig,
    Appnp => appnp::AppnpConfig,
    GdcPpr => gdc::GdcPprConfig,
    GdcHkpr => gdc::GdcHkprConfig,
    Gprgnn => gprgnn::GprgnnConfig,
    Gat => gat::GatConfig,
    Digcn => digcn::DigcnConfig,
    Magnet => magnet::MagnetConfig,
    Dirgnn => dirgnn::DirgnnConfig,
    Fabernet => fabernet::FabernetConfig,
    Fsgnn => fsgnn::FsgnnConfig,
    Linkx => linkx::LinkxConfig,
    Bank => bank::BankConfig,
}
