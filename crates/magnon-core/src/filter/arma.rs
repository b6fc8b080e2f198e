//! ARMA: a feed-forward part times a feedback part.

use super::chebyshev::fit;
use super::form::horner;
use super::{Accuracy, Filter, FilterEntry, FilterError};
use crate::compute::Series;
use crate::operator::Bounds;

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order", "coefficients", "feedback", "exact", "tolerance"],
    ..FilterEntry::new("arma", "Feed-forward times feedback part", |config, domain, _| {
        let feed_forward = config.coefficients.as_deref().unwrap_or_default();
        let feedback = config.feedback.as_deref().unwrap_or_default();
        Filter::arma(feed_forward, feedback, domain, config.accuracy())
    })
};

impl Filter {
    /// (Σ_{f≥0} ζ_f S^f)(I + Σ_{b≥1} η_b S^b)^{-1}, for an operator with spectrum in `domain`, on
    /// which the feedback part must not vanish. Exactly: solved by conjugate gradients; else as a
    /// Chebyshev series.
    pub fn arma(
        feed_forward: &[f64],
        feedback: &[f64],
        domain: Bounds,
        accuracy: Accuracy,
    ) -> Result<Self, FilterError> {
        let missing = |parameter| FilterError::Missing { filter: "arma", parameter };
        if feed_forward.is_empty() {
            return Err(missing("coefficients"));
        }
        if feedback.is_empty() {
            return Err(missing("feedback coefficients"));
        }
        let mut numerator = feed_forward.to_vec();
        let mut denominator = [&[1.0], feedback].concat();
        // A look at all numbers before any is used.
        Self::powers(numerator.clone(), 0.0)?;
        Self::powers(denominator.clone(), 0.0)?;
        if sign_on(&denominator, domain)? < 0.0 {
            numerator.iter_mut().chain(&mut denominator).for_each(|c| *c = -*c);
        }
        if accuracy == Accuracy::Exact {
            let form = Series::Rational { numerator, denominator };
            return Ok(Self::checked(form, 0.0)?.into_exact());
        }
        let response = |lambda| horner(&numerator, lambda) / horner(&denominator, lambda);
        let tolerance = match accuracy {
            Accuracy::Tolerance(tolerance) => {
                super::config::check_tolerance(tolerance)?;
                tolerance
            }
            _ => 0.0,
        };
        let mut fitted = fit("ARMA", response, domain, tolerance)?;
        if let Accuracy::Order(order) = accuracy
            && order + 1 < fitted.coefficients.len()
        {
            let dropped = fitted.coefficients.split_off(order + 1);
            fitted.truncation += dropped.iter().map(|c| c.abs()).sum::<f64>();
        }
        let form = Series::Chebyshev { coefficients: fitted.coefficients, domain };
        Self::checked(form, fitted.truncation)
    }
}

/// The sign that a polynomial has throughout `domain`, or the pole of its reciprocal.
fn sign_on(polynomial: &[f64], domain: Bounds) -> Result<f64, FilterError> {
    const POINTS: usize = 4096;
    let point = |i: usize| {
        let unit = (std::f64::consts::PI * i as f64 / POINTS as f64).cos();
        domain.centre() + domain.half_width() * unit
    };
    let value = |i: usize| horner(polynomial, point(i));
    let sign = value(0).signum();
    let largest = (0..=POINTS).fold(0f64, |max, i| max.max(value(i).abs()));
    let clear = |i: usize| value(i) * sign > 1e-12 * largest;
    match (0..=POINTS).find(|&i| !clear(i)) {
        Some(i) => Err(FilterError::Pole { at: point(i) }),
        None => Ok(sign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::Kind;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };

    #[test]
    fn series_follows_the_quotient() {
        let (zeta, eta) = ([0.5, 0.25], [-0.6, 0.2]);
        let closed = |x: f64| (0.5 + 0.25 * x) / (1.0 - 0.6 * x + 0.2 * x * x);
        let exact = Filter::arma(&zeta, &eta, UNIT, Accuracy::Exact).unwrap();
        let series = Filter::arma(&zeta, &eta, UNIT, Accuracy::Tolerance(1e-6)).unwrap();
        for i in -10..=10 {
            let lambda = f64::from(i) / 10.0;
            assert!((exact.response(lambda) - closed(lambda)).abs() < 1e-15);
            assert!(
                (series.response(lambda) - closed(lambda)).abs() <= series.truncation() + 1e-14
            );
        }
        assert!(series.truncation() <= 1e-6);
    }

    /// A pole just outside of the spectrum needs many terms, and the bound must still hold.
    #[test]
    fn near_poles_keep_the_bound() {
        let eta = [-0.99997];
        let series = Filter::arma(&[1.0], &eta, UNIT, Accuracy::Tolerance(1e-4)).unwrap();
        let worst = (-1000..=1000).map(|i| {
            let lambda = f64::from(i) / 1000.0;
            (series.response(lambda) - 1.0 / (1.0 + eta[0] * lambda)).abs()
        });
        let worst = worst.fold(0.0, f64::max);
        assert!(worst <= 1.01 * series.truncation() + 1e-7, "{worst:e} {:e}", series.truncation());
        assert!(series.truncation() <= 1e-4);
    }

    #[test]
    fn poles_in_the_spectrum_are_refused() {
        let pole = Filter::arma(&[1.0], &[-1.5], UNIT, Accuracy::Exact);
        assert!(matches!(pole, Err(FilterError::Pole { at }) if (at - 2.0 / 3.0).abs() < 1e-3));
        assert!(Filter::arma(&[1.0], &[], UNIT, Accuracy::Exact).is_err());
    }

    #[test]
    fn page_rank_is_a_special_case() {
        let arma = Filter::arma(&[0.2], &[-0.8], UNIT, Accuracy::Exact).unwrap();
        let ppr = Filter::page_rank(0.8, UNIT, Kind::Adjacency, Accuracy::Exact).unwrap();
        assert!((arma.response(0.3) - ppr.response(0.3)).abs() < 1e-15);
    }
}
