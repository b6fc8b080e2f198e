//! Spectral density by the kernel polynomial method.
//!
//! With the operator mapped to S̃ on [−1, 1], the density of its eigenvalues has the Chebyshev moments
//! μ_k = tr T_k(S̃) / n. A trace is the mean of zᴴT_k(S̃)z over random vectors z with independent entries
//! of modulus 1, and T_{2k} = 2T_k² − 1 gives two moments for each product. Jackson's kernel damps the
//! series to one without wiggles, which sees features down to about π / moments of the half width.

use super::SpectrumError;
use super::error::range;
use crate::compute::recurrence::Basis;
use crate::compute::steps::{Tile, TileStep, inner, weights};
use crate::compute::tile::{CHUNK, F32_LANES as N, Line, TileOperator};
use crate::compute::{Device, Engine};
use crate::operator::{Bounds, MagneticOperator};
use crate::progress::Progress;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Configuration of a [`Density`].
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `moments` | 200 | terms of the series, its resolution | 2 to 100 000 |
/// | `probes` | 16 | random vectors, rounded up to whole tiles | 2 to 100 000 |
/// | `points` | 400 | points of the grid | 2 to 10 000 000 |
/// | `seed` | 0 | of the random vectors | |
/// | `device` | `cpu` | where products are made | |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DensityConfig {
    /// Terms of the series.
    pub moments: usize,
    /// Random vectors; rounded up to whole tiles, eight of a complex operator, sixteen of a real one.
    pub probes: usize,
    /// Points of the grid.
    pub points: usize,
    /// Seed of the random vectors.
    pub seed: u64,
    /// Where products are made.
    #[serde(skip_serializing_if = "Device::is_cpu")]
    pub device: Device,
}

impl Default for DensityConfig {
    fn default() -> Self {
        Self { moments: 200, probes: 16, points: 400, seed: 0, device: Device::Cpu }
    }
}

impl DensityConfig {
    /// Checks every range.
    pub fn check(&self) -> Result<(), SpectrumError> {
        let within = |name, value: usize, least: usize, most: usize, text| {
            range(name, value as f64, (least..=most).contains(&value), text)
        };
        within("the number of moments", self.moments, 2, 100_000, "from 2 to 100000")?;
        within("the number of probes", self.probes, 2, 100_000, "from 2 to 100000")?;
        within("the number of points", self.points, 2, 10_000_000, "from 2 to 10000000")
    }
}

/// How eigenvalues are spread over the operator's bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Density {
    /// Terms of the series.
    pub moments: usize,
    /// Random vectors used.
    pub probes: usize,
    /// The grid λ: the middles of equal steps.
    pub lambda: Vec<f64>,
    /// Share of eigenvalues a unit of λ; it integrates to 1.
    pub density: Vec<f64>,
    /// Standard error of the density, from the spread between probes.
    pub error: Vec<f64>,
    /// Share of eigenvalues up to λ.
    pub cumulative: Vec<f64>,
}

impl Density {
    /// Where the density is highest: λ, and the density there.
    pub fn peak(&self) -> (f64, f64) {
        let points = self.lambda.iter().copied().zip(self.density.iter().copied());
        points.fold((0.0, 0.0), |best, point| if point.1 > best.1 { point } else { best })
    }

    /// Largest standard error.
    pub fn max_error(&self) -> f64 {
        self.error.iter().copied().fold(0.0, f64::max)
    }
}

/// The density of the eigenvalues of `operator`.
///
/// Products run in single precision: its rounding is far below the spread between probes. The result
/// does not depend on the number of threads.
pub fn density(
    operator: &MagneticOperator,
    config: &DensityConfig,
    progress: &dyn Progress,
) -> Result<Density, SpectrumError> {
    config.check()?;
    if operator.nodes() == 0 {
        return Err(SpectrumError::Empty);
    }
    let domain = wide(operator.bounds());
    let engine = &config.device.engine()?;
    let moments = if operator.is_real() {
        all_moments::<false>(engine, operator, config, domain, progress)?
    } else {
        all_moments::<true>(engine, operator, config, domain, progress)?
    };
    Ok(evaluate(&moments, config, domain))
}

/// Bounds of hardly more than a point are widened, which costs resolution that nobody needs there.
fn wide(bounds: Bounds) -> Bounds {
    let Bounds { min, max } = bounds;
    let size = 1.0 + min.abs().max(max.abs());
    if max - min > 1e-3 * size {
        bounds
    } else {
        Bounds { min: min - 0.1 * size, max: max + 0.1 * size }
    }
}

/// The moments μ_k of every probe.
fn all_moments<const COMPLEX: bool>(
    engine: &Engine,
    operator: &MagneticOperator,
    config: &DensityConfig,
    domain: Bounds,
    progress: &dyn Progress,
) -> Result<Vec<Vec<f64>>, SpectrumError> {
    let width = if COMPLEX { N / 2 } else { N };
    let tiles = config.probes.div_ceil(width);
    let (centre, half) = (0.5 * (domain.min + domain.max), 0.5 * (domain.max - domain.min));
    let enter = operator.scaling::<f32>(centre, half).enter;
    let work = engine.steps::<f32, N, COMPLEX>(operator, (centre, half), true)?;
    let weights = weights(operator);
    let steps = recurrence(config.moments.div_ceil(2));
    let all = tiles * (steps.len() - 1);
    let mut probe: [Tile<f32, N>; 3] = Default::default();
    let mut moments = Vec::new();
    for index in 0..tiles {
        let seed = config.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index as u64);
        probe[0].resize(operator.nodes(), Line::ZERO);
        draw::<COMPLEX>(seed, enter.as_deref(), &mut probe[0]);
        let zero = inner(&weights, &probe[0], &probe[0]);
        let mut series: Vec<[f64; N]> = vec![zero];
        let (mut one, mut even, mut done) = ([0.0; N], [0.0; N], index * (steps.len() - 1));
        let mut stopped = false;
        work.run(
            &mut probe,
            &steps,
            Some(&mut |product, square| {
                if series.len() == 1 {
                    one = product;
                    series.push(one);
                } else {
                    // ⟨T_k z, T_k z⟩ and ⟨T_k z, T_{k+1} z⟩.
                    series.push(std::array::from_fn(|j| 2.0 * even[j] - zero[j]));
                    series.push(std::array::from_fn(|j| 2.0 * product[j] - one[j]));
                    done += 1;
                    stopped = !progress.advance(done, all, "density of eigenvalues");
                }
                even = square;
                !stopped
            }),
        )?;
        if stopped {
            return Err(SpectrumError::Stopped);
        }
        series.truncate(config.moments);
        moments.extend((0..width).map(|j| {
            let sum = |m: &[f64; N]| if COMPLEX { m[j] + m[width + j] } else { m[j] };
            let total = sum(&zero);
            series.iter().map(|m| sum(m) / total).collect::<Vec<f64>>()
        }));
    }
    Ok(moments)
}

/// T_1 z, and so many more: T_{k+1} = 2S̃T_k − T_{k−1}, in two tiles in turn.
fn recurrence(more: usize) -> Vec<TileStep> {
    let step = |k: usize| TileStep {
        factors: Basis::Chebyshev.up(k),
        source: None,
        z: (k - 1) % 2,
        out: k % 2,
    };
    (1..=more + 1).map(step).collect()
}

/// Independent entries of modulus 1, random phases, or random signs of a real operator; each row times its
/// factor.
fn draw<const COMPLEX: bool>(seed: u64, enter: Option<&[f32]>, tile: &mut [Line<f32, N>]) {
    tile.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, lines)| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(chunk as u64);
        for (u, line) in (chunk * CHUNK..).zip(lines) {
            for j in 0..if COMPLEX { N / 2 } else { N } {
                if COMPLEX {
                    let (sin, cos) = (rng.random::<f32>() * std::f32::consts::TAU).sin_cos();
                    (line.0[j], line.0[N / 2 + j]) = (cos, sin);
                } else {
                    line.0[j] = if rng.random::<bool>() { 1.0 } else { -1.0 };
                }
            }
            if let Some(enter) = enter {
                line.0.iter_mut().for_each(|x| *x *= enter[u]);
            }
        }
    });
}

/// Jackson's factors g_k of a series of `terms` terms.
fn jackson(terms: usize) -> Vec<f64> {
    let step = PI / (terms + 1) as f64;
    let factor = |k: usize| {
        let (angle, left) = (k as f64 * step, (terms + 1 - k) as f64);
        (left * angle.cos() + angle.sin() / step.tan()) / (terms + 1) as f64
    };
    (0..terms).map(factor).collect()
}

fn evaluate(moments: &[Vec<f64>], config: &DensityConfig, domain: Bounds) -> Density {
    let (terms, probes) = (config.moments, moments.len() as f64);
    let half = 0.5 * (domain.max - domain.min);
    let damping = jackson(terms);
    let step = (domain.max - domain.min) / config.points as f64;
    let lambda: Vec<f64> =
        (0..config.points).map(|i| domain.min + (i as f64 + 0.5) * step).collect();
    let mean: Vec<f64> =
        (0..terms).map(|k| moments.iter().map(|m| m[k]).sum::<f64>() / probes).collect();
    let points: Vec<[f64; 3]> = lambda
        .par_iter()
        .map(|&lambda| {
            let x = ((lambda - domain.min) / half - 1.0).clamp(-1.0, 1.0);
            let angle = x.acos();
            let scale = 1.0 / (PI * (1.0 - x * x).sqrt() * half);
            let weights: Vec<f64> = (0..terms)
                .map(|k| {
                    let twice = if k == 0 { 1.0 } else { 2.0 };
                    twice * damping[k] * (k as f64 * angle).cos() * scale
                })
                .collect();
            let at = |m: &[f64]| m.iter().zip(&weights).map(|(m, w)| m * w).sum::<f64>();
            let value = at(&mean);
            let spread: f64 = moments.iter().map(|m| (at(m) - value).powi(2)).sum();
            let error = (spread / (probes - 1.0) / probes).sqrt();
            let tail: f64 = (1..terms)
                .map(|k| 2.0 * damping[k] * mean[k] * (k as f64 * angle).sin() / k as f64)
                .sum();
            [value, error, (PI - angle - tail) / PI]
        })
        .collect();
    Density {
        lambda,
        density: points.iter().map(|p| p[0]).collect(),
        error: points.iter().map(|p| p[1]).collect(),
        cumulative: points.iter().map(|p| p[2]).collect(),
        moments: terms,
        probes: moments.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::generate::{GeneratorConfig, generate};
    use crate::operator::{Charge, Kind, OperatorConfig};
    use crate::spectrum::{SpectrumConfig, spectrum};

    /// The kernel laid over the exact eigenvalues is what the probes estimate.
    #[test]
    fn densities_are_smoothed_spectra() {
        let graph =
            generate(&GeneratorConfig { nodes: 300, ..Default::default() }, 3).unwrap().graph;
        for charge in ["0", "1/3"] {
            let charge: Charge = charge.parse().unwrap();
            let operator_config =
                OperatorConfig { charge, kind: Kind::Laplacian, ..Default::default() };
            let operator = MagneticOperator::new(&graph, &operator_config).unwrap();
            let exact = spectrum(&operator, &SpectrumConfig::default(), &()).unwrap();
            let config = DensityConfig {
                moments: 60,
                probes: 64,
                points: 90,
                seed: 5,
                ..Default::default()
            };
            let estimate = density(&operator, &config, &()).unwrap();
            let moments = |k: usize| {
                let terms = exact.eigenvalues.iter().map(|l| (k as f64 * (l - 1.0).acos()).cos());
                terms.sum::<f64>() / 300.0
            };
            let exact_moments = vec![(0..60).map(moments).collect::<Vec<_>>(); 2];
            let smooth = evaluate(&exact_moments, &config, operator.bounds());
            let (mut inside, mut total) = (0.0, 0.0);
            for i in 0..90 {
                let off = (estimate.density[i] - smooth.density[i]).abs();
                assert!(off < 5.0 * estimate.error[i] + 1e-4, "{off} at {i}");
                inside += f64::from(u8::from(off <= estimate.error[i] + 1e-5));
                total += estimate.density[i] * 2.0 / 90.0;
                let below = exact.eigenvalues.iter().filter(|&&l| l <= smooth.lambda[i]).count();
                assert!((smooth.cumulative[i] - below as f64 / 300.0).abs() < 0.06);
                assert!((estimate.cumulative[i] - smooth.cumulative[i]).abs() < 0.02);
            }
            // One standard error holds about two thirds of the points, and not nearly all.
            assert!(inside > 40.0 && inside < 88.0, "{inside}");
            assert!((total - 1.0).abs() < 0.02, "{total}");
        }
    }

    #[test]
    fn bad_parameters_are_named() {
        let config = DensityConfig { moments: 1, ..Default::default() };
        assert!(matches!(config.check(), Err(SpectrumError::OutOfRange { value: 1.0, .. })));
    }
}
