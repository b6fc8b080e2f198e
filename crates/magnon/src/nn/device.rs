//! `Device`: the one place that chooses an engine.

use super::{Cpu, Engine};
use serde::{Deserialize, Serialize};

/// Where training and prediction run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Device {
    /// Main memory and the threads of the current pool.
    #[default]
    Cpu,
}

/// Work that runs on whichever engine is chosen.
pub trait EngineWork {
    /// What it gives.
    type Output;
    /// Runs it.
    fn run<E: Engine<Real = f32>>(self, engine: &E) -> Self::Output;
}

impl Device {
    /// Runs work on the engine of the device.
    pub fn run<W: EngineWork>(self, work: W) -> W::Output {
        match self {
            Self::Cpu => work.run(&Cpu::parallel()),
        }
    }
}
