//! Mean, spread and confidence interval of repeated runs.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A sample in four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Sample standard deviation; 0 for a single value.
    pub std: f64,
    /// Half the width of the 95 % confidence interval of the mean, by Student's t; `None` for a
    /// single value.
    pub ci95: Option<f64>,
    /// Number of values.
    pub n: usize,
}

impl Summary {
    /// Summarises some values; `None` where there is none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        if n == 1 {
            return Some(Self { mean, std: 0.0, ci95: None, n });
        }
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        let std = (squares / (n - 1) as f64).sqrt();
        let ci95 = Some(quantile(n - 1) * std / (n as f64).sqrt());
        Some(Self { mean, std, ci95, n })
    }
}

/// The 97.5 % point of Student's t.
pub(super) fn quantile(freedom: usize) -> f64 {
    student(freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(0.975))
}

/// The chance that Student's t is at least so far from 0 on either side.
pub(super) fn tail(t: f64, freedom: usize) -> f64 {
    student(freedom).map_or(1.0, |student| 2.0 * student.sf(t.abs()))
}

fn student(freedom: usize) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom as f64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against printed tables of Student's t.
    #[test]
    fn quantiles_are_those_of_tables() {
        let table = [(1, 12.706), (9, 2.262), (11, 2.201), (15, 2.131), (29, 2.045), (120, 1.980)];
        for (freedom, t) in table {
            assert!((quantile(freedom) - t).abs() < 6e-4, "{freedom}: {}", quantile(freedom));
        }
    }

    #[test]
    fn a_known_sample() {
        let summary = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!(summary.mean, 5.0);
        assert!((summary.std - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Summary::of(&[3.0]).unwrap().ci95, None);
        assert_eq!(Summary::of(&[]), None);
    }
}
