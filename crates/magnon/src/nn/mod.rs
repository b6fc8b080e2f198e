//! The network's machinery: a reverse-mode tape over real and complex matrices, initial weights and
//! optimisers.
//!
//! A [`Tape`] owns every buffer that a step needs and gives them out again at the next one, so that
//! a step allocates nothing once the first has run. A [`Trace`] records operations on a tape as they
//! are computed and then walks back over them. Where numbers live and how products are made is
//! the [`Engine`]'s affair; [`Cpu`] is one, another works on NVIDIA cards, and [`Device`] chooses.
//!
//! A complex number is two real ones. The gradient of a real loss with respect to z = x + iy is kept
//! as ∂L/∂x + i·∂L/∂y, so that Y = AX has the gradients Ḡ_X = Aᴴ Ḡ_Y and Ḡ_A = Ḡ_Y Xᴴ, for real and
//! complex matrices alike.

mod adam;
mod any;
mod attention;
mod backward;
mod chains;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod engine;
mod error;
mod init;
mod join;
mod lanes;
mod layout;
pub(crate) mod map;
mod parameters;
mod philox;
mod replay;
mod scalar;
mod schedule;
mod shape;
mod tape;
pub(crate) mod tiles;
mod trace;

pub use adam::{Adam, AdamConfig, AdamStep, Decay, Moved};
pub use any::{AnyBuffer, AnyEngine, AnyMap, AnyReplay, AnyTargets};
pub use attention::{Attention, AttentionGradient};
pub use chains::{ChainMaps, MapChain};
pub use cpu::{Breakdown, Cpu, Map};
pub use device::{Device, EngineWork};
pub use engine::{Activation, Done, DrawKey, Engine, Factor, Propagator, Side};
pub use error::EngineError;
pub use init::{Init, initialise, initialise_bias};
pub use join::{Join, JoinedChannels, JoinedGradient};
pub use lanes::{LaneConfig, Relabelling};
pub(crate) use layout::WEIGHT_COPIES;
pub use layout::{Layout, Linear, NamedNumbers};
pub use map::{MapSource, PreciseRows, Series};
pub(crate) use parameters::download;
pub use parameters::{ParameterId, Parameters};
pub use replay::{Never, Replay, ReplayConfig, ReplayScore, StepNumbers};
pub use scalar::Scalar;
pub use schedule::Schedule;
pub use shape::{Field, Shape};
pub use tape::Tape;
pub use trace::{Loss, Trace, Var};
