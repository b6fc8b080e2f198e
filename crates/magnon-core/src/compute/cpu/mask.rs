//! Dropout masks.

use super::kernel::kernel;
use crate::compute::philox::philox;
use crate::compute::{DrawKey, Field, Scalar, Shape};

kernel!(Draw, draw, (rate: f64, key: DrawKey, shape: Shape, first: usize, mask: &'a mut [T]));

/// Counters that are drawn side by side; each gives four words.
const LANES: usize = 16;
/// Entries of a block, which are drawn at once.
pub const ENTRIES: usize = 4 * LANES;

/// The mask from its number `first` on, which is a multiple of 2 · ENTRIES: 0 at the given rate and
/// 1/(1 − rate) elsewhere, one draw per entry: both parts of a complex number
/// live or fall together.
#[inline(always)]
fn draw<T: Scalar>(rate: f64, key: DrawKey, shape: Shape, first: usize, mask: &mut [T]) {
    let keep = T::from_f64(1.0 / (1.0 - rate));
    let threshold = threshold(rate);
    match shape.field() {
        Field::Real => {
            for (block, chunk) in (first / ENTRIES..).zip(mask.chunks_mut(ENTRIES)) {
                chunk.copy_from_slice(&entries(block, key, threshold, keep)[..chunk.len()]);
            }
        }
        Field::Complex => {
            for (block, chunk) in (first / (2 * ENTRIES)..).zip(mask.chunks_mut(2 * ENTRIES)) {
                for (pair, entry) in
                    chunk.as_chunks_mut().0.iter_mut().zip(entries(block, key, threshold, keep))
                {
                    *pair = [entry; 2];
                }
            }
        }
    }
}

/// An entry is dropped where its 32 bits fall below this.
pub fn threshold(rate: f64) -> u32 {
    (rate * 4_294_967_296.0) as u32
}

/// The mask of one block of entries.
#[inline(always)]
pub fn entries<T: Scalar>(block: usize, key: DrawKey, threshold: u32, keep: T) -> [T; ENTRIES] {
    let first = (block * LANES) as u32;
    let seed = [key.seed as u32, (key.seed >> 32) as u32];
    let words = philox::<LANES>(first, [key.epoch, key.batch, key.site], seed);
    let mut entries = [T::ZERO; ENTRIES];
    for (entries, words) in entries.chunks_exact_mut(LANES).zip(&words) {
        for (entry, &word) in entries.iter_mut().zip(words) {
            *entry = if word >= threshold { keep } else { T::ZERO };
        }
    }
    entries
}
