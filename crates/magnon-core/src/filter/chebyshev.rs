//! Chebyshev series.

use super::{Filter, FilterEntry, FilterError};
use crate::compute::chebyshev::{self, Fitted, MAX_TERMS};
use crate::compute::{Bounds, Series};

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["coefficients"],
    ..FilterEntry::new("chebyshev", "Chebyshev series", |config, domain, _| {
        Filter::chebyshev(config.coefficients.as_deref().unwrap_or_default(), domain)
    })
};

impl Filter {
    /// Σ c_k T_k(S̃), with S̃ the operator mapped from `domain` to [−1, 1]: S itself for a normalised
    /// adjacency, L − I for a normalised Laplacian.
    pub fn chebyshev(coefficients: &[f64], domain: Bounds) -> Result<Self, FilterError> {
        if coefficients.is_empty() {
            let (filter, parameter) = ("chebyshev", "coefficients");
            return Err(FilterError::Missing { filter, parameter });
        }
        Self::checked(Series::Chebyshev { coefficients: coefficients.to_vec(), domain }, 0.0)
    }
}

/// The Chebyshev series of `h`, the response of a filter of this name.
pub(super) fn fit(
    name: &'static str,
    h: impl Fn(f64) -> f64,
    domain: Bounds,
    tolerance: f64,
) -> Result<Fitted, FilterError> {
    let refused = || FilterError::NotResolved { filter: name, tolerance, terms: MAX_TERMS };
    chebyshev::fit(h, domain, tolerance).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn cosines_define_the_series() {
        let domain = Bounds { min: 0.0, max: 2.0 };
        let filter = Filter::chebyshev(&[0.25, -1.0, 0.5, 2.0], domain).unwrap();
        for i in 0..=10 {
            let angle = PI * f64::from(i) / 10.0;
            let expected: f64 = [0.25, -1.0, 0.5, 2.0]
                .iter()
                .enumerate()
                .map(|(k, c)| c * (k as f64 * angle).cos())
                .sum();
            assert!((filter.response(1.0 + angle.cos()) - expected).abs() < 1e-14);
        }
    }

    #[test]
    fn functions_are_fitted_to_the_tolerance() {
        let domain = Bounds { min: -3.0, max: 5.0 };
        let fitted = fit("exp", f64::exp, domain, 1e-8).unwrap();
        let filter = Filter::chebyshev(&fitted.coefficients, domain).unwrap();
        for i in 0..=80 {
            let x = -3.0 + f64::from(i) / 10.0;
            assert!((filter.response(x) - x.exp()).abs() < fitted.truncation + 1e-12);
        }
        assert!(fitted.truncation <= 1e-8);
        assert!(fit("step", |x: f64| x.signum(), domain, 1e-8).is_err());
    }
}
