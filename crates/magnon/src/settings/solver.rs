//! How eigenvalues are found.

#[cfg(feature = "clap")]
use super::value;
use crate::Error;
use crate::compute::Device;
use crate::spectrum::SpectrumConfig;
use serde::{Deserialize, Serialize};

/// Memory that the dense solver may take, in GiB.
pub(super) const MEMORY: f64 = 4.0;

/// How eigenvalues are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SolverSettings {
    /// Bound of a counted pair's residual, relative to the largest eigenvalue possible
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "E", default_value_t = SpectrumConfig::default().tolerance, allow_negative_numbers = true, help_heading = "Spectrum"))]
    pub tolerance: f64,
    /// Most memory in GiB that the dense solver may take
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "GIB", default_value_t = 4.0, allow_negative_numbers = true, help_heading = "Spectrum"))]
    pub memory: f64,
    /// Where products are made: cpu, cuda, cuda:1 or auto; the dense solver runs on the processor
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "D", default_value_t, help_heading = "Spectrum")
    )]
    pub device: Device,
}

impl Default for SolverSettings {
    fn default() -> Self {
        let SpectrumConfig { tolerance, device, .. } = SpectrumConfig::default();
        Self { tolerance, memory: MEMORY, device }
    }
}

impl SolverSettings {
    /// The library's configuration.
    pub fn config(&self, seed: u64) -> Result<SpectrumConfig, Error> {
        let (memory, tolerance, device) = (bytes(self.memory)?, self.tolerance, self.device);
        Ok(SpectrumConfig { tolerance, memory, seed, device, ..SpectrumConfig::default() })
    }
}

/// Memory in bytes.
pub(super) fn bytes(gib: f64) -> Result<u64, Error> {
    match gib > 0.0 && gib.is_finite() {
        true => Ok((gib * (1u64 << 30) as f64) as u64),
        false => Err(Error::parameter("memory", "must be above 0, in GiB")),
    }
}
