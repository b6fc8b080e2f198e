//! Dense products of real and complex matrices, by faer.

use crate::compute::{Field, Scalar, Shape};
use bytemuck::{cast_slice, cast_slice_mut};
use faer::linalg::matmul::matmul_with_conj;
use faer::prelude::ReborrowMut;
use faer::traits::ComplexField;
use faer::{Accum, Conj, MatMut, MatRef, Par};
use rayon::prelude::*;

/// One factor of a product.
#[derive(Clone, Copy)]
pub struct Operand<'a, T> {
    numbers: &'a [T],
    shape: Shape,
    adjoint: bool,
}

/// Rows of the result that one thread makes at a time; the cuts depend on the sizes alone, so the
/// result does not depend on the number of threads.
const ROWS: usize = 256;
/// Multiplications from which on sharing is worth while.
const LARGE: usize = 1 << 22;

impl<'a, T: Scalar> Operand<'a, T> {
    pub fn new(numbers: &'a [T], shape: Shape, adjoint: bool) -> Self {
        Self { numbers, shape, adjoint }
    }

    /// Columns as the product sees them.
    fn cols(&self) -> usize {
        if self.adjoint { self.shape.rows() } else { self.shape.cols() }
    }

    /// As a complex matrix, and whether it enters conjugated.
    fn complex(&self) -> View<'_, T::Complex> {
        let matrix = strided(cast_slice::<T, T::Complex>(self.numbers), self.shape, 1);
        if self.adjoint { (matrix.transpose(), Conj::Yes) } else { (matrix, Conj::No) }
    }

    /// Real part (0) or imaginary part (1) as a strided real matrix, and the sign it enters with.
    fn part(&self, part: usize) -> (MatRef<'_, T>, T) {
        let parts = self.shape.field().parts();
        let matrix = strided(&self.numbers[part..], self.shape, parts);
        match (self.adjoint, part) {
            (true, 1) => (matrix.transpose(), -T::ONE),
            (true, _) => (matrix.transpose(), T::ONE),
            (false, _) => (matrix, T::ONE),
        }
    }
}

/// A matrix of every `parts`-th number.
fn strided<T>(numbers: &[T], shape: Shape, parts: usize) -> MatRef<'_, T> {
    let (rows, cols) = (shape.rows(), shape.cols());
    let last = if rows * cols == 0 { 0 } else { (rows * cols - 1) * parts + 1 };
    assert!(numbers.len() >= last);
    // SAFETY: the largest place, that of the last row and column, was just checked. Tested by
    // `views_reach_the_last_number`, also under Miri, and `short_numbers_are_refused`.
    unsafe {
        MatRef::from_raw_parts(
            numbers.as_ptr(),
            rows,
            cols,
            (cols * parts) as isize,
            parts as isize,
        )
    }
}

/// As [`strided`], for writing.
fn strided_mut<T>(numbers: &mut [T], shape: Shape, parts: usize) -> MatMut<'_, T> {
    let (rows, cols) = (shape.rows(), shape.cols());
    let last = if rows * cols == 0 { 0 } else { (rows * cols - 1) * parts + 1 };
    assert!(numbers.len() >= last);
    // SAFETY: as above, and the slice is borrowed for as long as the matrix. Tested as above.
    unsafe {
        MatMut::from_raw_parts_mut(
            numbers.as_mut_ptr(),
            rows,
            cols,
            (cols * parts) as isize,
            parts as isize,
        )
    }
}

/// `out = left·right`, or `out += left·right`.
pub fn product<T: Scalar>(
    left: Operand<T>,
    right: Operand<T>,
    out: (&mut [T], Shape),
    add: bool,
    parallel: bool,
) {
    let (numbers, shape) = out;
    let accum = if add { Accum::Add } else { Accum::Replace };
    if left.cols() == 0 && !add {
        numbers.fill(T::ZERO);
        return;
    }
    match (left.shape.field(), right.shape.field(), shape.field()) {
        (Field::Real, Field::Real, Field::Real) => {
            let out = strided_mut(numbers, shape, 1);
            let (x, y) = ((left.part(0).0, Conj::No), (right.part(0).0, Conj::No));
            multiply(x, y, out, accum, T::ONE, parallel);
        }
        // A real matrix treats the parts of a complex one as columns of their own.
        (Field::Real, Field::Complex, Field::Complex) if !right.adjoint => {
            let right = strided(right.numbers, right.shape.as_real(), 1);
            let out = strided_mut(numbers, shape.as_real(), 1);
            let left = (left.part(0).0, Conj::No);
            multiply(left, (right, Conj::No), out, accum, T::ONE, parallel);
        }
        (Field::Complex, Field::Complex, Field::Complex) => {
            let out = strided_mut(cast_slice_mut::<T, T::Complex>(numbers), shape, 1);
            multiply(left.complex(), right.complex(), out, accum, one_complex::<T>(), parallel);
        }
        _ => by_parts(left, right, numbers, shape, add, parallel),
    }
}

/// The mixed cases, as real products of real and imaginary parts.
fn by_parts<T: Scalar>(
    left: Operand<T>,
    right: Operand<T>,
    numbers: &mut [T],
    shape: Shape,
    add: bool,
    parallel: bool,
) {
    if !add {
        numbers.fill(T::ZERO);
    }
    let parts = shape.field().parts();
    for a in 0..left.shape.field().parts() {
        for b in 0..right.shape.field().parts() {
            let part = (a + b) % 2;
            if part >= parts {
                continue; // only the real part is wanted
            }
            let (x, sign_a) = left.part(a);
            let (y, sign_b) = right.part(b);
            let turn = if a + b == 2 { -T::ONE } else { T::ONE };
            let out = strided_mut(&mut numbers[part..], shape, parts);
            multiply(
                (x, Conj::No),
                (y, Conj::No),
                out,
                Accum::Add,
                sign_a * sign_b * turn,
                parallel,
            );
        }
    }
}

fn one_complex<T: Scalar>() -> T::Complex {
    <T::Complex as ComplexField>::one_impl()
}

type View<'a, E> = (MatRef<'a, E>, Conj);

/// `out = scale·left·right`, in blocks of rows where it is large. A block's sums may be ordered
/// otherwise than the whole's, so the cuts are the same whether or not they are shared.
fn multiply<E: ComplexField>(
    left: View<E>,
    right: View<E>,
    out: MatMut<E>,
    accum: Accum,
    scale: E,
    parallel: bool,
) {
    let work = out.nrows() * out.ncols() * left.0.ncols();
    let one = |rows: MatRef<E>, out: MatMut<E>| {
        matmul_with_conj(out, accum, rows, left.1, right.0, right.1, scale.clone(), Par::Seq);
    };
    if work < LARGE || out.nrows() <= ROWS {
        one(left.0, out);
    } else if parallel {
        let left_blocks = left.0.par_row_chunks(ROWS);
        out.par_row_chunks_mut(ROWS).zip(left_blocks).for_each(|(out, rows)| one(rows, out));
    } else {
        let mut out = out;
        for start in (0..out.nrows()).step_by(ROWS) {
            let count = ROWS.min(out.nrows() - start);
            one(left.0.subrows(start, count), out.rb_mut().subrows_mut(start, count));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_reach_the_last_number() {
        let numbers: Vec<f32> = (0..11).map(|x| x as f32).collect();
        let shape = Shape::real(3, 2);
        // The last of six numbers, two apart, is the eleventh.
        let view = strided(&numbers, shape, 2);
        let seen: Vec<f32> = (0..6).map(|i| view[(i / 2, i % 2)]).collect();
        assert_eq!(seen, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        let mut numbers = numbers;
        let mut view = strided_mut(&mut numbers, shape, 2);
        (0..6).for_each(|i| view[(i / 2, i % 2)] = 7.0);
        assert_eq!(numbers.iter().filter(|&&x| x == 7.0).count(), 7);
        assert_eq!(strided::<f32>(&[], Shape::real(0, 2), 2).nrows(), 0);
    }

    #[test]
    #[should_panic(expected = "assertion failed")]
    fn short_numbers_are_refused() {
        strided(&[0f32; 10], Shape::real(3, 2), 2);
    }
}
