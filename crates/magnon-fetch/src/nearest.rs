//! The name that someone may have meant.

use crate::table::{datasets, plain};

/// The name of the data set whose name or alias is nearest, unless none is near.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let wanted: Vec<char> = plain(name).chars().collect();
    let near = |other: &str| {
        let other: Vec<char> = plain(other).chars().collect();
        let steps = distance(&wanted, &other);
        (steps <= 1 + wanted.len().min(other.len()) / 4).then_some(steps)
    };
    let entries = datasets().iter();
    let ranked = entries.filter_map(|entry| Some((entry.names().filter_map(near).min()?, entry)));
    ranked.min_by_key(|(steps, _)| *steps).map(|(_, entry)| entry.name)
}

/// Letters to insert, remove or replace to get from one word to the other (Levenshtein).
fn distance(from: &[char], to: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut corner = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (b, above) in to.iter().zip(row.iter_mut().skip(1)) {
            let steps = (corner + usize::from(a != b)).min(left + 1).min(*above + 1);
            corner = std::mem::replace(above, steps);
            left = steps;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_levenshteins() {
        let steps = |a: &str, b: &str| {
            distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
        };
        assert_eq!(steps("kitten", "sitting"), 3);
        assert_eq!(steps("", "abc"), 3);
        assert_eq!(steps("abc", ""), 3);
        assert_eq!(steps("flaw", "lawn"), 2);
    }

    #[test]
    fn a_slip_is_put_right() {
        assert_eq!(nearest("corneli"), Some("cornell"));
        assert_eq!(nearest("chamelon"), Some("chameleon"));
        assert_eq!(nearest("Wiki_Votes"), Some("wiki-Vote"));
        assert_eq!(nearest("arxv"), Some("ogbn-arxiv"));
        assert_eq!(nearest("zzzzzzzz"), None);
    }
}
