//! faer's self-adjoint solver, with the parallelism stated, and the small problems of the iteration.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::traits::ComplexField;
use faer::{Mat, MatRef, Par, c64};

/// Why the solver gave nothing.
pub enum Failure {
    /// Memory was refused.
    Memory,
    /// It did not converge, or the numbers are not finite.
    Diverged,
}

/// Ascending eigenvalues and, where asked for, eigenvectors in columns.
pub type Decomposed<T> = (Vec<f64>, Option<Mat<T>>);

/// Decomposes a Hermitian matrix, of which the lower half is read. The cuts of `par` decide how sums
/// are rounded, whatever the number of threads that work on them.
pub fn decompose<T: ComplexField<Real = f64>>(
    matrix: MatRef<T>,
    vectors: bool,
    par: Par,
) -> Result<Decomposed<T>, Failure> {
    let n = matrix.nrows();
    let wanted = if vectors { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let scratch = self_adjoint_evd_scratch::<T>(n, wanted, par, Default::default());
    let mut scratch = MemBuffer::try_new(scratch).map_err(|_| Failure::Memory)?;
    let mut values = Diag::<T>::zeros(n);
    let mut basis = vectors.then(|| Mat::<T>::zeros(n, n));
    let solved = self_adjoint_evd(
        matrix,
        values.as_mut(),
        basis.as_mut().map(|basis| basis.as_mut()),
        par,
        MemStack::new(&mut scratch),
        Default::default(),
    );
    solved.map_err(|_| Failure::Diverged)?;
    let values: Vec<f64> = values.column_vector().iter().map(T::real_part_impl).collect();
    match values.iter().all(|value| value.is_finite()) {
        true => Ok((values, basis)),
        false => Err(Failure::Diverged),
    }
}

/// Eigenpairs of a small Hermitian matrix; of a real one the vectors are real, which a basis of real
/// columns relies on. `None` where entries are not finite.
pub fn eigen(matrix: &Mat<c64>, complex: bool) -> Option<(Vec<f64>, Mat<c64>)> {
    if complex {
        let (values, vectors) = decompose(matrix.as_ref(), true, Par::Seq).ok()?;
        return Some((values, vectors?));
    }
    let real = Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| matrix[(i, j)].re);
    let (values, vectors) = decompose(real.as_ref(), true, Par::Seq).ok()?;
    let vectors = vectors?;
    Some((values, Mat::from_fn(real.nrows(), real.ncols(), |i, j| c64::from(vectors[(i, j)]))))
}

/// A matrix C that makes the columns of a block with the Gram matrix G orthonormal, as far as they are
/// independent, and how many that are: the first columns of C. The others are 0.
///
/// Where all but a few columns lie in what is known already, what is left of them is one direction
/// many times over. It is worth keeping, once.
pub fn orthonormaliser(gram: &Mat<c64>, complex: bool) -> Option<(Mat<c64>, usize)> {
    let n = gram.nrows();
    // Columns of unit length first: what is left then is their independence.
    let length = |i: usize| gram[(i, i)].re.max(0.0).sqrt();
    let scale: Vec<f64> =
        (0..n).map(|i| if length(i) > 0.0 { length(i).recip() } else { 0.0 }).collect();
    let scaled = Mat::from_fn(n, n, |i, j| gram[(i, j)] * scale[i] * scale[j]);
    let (values, vectors) = eigen(&scaled, complex)?;
    // Eigenvalues ascend; the independent ones come first in the result.
    let rank = values.iter().filter(|&&value| value >= 1e-13).count();
    let coefficients = Mat::from_fn(n, n, |i, j| match j < rank {
        true => vectors[(i, n - 1 - j)] * (scale[i] / values[n - 1 - j].sqrt()),
        false => c64::default(),
    });
    Some((coefficients, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gram_matrices_become_the_identity() {
        let a = Mat::from_fn(5, 3, |i, j| c64::new((i * j) as f64 + 1.0, (i + 2 * j) as f64));
        let a = Mat::from_fn(5, 3, |i, j| a[(i, j)] + c64::new(f64::from(i == j), 0.0) * 1e3);
        let gram = a.adjoint() * &a;
        let (c, rank) = orthonormaliser(&gram, true).unwrap();
        assert_eq!(rank, 3);
        let error = c.adjoint() * gram * &c - Mat::<c64>::identity(3, 3);
        assert!(error.norm_max() < 1e-12);
        // Three columns of which two are parallel and one is 0.
        let dependent = Mat::from_fn(3, 3, |i, j| c64::from(f64::from(i < 2 && j < 2) * 4.0));
        let (c, rank) = orthonormaliser(&dependent, true).unwrap();
        assert_eq!(rank, 1);
        let products = c.adjoint() * dependent * &c;
        let first = |i, j| c64::from(f64::from(i == 0 && j == 0));
        assert!((products - Mat::from_fn(3, 3, first)).norm_max() < 1e-14);
    }
}
