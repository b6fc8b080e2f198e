//! A few eigenpairs at the lower end of an operator, without ever writing it down.
//!
//! Block Chebyshev–Davidson: the lowest Ritz vectors that have not converged go through a Chebyshev
//! polynomial that raises what lies below a cut and keeps down the rest, and what is new in them
//! widens the basis. The cut is the median of the Ritz values above those wanted, so it follows the
//! spectrum down as the basis learns it; the degree follows from the cut. A full basis is shrunk to
//! its lowest Ritz vectors and goes on (thick restart).
//!
//! Pairs that have converged already go along where they lie among others; nothing new comes of them.
//! Columns of a block that depend on the basis and on each other are replaced by chance, and the others
//! kept: where an eigenvalue repeats thousands of times, those are all but a few.
//!
//! A block meets at most as many copies of a repeated eigenvalue as it has columns, and a start may
//! be blind by chance. So convergence alone ends nothing: a random block is filtered below the
//! largest value found and joined to the basis, and only when that brings nothing new is the search
//! over.

use super::SpectrumError;
use super::search_space::{InSpace, Space, in_space};
use super::small::{eigen, orthonormaliser};
use super::target::{Aim, Target};
use super::tiles::{Basis, Tile, width};
use crate::compute::Engine;
use crate::compute::tile::{F64_LANES as N, Line, tile};
use crate::operator::MagneticOperator;
use faer::{Mat, c64};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// ln of the growth that one filtering gives the slowest vector of a block: it balances products with what is
/// made of them.
const GAIN: f64 = 4.0;
/// ln of the growth that the fastest may get: beyond it the others drown in rounding.
const MOST_GAIN: f64 = 22.0;
/// Tiles that a basis may grow by between restarts.
const GROWTH: usize = 10;

/// How far the search goes.
pub struct Search<'a> {
    pub count: usize,
    /// Bound of ‖Bu − θu‖.
    pub tolerance: f64,
    pub max_products: usize,
    pub seed: u64,
    /// Told how many of the wanted pairs have converged; says whether to go on.
    pub progress: &'a (dyn Fn(usize) -> bool + Sync),
}

/// Converged pairs: the values, and their vectors as columns of the basis in order.
pub struct Found<const COMPLEX: bool> {
    pub values: Vec<f64>,
    pub basis: Basis<COMPLEX>,
}

impl<const COMPLEX: bool> Found<COMPLEX> {
    /// The eigenpairs of `operator` itself in the space that was found for a function of it.
    pub fn of_operator(
        mut self,
        engine: &Engine,
        operator: &MagneticOperator,
    ) -> Result<Self, SpectrumError> {
        let target = Target::<COMPLEX>::new(engine, operator, Aim::Smallest)?;
        let columns = self.basis.columns();
        let (mut image, mut work) = (tile(operator.nodes()), Vec::new());
        let mut projected = Mat::zeros(columns, columns);
        for t in 0..self.basis.tiles {
            target.product(&mut self.basis.tile(t), &mut image, &mut work)?;
            let part = self.basis.inner(&target.weights, &image);
            for i in 0..columns {
                (0..part.ncols()).for_each(|j| projected[(i, t * part.ncols() + j)] = part[(i, j)]);
            }
        }
        let nodes = operator.nodes();
        let (values, vectors) = eigen(&projected, COMPLEX).ok_or(SpectrumError::Dense { nodes })?;
        self.basis.rotate(&vectors);
        Ok(Self { values, basis: self.basis })
    }
}

struct State<'a, 'b, S, const COMPLEX: bool> {
    target: &'a Target<'b, COMPLEX>,
    search: &'a Search<'a>,
    space: S,
    /// VᴴBV.
    projected: Mat<c64>,
    nodes: usize,
    rng: ChaCha8Rng,
}

/// The `count` lowest eigenpairs of `target`, which acts on `nodes` nodes.
pub fn lowest<const COMPLEX: bool>(
    target: &Target<COMPLEX>,
    nodes: usize,
    search: &Search,
) -> Result<Found<COMPLEX>, SpectrumError> {
    in_space(target, nodes, Lowest { target, nodes, search })
}

/// The search, to be done in whichever space the target has.
struct Lowest<'a, 'b, const COMPLEX: bool> {
    target: &'a Target<'b, COMPLEX>,
    nodes: usize,
    search: &'a Search<'a>,
}

impl<const COMPLEX: bool> InSpace<COMPLEX> for Lowest<'_, '_, COMPLEX> {
    type Output = Found<COMPLEX>;

    fn run<S: Space<COMPLEX>>(self, space: S) -> Result<Found<COMPLEX>, SpectrumError> {
        let Self { target, nodes, search } = self;
        let (projected, rng) = (Mat::zeros(0, 0), ChaCha8Rng::seed_from_u64(search.seed));
        State { target, search, space, projected, nodes, rng }.run()
    }
}

/// Columns of the largest basis that a search for `count` pairs keeps.
pub fn columns_needed(count: usize, complex: bool) -> usize {
    (count.div_ceil(width(complex)) + GROWTH + 1) * width(complex)
}

impl<S: Space<COMPLEX>, const COMPLEX: bool> State<'_, '_, S, COMPLEX> {
    const WIDTH: usize = width(COMPLEX);

    /// Columns of the basis.
    fn columns(&self) -> usize {
        self.space.tiles() * Self::WIDTH
    }

    fn run(mut self) -> Result<Found<COMPLEX>, SpectrumError> {
        let count = self.search.count;
        let wanted = count.div_ceil(Self::WIDTH);
        let start = self.filtered_start()?;
        self.widen(start)?;
        // Values of the pairs that have converged, a run from the lowest on.
        let mut known: Vec<f64> = Vec::new();
        let mut looked = false;
        loop {
            let (theta, vectors) = self.ritz()?;
            // A value that has sunk or that has come in between is no longer known.
            let same = |(known, now): &(&f64, &f64)| **now >= **known - self.search.tolerance;
            let kept = known.iter().zip(&theta).take_while(same).count();
            if kept < known.len() {
                looked = false;
            }
            known.truncate(kept);
            if known.len() >= count {
                // Neighbours move a pair a little after it was measured.
                if let Some(bad) = self.first_above_tolerance(&theta, &vectors)? {
                    known.truncate(bad);
                } else if looked {
                    return self.finish(theta, &vectors);
                } else {
                    self.look_again(self.cut(&theta, count), theta[count - 1])?;
                    looked = true;
                    continue;
                }
            }
            let first = known.len();
            if first + Self::WIDTH > self.columns() {
                let fresh = self.filtered_start()?;
                self.widen(fresh)?;
                continue;
            }
            let mut block = self.vectors(&vectors, first)?;
            let residuals = self.space.residuals(&mut block, &theta[first..])?;
            let good = residuals.iter().take_while(|&&r| r <= self.search.tolerance).count();
            known.extend(&theta[first..first + good]);
            if !(self.search.progress)(known.len().min(count)) {
                return Err(SpectrumError::Stopped);
            }
            if good > 0 {
                continue;
            }
            if self.target.products.get() >= self.search.max_products {
                return Err(SpectrumError::NotConverged {
                    converged: first,
                    count,
                    products: self.target.products.get(),
                    residual: residuals[0],
                    tolerance: self.search.tolerance,
                });
            }
            let cut = self.cut(&theta, first + Self::WIDTH);
            let (low, high) = (theta[first], theta[first + Self::WIDTH - 1]);
            let degree = GAIN / self.target.rate(high, cut);
            let degree = degree.min(MOST_GAIN / self.target.rate(low, cut)).clamp(8.0, 2000.0);
            if self.space.tiles() >= wanted + GROWTH {
                self.shrink(&theta, &vectors, wanted + GROWTH / 2)?;
            }
            let block = self.space.filter(block, degree as usize, cut)?;
            self.widen(block)?;
        }
    }

    /// A cut for a basis that knows nothing yet.
    fn first_cut(&self) -> f64 {
        self.target.bounds.min + 0.2 * self.target.spread()
    }

    /// The median of the Ritz values from `from` on.
    fn cut(&self, theta: &[f64], from: usize) -> f64 {
        let above = theta.get(from..).unwrap_or_default();
        let cut = above.get(above.len() / 2).copied().unwrap_or_else(|| self.first_cut());
        let least = theta[from.min(theta.len()) - 1] + 1e-12 * self.target.spread();
        cut.max(least).min(self.target.bounds.max - 1e-3 * self.target.spread())
    }

    /// A random block, with a little more of the lower end in it.
    fn filtered_start(&mut self) -> Result<S::Tile, SpectrumError> {
        let start = self.random();
        let start = self.space.bring(start)?;
        Ok(self.space.filter(start, 8, self.first_cut())?)
    }

    fn random(&mut self) -> Tile {
        let mut fresh = tile::<f64, N>(self.nodes);
        fill(&mut self.rng, &mut fresh);
        fresh
    }

    /// Ritz values and the coefficients of their vectors.
    fn ritz(&self) -> Result<(Vec<f64>, Mat<c64>), SpectrumError> {
        eigen(&self.projected, COMPLEX).ok_or(SpectrumError::Dense { nodes: self.nodes })
    }

    /// The Ritz vectors from `first` on, one tile of them.
    fn vectors(&mut self, coefficients: &Mat<c64>, first: usize) -> Result<S::Tile, SpectrumError> {
        let columns = coefficients.subcols(first, Self::WIDTH).to_owned();
        Ok(self.space.combined(&columns)?)
    }

    /// The first of the wanted pairs whose residual is too large.
    fn first_above_tolerance(
        &mut self,
        theta: &[f64],
        vectors: &Mat<c64>,
    ) -> Result<Option<usize>, SpectrumError> {
        for first in (0..self.search.count).step_by(Self::WIDTH) {
            let mut block = self.vectors(vectors, first)?;
            let residuals = self.space.residuals(&mut block, &theta[first..])?;
            let bad = residuals.iter().position(|&r| r > self.search.tolerance);
            if let Some(bad) = bad.filter(|&bad| first + bad < self.search.count) {
                return Ok(Some(first + bad));
            }
        }
        Ok(None)
    }

    /// Joins what is new in `block` to the basis.
    fn widen(&mut self, mut block: S::Tile) -> Result<(), SpectrumError> {
        for _ in 0..8 {
            let independent = self.orthonormalise(&mut block)?;
            if independent == Self::WIDTH {
                break;
            }
            // Nothing new is left in the other columns; chance brings some.
            let (fresh, mut numbers) = (self.random(), self.space.numbers(block)?);
            for (line, fresh) in numbers.iter_mut().zip(&fresh) {
                let replaced = |&j: &usize| j % Self::WIDTH >= independent;
                (0..N).filter(replaced).for_each(|j| line.0[j] = fresh.0[j]);
            }
            block = self.space.bring(numbers)?;
        }
        let column = self.space.join(block)?;
        let (old, new) = (self.projected.nrows(), self.columns());
        let before = std::mem::replace(&mut self.projected, Mat::zeros(0, 0));
        self.projected = Mat::from_fn(new, new, |i, j| match (i < old, j < old) {
            (true, true) => before[(i, j)],
            (true, false) => column[(i, j - old)],
            (false, true) => column[(j, i - old)].conj(),
            // The corner is Hermitian up to rounding.
            (false, false) => 0.5 * (column[(i, j - old)] + column[(j, i - old)].conj()),
        });
        Ok(())
    }

    /// Makes the columns of `block` orthonormal to the basis and to each other, as many as can be: the
    /// first ones, whose number it tells.
    fn orthonormalise(&mut self, block: &mut S::Tile) -> Result<usize, SpectrumError> {
        let mut independent = 0;
        for _ in 0..3 {
            self.space.separate(block)?;
            let products = self.space.gram(block)?;
            let Some((coefficients, rank)) = orthonormaliser(&products, COMPLEX) else {
                return Ok(0);
            };
            self.space.turn(block, &coefficients)?;
            independent = rank;
        }
        Ok(independent)
    }

    /// Keeps the lowest Ritz vectors, `tiles` of them.
    fn shrink(
        &mut self,
        theta: &[f64],
        vectors: &Mat<c64>,
        tiles: usize,
    ) -> Result<(), SpectrumError> {
        let columns = tiles * Self::WIDTH;
        self.space.rotate(&vectors.subcols(0, columns).to_owned())?;
        self.projected = Mat::zeros(columns, columns);
        for (i, &value) in theta[..columns].iter().enumerate() {
            self.projected[(i, i)] = c64::from(value);
        }
        Ok(())
    }

    /// Joins a random block whose share below `last` was raised until it must show.
    ///
    /// A random vector has a share of about 1/√n in each direction. After growth by a factor g what
    /// is not wanted leaves n·spread/g² in its Ritz value, which must not hide `last` below the cut.
    fn look_again(&mut self, cut: f64, last: f64) -> Result<(), SpectrumError> {
        let gap = (cut - last).max(1e-12 * self.target.spread());
        let growth = 10.0 * (self.nodes as f64 * self.target.spread() / gap).sqrt();
        let degree = growth.ln() / self.target.rate(last, cut);
        let degree = degree.min(30.0 / self.target.rate(self.target.bounds.min, cut));
        let block = self.random();
        let block = self.space.bring(block)?;
        let block = self.space.filter(block, degree.clamp(8.0, 4000.0) as usize, cut)?;
        self.widen(block)
    }

    fn finish(
        mut self,
        mut theta: Vec<f64>,
        vectors: &Mat<c64>,
    ) -> Result<Found<COMPLEX>, SpectrumError> {
        let columns = self.search.count.next_multiple_of(Self::WIDTH).min(vectors.ncols());
        self.space.rotate(&vectors.subcols(0, columns).to_owned())?;
        theta.truncate(self.search.count);
        Ok(Found { values: theta, basis: self.space.finish()? })
    }
}

/// Independent numbers from −1 to 1.
fn fill<R: Rng>(rng: &mut R, tile: &mut [Line<f64, N>]) {
    for line in tile {
        line.0 = std::array::from_fn(|_| 2.0 * rng.random::<f64>() - 1.0);
    }
}
