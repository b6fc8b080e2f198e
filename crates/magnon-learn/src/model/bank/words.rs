//! PX, PᵀX and longer words over P = D_out^{-1/2} A D_in^{-1/2}, with one product for two of them.
//!
//! With degrees out and in divided out apart, no self loops and the charge 1/8 the operator is
//! S = (√2/4)·((P + Pᵀ) + i(P − Pᵀ)). So one product with a real block Y tells PY and PᵀY: they are √2 times the sum and
//! the difference of its real and imaginary parts.

use bytemuck::Zeroable;
use magnon_core::filter::{Filter, FilterConfig, FilterError, FilterKind, Propagated, propagate};
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::{
    Along, Charge, MagneticOperator, Normalize, OperatorConfig, OperatorError, Pattern,
};
use magnon_core::progress::Progress;
use rayon::prelude::*;
use std::f32::consts::SQRT_2;
use std::sync::Arc;

/// A word, applied from its last letter to its first.
pub(super) type Word = Vec<Along>;

/// Called with each word that is wanted.
pub(super) type Visit<'a, F> = dyn FnMut(&[Along], &Features) -> Result<(), F> + 'a;

/// Steps along the edges, out and in.
pub(super) struct Steps<'a> {
    operator: MagneticOperator,
    once: Filter,
    progress: &'a dyn Progress,
    /// Products made so far.
    pub products: usize,
}

impl<'a> Steps<'a> {
    pub fn new<F>(pattern: Arc<Pattern>, progress: &'a dyn Progress) -> Result<Self, F>
    where
        F: From<FilterError> + From<OperatorError>,
    {
        let Ok(eighth) = Charge::fraction(1, 8) else { unreachable!("1/8 is a charge") };
        let config = step_config(eighth);
        let operator = MagneticOperator::from_pattern(pattern, &config)?;
        let once = FilterConfig { kind: FilterKind::Power, order: Some(1), ..Default::default() };
        let once = once.build(operator.bounds(), operator.config().kind)?;
        Ok(Self { operator, once, progress, products: 0 })
    }

    /// Visits the words that are wanted, X itself as the empty one; each as soon as it is there, and
    /// for as long as a longer one needs it. At most two blocks for each letter are held.
    pub fn walk<F: From<FilterError>>(
        &mut self,
        x: &Features,
        words: &[Word],
        visit: &mut Visit<F>,
    ) -> Result<(), F> {
        self.walk_from(&[], x, words, visit)
    }

    fn walk_from<F: From<FilterError>>(
        &mut self,
        word: &[Along],
        block: &Features,
        words: &[Word],
        visit: &mut Visit<F>,
    ) -> Result<(), F> {
        if words.iter().any(|wanted| wanted == word) {
            visit(word, block)?;
        }
        let longer = [Along::Out, Along::In].map(|along| [&[along], word].concat());
        let leads_on = longer.clone().map(|next| words.iter().any(|word| word.ends_with(&next)));
        if leads_on == [false; 2] {
            return Ok(());
        }
        let blocks = self.both(block)?;
        for ((next, block), on) in longer.iter().zip(blocks).zip(leads_on) {
            if on {
                self.walk_from(next, &Features::Dense(block), words, visit)?;
            }
        }
        Ok(())
    }

    /// PY and PᵀY.
    fn both(&mut self, y: &Features) -> Result<[Matrix<f32>; 2], FilterError> {
        self.products += 1;
        match propagate(&self.operator, &self.once, y, self.progress)? {
            // P is symmetric.
            Propagated::Real(product) => {
                let scaled = map(&product, |value| SQRT_2 * value)?;
                Ok([map(&scaled, |value| value)?, scaled])
            }
            Propagated::Complex(product) => Ok([
                map(&product, |z| SQRT_2 * (z.re + z.im))?,
                map(&product, |z| SQRT_2 * (z.re - z.im))?,
            ]),
        }
    }
}

/// A matrix of what becomes of each number.
pub(super) fn map<T: Copy + Sync, U: Zeroable + Clone + Send>(
    matrix: &Matrix<T>,
    of: impl Fn(T) -> U + Sync,
) -> Result<Matrix<U>, FilterError> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let bytes = rows.saturating_mul(cols).saturating_mul(size_of::<U>());
    let mut mapped =
        Matrix::try_zeros(rows, cols).ok_or(FilterError::OutOfMemory { rows, cols, bytes })?;
    let pairs = mapped.as_mut_slice().par_iter_mut().zip(matrix.as_slice());
    pairs.for_each(|(to, &value)| *to = of(value));
    Ok(mapped)
}

/// ½(e^{i2πq}P + e^{−i2πq}Pᵀ).
pub(super) fn step_config(charge: Charge) -> OperatorConfig {
    OperatorConfig {
        charge,
        normalize: Normalize::Directed,
        self_loops: false,
        ..OperatorConfig::default()
    }
}
