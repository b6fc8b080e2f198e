//! Products with fixed maps: dense rows, sparse rows, and filters by their recurrences.

use super::Cpu;
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
        if !add {
            y.0.fill(T::ZERO);
        }
        let width = (x.1.width(), y.1.width());
        self.instructions.run(|| match (field, x.1.field, y.1.field) {
            // A real map treats the parts of a complex block as columns of their own.
            (Field::Real, ..) => rows.each(|u, v, at| {
                let a = rows.values[at];
                add_scaled(a, &x.0[v * width.0..][..width.0], &mut y.0[u * width.1..][..width.1]);
            }),
            (Field::Complex, Field::Complex, Field::Complex) => rows.each(|u, v, at| {
                let a = [rows.values[2 * at], rows.values[2 * at + 1]];
                add_turned(a, &x.0[v * width.0..][..width.0], &mut y.0[u * width.1..][..width.1]);
            }),
            (Field::Complex, Field::Real, Field::Complex) => rows.each(|u, v, at| {
                let a = [rows.values[2 * at], rows.values[2 * at + 1]];
                let y = y.0[u * width.1..][..width.1].as_chunks_mut().0;
                for (y, &x) in y.iter_mut().zip(&x.0[v * width.0..][..width.0]) {
                    *y = [y[0] + a[0] * x, y[1] + a[1] * x];
                }
            }),
            // The real part alone: the gradient of a real block under a complex map.
            (Field::Complex, _, Field::Real) => rows.each(|u, v, at| {
                let a = [rows.values[2 * at], rows.values[2 * at + 1]];
                let x = x.0[v * width.0..][..width.0].as_chunks().0;
                for (y, &[re, im]) in y.0[u * width.1..][..width.1].iter_mut().zip(x) {
                    *y += a[0] * re - a[1] * im;
                }
            }),
        });
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

impl<T: Scalar> Rows<T> {
    /// Visits row, column and place of every entry.
    #[inline(always)]
    fn each(&self, mut visit: impl FnMut(usize, usize, usize)) {
        for (u, span) in self.offsets.windows(2).enumerate() {
            for at in span[0]..span[1] {
                visit(u, self.columns[at] as usize, at);
            }
        }
    }
}

#[inline(always)]
fn add_scaled<T: Scalar>(a: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

#[inline(always)]
fn add_turned<T: Scalar>(a: [T; 2], x: &[T], y: &mut [T]) {
    for (y, x) in y.as_chunks_mut::<2>().0.iter_mut().zip(x.as_chunks::<2>().0) {
        *y = [y[0] + a[0] * x[0] - a[1] * x[1], y[1] + a[0] * x[1] + a[1] * x[0]];
    }
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
