//! What a frequency response is asked for.

use super::solver::{MEMORY, bytes};
use super::{DataSettings, FilterSettings, OperatorSettings, excludes, requires, value};
use crate::Error;
use crate::operator::{Charge, Normalize};
use crate::spectrum::SpectrumConfig;
use crate::workflow::{FrequencyConfig, ResponseConfig};
use serde::{Deserialize, Serialize};

/// What [`response`](crate::workflow::response) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ResponseSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Which operator is built.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Which filter is applied.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub filter: FilterSettings,
    /// Eigenvalues of the Laplacian and of the renormalised adjacency in place of even points, with
    /// the approximation 1 - d/(d+1) λ and the filter's response beside them
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Response"))]
    pub eigenvalues: bool,
    /// Charges of the eigenvalues, such as 0,1/5,1/4 [default: the operator's]
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "Q,…",
            value_delimiter = ',',
            requires = "eigenvalues",
            help_heading = "Response"
        )
    )]
    #[serde(deserialize_with = "value::some_list")]
    pub charges: Option<Vec<Charge>>,
    /// Most memory in GiB that the dense solver may take
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "GIB", default_value_t = 4.0, requires = "eigenvalues", help_heading = "Response"))]
    pub memory: f64,
    /// Number of points, evenly spaced over the interval that holds the spectrum
    /// [default: 201]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "N", conflicts_with = "eigenvalues", help_heading = "Output")
    )]
    pub points: Option<usize>,
}

impl Default for ResponseSettings {
    fn default() -> Self {
        let (data, operator, filter) = Default::default();
        let (eigenvalues, charges, points) = (false, None, None);
        Self { data, operator, filter, eigenvalues, charges, memory: MEMORY, points }
    }
}

impl ResponseSettings {
    /// The response over even points.
    pub fn config(&self) -> Result<ResponseConfig, Error> {
        self.check()?;
        let points = self.points.unwrap_or(ResponseConfig::default().points);
        let config = ResponseConfig { filter: self.filter.config(), points };
        match config.check() {
            Ok(()) => Ok(config),
            Err(_) => Err(Error::parameter("points", "must be from 2 to 10000000")),
        }
    }

    /// The responses over eigenvalues.
    pub fn frequencies(&self) -> Result<FrequencyConfig, Error> {
        self.check()?;
        let solver = SpectrumConfig { memory: bytes(self.memory)?, ..Default::default() };
        let charges = self.charges.clone().unwrap_or_default();
        Ok(FrequencyConfig { filter: self.filter.config(), charges, solver })
    }

    /// Refuses what has no use with `eigenvalues`, or without.
    fn check(&self) -> Result<(), Error> {
        let eigenvalues = ("eigenvalues", self.eigenvalues);
        requires(("charges", self.charges.is_some()), eigenvalues)?;
        requires(("memory", self.memory != MEMORY), eigenvalues)?;
        excludes(("points", self.points.is_some()), &[eigenvalues])?;
        if self.eigenvalues && self.operator.pass.is_some() {
            let problem =
                "is not for eigenvalues, which shows the Laplacian and the adjacency as they are";
            return Err(Error::parameter("pass", problem));
        }
        if self.eigenvalues && self.operator.normalize == Some(Normalize::None) {
            let problem = "none is not for eigenvalues, which compares normalised operators";
            return Err(Error::parameter("normalize", problem));
        }
        Ok(())
    }
}
