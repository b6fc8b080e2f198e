//! `Device`: the one place that chooses an engine.

use super::{Engine, EngineError};
use crate::memory;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Where training, prediction, filtering and the solvers for spectra run: `cpu`, `cuda` or `cuda:0` for the first NVIDIA card,
/// `cuda:1` for the second, `auto` for a card where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Device {
    /// Main memory and the threads of the current pool.
    #[default]
    Cpu,
    /// The NVIDIA card of a number.
    Cuda(usize),
    /// The first NVIDIA card where there is one that works, else the processor.
    Auto,
}

impl Device {
    /// Whether it is the processor.
    pub fn is_cpu(&self) -> bool {
        *self == Self::Cpu
    }

    /// What will be used, in words: the processor, or the name of a card.
    pub fn describe(self) -> Result<String, EngineError> {
        Ok(self.engine()?.name().to_owned())
    }

    /// The engine of the device, where there is one.
    pub fn engine(self) -> Result<Engine, EngineError> {
        match self {
            Self::Cpu => processor(),
            Self::Auto => Engine::cuda(0).or_else(|_| processor()),
            Self::Cuda(number) => Engine::cuda(number),
        }
    }
}

/// The stack of a thread, with what the system keeps beside it. Where there is no room for that, starting the thread may end
/// the process.
const STACK: usize = (2 << 20) + (1 << 18);

/// Whether so many threads can be started.
pub fn has_room_for(threads: usize) -> bool {
    memory::has_room(threads.saturating_mul(STACK))
}

/// What a thread works in when dense matrices are multiplied: that of faer's kernels, which is asked for when a thread first
/// needs it, and then in a way that ends the process where there is none. It is twice the last cache of the processor.
const WORK_AREA: usize = 64 << 20;

fn processor() -> Result<Engine, EngineError> {
    let threads = rayon::current_num_threads();
    if !memory::has_room(threads.saturating_mul(WORK_AREA)) {
        return Err(EngineError::Threads { threads, bytes: WORK_AREA });
    }
    Ok(Engine::cpu())
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Auto => f.write_str("auto"),
            Self::Cuda(0) => f.write_str("cuda"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "cpu" => Ok(Self::Cpu),
            "auto" => Ok(Self::Auto),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let number = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                let unknown =
                    || format!("there is no device {text}; take cpu, cuda, cuda:1 or auto");
                number.map(Self::Cuda).ok_or_else(unknown)
            }
        }
    }
}

impl TryFrom<String> for Device {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Device> for String {
    fn from(device: Device) -> Self {
        device.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in ["cpu", "cuda", "cuda:1", "auto"] {
            assert_eq!(name.parse::<Device>().unwrap().to_string(), name);
        }
        assert_eq!("cuda:0".parse(), Ok(Device::Cuda(0)));
        for wrong in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }
}
