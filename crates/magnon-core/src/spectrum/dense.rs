//! All eigenvalues of one block by faer's self-adjoint solver, in double precision.

use super::SpectrumError;
use super::pairs::Pairs;
use super::small::{Failure, decompose};
use crate::matrix::Matrix;
use crate::operator::MagneticOperator;
use faer::traits::ComplexField;
use faer::{Mat, Par, c64};
use num_complex::Complex64;
use rayon::prelude::*;

/// Tasks that the solver is cut into. The cuts decide how sums are rounded, so they depend on the
/// size of the matrix alone and never on the number of threads.
const TASKS: usize = 4;
/// Matrices below this size are not worth sharing.
const SHARED_FROM: usize = 256;

/// Square arrays of entries that are alive at once at the worst moment: matrix, tridiagonal form and
/// workspace, and with vectors those, the merging of halves and the result.
const fn arrays(real: bool, vectors: bool) -> usize {
    match (vectors, real) {
        (false, _) => 3,
        (true, false) => 8,
        (true, true) => 10,
    }
}

/// Refuses a block of `nodes` nodes that needs more than `limit` bytes.
pub fn check_memory(
    nodes: usize,
    real: bool,
    vectors: bool,
    limit: u64,
) -> Result<(), SpectrumError> {
    const GIB: f64 = (1u64 << 30) as f64;
    let entry = if real { 8 } else { 16 };
    let terms = arrays(real, vectors);
    let needed = terms as f64 * (nodes as f64).powi(2) * entry as f64;
    if needed <= limit as f64 {
        return Ok(());
    }
    let (needed, limit) = (needed / GIB, limit as f64 / GIB);
    Err(SpectrumError::TooLarge { nodes, terms, entry, needed, limit })
}

/// All eigenpairs of a Hermitian operator; the caller has checked the memory.
pub fn solve(operator: &MagneticOperator, vectors: bool) -> Result<Pairs, SpectrumError> {
    match operator.nodes() {
        1 => Ok(single(operator)),
        _ if operator.is_real() => whole(operator, vectors, |z| z.re, Complex64::from),
        _ => whole::<c64>(operator, vectors, |z| z, |z| z),
    }
}

/// A node of its own: its diagonal entry, at no cost.
fn single(operator: &MagneticOperator) -> Pairs {
    let value = operator.row(0).map(|(_, value)| value.re).sum();
    let vectors = Matrix::from_vec(1, 1, vec![Complex64::from(1.0)]).ok();
    Pairs { values: vec![value], vectors }
}

fn whole<T: ComplexField<Real = f64>>(
    operator: &MagneticOperator,
    vectors: bool,
    enter: impl Fn(Complex64) -> T,
    leave: impl Fn(T) -> Complex64 + Sync,
) -> Result<Pairs, SpectrumError> {
    let n = operator.nodes();
    let mut matrix = Mat::<T>::zeros(n, n);
    for u in 0..n {
        for (v, value) in operator.row(u) {
            matrix[(u, v)] = enter(value);
        }
    }
    let par = if n < SHARED_FROM { Par::Seq } else { Par::rayon(TASKS) };
    let solved = decompose(matrix.as_ref(), vectors, par);
    drop(matrix);
    let (values, basis) = solved.map_err(|failure| match failure {
        Failure::Memory => SpectrumError::OutOfMemory { rows: n, cols: n },
        Failure::Diverged => SpectrumError::Dense { nodes: n },
    })?;
    let vectors = basis.map(|basis| {
        let mut vectors = Matrix::zeros(n, n);
        vectors.as_mut_slice().par_chunks_mut(n).enumerate().for_each(|(u, row)| {
            row.iter_mut().enumerate().for_each(|(j, x)| *x = leave(basis[(u, j)].clone()));
        });
        vectors
    });
    Ok(Pairs { values, vectors })
}
