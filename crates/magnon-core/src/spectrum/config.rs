//! `SpectrumConfig`: which eigenvalues, how closely, with how much memory.

use super::SpectrumError;
use super::error::range;
use crate::compute::Device;
use serde::{Deserialize, Serialize};

/// Which eigenvalues are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Select {
    /// All of them.
    #[default]
    All,
    /// So many at the lower end.
    Smallest(usize),
    /// So many at the upper end.
    Largest(usize),
    /// So many around a number σ.
    Nearest {
        /// σ.
        to: f64,
        /// How many.
        count: usize,
    },
}

impl Select {
    /// How many eigenvalues are wanted; `None` for all.
    pub fn count(self) -> Option<usize> {
        match self {
            Self::All => None,
            Self::Smallest(count) | Self::Largest(count) | Self::Nearest { count, .. } => {
                Some(count)
            }
        }
    }
}

/// Configuration of a [`Spectrum`](super::Spectrum).
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `select` | `all` | which eigenvalues | at least one, at most n |
/// | `vectors` | false | whether eigenvectors are wanted | |
/// | `tolerance` | 1e-8 | bound of ‖Su − λu‖, relative to the largest \|λ\| possible | 1e-13 to 1e-2 |
/// | `memory` | 4 GiB | most that the dense solver may take, in bytes | |
/// | `dense_up_to` | 1000 | components of up to so many nodes are solved densely | |
/// | `max_products` | 200 000 | products with a block before the iteration gives up | at least 1 |
/// | `seed` | 0 | of the random start of the iteration | |
/// | `device` | `cpu` | where the products of the iteration are made | not the dense solver's |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpectrumConfig {
    /// Which eigenvalues.
    pub select: Select,
    /// Whether eigenvectors are wanted.
    pub vectors: bool,
    /// Bound of ‖Su − λu‖ for the iteration, relative to the radius of the operator's bounds.
    pub tolerance: f64,
    /// Most bytes that the dense solver may take.
    pub memory: u64,
    /// Components of up to so many nodes are solved densely when a few eigenvalues are wanted.
    pub dense_up_to: usize,
    /// Products with a block of vectors before the iteration gives up.
    pub max_products: usize,
    /// Seed of the random start of the iteration.
    pub seed: u64,
    /// Where the products of the iteration are made, in double precision.
    #[serde(skip_serializing_if = "Device::is_cpu")]
    pub device: Device,
}

impl Default for SpectrumConfig {
    fn default() -> Self {
        Self {
            select: Select::All,
            vectors: false,
            tolerance: 1e-8,
            memory: 4 << 30,
            dense_up_to: 1000,
            max_products: 200_000,
            seed: 0,
            device: Device::Cpu,
        }
    }
}

impl SpectrumConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), SpectrumError> {
        if let Some(count) = self.select.count() {
            range("the number of eigenvalues", count as f64, count > 0, "at least 1")?;
        }
        if let Select::Nearest { to, .. } = self.select {
            range("the number that eigenvalues are near to", to, to.is_finite(), "finite")?;
        }
        let tolerance = self.tolerance;
        let fits = (1e-13..=1e-2).contains(&tolerance);
        range("the tolerance", tolerance, fits, "from 1e-13 to 1e-2")?;
        let products = self.max_products;
        range("the number of products", products as f64, products > 0, "at least 1")
    }
}
