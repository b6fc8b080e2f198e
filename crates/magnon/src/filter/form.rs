//! `Filter`: a function h of the operator, in one of three forms that can be evaluated.

use super::FilterError;
use crate::operator::Bounds;

/// Most terms that a filter may have.
pub(super) const MAX_ORDER: usize = 100_000;

/// How closely an infinite series is followed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accuracy {
    /// Up to the power K, whatever that leaves out.
    Order(usize),
    /// As many terms as keep |h − truncated h| below this over the whole spectrum.
    Tolerance(f64),
    /// To machine precision, in double precision: solved where h is rational.
    Exact,
}

/// How h is evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// h(λ) = Σ θ_k λ^k, by Horner's rule.
    Powers(Vec<f64>),
    /// h(λ) = Σ c_k T_k(λ̃), by Clenshaw's recurrence, with the domain mapped to [−1, 1].
    Chebyshev {
        /// The c_k.
        coefficients: Vec<f64>,
        /// The interval that is mapped to [−1, 1].
        domain: Bounds,
    },
    /// h(λ) = Σ ζ_f λ^f / Σ η_b λ^b, by conjugate gradients; the denominator is positive on the
    /// spectrum.
    Rational {
        /// The ζ_f.
        numerator: Vec<f64>,
        /// The η_b, η_0 included.
        denominator: Vec<f64>,
    },
}

/// A function h of the operator; the same object filters data and draws its response.
///
/// ```
/// use magnon::filter::Filter;
/// let filter = Filter::linear_rank(3)?;
/// assert_eq!(filter.coefficients(), [0.5, 1.0 / 3.0, 1.0 / 6.0]);
/// assert_eq!(filter.response(1.0), 1.0);
/// # Ok::<(), magnon::filter::FilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    form: Form,
    /// Bound of |h − what is evaluated| over the spectrum; 0 where nothing was left out.
    truncation: f64,
    /// Whether double precision is asked for.
    exact: bool,
}

impl Filter {
    /// A polynomial in powers, checked for size and finite numbers.
    pub(super) fn powers(coefficients: Vec<f64>, truncation: f64) -> Result<Self, FilterError> {
        Self::checked(Form::Powers(coefficients), truncation)
    }

    pub(super) fn checked(form: Form, truncation: f64) -> Result<Self, FilterError> {
        let filter = Self { form, truncation, exact: false };
        let terms = filter.coefficients().len();
        if terms > MAX_ORDER + 1 {
            return Err(FilterError::OrderTooLarge(terms - 1));
        }
        match filter.coefficients().iter().find(|c| !c.is_finite()) {
            Some(&value) => Err(FilterError::OutOfRange {
                name: "a coefficient",
                value,
                range: "a finite number",
            }),
            None => Ok(filter),
        }
    }

    /// The same filter, applied in double precision.
    pub(super) fn into_exact(self) -> Self {
        Self { exact: true, ..self }
    }

    /// How h is evaluated.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The coefficients of the form; for a rational form those of the numerator, whose
    /// [`form`](Self::form) has the denominator too.
    pub fn coefficients(&self) -> &[f64] {
        match &self.form {
            Form::Powers(coefficients) | Form::Chebyshev { coefficients, .. } => coefficients,
            Form::Rational { numerator, .. } => numerator,
        }
    }

    /// Products with the operator for one evaluation; `None` where it is solved for.
    pub fn order(&self) -> Option<usize> {
        match self.form {
            Form::Rational { .. } => None,
            _ => Some(self.coefficients().len().saturating_sub(1)),
        }
    }

    /// Bound of |h − what is evaluated| over the spectrum; 0 where nothing was left out.
    pub fn truncation(&self) -> f64 {
        self.truncation
    }

    /// Whether the filter is applied in double precision.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The response h(λ) of what is evaluated.
    pub fn response(&self, lambda: f64) -> f64 {
        match &self.form {
            Form::Powers(coefficients) => horner(coefficients, lambda),
            Form::Chebyshev { coefficients, domain } => {
                clenshaw(coefficients, to_unit(*domain, lambda))
            }
            Form::Rational { numerator, denominator } => {
                horner(numerator, lambda) / horner(denominator, lambda)
            }
        }
    }
}

/// λ mapped from `domain` to [−1, 1].
pub(super) fn to_unit(domain: Bounds, lambda: f64) -> f64 {
    (lambda - centre(domain)) / half(domain)
}

/// Middle of the interval.
pub(super) fn centre(domain: Bounds) -> f64 {
    0.5 * (domain.min + domain.max)
}

/// Half the width of the interval. One that is hardly more than a point is widened, since dividing
/// by its width would blow up rounding; a wider interval holds the spectrum as well.
pub(crate) fn half(domain: Bounds) -> f64 {
    let half = 0.5 * (domain.max - domain.min);
    let size = 1.0 + centre(domain).abs();
    if half > 1e-3 * size { half } else { 0.1 * size }
}

/// Σ c_k x^k.
pub(super) fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// Σ c_k T_k(x).
fn clenshaw(coefficients: &[f64], x: f64) -> f64 {
    let Some((first, rest)) = coefficients.split_first() else { return 0.0 };
    let (mut b1, mut b2) = (0.0, 0.0);
    for c in rest.iter().rev() {
        (b1, b2) = (2.0 * x * b1 - b2 + c, b1);
    }
    x * b1 - b2 + first
}
