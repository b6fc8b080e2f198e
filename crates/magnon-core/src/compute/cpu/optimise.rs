//! The optimiser's loop.

use super::kernel::kernel;
use crate::compute::{AdamStep, Scalar};

kernel!(Adam, adam, (step: AdamStep, clip: T, gradient: &'a [T], weights: &'a mut [T], first: &'a mut [T], second: &'a mut [T]));

/// g ← clip·g + λw, m ← β₁m + (1 − β₁)g, v ← β₂v + (1 − β₂)g², w ← shrink·w − η·m/(√v/√(1−β₂ᵗ) + ε),
/// part by part of a complex number.
#[inline(always)]
fn adam<T: Scalar>(
    step: AdamStep,
    clip: T,
    gradient: &[T],
    weights: &mut [T],
    first: &mut [T],
    second: &mut [T],
) {
    let number = T::from_f64;
    let (rate, correction) = (number(step.rate), number(step.second_correction));
    let (b1, c1) = (number(step.first), number(1.0 - step.first));
    let (b2, c2) = (number(step.second), number(1.0 - step.second));
    let (epsilon, l2) = (number(step.epsilon), number(step.l2));
    let shrink = number(step.shrink);
    for (((w, &g), m), v) in weights.iter_mut().zip(gradient).zip(first).zip(second) {
        let g = clip * g + l2 * *w;
        *m = b1 * *m + c1 * g;
        *v = b2 * *v + c2 * g * g;
        *w = shrink * *w - rate * *m / (v.root() * correction + epsilon);
    }
}
