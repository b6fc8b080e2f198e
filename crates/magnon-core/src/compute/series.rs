//! `Series`: a function of an operator, in the three forms that can be evaluated.

use super::recurrence::Basis;

/// An interval that holds all eigenvalues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower end.
    pub min: f64,
    /// Upper end.
    pub max: f64,
}

impl Bounds {
    /// Largest absolute value in the interval.
    pub fn radius(self) -> f64 {
        self.min.abs().max(self.max.abs())
    }

    /// Its middle.
    pub fn centre(self) -> f64 {
        0.5 * (self.min + self.max)
    }

    /// Half its width. An interval that is hardly more than a point is widened, since dividing by its width would blow up
    /// rounding; a wider one holds the spectrum as well.
    pub fn half_width(self) -> f64 {
        let half = 0.5 * (self.max - self.min);
        let size = 1.0 + self.centre().abs();
        if half > 1e-3 * size { half } else { 0.1 * size }
    }
}

/// A function h of an operator S, in a form that can be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Series {
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

impl Series {
    /// The polynomials that its coefficients belong to, also those of a numerator and a denominator.
    pub(crate) fn basis(&self) -> Basis {
        match self {
            Self::Chebyshev { .. } => Basis::Chebyshev,
            Self::Powers(_) | Self::Rational { .. } => Basis::Powers,
        }
    }

    /// Centre and half width of the interval that is mapped to [−1, 1]; where there is none, the map changes nothing.
    pub(crate) fn map(&self) -> (f64, f64) {
        match self {
            Self::Chebyshev { domain, .. } => (domain.centre(), domain.half_width()),
            Self::Powers(_) | Self::Rational { .. } => (0.0, 1.0),
        }
    }

    /// Steps that a row looks away; `None` where it sees everything.
    pub fn steps(&self) -> Option<usize> {
        match self {
            Self::Powers(coefficients) | Self::Chebyshev { coefficients, .. } => {
                Some(coefficients.len().saturating_sub(1))
            }
            Self::Rational { .. } => None,
        }
    }
}
