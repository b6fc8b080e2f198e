//! The heat kernel.

use super::chebyshev::fit;
use super::form::{Form, MAX_ORDER};
use super::{Accuracy, Filter, FilterError};
use crate::operator::Bounds;

impl Filter {
    /// Σ_k e^{−t} t^k/k! S^k = exp(−t(I − S)), t > 0, for an operator with spectrum in `domain`.
    /// Exactly: as a Chebyshev series to machine precision.
    pub fn heat(time: f64, domain: Bounds, accuracy: Accuracy) -> Result<Self, FilterError> {
        if !(time > 0.0 && time.is_finite()) {
            return Err(FilterError::OutOfRange {
                name: "time",
                value: time,
                range: "a finite number above 0",
            });
        }
        if accuracy == Accuracy::Exact {
            let response = |lambda: f64| (-time * (1.0 - lambda)).exp();
            let fitted = fit("the heat kernel", response, domain, f64::EPSILON)?;
            let form = Form::Chebyshev { coefficients: fitted.coefficients, domain };
            return Ok(Self::checked(form, fitted.truncation)?.into_exact());
        }
        let (order, tolerance) = match accuracy {
            Accuracy::Order(order) => (order, 0.0),
            Accuracy::Tolerance(tolerance) => {
                super::config::check_tolerance(tolerance)?;
                (MAX_ORDER, tolerance)
            }
            Accuracy::Exact => (0, 0.0),
        };
        if order > MAX_ORDER {
            return Err(FilterError::OrderTooLarge(order));
        }
        // Terms e^{−t} t^k/k! through their logarithms, so that large t neither under- nor overflows
        // on the way. The tail on the spectrum is Σ_{k>K} e^{−t} (tρ)^k/k!.
        let radius = domain.radius();
        let log_term = |k: usize, log_factorial: f64, factor: f64| {
            -time + if k == 0 { 0.0 } else { k as f64 * factor.ln() } - log_factorial
        };
        let mut log_factorial = 0.0;
        let mut terms = Vec::new();
        let tail_after = |k: usize, log_factorial: f64| {
            // Beyond its largest term the series falls faster than geometrically.
            let ratio = time * radius / (k as f64 + 2.0);
            let next = log_term(k + 1, log_factorial + (k as f64 + 1.0).ln(), time * radius).exp();
            if ratio < 1.0 { next / (1.0 - ratio) } else { f64::INFINITY }
        };
        for k in 0..=order {
            if k > 0 {
                log_factorial += (k as f64).ln();
            }
            terms.push(log_term(k, log_factorial, time).exp());
            if tail_after(k, log_factorial) <= tolerance {
                break;
            }
        }
        let tail = tail_after(terms.len() - 1, log_factorial);
        if tolerance > 0.0 && tail > tolerance {
            let (filter, terms) = ("the heat kernel", terms.len());
            return Err(FilterError::NotResolved { filter, tolerance, terms });
        }
        // Where the bound is not yet in force the polynomial and h differ by at most their sizes.
        let worst = 2.0 * (time * (radius - 1.0)).exp();
        Self::powers(terms, tail.min(worst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };

    #[test]
    fn truncation_keeps_its_word() {
        for time in [0.1, 2.5, 30.0] {
            let closed = |lambda: f64| (-time * (1.0 - lambda)).exp();
            let exact = Filter::heat(time, UNIT, Accuracy::Exact).unwrap();
            let series = Filter::heat(time, UNIT, Accuracy::Tolerance(1e-7)).unwrap();
            assert!(series.truncation() <= 1e-7);
            for i in 0..=40 {
                let lambda = f64::from(i - 20) / 20.0;
                assert!((exact.response(lambda) - closed(lambda)).abs() < 4e-15 * time.max(1.0));
                let error = (series.response(lambda) - closed(lambda)).abs();
                assert!(error <= series.truncation() + 1e-14, "{error:e}");
            }
        }
        assert!(Filter::heat(0.0, UNIT, Accuracy::Exact).is_err());
        assert!(Filter::heat(f64::NAN, UNIT, Accuracy::Exact).is_err());
    }

    #[test]
    fn a_stated_order_is_kept() {
        let filter = Filter::heat(1.0, UNIT, Accuracy::Order(3)).unwrap();
        assert_eq!(filter.coefficients().len(), 4);
        assert!((filter.coefficients()[3] - (-1f64).exp() / 6.0).abs() < 1e-16);
    }
}
