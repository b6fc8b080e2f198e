//! `Stepper`: steps of one operator on tiles, in one precision and layout.

use super::TileOperator;
use super::coefficients::{ByClass, ByDegree, ByEntry, CoefficientStore, Coefficients, Scaling};
use super::kernel::Step;
use super::line::{Line, Real};
use super::output::{Cell, Place};
use crate::compute::Pattern;
use crate::compute::instructions::Instructions;
use crate::compute::recurrence::Factors;
use rayon::prelude::*;

/// Rows of a tile that one task works on outside of the product.
pub const CHUNK: usize = 4096;

/// What every tile of one operator shares.
pub struct Stepper<'a, T, const N: usize, const COMPLEX: bool> {
    pattern: &'a Pattern,
    coefficients: CoefficientStore<T>,
    instructions: Instructions,
    /// Whether a step is shared between threads, row by row.
    pub shared: bool,
}

/// The right-hand side x of a step, with the factors that take it into z = r ⊙ x.
#[derive(Clone, Copy)]
pub struct Source<'a, T, const N: usize> {
    /// x as a tile; nothing where it is zero.
    pub lines: Option<&'a [Line<T, N>]>,
    pub enter: Option<&'a [T]>,
}

impl<'a, T: Real, const N: usize, const COMPLEX: bool> Stepper<'a, T, N, COMPLEX> {
    pub fn new(operator: &'a impl TileOperator, instructions: Instructions, shared: bool) -> Self {
        let coefficients = operator.coefficients();
        Self { pattern: operator.pattern(), coefficients, instructions, shared }
    }

    /// out ← θ·x.
    pub fn start(&self, theta: f64, source: Source<T, N>, out: &mut [Line<T, N>]) {
        let fill = |(block, lines): (usize, &mut [Line<T, N>])| {
            let first = block * CHUNK;
            self.instructions.run(
                #[inline(always)]
                || fill(theta, source, first, lines),
            );
        };
        if self.shared {
            out.par_chunks_mut(CHUNK).enumerate().for_each(fill);
        } else {
            out.chunks_mut(CHUNK).enumerate().for_each(fill);
        }
    }

    /// out ← scale·S z + keep·out + θ·x.
    pub fn step(
        &self,
        scaling: &Scaling<T>,
        factors: Factors,
        source: Source<T, N>,
        z: &[Line<T, N>],
        out: &mut [Line<T, N>],
    ) {
        match &self.coefficients {
            CoefficientStore::Classes(table) => {
                self.run(&self.prepare(ByClass(table), scaling, factors, source, z), out);
            }
            CoefficientStore::Degrees { classes, factors: of_nodes, turn } => {
                let coefficients = ByDegree { classes, factors: of_nodes, turn: *turn };
                self.run(&self.prepare(coefficients, scaling, factors, source, z), out);
            }
            CoefficientStore::Entries(values) => {
                self.run(&self.prepare(ByEntry(values), scaling, factors, source, z), out);
            }
        }
    }

    /// S z, written to its place in a matrix, without passing through a tile.
    pub fn product_into<C: Cell>(
        &self,
        scaling: &Scaling<T>,
        z: &[Line<T, N>],
        mut place: Place<T, C>,
    ) {
        let factors = Factors { scale: 1.0, keep: 0.0, theta: 0.0 };
        let nothing = Source { lines: None, enter: None };
        let set = self.instructions;
        match &self.coefficients {
            CoefficientStore::Classes(table) => {
                let step = self.prepare(ByClass(table), scaling, factors, nothing, z);
                step.run_into::<COMPLEX, C>(&mut place, set);
            }
            CoefficientStore::Degrees { classes, factors: of_nodes, turn } => {
                let coefficients = ByDegree { classes, factors: of_nodes, turn: *turn };
                let step = self.prepare(coefficients, scaling, factors, nothing, z);
                step.run_into::<COMPLEX, C>(&mut place, set);
            }
            CoefficientStore::Entries(values) => {
                let step = self.prepare(ByEntry(values), scaling, factors, nothing, z);
                step.run_into::<COMPLEX, C>(&mut place, set);
            }
        }
    }

    fn prepare<'s, C: Coefficients<T>>(
        &'s self,
        coefficients: C,
        scaling: &'s Scaling<T>,
        factors: Factors,
        source: Source<'s, T, N>,
        z: &'s [Line<T, N>],
    ) -> Step<'s, T, N, C> {
        Step {
            pattern: self.pattern,
            coefficients,
            gain: &scaling.gain,
            own: &scaling.own,
            scale: T::from_f64(factors.scale),
            keep: T::from_f64(factors.keep),
            theta: T::from_f64(factors.theta),
            enter: source.enter,
            x: source.lines,
            z,
        }
    }

    fn run<C: Coefficients<T>>(&self, step: &Step<T, N, C>, out: &mut [Line<T, N>]) {
        if self.shared {
            step.run::<COMPLEX>(out, self.instructions);
        } else {
            step.run_here::<COMPLEX>(out, self.instructions);
        }
    }
}

#[inline(always)]
fn fill<T: Real, const N: usize>(
    theta: f64,
    source: Source<T, N>,
    first: usize,
    lines: &mut [Line<T, N>],
) {
    let theta = T::from_f64(theta);
    for (u, line) in (first..).zip(lines) {
        let factor = source.enter.map_or(theta, |enter| theta * enter[u]);
        *line = source.lines.map_or(Line::ZERO, |lines| lines[u]);
        line.0.iter_mut().for_each(|x| *x = factor * *x);
    }
}
