//! Markov diffusion.

use super::{Filter, FilterEntry, FilterError};

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order"],
    order: Some(8),
    searched: &["kind", "order"],
    ..FilterEntry::new("markov", "Markov diffusion", |config, _, _| {
        Filter::markov(config.effective_order().unwrap_or_default())
    })
};

impl Filter {
    /// (1/K) Σ_{k=1}^{K} S^k, of order K ≥ 1.
    pub fn markov(order: usize) -> Result<Self, FilterError> {
        if order == 0 {
            return Err(FilterError::OrderZero("Markov diffusion"));
        }
        if order > super::form::MAX_ORDER {
            return Err(FilterError::OrderTooLarge(order));
        }
        let mut coefficients = vec![1.0 / order as f64; order + 1];
        coefficients[0] = 0.0;
        Self::powers(coefficients, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_form_of_the_paper() {
        // λ(1 − λ^K) / (K(1 − λ))
        let filter = Filter::markov(5).unwrap();
        for lambda in [-1.0, -0.4, 0.2, 0.9f64] {
            let closed = lambda * (1.0 - lambda.powi(5)) / (5.0 * (1.0 - lambda));
            assert!((filter.response(lambda) - closed).abs() < 1e-14);
        }
        assert!(Filter::markov(0).is_err());
    }
}
