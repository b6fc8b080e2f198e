//! Bernstein polynomials.

use super::form::to_unit;
use super::{Filter, FilterEntry, FilterError};
use crate::compute::Series;
use crate::compute::chebyshev::interpolate;
use crate::operator::{Bounds, Kind};

/// The change of basis takes time with the cube of their number.
const MOST: usize = 1024;

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["coefficients"],
    ..FilterEntry::new("bernstein", "Bernstein polynomial", |config, domain, kind| {
        Filter::bernstein(config.coefficients.as_deref().unwrap_or_default(), domain, kind)
    })
};

impl Filter {
    /// Σ_k θ_k C(K,k) 2^{−K} (2I − L)^{K−k} L^k, K = number of coefficients − 1: θ_k is about the
    /// response at the eigenvalue 2k/K of the Laplacian L.
    ///
    /// `kind` says whether the operator is L itself or an adjacency, where L = I − S; outside of the
    /// normalised case `domain` takes the place of [0, 2]. The basis is changed to Chebyshev
    /// polynomials, which costs K products instead of K².
    pub fn bernstein(
        coefficients: &[f64],
        domain: Bounds,
        kind: Kind,
    ) -> Result<Self, FilterError> {
        if coefficients.is_empty() {
            let (filter, parameter) = ("bernstein", "coefficients");
            return Err(FilterError::Missing { filter, parameter });
        }
        if coefficients.len() > MOST {
            let value = coefficients.len() as f64;
            let (name, range) = ("the number of Bernstein coefficients", "at most 1024");
            return Err(FilterError::OutOfRange { name, value, range });
        }
        let mut theta = coefficients.to_vec();
        if kind != Kind::Laplacian {
            theta.reverse(); // the largest eigenvalue of S is the smallest of L
        }
        let response = |lambda| de_casteljau(&theta, 0.5 * (1.0 + to_unit(domain, lambda)));
        let coefficients = interpolate(response, domain, theta.len());
        Self::checked(Series::Chebyshev { coefficients, domain }, 0.0)
    }
}

/// Σ θ_k C(K,k) t^k (1−t)^{K−k} by repeated means, which is stable for t in [0, 1].
fn de_casteljau(theta: &[f64], t: f64) -> f64 {
    let mut points = theta.to_vec();
    for last in (1..points.len()).rev() {
        for i in 0..last {
            points[i] = (1.0 - t) * points[i] + t * points[i + 1];
        }
    }
    points[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_define_the_basis() {
        let theta = [1.0, -2.0, 0.5, 3.0];
        let binomial = [1.0, 3.0, 3.0, 1.0];
        let laplacian = Bounds { min: 0.0, max: 2.0 };
        let filter = Filter::bernstein(&theta, laplacian, Kind::Laplacian).unwrap();
        let adjacency = Bounds { min: -1.0, max: 1.0 };
        let other = Filter::bernstein(&theta, adjacency, Kind::Adjacency).unwrap();
        for i in 0..=20 {
            let l = f64::from(i) / 10.0;
            let expected: f64 = (0..4)
                .map(|k| {
                    theta[k] * binomial[k] / 8.0 * (2.0 - l).powi(3 - k as i32) * l.powi(k as i32)
                })
                .sum();
            assert!((filter.response(l) - expected).abs() < 1e-14);
            assert!((other.response(1.0 - l) - expected).abs() < 1e-14);
        }
    }
}
