//! Sparse rows times a block of rows: y(u) = l(u)·Σ_v a(u,v)·x(v) + m(u)·x(u).
//!
//! Every row is computed by one thread in one order, so results do not depend on the number of
//! threads. Sums of a strip of columns stay in registers while the neighbours pass by; for complex
//! coefficients the sums of their real and imaginary parts times x are kept apart and meet once, at
//! the end of the row.

use super::map::{Edges, Values};
use crate::compute::Side;
use crate::compute::edge_list::EdgeList;
use crate::compute::instructions::{Instructions, Kernel};
use crate::compute::pattern::{COLUMN, PADDING};
use crate::compute::tile::LINE;
use crate::compute::{Field, Scalar, Shape};
use crate::memory::prefetch;
use rayon::prelude::*;
use std::ops::Range;

/// The entries of sparse rows. Loops over them take indices and no closures: what is not inlined into a kernel is compiled
/// without the processor's vectors, and iterators of iterators are not always.
pub(super) trait Entries<T>: Copy + Sync {
    /// The entries of row `u`, whose columns ascend.
    fn span(&self, u: usize) -> Range<usize>;
    /// One of them.
    fn entry(&self, e: usize) -> Entry<T>;
}

/// One entry of a row.
pub(super) struct Entry<T> {
    column: usize,
    value: [T; 2],
    /// The column of the entry that comes [`AHEAD`] later.
    later: usize,
}

/// Entries whose rows of x are asked for ahead of use; columns run on that far.
pub(super) const AHEAD: usize = 16;
const _: () = assert!(AHEAD <= PADDING);

/// The column of the entry that comes [`AHEAD`] later.
#[inline(always)]
fn later(columns: &[u32], e: usize) -> usize {
    (columns[e + AHEAD] & COLUMN) as usize
}

/// Stored values.
#[derive(Clone, Copy)]
pub(super) struct Stored<'a, T> {
    pub offsets: &'a [usize],
    pub columns: &'a [u32],
    pub values: &'a [T],
}

impl<T: Scalar> Entries<T> for Stored<'_, T> {
    #[inline(always)]
    fn span(&self, u: usize) -> Range<usize> {
        self.offsets[u]..self.offsets[u + 1]
    }

    #[inline(always)]
    fn entry(&self, e: usize) -> Entry<T> {
        let later = later(self.columns, e);
        Entry { column: self.columns[e] as usize, value: [self.values[e], T::ZERO], later }
    }
}

/// Edges of one way, which have the factor of their column alone.
#[derive(Clone, Copy)]
struct ByColumn<'a, T> {
    list: &'a EdgeList,
    right: &'a [T],
}

impl<T: Scalar> Entries<T> for ByColumn<'_, T> {
    #[inline(always)]
    fn span(&self, u: usize) -> Range<usize> {
        self.list.offsets[u]..self.list.offsets[u + 1]
    }

    #[inline(always)]
    fn entry(&self, e: usize) -> Entry<T> {
        let column = self.list.columns[e] as usize;
        let later = later(&self.list.columns, e);
        Entry { column, value: [self.right[column], T::ZERO], later }
    }
}

/// Edges of one way with weights.
#[derive(Clone, Copy)]
struct ByEdge<'a, T> {
    list: &'a EdgeList,
    weights: &'a [T],
    right: &'a [T],
}

impl<T: Scalar> Entries<T> for ByEdge<'_, T> {
    #[inline(always)]
    fn span(&self, u: usize) -> Range<usize> {
        self.list.offsets[u]..self.list.offsets[u + 1]
    }

    #[inline(always)]
    fn entry(&self, e: usize) -> Entry<T> {
        let column = self.list.columns[e] as usize;
        let later = later(&self.list.columns, e);
        Entry { column, value: [self.weights[e] * self.right[column], T::ZERO], later }
    }
}

/// One coefficient per phase class.
#[derive(Clone, Copy)]
struct ByClass<'a, T> {
    edges: &'a Edges<T>,
    table: &'a [[T; 2]; 4],
    right: &'a [T],
}

impl<T: Scalar> Entries<T> for ByClass<'_, T> {
    #[inline(always)]
    fn span(&self, u: usize) -> Range<usize> {
        let pattern = &*self.edges.pattern;
        pattern.offsets[u]..pattern.offsets[u + 1]
    }

    #[inline(always)]
    fn entry(&self, e: usize) -> Entry<T> {
        let columns = &self.edges.pattern.columns[..];
        let column = (columns[e] & COLUMN) as usize;
        let [c, s] = self.table[(columns[e] >> 30) as usize];
        let r = self.right[column];
        Entry { column, value: [c * r, s * r], later: later(columns, e) }
    }
}

/// One coefficient per entry.
#[derive(Clone, Copy)]
struct ByEntry<'a, T> {
    edges: &'a Edges<T>,
    values: &'a [[T; 2]],
    right: &'a [T],
}

impl<T: Scalar> Entries<T> for ByEntry<'_, T> {
    #[inline(always)]
    fn span(&self, u: usize) -> Range<usize> {
        let pattern = &*self.edges.pattern;
        pattern.offsets[u]..pattern.offsets[u + 1]
    }

    #[inline(always)]
    fn entry(&self, e: usize) -> Entry<T> {
        let columns = &self.edges.pattern.columns[..];
        let column = (columns[e] & COLUMN) as usize;
        let ([c, s], r) = (self.values[e], self.right[column]);
        Entry { column, value: [c * r, s * r], later: later(columns, e) }
    }
}

/// One product: blocks, and what happens at the end of a row.
pub(super) struct Product<'a, T> {
    pub x: (&'a [T], Shape),
    pub field: Field,
    /// l; empty for 1.
    pub left: &'a [T],
    /// m; empty for 0.
    pub own: &'a [T],
    pub add: bool,
    pub parallel: bool,
    pub instructions: Instructions,
}

/// Rows of the result that one task makes at least.
const ROWS: usize = 64;
/// Multiplications that one task makes about.
const WORK: usize = 1 << 18;

/// y = M x or y = Mᴴ x for a matrix over edges.
pub(super) fn edges<'a, T: Scalar>(
    map: &'a Edges<T>,
    side: Side,
    mut product: Product<'a, T>,
    y: (&mut [T], Shape),
) {
    let (left, right) = match side {
        Side::Forward => (&map.left, &map.right),
        Side::Adjoint => (&map.right, &map.left),
    };
    (product.left, product.own) = (left, &map.own);
    let stored = map.pattern.stored();
    match (&map.values, side) {
        (Values::Classes { forward: table, .. }, Side::Forward)
        | (Values::Classes { adjoint: table, .. }, Side::Adjoint) => {
            product.run(ByClass { edges: map, table, right }, stored, y);
        }
        (Values::Entries { forward: values, .. }, Side::Forward)
        | (Values::Entries { forward: values, adjoint: None }, Side::Adjoint)
        | (Values::Entries { adjoint: Some(values), .. }, Side::Adjoint) => {
            product.run(ByEntry { edges: map, values, right }, stored, y);
        }
        (Values::Edges { forward: listed, .. }, Side::Forward)
        | (Values::Edges { adjoint: listed, .. }, Side::Adjoint) => {
            let (list, weights) = (&*listed.list, &listed.weights[..]);
            if weights.is_empty() {
                product.run(ByColumn { list, right }, list.len(), y);
            } else {
                product.run(ByEdge { list, weights, right }, list.len(), y);
            }
        }
    }
}

impl<T: Scalar> Product<'_, T> {
    /// Makes the product with rows of `stored` entries in all.
    pub fn run<X: Entries<T>>(&self, entries: X, stored: usize, y: (&mut [T], Shape)) {
        let (numbers, shape) = y;
        let width = shape.width();
        if width == 0 || shape.rows() == 0 {
            return;
        }
        let to = shape.field();
        let each = stored / shape.rows() + 1;
        let chunk = (WORK / (each * width)).max(ROWS);
        if self.parallel && shape.rows() > chunk {
            numbers.par_chunks_mut(chunk * width).enumerate().for_each(|(block, y)| {
                let task = Task { product: self, entries, first: block * chunk, width, to, y };
                self.instructions.compute(task);
            });
        } else {
            let task = Task { product: self, entries, first: 0, width, to, y: numbers };
            self.instructions.compute(task);
        }
    }
}

/// Some rows of a product.
struct Task<'a, 'b, T, X> {
    product: &'a Product<'a, T>,
    entries: X,
    first: usize,
    width: usize,
    to: Field,
    y: &'b mut [T],
}

impl<T: Scalar, X: Entries<T>> Kernel for Task<'_, '_, T, X> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let from = self.product.x.1.field();
        for (u, y) in (self.first..).zip(self.y.chunks_exact_mut(self.width)) {
            let row = Row { product: self.product, entries: self.entries, u };
            match (self.product.field, from, self.to) {
                // A real map treats the parts of a complex block as columns of their own.
                (Field::Real, ..) => row.real(y),
                (Field::Complex, Field::Complex, Field::Complex) => {
                    row.complex::<_, 32>(y, 2, 2, |c, s, at| {
                        let i = at & !1;
                        if at == i { c[i] - s[i + 1] } else { c[i + 1] + s[i] }
                    });
                }
                (Field::Complex, Field::Complex, Field::Real) => {
                    row.complex::<_, 32>(y, 2, 1, |c, s, i| c[2 * i] - s[2 * i + 1]);
                }
                (Field::Complex, Field::Real, _) => {
                    row.complex::<_, 32>(
                        y,
                        1,
                        2,
                        |c, s, at| {
                            if at & 1 == 0 { c[at / 2] } else { s[at / 2] }
                        },
                    );
                }
            }
        }
    }
}

/// `sum += c·x`.
#[inline(always)]
pub(super) fn add<T: Scalar, const N: usize>(sum: &mut [T; N], c: T, x: &[T; N]) {
    for i in 0..N {
        sum[i] += c * x[i];
    }
}

/// Asks for a row of numbers.
#[inline(always)]
pub(super) fn prefetch_row<T, const N: usize>(row: *const [T; N]) {
    for line in (0..size_of::<[T; N]>()).step_by(LINE) {
        prefetch(row.wrapping_byte_add(line));
    }
}

/// One row of a product.
struct Row<'a, T, X> {
    product: &'a Product<'a, T>,
    entries: X,
    u: usize,
}

impl<T: Scalar, X: Entries<T>> Row<'_, T, X> {
    #[inline(always)]
    fn factors(&self) -> (T, Option<T>) {
        let Product { left, own, x, .. } = self.product;
        let left = if left.is_empty() { T::ONE } else { left[self.u] };
        // Beyond the rows of x there is nothing to take the diagonal of.
        let own = (!own.is_empty() && self.u < x.1.rows()).then(|| own[self.u]);
        (left, own)
    }

    #[inline(always)]
    fn real(&self, y: &mut [T]) {
        let width = y.len();
        let mut at = 0;
        while at + 64 <= width {
            self.real_strip::<64>(at, width, &mut y[at..]);
            at += 64;
        }
        while at + 16 <= width {
            self.real_strip::<16>(at, width, &mut y[at..]);
            at += 16;
        }
        if at + 8 <= width {
            self.real_strip::<8>(at, width, &mut y[at..]);
            at += 8;
        }
        // The few columns that are left, such as one per class, in loops of known length too.
        match width - at {
            1 => self.real_strip::<1>(at, width, &mut y[at..]),
            2 => self.real_strip::<2>(at, width, &mut y[at..]),
            3 => self.real_strip::<3>(at, width, &mut y[at..]),
            4 => self.real_strip::<4>(at, width, &mut y[at..]),
            5 => self.real_strip::<5>(at, width, &mut y[at..]),
            6 => self.real_strip::<6>(at, width, &mut y[at..]),
            7 => self.real_strip::<7>(at, width, &mut y[at..]),
            _ => (),
        }
    }

    /// Columns `at..at + N` of a real row, into the first numbers of `y`.
    #[inline(always)]
    fn real_strip<const N: usize>(&self, at: usize, width: usize, y: &mut [T]) {
        let (x, shape) = self.product.x;
        let mut sum = [T::ZERO; N];
        // Columns ascend, so that all entries after one beyond the rows of x are, too.
        if width.is_multiple_of(N) && at.is_multiple_of(N) {
            let (rows, stride, at) = (x.as_chunks::<N>().0, width / N, at / N);
            for e in self.entries.span(self.u) {
                let Entry { column, value: [c, _], later } = self.entries.entry(e);
                prefetch_row(rows.as_ptr().wrapping_add(later * stride + at));
                let Some(x) = rows.get(column * stride + at) else { break };
                add(&mut sum, c, x);
            }
        } else {
            for e in self.entries.span(self.u) {
                let Entry { column: v, value: [c, _], .. } = self.entries.entry(e);
                let row = x.get(v * width + at..).and_then(|rest| rest.first_chunk::<N>());
                let Some(x) = row.filter(|_| v < shape.rows()) else { break };
                add(&mut sum, c, x);
            }
        }
        let (left, own) = self.factors();
        let y = &mut y[..N];
        let own = own.map(|own| (own, &x[self.u * width + at..][..N]));
        for (i, y) in y.iter_mut().enumerate() {
            let mut value = left * sum[i];
            if let Some((own, x)) = own {
                value += own * x[i];
            }
            *y = if self.product.add { *y + value } else { value };
        }
    }

    /// A row with complex coefficients, where x has `from` and y `to` numbers per entry; `join` makes
    /// a number of y from the sums of c·x and s·x.
    #[inline(always)]
    fn complex<F, const N: usize>(&self, y: &mut [T], from: usize, to: usize, join: F)
    where
        F: Fn(&[T; N], &[T; N], usize) -> T,
    {
        let (x, shape) = self.product.x;
        let (width, limit) = (shape.width(), shape.rows());
        let (left, own) = self.factors();
        let mut at = 0;
        while at < width {
            let len = (width - at).min(N);
            let (mut cosine, mut sine) = ([T::ZERO; N], [T::ZERO; N]);
            for e in self.entries.span(self.u) {
                let Entry { column: v, value: [c, s], .. } = self.entries.entry(e);
                if v >= limit {
                    break;
                }
                let x = &x[v * width + at..][..len];
                if len == N {
                    for i in 0..N {
                        cosine[i] += c * x[i];
                        sine[i] += s * x[i];
                    }
                } else {
                    for (i, &x) in x.iter().enumerate() {
                        cosine[i] += c * x;
                        sine[i] += s * x;
                    }
                }
            }
            let start = at / from * to;
            let y = &mut y[start..start + len / from * to];
            for (i, y) in y.iter_mut().enumerate() {
                let mut value = left * join(&cosine, &sine, i);
                if let Some(own) = own {
                    // The diagonal is real: it meets the part of x that y's number belongs to.
                    let part = if to == 2 { i % 2 } else { 0 };
                    if part < from {
                        value += own * x[self.u * width + at + i / to * from + part];
                    }
                }
                *y = if self.product.add { *y + value } else { value };
            }
            at += len;
        }
    }
}
