//! A few eigenpairs of one component, by the iteration.

use super::davidson::{Found, Search, lowest};
use super::pairs::Pairs;
use super::solve::Task;
use super::target::{Aim, Target};
use super::{Select, SpectrumError};
use crate::compute::tile::TileOperator;
use crate::matrix::Matrix;
use crate::operator::MagneticOperator;

impl Task<'_> {
    /// Eigenpairs of a component, and the products that they took.
    pub fn iterate(&self, block: &MagneticOperator) -> Result<(Pairs, usize), SpectrumError> {
        if block.is_real() {
            self.iterate_on::<false>(block)
        } else {
            self.iterate_on::<true>(block)
        }
    }

    fn iterate_on<const COMPLEX: bool>(
        &self,
        block: &MagneticOperator,
    ) -> Result<(Pairs, usize), SpectrumError> {
        let progress =
            |done: usize| self.progress.advance(done.min(self.count), self.count, "eigenpairs");
        let mut search = Search {
            count: self.count,
            tolerance: self.config.tolerance * block.bounds().radius(),
            max_products: self.config.max_products,
            seed: self.config.seed,
            progress: &progress,
        };
        let aim = match self.config.select {
            Select::Nearest { to, .. } => return self.nearest::<COMPLEX>(block, to, search),
            Select::Largest(_) => Aim::Largest,
            _ => Aim::Smallest,
        };
        // Verification and rounding may add a little to a residual; the bound is kept all the same.
        search.tolerance *= 0.9;
        let target = Target::<COMPLEX>::new(self.engine, block, aim)?;
        let found = lowest(&target, block.nodes(), &search)?;
        let mut pairs = unpack(block, found)?;
        if let Aim::Largest = aim {
            pairs.values.iter_mut().for_each(|value| *value = -*value);
            reverse(&mut pairs);
        }
        Ok((pairs, target.products.get()))
    }

    /// The lower end of (S − σ)², and the eigenpairs of S in what it spans.
    fn nearest<const COMPLEX: bool>(
        &self,
        block: &MagneticOperator,
        sigma: f64,
        search: Search,
    ) -> Result<(Pairs, usize), SpectrumError> {
        let (wanted, tolerance) = (search.count, search.tolerance);
        let mut products = 0;
        let (mut converged, mut residual) = (0, f64::INFINITY);
        for round in 0..4 {
            // Pairs σ ± δ look alike from here, and the last may come without its other half; a
            // residual of the square may hide a larger one of S. Both are cured by going further.
            let target = Target::<COMPLEX>::new(self.engine, block, Aim::Nearest(sigma))?;
            let width = super::tiles::width(COMPLEX);
            let count = wanted.next_multiple_of(width) + width * (round + 1);
            let goal = tolerance * 0.1f64.powi(2 * round as i32 + 1) * target.bounds.max.sqrt();
            let floor = 1e-14 * target.bounds.max;
            let further = Search { count, tolerance: goal.max(floor), ..search };
            let found = lowest(&target, block.nodes(), &further)?;
            products += target.products.get();
            let mut pairs = unpack(block, found.of_operator(self.engine, block)?)?;
            let residuals = pairs.residuals(block).unwrap_or_default();
            let good = |&j: &usize| residuals[j] <= tolerance;
            converged = (0..residuals.len()).filter(good).count();
            if converged >= wanted {
                keep_nearest(&mut pairs, sigma, wanted, good);
                return Ok((pairs, products));
            }
            let bad = residuals.iter().copied().filter(|&r| r > tolerance);
            residual = bad.fold(f64::INFINITY, f64::min);
        }
        let count = wanted;
        Err(SpectrumError::NotConverged { converged, count, products, residual, tolerance })
    }
}

/// Columns of the basis as vectors of the operator, out of the space z = r ⊙ x.
fn unpack<const COMPLEX: bool>(
    block: &MagneticOperator,
    found: Found<COMPLEX>,
) -> Result<Pairs, SpectrumError> {
    let (rows, cols) = (block.nodes(), found.values.len());
    let refused = SpectrumError::OutOfMemory { rows, cols };
    let mut vectors = Matrix::try_zeros(rows, cols).ok_or(refused)?;
    let leave = block.scaling::<f64>(0.0, 1.0).leave;
    found.basis.write(&mut vectors, leave.as_deref());
    Ok(Pairs { values: found.values, vectors: Some(vectors) })
}

/// Turns the order of the pairs round.
fn reverse(pairs: &mut Pairs) {
    pairs.values.reverse();
    if let Some(vectors) = &mut pairs.vectors {
        let cols = vectors.cols();
        vectors.as_mut_slice().chunks_exact_mut(cols).for_each(<[_]>::reverse);
    }
}

/// Keeps the `count` pairs nearest to `sigma` of those that are good.
fn keep_nearest(pairs: &mut Pairs, sigma: f64, count: usize, good: impl Fn(&usize) -> bool) {
    let mut order: Vec<usize> = (0..pairs.values.len()).filter(good).collect();
    order.sort_by(|&a, &b| {
        (pairs.values[a] - sigma).abs().total_cmp(&(pairs.values[b] - sigma).abs())
    });
    order.truncate(count);
    order.sort_unstable();
    pairs.values = order.iter().map(|&j| pairs.values[j]).collect();
    if let Some(vectors) = &pairs.vectors {
        let cells = (0..vectors.rows()).flat_map(|u| order.iter().map(move |&j| vectors.row(u)[j]));
        pairs.vectors = Matrix::from_vec(vectors.rows(), order.len(), cells.collect()).ok();
    }
}
