//! `AnyEngine`: whichever engine was chosen, as one type. Models and the trainer are compiled once for it,
//! and an operation costs one look at which engine it is.

mod engine;
mod optimise;
mod own;
mod replay;

use super::{Cpu, cpu};

#[cfg(feature = "cuda")]
use super::cuda::{self, Cuda};

/// An engine, chosen at run time.
pub enum AnyEngine {
    /// In main memory.
    Cpu(Cpu<f32>),
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(Box<Cuda>),
}

/// A buffer of [`AnyEngine`].
pub enum AnyBuffer {
    /// In main memory.
    Cpu(Vec<f32>),
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Buffer),
}

/// A map of [`AnyEngine`].
pub enum AnyMap {
    /// In main memory.
    Cpu(cpu::Map<f32>),
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Map),
}

/// Targets of [`AnyEngine`].
#[derive(Default)]
pub struct AnyTargets {
    cpu: Vec<(u32, u32)>,
    #[cfg(feature = "cuda")]
    cuda: cuda::CardTargets,
}

/// Steps that [`AnyEngine`] repeats by itself.
pub enum AnyReplay {
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Recording),
}
