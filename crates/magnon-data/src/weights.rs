//! Weights of edges: kept in single precision, with those beside them that it cannot hold.

use super::allocate::reserve;
use super::raw_dataset::{Raw, loses_digits, loses_double};
use super::{DataError, WeightTransform};

/// Weights that single precision takes for infinite or for 0: the edge and its weight.
pub(crate) type Beyond = Vec<(usize, f64)>;

/// A weight that was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Weight {
    /// In single precision; 0 where that cannot hold it.
    pub(crate) value: f32,
    /// Whether it has more digits than single precision.
    pub(crate) rounded: bool,
    /// The number, where single precision takes it for infinite or for 0.
    pub(crate) beyond: Option<f64>,
}

impl Weight {
    /// A number; `None` where it is not finite.
    pub(crate) fn of(number: f64) -> Option<Self> {
        Self::kept(number as f32, || number, |_| loses_double(number))
    }

    /// A text; `None` where it is no finite number.
    #[inline]
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let value: f32 = text.parse().ok()?;
        let number = || text.parse().unwrap_or(f64::NAN);
        Self::kept(value, number, |value| loses_digits(text, value))
    }

    #[inline(always)]
    fn kept(
        value: f32,
        number: impl FnOnce() -> f64,
        rounded: impl FnOnce(f32) -> bool,
    ) -> Option<Self> {
        if value.is_finite() && value != 0.0 {
            return Some(Self { value, rounded: rounded(value), beyond: None });
        }
        match number() {
            0.0 => Some(Self { value, rounded: false, beyond: None }),
            number if number.is_finite() => {
                Some(Self { value: 0.0, rounded: false, beyond: Some(number) })
            }
            _ => None,
        }
    }
}

/// Why a number is none that single precision holds.
pub(crate) fn not_single(number: Option<f64>) -> &'static str {
    match number {
        Some(number) if number.is_finite() => {
            "is larger than any number of single precision (about 3.4e38)"
        }
        _ => "is not a finite number",
    }
}

/// Why a text is no weight.
pub(crate) fn not_a_weight(text: &str) -> String {
    let shown: String = text.trim().chars().take(40).collect();
    match text.trim().parse::<f64>() {
        // `inf` has no digit, and 1e400 has.
        Ok(_) if text.bytes().any(|byte| byte.is_ascii_digit()) => {
            format!("the weight '{shown}' is larger than any number of double precision")
        }
        _ => format!("the weight '{shown}' is not a finite number"),
    }
}

/// The weights of a list of edges.
#[derive(Debug, Default)]
pub(crate) struct Weights {
    pub(crate) values: Vec<f32>,
    pub(crate) beyond: Beyond,
    pub(crate) rounded: bool,
}

impl Weights {
    /// The weight of the next edge.
    pub(crate) fn push(&mut self, weight: Weight, file: &str) -> Result<(), DataError> {
        reserve(&mut self.values, 1, file)?;
        if let Some(number) = weight.beyond {
            reserve(&mut self.beyond, 1, file)?;
            self.beyond.push((self.values.len(), number));
        }
        self.values.push(weight.value);
        self.rounded |= weight.rounded;
        Ok(())
    }
}

/// A weight for which single precision has no number, in words. `hint` says what helps.
pub(crate) fn too_large(weight: f64, edge: &str, hint: &str) -> String {
    format!(
        "the weight {weight:e} of {edge} is larger than any number of single precision (about \
         3.4e38), in which weights are kept; {hint}, or leave the weights out with --unweighted"
    )
}

impl Raw {
    /// Takes weights over, one for each edge.
    pub(crate) fn set_weights(&mut self, weights: Weights) {
        let Weights { values, beyond, rounded } = weights;
        (self.weights, self.beyond, self.rounded) = (Some(values), beyond, rounded);
    }

    /// Transforms the weights, in double precision those that single precision cannot hold, and leaves out edges of
    /// weight 0: a zero that is stored is no edge.
    pub(crate) fn settle_weights(&mut self, transform: WeightTransform) -> Result<(), DataError> {
        let beyond = std::mem::take(&mut self.beyond);
        let Some(weights) = &mut self.weights else { return Ok(()) };
        transform.apply(weights, &beyond);
        let mut vanished = None;
        let mut count = 0;
        for &(edge, number) in &beyond {
            match weights.get(edge) {
                Some(weight) if !weight.is_finite() => {
                    let (source, target) = self.edges.get(edge).copied().unwrap_or_default();
                    let edge = format!("the edge {} → {}", self.name(source), self.name(target));
                    let hint = match transform {
                        WeightTransform::None => "--weight-transform log or scale makes it smaller",
                        _ => "--weight-transform log makes it smaller",
                    };
                    return Err(DataError::format(&self.file, too_large(number, &edge, hint)));
                }
                Some(0.0) => {
                    vanished.get_or_insert(number);
                    count += 1;
                }
                _ => {}
            }
        }
        self.drop_zeros(count);
        if let Some(number) = vanished {
            let hint = match transform {
                WeightTransform::Scale => "",
                _ => "; --weight-transform scale divides weights by their mean",
            };
            self.remarks.push(format!(
                "{count} edges were left out, whose weights are 0 in single precision, such as \
                 {number:e}{hint}"
            ));
        }
        Ok(())
    }
}

impl WeightTransform {
    /// Changes the weights in place; those beyond single precision from the numbers that they are.
    fn apply(self, weights: &mut [f32], beyond: &[(usize, f64)]) {
        let mean = match self {
            Self::Scale => mean(weights, beyond),
            Self::None | Self::Log => 1.0,
        };
        match self {
            Self::Log => weights.iter_mut().for_each(|w| *w = w.abs().ln_1p().copysign(*w)),
            Self::Scale if mean > 0.0 => {
                weights.iter_mut().for_each(|w| *w = (f64::from(*w) / mean) as f32);
            }
            Self::None | Self::Scale => {}
        }
        for &(edge, number) in beyond {
            if let Some(weight) = weights.get_mut(edge) {
                *weight = match self {
                    Self::Log => number.abs().ln_1p().copysign(number) as f32,
                    Self::None | Self::Scale => (number / mean) as f32,
                };
            }
        }
    }
}

/// The mean of |w|.
fn mean(weights: &[f32], beyond: &[(usize, f64)]) -> f64 {
    let count = weights.len().max(1) as f64;
    let all = || {
        let others = beyond.iter().map(|(_, number)| number.abs());
        weights.iter().map(|w| f64::from(w.abs())).chain(others)
    };
    match all().sum::<f64>() / count {
        mean if mean.is_finite() => mean,
        _ => all().map(|weight| weight / count).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_those_that_single_precision_lacks() {
        let of = |text: &str| Weight::parse(text).map(|weight| (weight.value, weight.beyond));
        for (text, expected) in [
            ("2.5", Some((2.5, None))),
            ("0.0", Some((0.0, None))),
            ("-0", Some((0.0, None))),
            ("1e39", Some((0.0, Some(1e39)))),
            ("-1e-300", Some((0.0, Some(-1e-300)))),
            ("inf", None),
            ("nan", None),
            ("1e400", None),
            ("word", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
        assert_eq!(Weight::of(1e39).unwrap().beyond, Some(1e39));
        assert_eq!(Weight::of(f64::INFINITY), None);
        assert!(not_a_weight("1e400").contains("double precision"));
        assert!(not_a_weight("inf").contains("not a finite number"));
    }

    #[test]
    fn transforms_see_the_numbers_that_are_meant() {
        let beyond = [(1, 1e39), (2, 1e-300)];
        let of = |transform: WeightTransform| {
            let mut weights = [1.0, 0.0, 0.0];
            transform.apply(&mut weights, &beyond);
            weights
        };
        assert_eq!(of(WeightTransform::None), [1.0, f32::INFINITY, 0.0]);
        assert_eq!(of(WeightTransform::Log), [2f32.ln(), 1e39f64.ln() as f32, 0.0]);
        let [small, large, none] = of(WeightTransform::Scale);
        assert!(small > 0.0 && small < 1e-38 && (large - 3.0).abs() < 1e-6 && none == 0.0);
        assert!((mean(&[0.0; 2], &[(0, 1.0), (1, 3.0)]) - 2.0).abs() < 1e-12);
        assert!(mean(&[0.0; 2], &[(0, 1.5e308), (1, 1.5e308)]).is_finite());
    }
}
