//! The network's machinery: a reverse-mode tape over real and complex matrices, initial weights and
//! optimisers.
//!
//! A [`Tape`] owns every buffer that a step needs and gives them out again at the next one, so that
//! a step allocates nothing once the first has run. A [`Pass`] records operations on a tape as they
//! are computed and then walks back over them. Where numbers live and how products are made is
//! the [`Engine`]'s affair; [`Cpu`] is one.
//!
//! A complex number is two real ones. The gradient of a real loss with respect to z = x + iy is kept
//! as ∂L/∂x + i·∂L/∂y, so that Y = AX has the gradients Ḡ_X = Aᴴ Ḡ_Y and Ḡ_A = Ḡ_Y Xᴴ, for real and
//! complex matrices alike.

mod adam;
mod backward;
mod cpu;
mod engine;
mod init;
mod map;
mod parameters;
mod pass;
mod philox;
mod scalar;
mod schedule;
mod shape;
mod tape;

pub use adam::{Adam, AdamConfig, Decay};
pub use cpu::{Breakdown, Cpu};
pub use engine::{Activation, AdamStep, Engine, Side};
pub use init::{Init, initialise, initialise_bias};
pub use map::Map;
pub use parameters::{ParameterId, Parameters};
pub use pass::{Loss, Pass, Var};
pub use scalar::Scalar;
pub use schedule::Schedule;
pub use shape::{Field, Shape};
pub use tape::Tape;
