//! Sampling of index pairs with a constant probability, in time of the pairs drawn.

use rand::{Rng, RngExt};
use std::ops::Range;

/// Calls `keep(a, b)` for each pair of `rows × cols` independently with probability `p`.
///
/// Instead of a coin for each pair, the gap to the next pair is drawn from the geometric
/// distribution: ⌊ln(1 − r) / ln(1 − p)⌋.
pub fn sample<R: Rng>(
    rows: Range<usize>,
    cols: Range<usize>,
    p: f64,
    rng: &mut R,
    mut keep: impl FnMut(usize, usize, &mut R),
) {
    let total = rows.len() as u64 * cols.len() as u64;
    if p <= 0.0 {
        return;
    }
    let scale = 1.0 / (-p).ln_1p(); // −0 for p = 1: every gap is 0
    let mut at = 0u64;
    loop {
        let gap = ((1.0 - rng.random::<f64>()).ln() * scale).floor();
        at = at.saturating_add(gap as u64);
        if at >= total {
            return;
        }
        let (row, col) = (at / cols.len() as u64, at % cols.len() as u64);
        keep(rows.start + row as usize, cols.start + col as usize, rng);
        at += 1;
    }
}
