//! Where numbers live and how products are made: devices, buffers, kernels and fixed linear maps.
//!
//! [`Device`] chooses an [`Engine`], which owns every operation on its [`Buffer`]s. Nothing outside of this module asks which
//! device it is. A device is a folder that implements the kernels; `engine` hands operations to it.
//!
//! A complex number is two real ones. The gradient of a real loss with respect to z = x + iy is kept
//! as ∂L/∂x + i·∂L/∂y, so that Y = AX has the gradients Ḡ_X = Aᴴ Ḡ_Y and Ḡ_A = Ḡ_Y Xᴴ, for real and
//! complex matrices alike.

mod activation;
mod adam_step;
mod attention;
mod chains;
#[doc(hidden)]
pub mod chebyshev;
pub(crate) mod conjugate_gradients;
mod cpu;
#[cfg(feature = "cuda")]
pub mod cuda;
mod device;
mod edge_list;
mod edge_matrix;
mod engine;
mod error;
#[doc(hidden)]
pub mod instructions;
mod joined_channels;
mod kernels;
mod lanes;
#[doc(hidden)]
pub mod map;
mod neighbourhood;
mod operands;
#[doc(hidden)]
pub mod pattern;
mod philox;
pub(crate) mod recurrence;
mod replay;
mod scalar;
mod series;
mod shape;
#[doc(hidden)]
pub mod steps;
#[doc(hidden)]
pub mod tile;

pub use activation::Activation;
pub use adam_step::{AdamBuffers, AdamStep};
pub use attention::{Attention, AttentionGradient};
pub use chains::ChainMaps;
pub use cpu::Breakdown;
pub(crate) use cpu::Cpu;
pub use device::{Device, has_room_for};
pub(crate) use edge_matrix::EdgeValues;
pub use edge_matrix::{Along, EdgeMatrix};
pub use engine::{Buffer, Engine, Map, Recording, TargetList};
pub use error::EngineError;
pub use joined_channels::{JoinedChannels, JoinedGradient};
pub use kernels::Storage;
pub use lanes::{LaneConfig, Relabelling};
pub use map::{MapSource, PreciseRows};
pub use neighbourhood::Neighbourhood;
pub use operands::{Done, DrawKey, Factor, Side};
pub use pattern::Pattern;
pub use replay::{ReplayConfig, ReplayScore, StepNumbers};
pub use scalar::Scalar;
pub use series::{Bounds, Series};
pub use shape::{Field, Shape};
