//! What spectra, their density and the frustration curve are asked for.

#[cfg(feature = "clap")]
use super::value;
use super::{DataSettings, OperatorSettings, SolverSettings, excludes, requires};
use crate::Error;
use crate::spectrum::{DensityConfig, FrustrationConfig, Select, SpectrumConfig};
use serde::{Deserialize, Serialize};

/// An end of the spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum End {
    /// The lower end
    Smallest,
    /// The upper end
    Largest,
}

/// What [`spectrum`](crate::workflow::spectrum), [`density`](crate::workflow::density) and
/// [`frustration`](crate::workflow::frustration) are asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SpectrumSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Which operator is built.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Find so many eigenvalues instead of all
    #[cfg_attr(feature = "clap", arg(long, value_name = "K", help_heading = "Spectrum"))]
    pub count: Option<usize>,
    /// Which end the counted eigenvalues are from
    #[cfg_attr(
        feature = "clap",
        arg(long, value_enum, requires = "count", help_heading = "Spectrum")
    )]
    pub which: Option<End>,
    /// The counted eigenvalues are those nearest to this number
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "SIGMA", requires = "count", conflicts_with = "which", allow_negative_numbers = true, help_heading = "Spectrum"))]
    pub near: Option<f64>,
    /// Compute eigenvectors too, and the residual of each pair
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Spectrum"))]
    pub vectors: bool,
    /// How they are found.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub solver: SolverSettings,
    /// Estimate the density of all eigenvalues, on a graph of any size
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["count", "vectors", "frustration"], help_heading = "Spectrum"))]
    pub density: bool,
    /// Random vectors of the density
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", requires = "density", default_value_t = DensityConfig::default().probes, help_heading = "Spectrum"))]
    pub probes: usize,
    /// Terms of the density's series: it sees details of 3 / N of half the spectrum's width
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", requires = "density", default_value_t = DensityConfig::default().moments, help_heading = "Spectrum"))]
    pub moments: usize,
    /// Smallest eigenvalue of the normalised Laplacian, without self loops, over charges from 0 to
    /// 1/2, and its minima; of the operator flags only --symmetrize counts
    #[cfg_attr(feature = "clap", arg(long, conflicts_with_all = ["count", "vectors"], help_heading = "Spectrum"))]
    pub frustration: bool,
    /// Let components other than the largest count for the frustration
    #[cfg_attr(feature = "clap", arg(long, requires = "frustration", help_heading = "Spectrum"))]
    pub whole_graph: bool,
    /// Points of the density [default: 400] or charges of the frustration curve [default: 51]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", help_heading = "Spectrum"))]
    pub points: Option<usize>,
}

impl Default for SpectrumSettings {
    fn default() -> Self {
        let DensityConfig { probes, moments, .. } = DensityConfig::default();
        let (data, operator, solver) = Default::default();
        let (count, which, near, points) = (None, None, None, None);
        let (vectors, density, frustration, whole_graph) = (false, false, false, false);
        Self {
            data,
            operator,
            count,
            which,
            near,
            vectors,
            solver,
            density,
            probes,
            moments,
            frustration,
            whole_graph,
            points,
        }
    }
}

impl SpectrumSettings {
    /// Which eigenvalues are found, and how.
    pub fn config(&self, seed: u64) -> Result<SpectrumConfig, Error> {
        self.check()?;
        let select = match (self.count, self.near, self.which) {
            (None, ..) => Select::All,
            (Some(count), Some(to), _) => Select::Nearest { to, count },
            (Some(count), None, Some(End::Largest)) => Select::Largest(count),
            (Some(count), ..) => Select::Smallest(count),
        };
        let config = SpectrumConfig { select, vectors: self.vectors, ..self.solver.config(seed)? };
        config.check()?;
        Ok(config)
    }

    /// How the density is estimated.
    pub fn density(&self, seed: u64) -> Result<DensityConfig, Error> {
        self.check()?;
        Ok(DensityConfig {
            moments: self.moments,
            probes: self.probes,
            points: self.points.unwrap_or(DensityConfig::default().points),
            seed,
            device: self.solver.device,
        })
    }

    /// How the frustration curve is computed.
    pub fn frustration(&self, seed: u64) -> Result<FrustrationConfig, Error> {
        self.check()?;
        let default = FrustrationConfig::default();
        let dense_up_to = default.solver.dense_up_to;
        Ok(FrustrationConfig {
            points: self.points.unwrap_or(default.points),
            whole_graph: self.whole_graph,
            symmetrize: self.operator.symmetrize.unwrap_or_default(),
            solver: SpectrumConfig { dense_up_to, ..self.solver.config(seed)? },
            ..default
        })
    }

    fn check(&self) -> Result<(), Error> {
        let default = Self::default();
        let (count, which) = (("count", self.count.is_some()), ("which", self.which.is_some()));
        let (density, vectors) = (("density", self.density), ("vectors", self.vectors));
        let (near, frustration) =
            (("near", self.near.is_some()), ("frustration", self.frustration));
        requires(which, count)?;
        requires(near, count)?;
        excludes(near, &[which])?;
        excludes(density, &[count, vectors, frustration])?;
        excludes(frustration, &[count, vectors])?;
        requires(("probes", self.probes != default.probes), density)?;
        requires(("moments", self.moments != default.moments), density)?;
        requires(("whole_graph", self.whole_graph), frustration)?;
        if self.points.is_some() && !self.density && !self.frustration {
            return Err(Error::parameter("points", "is for density and frustration"));
        }
        Ok(())
    }
}
