//! Numbering the nodes of an edge list without gaps, by ascending id, within a budget of memory.

use super::limits::over_budget;
use crate::DataError;

/// Ids of 32 bits that were seen, a bit for each up to the largest.
#[derive(Default)]
pub(super) struct Seen {
    words: Vec<u64>,
}

impl Seen {
    /// Notes the ids of edges, of which `top` is the largest.
    pub fn mark(&mut self, pairs: &[[u32; 2]], file: &str, budget: u64) -> Result<(), DataError> {
        let top = pairs.iter().flatten().copied().max().unwrap_or(0) as usize;
        if top / 64 >= self.words.len() {
            // Grown at once by half, as ids mostly rise slowly.
            let words = (top / 64 + 1).max(self.words.len() * 3 / 2).min(1 << 26);
            let bytes = words as u64 * 8;
            if bytes > budget / 2 {
                return Err(over_budget(file, &format!("ids up to {top}"), 2 * bytes, budget));
            }
            self.words.resize(words, 0);
        }
        for &id in pairs.iter().flatten() {
            if let Some(word) = self.words.get_mut(id as usize / 64) {
                *word |= 1 << (id % 64);
            }
        }
        Ok(())
    }

    /// The numbers of the ids.
    pub fn number(self) -> Ranks {
        let mut before = Vec::with_capacity(self.words.len());
        let (mut count, mut top) = (0u64, 0);
        for (at, word) in self.words.iter().enumerate() {
            before.push(count as u32);
            count += u64::from(word.count_ones());
            if *word != 0 {
                top = at as u64 * 64 + u64::from(63 - word.leading_zeros());
            }
        }
        let full = count == top + 1;
        Ranks { words: self.words, before, count, full }
    }
}

/// The number of each id of 32 bits: how many smaller ones there are.
pub(super) struct Ranks {
    words: Vec<u64>,
    before: Vec<u32>,
    /// Number of ids.
    pub count: u64,
    /// Whether they are 0, 1, 2… without gaps.
    pub full: bool,
}

impl Ranks {
    /// The number of an id that was seen.
    #[inline]
    pub fn rank(&self, id: u32) -> u32 {
        if self.full {
            return id;
        }
        let (at, bit) = (id as usize / 64, id % 64);
        let below = self.words.get(at).map_or(0, |word| word & ((1 << bit) - 1));
        self.before.get(at).map_or(0, |before| before + below.count_ones())
    }

    /// All ids, ascending.
    pub fn ids(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().enumerate().flat_map(|(at, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at as u64 * 64 + bit)
        })
    }
}

/// Ids of 64 bits that were seen, ascending; new ones wait until they are worth a merge.
#[derive(Default)]
pub(super) struct Sorted {
    known: Vec<u64>,
    waiting: Vec<u64>,
}

impl Sorted {
    /// Notes the ids of edges.
    pub fn mark(&mut self, pairs: &[[u64; 2]], file: &str, budget: u64) -> Result<(), DataError> {
        self.waiting
            .extend(pairs.iter().flatten().filter(|id| self.known.binary_search(id).is_err()));
        if self.waiting.len() > self.known.len().max(1 << 20) {
            self.settle();
        }
        let bytes = (self.known.len() + 2 * self.waiting.len()) as u64 * 8;
        if bytes > budget / 2 {
            let what = format!("{} ids beyond 32 bits", self.known.len());
            return Err(over_budget(file, &what, 2 * bytes, budget));
        }
        Ok(())
    }

    fn settle(&mut self) {
        self.waiting.sort_unstable();
        self.waiting.dedup();
        self.known.append(&mut self.waiting);
        // Two runs that ascend: the stable sort merges them.
        self.known.sort();
        self.known.dedup();
    }

    /// All ids, ascending; the number of each is its place.
    pub fn number(mut self) -> Vec<u64> {
        self.settle();
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_by_size() {
        let pairs = [[7, 900], [64, 7], [63, 0]];
        let mut seen = Seen::default();
        seen.mark(&pairs, "f", 1 << 30).unwrap();
        let ranks = seen.number();
        assert_eq!(ranks.ids().collect::<Vec<_>>(), [0, 7, 63, 64, 900]);
        assert_eq!([0, 7, 63, 64, 900].map(|id| ranks.rank(id)), [0, 1, 2, 3, 4]);
        assert!(!ranks.full);
        let mut sorted = Sorted::default();
        sorted.mark(&[[1 << 40, 3], [3, 9]], "f", 1 << 30).unwrap();
        sorted.mark(&[[4, 3]], "f", 1 << 30).unwrap();
        assert_eq!(sorted.number(), [3, 4, 9, 1 << 40]);
        let mut seen = Seen::default();
        seen.mark(&[[1, 0], [0, 2]], "f", 1 << 30).unwrap();
        assert!(seen.number().full);
        let error = Seen::default().mark(&[[u32::MAX, 0]], "f", 64 << 20).unwrap_err().to_string();
        assert!(error.contains("--memory"), "{error}");
    }
}
