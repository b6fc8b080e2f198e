//! Filters by their response: any smooth function of the eigenvalues.

use super::chebyshev::fit;
use super::config::check_tolerance;
use super::{Filter, FilterError};
use crate::compute::Series;
use crate::operator::Bounds;

/// A function h of the eigenvalues, from which [`Filter::from_response`] makes a filter. Closures are responses.
pub trait Response {
    /// h(λ).
    fn at(&self, lambda: f64) -> f64;

    /// What it is called in messages.
    fn name(&self) -> &'static str {
        "the response"
    }
}

impl<F: Fn(f64) -> f64> Response for F {
    fn at(&self, lambda: f64) -> f64 {
        self(lambda)
    }
}

impl Filter {
    /// The filter with a response h, for an operator with spectrum in `domain`: a Chebyshev series that differs from h
    /// by at most `tolerance` there. The response must be finite on the domain. A smooth response needs few terms,
    /// and one that jumps needs more than are tried.
    ///
    /// ```
    /// use magnon_core::compute::Bounds;
    /// use magnon_core::filter::Filter;
    /// // Keeps the middle of the spectrum.
    /// let domain = Bounds { min: -1.0, max: 1.0 };
    /// let filter = Filter::from_response(|x: f64| (-8.0 * x * x).exp(), domain, 1e-6)?;
    /// assert!((filter.response(0.5) - f64::exp(-2.0)).abs() < 1e-6);
    /// # Ok::<(), magnon_core::filter::FilterError>(())
    /// ```
    pub fn from_response(
        response: impl Response,
        domain: Bounds,
        tolerance: f64,
    ) -> Result<Self, FilterError> {
        check_tolerance(tolerance)?;
        let fitted = fit(response.name(), |lambda| response.at(lambda), domain, tolerance)?;
        let series = Series::Chebyshev { coefficients: fitted.coefficients, domain };
        Self::checked(series, fitted.truncation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };

    #[test]
    fn smooth_responses_are_met_and_others_refused() {
        let found = Filter::from_response(|x: f64| (3.0 * x).sin(), UNIT, 1e-9).unwrap();
        for i in -50..=50 {
            let x = f64::from(i) / 50.0;
            assert!((found.response(x) - (3.0 * x).sin()).abs() <= found.truncation() + 1e-13);
        }
        assert!(found.truncation() <= 1e-9);
        for response in [f64::signum, f64::recip, |x: f64| x.sqrt()] {
            assert!(Filter::from_response(response, UNIT, 1e-6).is_err());
        }
        assert!(Filter::from_response(f64::cos, UNIT, 0.0).is_err());
    }
}
