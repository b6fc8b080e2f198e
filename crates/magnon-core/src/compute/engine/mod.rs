//! `Engine`: the device that was chosen, as one type. An operation costs one look at which device it is.

mod dispatch;
mod optimise;
mod own;
mod recording;

use super::kernels::Storage;
use super::{Breakdown, Cpu, EngineError, cpu};
use std::fmt;

#[cfg(feature = "cuda")]
use super::cuda::{self, Cuda};

pub use recording::Recording;

/// Where matrices live and products are made, chosen at run time by a [`Device`](super::Device).
///
/// Numbers go in and out in single precision, which is that of models and training. [`Engine::double`] computes with the
/// same numbers in double precision, so that gradients can be held against differences.
pub struct Engine(Backend);

/// The devices that there are.
enum Backend {
    /// Main memory, in single precision.
    Cpu(Cpu<f32>),
    /// Main memory, in double precision.
    Double(Cpu<f64>),
    /// An NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(Box<Cuda>),
}

/// Numbers of one matrix, where the engine has them.
pub enum Buffer {
    /// In main memory.
    Cpu(Vec<f32>),
    /// In main memory, in double precision.
    Double(Vec<f64>),
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Buffer),
}

/// A fixed linear map, prepared for the engine.
pub enum Map {
    /// In main memory.
    Cpu(cpu::Map<f32>),
    /// In main memory, in double precision.
    Double(cpu::Map<f64>),
    /// On an NVIDIA card.
    #[cfg(feature = "cuda")]
    Cuda(cuda::Map),
}

/// Targets (row, class) of a loss, where the engine has them.
#[derive(Default)]
pub struct TargetList {
    cpu: Vec<(u32, u32)>,
    #[cfg(feature = "cuda")]
    cuda: cuda::CardTargets,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Cpu(numbers) => numbers.fmt(f),
            Self::Double(numbers) => numbers.fmt(f),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => f.write_str("numbers on a card"),
        }
    }
}

impl Storage for Engine {
    type Buffer = Buffer;
    type Map = Map;
}

impl Engine {
    /// Main memory and the threads of the current pool.
    pub fn cpu() -> Self {
        Self(Backend::Cpu(Cpu::parallel()))
    }

    /// Main memory on the calling thread alone; it measures where its time goes.
    pub fn timed() -> Self {
        Self(Backend::Cpu(Cpu::timed()))
    }

    /// Main memory in double precision, and the threads of the current pool.
    pub fn double() -> Self {
        Self(Backend::Double(Cpu::parallel()))
    }

    /// The NVIDIA card of a number, or why there is none.
    #[cfg(feature = "cuda")]
    pub fn cuda(number: usize) -> Result<Self, EngineError> {
        let card = Cuda::new(number).map_err(EngineError::NoDevice)?;
        Ok(Self(Backend::Cuda(Box::new(card))))
    }

    /// The NVIDIA card of a number, or why there is none.
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(_: usize) -> Result<Self, EngineError> {
        let why = "this program was built without support for NVIDIA cards";
        Err(EngineError::NoDevice(why.to_owned()))
    }

    /// The processor, or the name of the card.
    pub fn name(&self) -> &str {
        match &self.0 {
            Backend::Cpu(_) | Backend::Double(_) => "CPU",
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.name(),
        }
    }

    /// Where the time went so far; zero unless the engine is [`timed`](Self::timed).
    pub fn breakdown(&self) -> Breakdown {
        match &self.0 {
            Backend::Cpu(cpu) => cpu.breakdown(),
            Backend::Double(cpu) => cpu.breakdown(),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => Breakdown::default(),
        }
    }

    /// Bytes of the card's memory that are free, and all; none in main memory.
    pub fn memory(&self) -> Result<(usize, usize), EngineError> {
        #[cfg(feature = "cuda")]
        if let Some(card) = self.card() {
            return card.memory();
        }
        Ok((0, 0))
    }

    /// Waits until all work has been done, as before a clock is read.
    pub fn synchronize(&self) -> Result<(), EngineError> {
        #[cfg(feature = "cuda")]
        if let Some(card) = self.card() {
            return card.synchronize();
        }
        Ok(())
    }

    /// The same engine, which records no steps to repeat them.
    pub fn stepwise(self) -> Self {
        #[cfg(feature = "cuda")]
        if let Backend::Cuda(card) = self.0 {
            return Self(Backend::Cuda(Box::new(card.stepwise())));
        }
        self
    }

    /// The card that it works on, where it does.
    #[cfg(feature = "cuda")]
    pub(crate) fn card(&self) -> Option<&Cuda> {
        match &self.0 {
            Backend::Cuda(cuda) => Some(cuda),
            _ => None,
        }
    }
}
