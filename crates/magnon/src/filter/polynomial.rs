//! The general polynomial.

use super::{Filter, FilterError};

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
