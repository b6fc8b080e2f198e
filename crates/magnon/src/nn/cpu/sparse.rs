//! Products with fixed maps: dense rows, sparse rows, and filters by their recurrences.

use super::Cpu;
use super::kernel::kernel;
use super::product::{Factor, product};
use crate::nn::map::{Kind, Rows, Series};
use crate::nn::{Field, Map, Scalar, Shape};

impl<T: Scalar> Cpu<T> {
    /// `y = M x` or `y = Mᴴ x`, on top of what is there where `add`.
    pub(super) fn apply(
        &self,
        map: &Map<T>,
        adjoint: bool,
        x: (&Vec<T>, Shape),
        y: (&mut Vec<T>, Shape),
        add: bool,
    ) {
        match &map.kind {
            Kind::Dense(numbers) => {
                let left = Factor::new(numbers, map.shape, adjoint);
                let right = Factor::new(x.0, x.1, false);
                product(left, right, (y.0, y.1), add, self.parallel);
            }
            Kind::Sparse { forward, adjoint: turned } => {
                let rows = if adjoint { turned } else { forward };
                self.gather(rows, map.shape.field, (x.0, x.1), (y.0, y.1), add);
            }
            Kind::Filter { forward, adjoint: turned, series } => {
                let rows = if adjoint { turned } else { forward };
                self.recur(rows, map.shape.field, series, x, y, add);
            }
        }
    }

    /// Sparse rows times a block.
    fn gather(
        &self,
        rows: &Rows<T>,
        field: Field,
        x: (&[T], Shape),
        y: (&mut [T], Shape),
        add: bool,
    ) {
        let widths = (x.1.width().max(1), y.1.width().max(1));
        let (x_numbers, y_numbers) = (x.0, y.0);
        macro_rules! run {
            ($kernel:ident) => {
                self.instructions.compute($kernel { rows, x: x_numbers, y: y_numbers, widths, add })
            };
        }
        match (field, x.1.field, y.1.field) {
            // A real map treats the parts of a complex block as columns of their own.
            (Field::Real, ..) => run!(Real),
            (Field::Complex, Field::Complex, Field::Complex) => run!(Complex),
            (Field::Complex, Field::Real, Field::Complex) => run!(FromReal),
            (Field::Complex, _, Field::Real) => run!(ToReal),
        }
    }

    /// h(S)·x by Horner's rule or Clenshaw's recurrence.
    fn recur(
        &self,
        rows: &Rows<T>,
        field: Field,
        series: &Series,
        x: (&Vec<T>, Shape),
        y: (&mut Vec<T>, Shape),
        add: bool,
    ) {
        let shape = Shape { field: field.join(x.1.field), ..x.1 };
        let mut source = self.take(shape.len());
        widen((x.0, x.1), shape, &mut source);
        let (mut now, mut next) = (self.take(shape.len()), self.take(shape.len()));
        now.fill(T::ZERO);
        let coefficients = series.coefficients();
        let multiply =
            |x: &[T], y: &mut [T]| self.gather(rows, field, (x, shape), (y, shape), false);
        let number = T::from_f64;
        match series {
            Series::Powers(_) => {
                // b ← S b + θ_k x, from the last power down.
                for &theta in coefficients.iter().rev() {
                    multiply(&now, &mut next);
                    for (next, &x) in next.iter_mut().zip(&source) {
                        *next += number(theta) * x;
                    }
                    std::mem::swap(&mut now, &mut next);
                }
            }
            Series::Chebyshev { domain, .. } => {
                // b_k = 2 S̃ b_{k+1} − b_{k+2} + c_k x; at k = 0 the factor is 1.
                let centre = 0.5 * (domain.min + domain.max);
                let half = crate::filter::half_width(*domain);
                let mut last = self.take(shape.len());
                last.fill(T::ZERO);
                for (k, &c) in coefficients.iter().enumerate().rev() {
                    let factor = if k == 0 { 1.0 } else { 2.0 } / half;
                    multiply(&now, &mut next);
                    for (((next, now), last), &x) in
                        next.iter_mut().zip(&now).zip(&last).zip(&source)
                    {
                        let shifted = *next - number(centre) * *now;
                        *next = number(factor) * shifted - *last + number(c) * x;
                    }
                    std::mem::swap(&mut last, &mut now);
                    std::mem::swap(&mut now, &mut next);
                }
                self.give(last);
            }
        }
        narrow((&now, shape), (y.0, y.1), add);
        [source, now, next].into_iter().for_each(|block| self.give(block));
    }
}

/// Rows, block, result, numbers a row of each, and whether the result is added to.
macro_rules! gather {
    ($name:ident, $function:path) => {
        kernel!($name, $function, (
            rows: &'a Rows<T>, x: &'a [T], y: &'a mut [T], widths: (usize, usize), add: bool
        ));
    };
}
gather!(Real, gather_real);
gather!(Complex, gather_complex);
gather!(FromReal, gather_from_real);
gather!(ToReal, gather_to_real);

/// Numbers of a row that are summed in registers.
const STRIP: usize = 64;

/// Real rows times a block, strip by strip.
#[inline(always)]
fn gather_real<T: Scalar>(rows: &Rows<T>, x: &[T], y: &mut [T], widths: (usize, usize), add: bool) {
    let width = widths.0;
    for (span, y) in rows.offsets.windows(2).zip(y.chunks_exact_mut(width)) {
        let (columns, values) = (&rows.columns[span[0]..span[1]], &rows.values[span[0]..span[1]]);
        let (strips, rest) = y.as_chunks_mut::<STRIP>();
        for (s, strip) in strips.iter_mut().enumerate() {
            let mut sum = if add { *strip } else { [T::ZERO; STRIP] };
            for (&v, &a) in columns.iter().zip(values) {
                let x = &x[v as usize * width + s * STRIP..][..STRIP];
                for (sum, &x) in sum.iter_mut().zip(x) {
                    *sum += a * x;
                }
            }
            *strip = sum;
        }
        if !rest.is_empty() {
            let start = width - rest.len();
            if !add {
                rest.fill(T::ZERO);
            }
            for (&v, &a) in columns.iter().zip(values) {
                let x = &x[v as usize * width + start..][..width - start];
                for (y, &x) in rest.iter_mut().zip(x) {
                    *y += a * x;
                }
            }
        }
    }
}

/// Complex rows times a block, entry by entry; `each` adds one neighbour's row.
#[inline(always)]
fn gather_each<T: Scalar>(
    (rows, x, y): (&Rows<T>, &[T], &mut [T]),
    (from, to): (usize, usize),
    add: bool,
    each: impl Fn([T; 2], &[T], &mut [T]),
) {
    for (span, y) in rows.offsets.windows(2).zip(y.chunks_exact_mut(to)) {
        if !add {
            y.fill(T::ZERO);
        }
        for at in span[0]..span[1] {
            let a = [rows.values[2 * at], rows.values[2 * at + 1]];
            each(a, &x[rows.columns[at] as usize * from..][..from], y);
        }
    }
}

#[inline(always)]
fn gather_complex<T: Scalar>(
    rows: &Rows<T>,
    x: &[T],
    y: &mut [T],
    widths: (usize, usize),
    add: bool,
) {
    gather_each((rows, x, y), widths, add, |a, x, y| {
        for (y, x) in y.as_chunks_mut::<2>().0.iter_mut().zip(x.as_chunks::<2>().0) {
            *y = [y[0] + a[0] * x[0] - a[1] * x[1], y[1] + a[0] * x[1] + a[1] * x[0]];
        }
    });
}

#[inline(always)]
fn gather_from_real<T: Scalar>(
    rows: &Rows<T>,
    x: &[T],
    y: &mut [T],
    widths: (usize, usize),
    add: bool,
) {
    gather_each((rows, x, y), widths, add, |a, x, y| {
        for (y, &x) in y.as_chunks_mut::<2>().0.iter_mut().zip(x) {
            *y = [y[0] + a[0] * x, y[1] + a[1] * x];
        }
    });
}

/// The real part alone: the gradient of a real block under a complex map.
#[inline(always)]
fn gather_to_real<T: Scalar>(
    rows: &Rows<T>,
    x: &[T],
    y: &mut [T],
    widths: (usize, usize),
    add: bool,
) {
    gather_each((rows, x, y), widths, add, |a, x, y| {
        for (y, x) in y.iter_mut().zip(x.as_chunks::<2>().0) {
            *y += a[0] * x[0] - a[1] * x[1];
        }
    });
}

/// Copies `x` into a block whose field may be larger.
fn widen<T: Scalar>(x: (&[T], Shape), shape: Shape, to: &mut [T]) {
    if x.1.field == shape.field {
        to.copy_from_slice(x.0);
        return;
    }
    for (to, &x) in to.as_chunks_mut().0.iter_mut().zip(x.0) {
        *to = [x, T::ZERO];
    }
}

/// Writes or adds `x` to a block whose field may be smaller.
fn narrow<T: Scalar>(x: (&[T], Shape), y: (&mut [T], Shape), add: bool) {
    let step = x.1.field.parts() / y.1.field.parts().min(x.1.field.parts());
    for (y, &x) in y.0.iter_mut().zip(x.0.iter().step_by(step)) {
        *y = if add { *y + x } else { x };
    }
}
