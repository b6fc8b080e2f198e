//! Initial weights.

use faer::Mat;
use magnon_core::compute::{Field, Scalar, Shape};
use num_complex::Complex64;
use rand::{Rng, RngExt};
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, TAU};

/// How weights W with `rows` inputs and `cols` outputs are drawn.
///
/// Real weights are uniform on [−a, a]. Complex ones have, after Trabelsi et al., a magnitude from
/// the Rayleigh distribution of parameter σ and a uniform phase, so that E|W|² = 2σ².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Init {
    /// Variance 2/(rows + cols): a = √(6/(rows + cols)), σ = 1/√(rows + cols).
    #[default]
    Glorot,
    /// Variance 2/rows: a = √(6/rows), σ = 1/√rows.
    He,
    /// Real and imaginary parts uniform on ±1/√rows, biases too: what PyTorch's linear layer does.
    Uniform,
    /// Orthonormal columns, or rows where there are fewer of them, scaled to the variance of
    /// `glorot`.
    Unitary,
}

/// Draws the weights of a layer, complex numbers as two real ones.
pub fn initialise<T: Scalar>(init: Init, shape: Shape, rng: &mut impl Rng) -> Vec<T> {
    let (rows, cols) = (shape.rows() as f64, shape.cols() as f64);
    let variance = match init {
        Init::Glorot | Init::Unitary => 2.0 / (rows + cols),
        Init::He => 2.0 / rows,
        Init::Uniform => return uniform(rows.max(1.0).sqrt().recip(), shape, rng),
    };
    if init == Init::Unitary {
        return unitary(shape, variance, rng);
    }
    match shape.field() {
        Field::Real => uniform((3.0 * variance).sqrt(), shape, rng),
        Field::Complex => {
            let sigma = (0.5 * variance).sqrt();
            let mut draw = || {
                // The inverse of the distribution function 1 − e^{−r²/2σ²}.
                let magnitude = sigma * (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
                Complex64::from_polar(magnitude, rng.random_range(-PI..PI))
            };
            (0..shape.rows() * shape.cols()).flat_map(|_| parts(draw())).collect()
        }
    }
}

fn uniform<T: Scalar>(most: f64, shape: Shape, rng: &mut impl Rng) -> Vec<T> {
    (0..shape.len()).map(|_| T::from_f64(rng.random_range(-most..=most))).collect()
}

fn parts<T: Scalar>(z: Complex64) -> [T; 2] {
    [T::from_f64(z.re), T::from_f64(z.im)]
}

/// Draws the bias of a layer with `rows` inputs: zero, but for [`Init::Uniform`].
pub fn initialise_bias<T: Scalar>(
    init: Init,
    rows: usize,
    shape: Shape,
    rng: &mut impl Rng,
) -> Vec<T> {
    match init {
        Init::Uniform => uniform((rows.max(1) as f64).sqrt().recip(), shape, rng),
        _ => vec![T::ZERO; shape.len()],
    }
}

/// The orthonormal factor of a Gaussian matrix. Taking the phase of R's diagonal out makes it
/// uniform over all such matrices.
fn unitary<T: Scalar>(shape: Shape, variance: f64, rng: &mut impl Rng) -> Vec<T> {
    let wide = shape.cols() > shape.rows();
    let (long, short) =
        if wide { (shape.cols(), shape.rows()) } else { (shape.rows(), shape.cols()) };
    let complex = shape.field() == Field::Complex;
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let gaussian = Mat::from_fn(long, short, |_, _| {
        Complex64::new(normal(), if complex { normal() } else { 0.0 })
    });
    let qr = gaussian.qr();
    let (q, r) = (qr.compute_thin_Q(), qr.thin_R());
    // |entries|² average to 1/long; the scale brings them to the variance.
    let scale = (variance * long as f64).sqrt();
    let entry = |i: usize, j: usize| {
        let (at, column) = if wide { ((j, i), i) } else { ((i, j), j) };
        let diagonal = r[(column, column)];
        let phase = Complex64::from_polar(scale, diagonal.arg().rem_euclid(TAU));
        let z = q[at] * phase;
        if wide { z.conj() } else { z }
    };
    let places = (0..shape.rows()).flat_map(|i| (0..shape.cols()).map(move |j| (i, j)));
    places
        .flat_map(|(i, j)| {
            let z = entry(i, j);
            parts(z).into_iter().take(shape.field().parts())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn draw(init: Init, shape: Shape) -> Vec<f64> {
        initialise(init, shape, &mut ChaCha8Rng::seed_from_u64(5))
    }

    /// E|W|² is the stated variance, and complex phases are uniform.
    #[test]
    fn variances_are_as_stated() {
        for (init, variance) in [(Init::Glorot, 2.0 / 500.0), (Init::He, 2.0 / 300.0)] {
            for shape in [Shape::real(300, 200), Shape::complex(300, 200)] {
                let w = draw(init, shape);
                let mean = w.iter().map(|x| x * x).sum::<f64>() / 60_000.0;
                assert!((mean / variance - 1.0).abs() < 0.02, "{init:?} {shape:?}: {mean}");
            }
        }
        let w = draw(Init::Glorot, Shape::complex(300, 200));
        let phase = |z: &[f64; 2]| Complex64::new(z[0], z[1]).arg();
        let phases: Vec<f64> = w.as_chunks().0.iter().map(phase).collect();
        for k in 1..4 {
            let mean: Complex64 = phases.iter().map(|p| Complex64::cis(k as f64 * p)).sum();
            assert!(mean.norm() / 60_000.0 < 0.01);
        }
        // Rayleigh: the median of |W| is σ√(2 ln 2).
        let mut sizes: Vec<f64> = w.as_chunks::<2>().0.iter().map(|z| z[0].hypot(z[1])).collect();
        sizes.sort_by(f64::total_cmp);
        let median = (1.0f64 / 500.0).sqrt() * (2.0 * 2f64.ln()).sqrt();
        assert!((sizes[30_000] / median - 1.0).abs() < 0.02);
    }

    #[test]
    fn unitary_weights_are_orthogonal() {
        for (rows, cols) in [(7, 4), (4, 7)] {
            let w = draw(Init::Unitary, Shape::complex(rows, cols));
            let z = Mat::from_fn(rows, cols, |i, j| {
                Complex64::new(w[2 * (i * cols + j)], w[2 * (i * cols + j) + 1])
            });
            let gram = if rows > cols { z.adjoint() * &z } else { &z * z.adjoint() };
            let scale = 2.0 / 11.0 * 7.0;
            for i in 0..4 {
                for j in 0..4 {
                    let expected = if i == j { scale } else { 0.0 };
                    assert!((gram[(i, j)] - expected).norm() < 1e-12);
                }
            }
        }
        let w = draw(Init::Unitary, Shape::real(2, 2));
        assert!((w[0] * w[1] + w[2] * w[3]).abs() < 1e-12);
    }
}
