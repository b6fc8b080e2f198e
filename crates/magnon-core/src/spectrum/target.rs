//! What the iteration minimises: S, −S or (S − σ)², and Chebyshev polynomials of it.

use super::tiles::Tile;
use crate::compute::recurrence::{Basis, Factors};
use crate::compute::steps::{HeldTiles, TileStep, TileWork, weights};
use crate::compute::tile::F64_LANES as N;
use crate::compute::{Engine, EngineError};
use crate::operator::{Bounds, MagneticOperator};
use std::cell::Cell;
use std::mem::take;

/// Which end of which operator is wanted.
#[derive(Clone, Copy)]
pub enum Aim {
    /// The lower end of S.
    Smallest,
    /// The lower end of −S.
    Largest,
    /// The lower end of (S − σ)².
    Nearest(f64),
}

/// A Hermitian operator B in the space z = r ⊙ x, with bounds of its spectrum.
pub struct Target<'a, const COMPLEX: bool> {
    work: Box<dyn TileWork<f64, N> + 'a>,
    /// w(u) of the inner product under which B is self-adjoint.
    pub weights: Vec<f64>,
    aim: Aim,
    pub bounds: Bounds,
    /// Products of S with a tile so far.
    pub products: Cell<usize>,
}

/// Graphs up to this many nodes are not shared between threads.
const SMALL: usize = 1 << 12;

impl<'a, const COMPLEX: bool> Target<'a, COMPLEX> {
    pub fn new(
        engine: &'a Engine,
        operator: &'a MagneticOperator,
        aim: Aim,
    ) -> Result<Self, EngineError> {
        let Bounds { min, max } = operator.bounds();
        let (centre, bounds) = match aim {
            Aim::Smallest => (0.0, Bounds { min, max }),
            Aim::Largest => (0.0, Bounds { min: -max, max: -min }),
            Aim::Nearest(sigma) => {
                let far = (min - sigma).abs().max((max - sigma).abs());
                let near = if (min..=max).contains(&sigma) {
                    0.0
                } else {
                    (min - sigma).abs().min((max - sigma).abs())
                };
                (sigma, Bounds { min: near * near, max: far * far })
            }
        };
        let shared = operator.nodes() > SMALL;
        Ok(Self {
            work: engine.steps::<f64, N, COMPLEX>(operator, (centre, 1.0), shared)?,
            weights: weights(operator),
            aim,
            bounds,
            products: Cell::new(0),
        })
    }

    /// out ← scale·B t + θ·t + keep·out, on tiles by their numbers; the last is for what comes between.
    fn advance(&self, factors: Factors, t: usize, out: usize, steps: &mut Vec<TileStep>) {
        let last = |factors, z| TileStep { factors, source: Some(t), z, out };
        match self.aim {
            Aim::Smallest => steps.push(last(factors, t)),
            Aim::Largest => steps.push(last(Factors { scale: -factors.scale, ..factors }, t)),
            Aim::Nearest(_) => {
                let once = Factors { scale: 1.0, keep: 0.0, theta: 0.0 };
                steps.push(TileStep { factors: once, source: None, z: t, out: 2 });
                steps.push(last(factors, 2));
            }
        }
    }

    /// The steps of a product, from the first of three tiles to the second.
    pub fn product_steps(&self) -> Vec<TileStep> {
        let mut steps = Vec::new();
        self.advance(Factors { scale: 1.0, keep: 0.0, theta: 0.0 }, 0, 1, &mut steps);
        self.products.set(self.products.get() + steps.len());
        steps
    }

    /// The steps of [`filter`](Self::filter) on three tiles, the first of which goes in, and which of them comes
    /// out.
    pub fn filter_steps(&self, degree: usize, cut: f64) -> (Vec<TileStep>, usize) {
        let (c, h) = (0.5 * (cut + self.bounds.max), 0.5 * (self.bounds.max - cut));
        let mut steps = Vec::new();
        let (mut now, mut next) = (0, 1);
        for k in 1..=degree {
            let [scale, keep] = Basis::Chebyshev.terms(k);
            let factors = Factors { scale: scale / h, keep, theta: -scale * c / h };
            self.advance(factors, now, next, &mut steps);
            std::mem::swap(&mut now, &mut next);
        }
        self.products.set(self.products.get() + steps.len());
        (steps, now)
    }

    /// Tiles that stay where the steps are made, where that is not main memory.
    pub fn held(&self) -> Option<&dyn HeldTiles> {
        self.work.held()
    }

    /// out ← B t.
    pub fn product(
        &self,
        t: &mut Tile,
        out: &mut Tile,
        work: &mut Tile,
    ) -> Result<(), EngineError> {
        let mut tiles = [take(t), take(out), take(work)];
        let done = self.work.run(&mut tiles, &self.product_steps(), None);
        [*t, *out, *work] = tiles;
        done
    }

    /// t ← T_m((B − c)/h) t with [cut, upper end] mapped to [−1, 1]: what lies below the cut grows,
    /// the rest stays.
    pub fn filter(
        &self,
        t: &mut Tile,
        degree: usize,
        cut: f64,
        work: &mut Tile,
    ) -> Result<(), EngineError> {
        let (steps, now) = self.filter_steps(degree, cut);
        let mut tiles = [take(t), Tile::new(), take(work)];
        let done = self.work.run(&mut tiles, &steps, None);
        (*t, *work) = (take(&mut tiles[now]), take(&mut tiles[2]));
        done
    }

    /// The rate s with which T_m grows below the cut: |T_m| ≈ ½ e^{ms} at `value`.
    pub fn rate(&self, value: f64, cut: f64) -> f64 {
        let beyond = 2.0 * (cut - value) / (self.bounds.max - cut);
        (1.0 + beyond.max(0.0)).acosh()
    }

    /// Width of the bounds.
    pub fn spread(&self) -> f64 {
        self.bounds.max - self.bounds.min
    }
}
