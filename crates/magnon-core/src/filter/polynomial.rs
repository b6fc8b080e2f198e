//! The general polynomial.

use super::form::horner;
use super::{Filter, FilterEntry, FilterError};
use crate::compute::Series;
use crate::compute::chebyshev::interpolate;
use crate::operator::Bounds;

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["coefficients"],
    ..FilterEntry::new("polynomial", "General polynomial", |config, _, _| {
        Filter::polynomial(config.coefficients.as_deref().unwrap_or_default())
    })
};

impl Filter {
    /// Σ θ_k S^k.
    pub fn polynomial(coefficients: &[f64]) -> Result<Self, FilterError> {
        if coefficients.is_empty() {
            let (filter, parameter) = ("polynomial", "coefficients");
            return Err(FilterError::Missing { filter, parameter });
        }
        Self::powers(coefficients.to_vec(), 0.0)
    }
}

/// Σ θ_k P^k for the P of a diffusion: the operator itself or, of a Laplacian, I − L. The latter is
/// the same polynomial of L in Chebyshev form.
pub(super) fn of_diffusion(
    theta: Vec<f64>,
    domain: Bounds,
    laplacian: bool,
    truncation: f64,
) -> Result<Filter, FilterError> {
    if !laplacian {
        return Filter::powers(theta, truncation);
    }
    let response = |lambda| horner(&theta, 1.0 - lambda);
    let coefficients = interpolate(response, domain, theta.len());
    Filter::checked(Series::Chebyshev { coefficients, domain }, truncation)
}

/// Largest |p| of that P.
pub(super) fn diffusion_radius(domain: Bounds, laplacian: bool) -> f64 {
    match laplacian {
        true => (1.0 - domain.min).abs().max((1.0 - domain.max).abs()),
        false => domain.radius(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        let filter = Filter::polynomial(&[0.5, -1.0, 2.0]).unwrap();
        assert_eq!(filter.response(3.0), 15.5);
        assert!(Filter::polynomial(&[]).is_err());
        assert!(Filter::polynomial(&[f64::NAN]).is_err());
    }
}
