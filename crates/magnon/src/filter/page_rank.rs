//! Personalised PageRank.

use super::form::{Form, MAX_ORDER};
use super::{Accuracy, Filter, FilterError};
use crate::operator::Bounds;

impl Filter {
    /// Σ_k (1−α)α^k S^k = (1−α)(I − αS)^{-1}, 0 < α < 1, for an operator with spectrum in
    /// `domain`. Exactly: solved by conjugate gradients.
    pub fn page_rank(alpha: f64, domain: Bounds, accuracy: Accuracy) -> Result<Self, FilterError> {
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(FilterError::OutOfRange {
                name: "alpha",
                value: alpha,
                range: "above 0 and below 1",
            });
        }
        let radius = domain.radius();
        let ratio = alpha * radius;
        if ratio >= 1.0 {
            let filter = "personalised PageRank";
            return Err(FilterError::Diverges { filter, factor: alpha, radius });
        }
        let order = match accuracy {
            Accuracy::Exact => {
                let (numerator, denominator) = (vec![1.0 - alpha], vec![1.0, -alpha]);
                let form = Form::Rational { numerator, denominator };
                return Ok(Self::checked(form, 0.0)?.into_exact());
            }
            Accuracy::Order(order) => order,
            Accuracy::Tolerance(tolerance) => {
                super::config::check_tolerance(tolerance)?;
                // The tail after K is (1−α)/(1−ratio) · ratio^{K+1}.
                let needed = (tolerance * (1.0 - ratio) / (1.0 - alpha)).ln() / ratio.ln() - 1.0;
                if ratio == 0.0 { 0 } else { needed.ceil().max(0.0) as usize }
            }
        };
        if order > MAX_ORDER {
            return Err(FilterError::OrderTooLarge(order));
        }
        let terms = (0..=order).map(|k| (1.0 - alpha) * alpha.powi(k as i32)).collect();
        let tail = (1.0 - alpha) / (1.0 - ratio) * ratio.powi(order as i32 + 1);
        Self::powers(terms, tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Bounds = Bounds { min: -1.0, max: 1.0 };

    #[test]
    fn truncation_keeps_its_word() {
        let closed = |lambda: f64| 0.1 / (1.0 - 0.9 * lambda);
        let exact = Filter::page_rank(0.9, UNIT, Accuracy::Exact).unwrap();
        let series = Filter::page_rank(0.9, UNIT, Accuracy::Tolerance(1e-6)).unwrap();
        assert!(series.truncation() <= 1e-6 && series.truncation() > 0.85e-6);
        for lambda in [-1.0, 0.0, 0.7, 1.0] {
            assert!((exact.response(lambda) - closed(lambda)).abs() < 1e-15);
            let error = (series.response(lambda) - closed(lambda)).abs();
            assert!(error <= series.truncation() * (1.0 + 1e-9), "{error:e}");
        }
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert!(Filter::page_rank(1.0, UNIT, Accuracy::Exact).is_err());
        let wide = Bounds { min: 0.0, max: 2.0 };
        let diverges = Filter::page_rank(0.6, wide, Accuracy::Tolerance(1e-6));
        assert!(matches!(diverges, Err(FilterError::Diverges { .. })));
    }
}
