//! Which filter is applied.

use super::value;
use crate::Error;
use crate::filter::{FilterConfig, FilterKind};
use crate::operator::{Bounds, Kind};
use serde::{Deserialize, Serialize};

/// Which filter is applied; what is not given stays as a configuration has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args), command(next_help_heading = "Filter"))]
pub struct FilterSettings {
    /// The filter h [default: linear-rank]
    #[cfg_attr(feature = "clap", arg(long, value_enum))]
    pub filter: Option<FilterKind>,
    /// Order K: of LinearRank and Markov [default: 8], or where an infinite series is cut
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub order: Option<usize>,
    /// α of personalised PageRank, above 0 and below 1 [default: 0.9]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "A", allow_negative_numbers = true))]
    pub alpha: Option<f64>,
    /// Diffusion time t of the heat kernel, above 0 [default: 1]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "T", allow_negative_numbers = true))]
    pub time: Option<f64>,
    /// Coefficients of polynomial, chebyshev and bernstein, or of arma's feed-forward part
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "C0,C1,…", value_delimiter = ',', allow_negative_numbers = true))]
    #[serde(deserialize_with = "value::numbers")]
    pub coefficients: Option<Vec<f64>>,
    /// Coefficients of the powers 1, 2, … in arma's feedback part
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "E1,E2,…", value_delimiter = ',', allow_negative_numbers = true))]
    #[serde(deserialize_with = "value::numbers")]
    pub feedback: Option<Vec<f64>>,
    /// Solve where a closed form exists (ppr, heat, arma), in double precision
    #[cfg_attr(feature = "clap", arg(long))]
    pub exact: bool,
    /// Where an infinite series without an order is cut [default: 1e-6]
    #[cfg_attr(feature = "clap", arg(long, value_parser = value::finite, value_name = "E", allow_negative_numbers = true))]
    pub tolerance: Option<f64>,
}

impl FilterSettings {
    /// The parameters that were given, and the numbers of those that models may have as settings.
    pub fn given(&self) -> Vec<(&'static str, Option<serde_json::Value>)> {
        let parameters = [
            ("filter", self.filter.is_some(), None),
            ("order", self.order.is_some(), self.order.map(Into::into)),
            ("alpha", self.alpha.is_some(), self.alpha.map(Into::into)),
            ("time", self.time.is_some(), self.time.map(Into::into)),
            ("coefficients", self.coefficients.is_some(), None),
            ("feedback", self.feedback.is_some(), None),
            ("exact", self.exact, None),
            ("tolerance", self.tolerance.is_some(), None),
        ];
        parameters.into_iter().filter(|of| of.1).map(|(name, _, value)| (name, value)).collect()
    }

    /// The library's configuration.
    pub fn config(&self) -> FilterConfig {
        let mut config = FilterConfig::default();
        self.put(&mut config);
        config
    }

    /// Puts what was given in place of what a configuration has. Another filter takes nothing
    /// over from the one that it replaces. Parameters that make no sense are refused before any
    /// graph is read.
    pub fn apply(&self, config: &mut FilterConfig) -> Result<(), Error> {
        self.put(config);
        let normalised = Bounds { min: -1.0, max: 1.0 };
        match config.build(normalised, Kind::Adjacency) {
            Err(error) if error.is_argument() => Err(Error::Argument(error.to_string())),
            _ => Ok(()), // what depends on the graph is known when there is one
        }
    }

    fn put(&self, config: &mut FilterConfig) {
        if let Some(kind) = self.filter
            && kind != config.kind
        {
            *config = FilterConfig { kind, ..Default::default() };
        }
        // Order, tolerance and exact are three ways to say where a series ends: one that is given takes
        // the place of another that the model has.
        if self.order.is_some() || self.tolerance.is_some() || self.exact {
            config.order = self.order;
            config.tolerance = self.tolerance;
            config.exact = self.exact;
        }
        config.alpha = self.alpha.or(config.alpha);
        config.time = self.time.or(config.time);
        config.coefficients = self.coefficients.clone().or(config.coefficients.take());
        config.feedback = self.feedback.clone().or(config.feedback.take());
    }
}
