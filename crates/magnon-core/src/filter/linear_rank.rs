//! LinearRank, the paper's filter.

use super::{Filter, FilterEntry, FilterError};

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order"],
    order: Some(8),
    searched: &["kind", "order"],
    ..FilterEntry::new("linear-rank", "LinearRank of the paper", |config, _, _| {
        Filter::linear_rank(config.effective_order().unwrap_or_default())
    })
};

impl Filter {
    /// Σ_{k=0}^{K−1} 2(K−k)/(K(K+1)) S^k, of order K ≥ 1. The coefficients fall linearly and sum
    /// to 1; order 1 is the identity.
    pub fn linear_rank(order: usize) -> Result<Self, FilterError> {
        if order == 0 {
            return Err(FilterError::OrderZero("LinearRank"));
        }
        if order > super::form::MAX_ORDER {
            return Err(FilterError::OrderTooLarge(order));
        }
        let k = order as f64;
        let theta = |power: usize| 2.0 * (k - power as f64) / (k * (k + 1.0));
        Self::powers((0..order).map(theta).collect(), 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_form_of_the_paper() {
        // 2/(K(K+1)) · (K − (K+1)λ + λ^{K+1}) / (1−λ)²
        for order in [1, 2, 8, 65] {
            let filter = Filter::linear_rank(order).unwrap();
            let k = order as f64;
            for lambda in [-1.0, -0.3, 0.0, 0.5, 0.9] {
                let closed = 2.0 / (k * (k + 1.0))
                    * (k - (k + 1.0) * lambda + f64::powi(lambda, order as i32 + 1))
                    / (1.0 - lambda).powi(2);
                assert!((filter.response(lambda) - closed).abs() < 1e-13);
            }
            assert!((filter.coefficients().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        assert_eq!(Filter::linear_rank(1).unwrap().coefficients(), [1.0]);
        assert!(Filter::linear_rank(0).is_err());
    }
}
