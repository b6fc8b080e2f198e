//! Columns of a matrix, for threads that write side by side.

use std::marker::PhantomData;

/// Some columns of a matrix that is stored by rows, for writing.
pub(super) struct Strip<'a, T> {
    first: *mut T,
    rows: usize,
    stride: usize,
    width: usize,
    lent: PhantomData<&'a mut [T]>,
}

// SAFETY: a strip is the only way to its numbers while it lives, as a mutable slice is. Tested by `strips_are_columns`,
// which writes from several threads.
unsafe impl<T: Send> Send for Strip<'_, T> {}

impl<'a, T> Strip<'a, T> {
    /// Cuts a matrix of `stride` columns into strips of `width`; columns that do not fill one are in none.
    pub fn cut(
        matrix: &'a mut [T],
        stride: usize,
        width: usize,
    ) -> impl Iterator<Item = Self> + 'a {
        let rows = matrix.len().checked_div(stride).unwrap_or(0);
        let count = stride.checked_div(width).unwrap_or(0);
        let first = matrix.as_mut_ptr();
        (0..count).map(move |k| {
            let first = first.wrapping_add(k * width);
            Self { first, rows, stride, width, lent: PhantomData }
        })
    }

    /// A row of the strip.
    #[inline(always)]
    pub fn row(&mut self, u: usize) -> &mut [T] {
        assert!(u < self.rows);
        // SAFETY: `cut` borrowed the whole matrix for as long as its strips live, row u lies in it, and its columns
        // belong to this strip alone, which is borrowed here. Tested by `strips_are_columns`.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(u * self.stride), self.width) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_are_columns() {
        let mut matrix = vec![0; 3 * 7];
        std::thread::scope(|scope| {
            for (k, mut strip) in Strip::cut(&mut matrix, 7, 2).enumerate() {
                scope.spawn(move || {
                    for u in 0..3 {
                        strip.row(u).copy_from_slice(&[10 * u + k, 100 * u + k]);
                    }
                });
            }
        });
        let rows =
            [[0, 0, 1, 1, 2, 2, 0], [10, 100, 11, 101, 12, 102, 0], [20, 200, 21, 201, 22, 202, 0]];
        assert_eq!(matrix, rows.concat());
        assert_eq!(Strip::cut(&mut [0; 0], 0, 4).count(), 0);
    }

    #[test]
    #[should_panic(expected = "u < self.rows")]
    fn rows_beyond_the_last_are_refused() {
        let mut matrix = [0; 4];
        if let Some(mut strip) = Strip::cut(&mut matrix, 2, 1).next() {
            strip.row(2);
        }
    }
}
