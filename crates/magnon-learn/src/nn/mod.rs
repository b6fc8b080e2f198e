//! The network's machinery: a reverse-mode tape over real and complex matrices, initial weights and
//! optimisers.
//!
//! A [`Tape`] owns every buffer that a step needs and gives them out again at the next one, so that
//! a step allocates nothing once the first has run. A [`Trace`] records operations on a tape as they
//! are computed and then walks back over them. Where numbers live and how products are made is
//! the affair of an [`Engine`](magnon_core::compute::Engine).

mod adam;
mod backward;
mod custom;
mod init;
mod layout;
mod parameters;
mod schedule;
mod tape;
mod trace;

pub use adam::{Adam, AdamConfig, Decay};
pub use custom::{CustomNode, CustomOp};
pub use init::{Init, initialise, initialise_bias};
pub(crate) use layout::WEIGHT_COPIES;
pub use layout::{Layout, Linear, NamedNumbers};
pub(crate) use parameters::download;
pub use parameters::{ParameterId, Parameters};
pub use schedule::Schedule;
pub use tape::Tape;
pub use trace::{Loss, Trace, Var};
