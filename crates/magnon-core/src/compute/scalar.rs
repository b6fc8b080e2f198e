//! The two precisions: `f32` for training, `f64` for checking gradients.

use bytemuck::Pod;
use faer::traits::ComplexField;
use num_complex::Complex;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A floating point number of the tape.
///
/// [`tanh`](Self::tanh) and [`exp`](Self::exp) are written so that loops over them become vector
/// instructions.
pub trait Scalar:
    Pod
    + Debug
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + MulAssign
    + SubAssign
    + Sum
    + ComplexField
{
    /// The complex numbers of this precision, for dense products.
    type Complex: Pod + ComplexField;
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// Nearest value.
    fn from_f64(value: f64) -> Self;
    /// Nearest value.
    fn from_f32(value: f32) -> Self;
    /// Widening.
    fn to_f64(self) -> f64;
    /// Square root.
    fn root(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Exponential function.
    fn exp(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
}

impl Scalar for f64 {
    type Complex = Complex<f64>;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }
    fn from_f32(value: f32) -> Self {
        value.into()
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn root(self) -> Self {
        f64::sqrt(self)
    }
    fn tanh(self) -> Self {
        f64::tanh(self)
    }
    fn exp(self) -> Self {
        f64::exp(self)
    }
    fn ln(self) -> Self {
        f64::ln(self)
    }
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }
}

impl Scalar for f32 {
    type Complex = Complex<f32>;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }
    #[inline(always)]
    fn from_f32(value: f32) -> Self {
        value
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn root(self) -> Self {
        f32::sqrt(self)
    }
    /// tanh x = (e^{2x} − 1) / (e^{2x} + 1), with e^{2x} − 1 found without cancellation.
    #[inline(always)]
    fn tanh(self) -> Self {
        // From 9.02 on, tanh is 1 to the last bit. NaN passes through both comparisons.
        let x = if self > 9.02 { 9.02 } else { self };
        let x = if x < -9.02 { -9.02 } else { x };
        let Reduced { power, tail } = reduce(2.0 * x);
        let minus_one = power * tail + (power - 1.0);
        minus_one / (minus_one + 2.0)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        // Beyond this, 2^k is no float; the largest result is e^88.37 = 2.4e38.
        let x = if self > 88.37 { 88.37 } else { self };
        let x = if x < -87.0 { -87.0 } else { x };
        let Reduced { power, tail } = reduce(x);
        power * tail + power
    }
    #[inline(always)]
    fn ln(self) -> Self {
        f32::ln(self)
    }
    #[inline(always)]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }
}

/// e^x = 2^k·(1 + t).
struct Reduced {
    /// 2^k.
    power: f32,
    /// t = e^r − 1 with r = x − k·ln 2 and |r| ≤ ½·ln 2.
    tail: f32,
}

#[inline(always)]
fn reduce(x: f32) -> Reduced {
    // Adding 1.5·2²³ rounds to a whole number and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts; the first has few bits, so that its products with k are exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let k = rounded - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let exponent = rounded.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127);
    let power = f32::from_bits(exponent << 23);
    // The series of e^r − 1; the first term left out is below 2⁻²⁶ of the sum.
    let mut tail = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
        tail = tail * r + c;
    }
    Reduced { power, tail: tail * r }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the standard library in double precision, over the whole range.
    #[test]
    fn single_precision_functions_are_accurate() {
        let mut worst = (0.0f64, 0.0f64);
        for i in -200_000..=200_000 {
            let x = (i as f32 / 20_000.0).powi(3) / 10.0;
            let (t, e) = (Scalar::tanh(x), Scalar::exp(x.clamp(-80.0, 80.0)));
            let x64 = f64::from(x);
            let exact = (x64.tanh(), x64.clamp(-80.0, 80.0).exp());
            worst.0 = worst.0.max((f64::from(t) - exact.0).abs() / exact.0.abs().max(1e-30));
            worst.1 = worst.1.max((f64::from(e) - exact.1).abs() / exact.1);
        }
        assert!(worst.0 < 3e-7 && worst.1 < 2e-7, "{worst:?}");
        for x in -400..=400 {
            assert!(Scalar::is_finite(Scalar::exp(x as f32)), "{x}");
        }
        assert!(Scalar::tanh(f32::NAN).is_nan() && Scalar::exp(f32::NAN).is_nan());
        assert_eq!((Scalar::tanh(f32::INFINITY), Scalar::tanh(-50f32)), (1.0, -1.0));
    }
}
