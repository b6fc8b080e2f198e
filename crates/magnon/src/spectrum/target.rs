//! What the iteration minimises: S, −S or (S − σ)², and Chebyshev polynomials of it.

use super::tiles::Tile;
use crate::operator::input::Input;
use crate::operator::instructions::Instructions;
use crate::operator::line::F64_LANES as N;
use crate::operator::line::tile;
use crate::operator::stepper::{Factors, Source, Stepper};
use crate::operator::{Bounds, MagneticOperator, Scaling};
use std::cell::Cell;

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
    stepper: Stepper<'a, f64, N, COMPLEX>,
    scaling: Scaling<f64>,
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
    pub fn new(operator: &'a MagneticOperator, aim: Aim) -> Self {
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
        Self {
            stepper: Stepper::new(operator, Instructions::detect(), shared),
            scaling: operator.scaling(centre, 1.0),
            weights: operator.inner_weights(),
            aim,
            bounds,
            products: Cell::new(0),
        }
    }

    /// out ← scale·B t + shift·t + keep·out.
    fn advance(&self, t: &Tile, out: &mut Tile, work: &mut Tile, factors: Factors) {
        let source = Source { input: Input::Tile(t), enter: None };
        self.products.set(self.products.get() + 1);
        match self.aim {
            Aim::Smallest => self.stepper.step(&self.scaling, factors, source, t, out),
            Aim::Largest => {
                let factors = Factors { scale: -factors.scale, ..factors };
                self.stepper.step(&self.scaling, factors, source, t, out);
            }
            Aim::Nearest(_) => {
                work.resize(t.len(), crate::operator::line::Line::ZERO);
                let nothing = Source { input: Input::Zero, enter: None };
                let once = Factors { scale: 1.0, keep: 0.0, theta: 0.0 };
                self.stepper.step(&self.scaling, once, nothing, t, work);
                self.stepper.step(&self.scaling, factors, source, work, out);
                self.products.set(self.products.get() + 1);
            }
        }
    }

    /// out ← B t.
    pub fn product(&self, t: &Tile, out: &mut Tile, work: &mut Tile) {
        self.advance(t, out, work, Factors { scale: 1.0, keep: 0.0, theta: 0.0 });
    }

    /// t ← T_m((B − c)/h) t with [cut, upper end] mapped to [−1, 1]: what lies below the cut grows,
    /// the rest stays.
    pub fn filter(&self, t: &mut Tile, degree: usize, cut: f64, work: &mut Tile) {
        let (c, h) = (0.5 * (cut + self.bounds.max), 0.5 * (self.bounds.max - cut));
        let mut next = tile(t.len());
        let first = Factors { scale: 1.0 / h, keep: 0.0, theta: -c / h };
        self.advance(t, &mut next, work, first);
        std::mem::swap(t, &mut next);
        for _ in 1..degree {
            let factors = Factors { scale: 2.0 / h, keep: -1.0, theta: -2.0 * c / h };
            self.advance(t, &mut next, work, factors);
            std::mem::swap(t, &mut next);
        }
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
