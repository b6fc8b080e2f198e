//! A single power of the operator: what SGC propagates with.

use super::{Filter, FilterEntry, FilterError};

/// The entry in the table of filters.
pub(super) const ENTRY: FilterEntry = FilterEntry {
    parameters: &["order"],
    order: Some(8),
    searched: &["order"],
    ..FilterEntry::new("power", "A single power", |config, _, _| {
        Filter::power(config.effective_order().unwrap_or_default())
    })
};

impl Filter {
    /// h(λ) = λ^K.
    pub fn power(order: usize) -> Result<Self, FilterError> {
        if order > super::form::MAX_ORDER {
            return Err(FilterError::OrderTooLarge(order));
        }
        let mut coefficients = vec![0.0; order + 1];
        coefficients[order] = 1.0;
        Self::powers(coefficients, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_a_power() {
        let filter = Filter::power(3).unwrap();
        assert_eq!(filter.order(), Some(3));
        assert!((filter.response(-0.5) + 0.125).abs() < 1e-15);
        assert!(matches!(Filter::power(1 << 40), Err(FilterError::OrderTooLarge(_))));
    }
}
