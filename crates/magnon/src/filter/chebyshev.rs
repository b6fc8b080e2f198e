//! Chebyshev series, and fitting them to smooth functions.

use super::form::{Form, centre, half};
use super::{Filter, FilterError};
use crate::operator::Bounds;
use std::f64::consts::PI;

impl Filter {
    /// Σ c_k T_k(S̃), with S̃ the operator mapped from `domain` to [−1, 1]: S itself for a normalised
    /// adjacency, L − I for a normalised Laplacian.
    pub fn chebyshev(coefficients: &[f64], domain: Bounds) -> Result<Self, FilterError> {
        if coefficients.is_empty() {
            let (filter, parameter) = ("chebyshev", "coefficients");
            return Err(FilterError::Missing { filter, parameter });
        }
        Self::checked(Form::Chebyshev { coefficients: coefficients.to_vec(), domain }, 0.0)
    }
}

/// A Chebyshev series of a function.
pub(crate) struct Fitted {
    /// The c_k.
    pub coefficients: Vec<f64>,
    /// What the coefficients left out sum to.
    pub truncation: f64,
}

/// Most terms that are tried.
const MAX_TERMS: usize = 1 << 13;

/// The Chebyshev series of `h` on `domain`, cut where what is left out sums to less than
/// `tolerance`, or to rounding noise where that is more.
pub(crate) fn fit(
    name: &'static str,
    h: impl Fn(f64) -> f64,
    domain: Bounds,
    tolerance: f64,
) -> Result<Fitted, FilterError> {
    let mut terms = 16;
    while terms <= MAX_TERMS {
        let mut coefficients = interpolate(&h, domain, terms);
        let largest = coefficients.iter().fold(0f64, |max, c| max.max(c.abs()));
        let allowed = tolerance.max(4.0 * f64::EPSILON * largest * terms as f64);
        let tail = |from: usize| coefficients[from..].iter().map(|c| c.abs()).sum::<f64>();
        // Resolved when all of the upper half could be left out.
        if tail(terms / 2) <= allowed {
            let kept = (1..=terms / 2).find(|&kept| tail(kept) <= allowed).unwrap_or(terms / 2);
            let truncation = tail(kept);
            coefficients.truncate(kept);
            return Ok(Fitted { coefficients, truncation });
        }
        terms *= 2;
    }
    Err(FilterError::NotResolved { filter: name, tolerance, terms: MAX_TERMS })
}

/// Coefficients of the polynomial of degree `terms − 1` through `h` at the Chebyshev points.
pub(super) fn interpolate(h: impl Fn(f64) -> f64, domain: Bounds, terms: usize) -> Vec<f64> {
    // cos(π j / (2 terms)) for j = 0 … 4·terms − 1, so that every cosine needed is a look-up.
    let cosines: Vec<f64> =
        (0..4 * terms).map(|j| (PI * j as f64 / (2 * terms) as f64).cos()).collect();
    let values: Vec<f64> =
        (0..terms).map(|i| h(centre(domain) + half(domain) * cosines[2 * i + 1])).collect();
    let coefficient = |k: usize| {
        let cosine = |i: usize| cosines[k * (2 * i + 1) % (4 * terms)];
        let sum: f64 = values.iter().enumerate().map(|(i, v)| v * cosine(i)).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / terms as f64
    };
    (0..terms).map(coefficient).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
