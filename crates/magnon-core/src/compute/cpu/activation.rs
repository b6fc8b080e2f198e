//! Functions of single entries, and their derivatives.

use super::kernel::kernel;
use crate::compute::{Activation, Scalar, Shape};

kernel!(Forward, forward, (f: Activation, shape: Shape, x: &'a [T], y: &'a mut [T]));
kernel!(Gradient, gradient, (f: Activation, shape: Shape, x: &'a [T], y: &'a [T], dy: &'a [T], dx: &'a mut [T]));

/// `y = f(x)`; `shape` is that of `x`.
#[inline(always)]
fn forward<T: Scalar>(f: Activation, shape: Shape, x: &[T], y: &mut [T]) {
    match f {
        Activation::Tanh => {
            for (x, y) in x.iter().zip(y) {
                *y = Scalar::tanh(*x);
            }
        }
        Activation::Relu => {
            for (x, y) in x.iter().zip(y) {
                *y = positive(*x);
            }
        }
        Activation::Elu => {
            for (x, y) in x.iter().zip(y) {
                *y = if *x > T::ZERO { *x } else { Scalar::exp(*x) - T::ONE };
            }
        }
        Activation::GatedTanh => {
            for (&[a, b], y) in x.as_chunks().0.iter().zip(y) {
                *y = Scalar::tanh(a) * Scalar::tanh(b);
            }
        }
        Activation::ExponentialGate => {
            for (&[a, b], y) in x.as_chunks().0.iter().zip(y) {
                *y = a * Scalar::tanh(Scalar::exp(b));
            }
        }
        Activation::ComplexRelu => {
            for (z, y) in pairs(x).zip(y.as_chunks_mut().0) {
                *y = if z[0] >= T::ZERO { z } else { [T::ZERO; 2] };
            }
        }
        Activation::SplitRelu => {
            for (x, y) in x.iter().zip(y) {
                *y = positive(*x);
            }
        }
        Activation::Lift => {
            for (&x, y) in x.iter().zip(y.as_chunks_mut().0) {
                *y = [x, T::ZERO];
            }
        }
        Activation::RealPart => pairs(x).zip(y).for_each(|([a, _], y)| *y = a),
        Activation::Modulus => pairs(x).zip(y).for_each(|([a, b], y)| *y = (a * a + b * b).root()),
        Activation::Parts => {
            let cols = shape.cols().max(1);
            for (x, y) in x.chunks_exact(2 * cols).zip(y.chunks_exact_mut(2 * cols)) {
                let (re, im) = y.split_at_mut(cols);
                for (([a, b], re), im) in pairs(x).zip(re).zip(im) {
                    (*re, *im) = (a, b);
                }
            }
        }
    }
}

/// `dx += f'(x)·dy`, with `y = f(x)` at hand.
#[inline(always)]
fn gradient<T: Scalar>(f: Activation, shape: Shape, x: &[T], y: &[T], dy: &[T], dx: &mut [T]) {
    match f {
        Activation::Tanh => {
            for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
                *dx += (T::ONE - y * y) * dy;
            }
        }
        Activation::Relu | Activation::SplitRelu => {
            for ((dx, &x), &dy) in dx.iter_mut().zip(x).zip(dy) {
                *dx += if x > T::ZERO { dy } else { T::ZERO };
            }
        }
        Activation::Elu => {
            for (((dx, &x), &y), &dy) in dx.iter_mut().zip(x).zip(y).zip(dy) {
                *dx += if x > T::ZERO { dy } else { (y + T::ONE) * dy };
            }
        }
        Activation::Lift => {
            for (dx, [dy, _]) in dx.iter_mut().zip(pairs(dy)) {
                *dx += dy;
            }
        }
        Activation::RealPart => {
            for (dx, &dy) in dx.as_chunks_mut::<2>().0.iter_mut().zip(dy) {
                dx[0] += dy;
            }
        }
        Activation::GatedTanh => {
            for ((dx, [a, b]), &dy) in dx.as_chunks_mut().0.iter_mut().zip(pairs(x)).zip(dy) {
                let (a, b) = (Scalar::tanh(a), Scalar::tanh(b));
                *dx = [dx[0] + (T::ONE - a * a) * b * dy, dx[1] + a * (T::ONE - b * b) * dy];
            }
        }
        Activation::ExponentialGate => {
            for ((dx, [a, b]), &dy) in dx.as_chunks_mut().0.iter_mut().zip(pairs(x)).zip(dy) {
                let e = Scalar::exp(b);
                let gate = Scalar::tanh(e);
                // Where the gate is wide open its slope is 0, also where e^b has no number.
                let e = if gate < T::ONE { e } else { T::ONE };
                *dx = [dx[0] + gate * dy, dx[1] + a * (T::ONE - gate * gate) * e * dy];
            }
        }
        Activation::ComplexRelu => {
            for ((dx, [a, _]), [da, db]) in
                dx.as_chunks_mut().0.iter_mut().zip(pairs(x)).zip(pairs(dy))
            {
                if a >= T::ZERO {
                    *dx = [dx[0] + da, dx[1] + db];
                }
            }
        }
        Activation::Modulus => {
            for (((dx, [a, b]), &r), &dy) in
                dx.as_chunks_mut().0.iter_mut().zip(pairs(x)).zip(y).zip(dy)
            {
                // At z = 0 the modulus has no derivative; 0 is one of its subgradients.
                let scale = if r > T::ZERO { dy / r } else { T::ZERO };
                *dx = [dx[0] + a * scale, dx[1] + b * scale];
            }
        }
        Activation::Parts => {
            let cols = shape.cols().max(1);
            for (dx, dy) in dx.chunks_exact_mut(2 * cols).zip(dy.chunks_exact(2 * cols)) {
                let (re, im) = dy.split_at(cols);
                for ((dx, &a), &b) in dx.as_chunks_mut().0.iter_mut().zip(re).zip(im) {
                    *dx = [dx[0] + a, dx[1] + b];
                }
            }
        }
    }
}

#[inline(always)]
fn positive<T: Scalar>(x: T) -> T {
    // NaN stays NaN, so that a broken step is seen.
    if x < T::ZERO { T::ZERO } else { x }
}

#[inline(always)]
fn pairs<T: Scalar>(x: &[T]) -> impl Iterator<Item = [T; 2]> {
    x.as_chunks().0.iter().copied()
}
