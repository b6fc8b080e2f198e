//! Fitting Chebyshev series to smooth functions.

use super::Bounds;
use std::f64::consts::PI;

/// A Chebyshev series of a function.
pub(crate) struct Fitted {
    /// The c_k.
    pub coefficients: Vec<f64>,
    /// What the coefficients left out sum to.
    pub truncation: f64,
}

/// Most terms that are tried.
pub(crate) const MAX_TERMS: usize = 1 << 13;

/// The Chebyshev series of `h` on `domain`, cut where what is left out sums to less than
/// `tolerance`, or to rounding noise where that is more; `None` where too many terms are needed.
pub(crate) fn fit(h: impl Fn(f64) -> f64, domain: Bounds, tolerance: f64) -> Option<Fitted> {
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
            return Some(Fitted { coefficients, truncation });
        }
        terms *= 2;
    }
    None
}

/// Coefficients of the polynomial of degree `terms − 1` through `h` at the Chebyshev points.
pub(crate) fn interpolate(h: impl Fn(f64) -> f64, domain: Bounds, terms: usize) -> Vec<f64> {
    // cos(π j / (2 terms)) for j = 0 … 4·terms − 1, so that every cosine needed is a look-up.
    let cosines: Vec<f64> =
        (0..4 * terms).map(|j| (PI * j as f64 / (2 * terms) as f64).cos()).collect();
    let values: Vec<f64> =
        (0..terms).map(|i| h(domain.centre() + domain.half_width() * cosines[2 * i + 1])).collect();
    let coefficient = |k: usize| {
        let cosine = |i: usize| cosines[k * (2 * i + 1) % (4 * terms)];
        let sum: f64 = values.iter().enumerate().map(|(i, v)| v * cosine(i)).sum();
        sum * if k == 0 { 1.0 } else { 2.0 } / terms as f64
    };
    (0..terms).map(coefficient).collect()
}
