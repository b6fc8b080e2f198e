//! The same step for entries that lie slice by slice: each is added to the line of its row as it comes.
//!
//! Sums begin at zero, and all else is added when they are complete: what is large would take the last digits of each of
//! many small terms. So a line has no room for what it held before, and nothing is kept of that (b = 0).

use super::coefficients::Coefficients;
use super::instructions::{FUSED_EVERYWHERE, Instructions};
use super::kernel::{AHEAD, Step, fma};
use super::line::{Line, Real};
use super::slices::Slices;
use crate::memory::prefetch;
use std::ops::Range;

impl<T: Real, const N: usize, C: Coefficients<T>> Step<'_, T, N, C> {
    /// What one slice adds to the rows of a block. The first one begins their lines, and the last one completes them.
    pub(super) fn add_slice<const COMPLEX: bool>(
        &self,
        slices: &Slices,
        [slice, block]: [usize; 2],
        rows: Range<usize>,
        out: &mut [Line<T, N>],
        set: Instructions,
    ) {
        set.run(
            #[inline(always)]
            || match set {
                Instructions::Portable => {
                    self.add::<COMPLEX, FUSED_EVERYWHERE>(slices, [slice, block], rows, out);
                }
                _ => self.add::<COMPLEX, true>(slices, [slice, block], rows, out),
            },
        );
    }

    #[inline(always)]
    fn add<const COMPLEX: bool, const FUSED: bool>(
        &self,
        slices: &Slices,
        [slice, block]: [usize; 2],
        rows: Range<usize>,
        out: &mut [Line<T, N>],
    ) {
        if slice == 0 {
            out.fill(Line::ZERO);
        }
        let first = slices.first(slice);
        for (row, entries) in slices.runs(slice, block) {
            let mut i = row - rows.start;
            for e in entries {
                // SAFETY: e is an entry of a run, and `PADDING` is at least `AHEAD`. Columns name nodes below n, and z has n
                // lines (`check`). Tested by `slices_give_the_same_sums`, also under Miri.
                let (entry, z) = unsafe {
                    let ahead = slices.entry(e + AHEAD);
                    prefetch(self.z.as_ptr().wrapping_add(first + ahead.column()));
                    let entry = slices.entry(e);
                    (entry, self.z.get_unchecked(first + entry.column()).0)
                };
                i += entry.rows();
                let packed = (first + entry.column()) as u32 | entry.class() << 30;
                // SAFETY: the column belongs to the row, and nothing else is asked for (`check`).
                let [c, s] = unsafe { self.coefficients.at(rows.start + i, e, packed) };
                // Copied out and in at once, so that the compiler need not fear that z is written to.
                let mut line = out[i].0;
                for j in 0..N {
                    line[j] = fma::<T, FUSED>(c, z[j], line[j]);
                }
                if COMPLEX {
                    let (half, back) = (N / 2, T::ZERO - s);
                    for j in 0..half {
                        line[j] = fma::<T, FUSED>(back, z[half + j], line[j]);
                        line[half + j] = fma::<T, FUSED>(s, z[j], line[half + j]);
                    }
                }
                out[i].0 = line;
            }
        }
        if slice + 1 == slices.count() {
            for (u, line) in rows.zip(out) {
                line.0 = self.complete::<FUSED>(u, line.0, [T::ZERO; N]);
            }
        }
    }
}
