//! Fewer points than were given, with the same look.

/// Twice the pixels of a wide figure.
const MOST_POINTS: usize = 1400;

/// The lowest and the highest point of each of many equal pieces, with both ends.
pub(crate) fn thin(points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if points.len() <= MOST_POINTS {
        return points;
    }
    let piece = points.len().div_ceil(MOST_POINTS / 2);
    let mut kept = Vec::with_capacity(MOST_POINTS + 2);
    kept.extend(points.first());
    for piece in points.chunks(piece) {
        let by_height = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let (Some(&low), Some(&high)) =
            (piece.iter().min_by(by_height), piece.iter().max_by(by_height))
        else {
            continue;
        };
        let (first, second) = if low[0] <= high[0] { (low, high) } else { (high, low) };
        kept.extend([first, second]);
    }
    kept.extend(points.last());
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_extremes_stay() {
        let mut points: Vec<[f64; 2]> = (0..100_000).map(|i| [f64::from(i), 0.0]).collect();
        points[54_321][1] = 9.0;
        points[12_345][1] = -9.0;
        let thin = thin(points.clone());
        assert!(thin.len() <= MOST_POINTS + 2);
        for kept in [0, 12_345, 54_321, 99_999] {
            assert!(thin.contains(&points[kept]), "{kept}");
        }
        assert!(thin.windows(2).all(|pair| pair[0][0] <= pair[1][0]));
    }
}
