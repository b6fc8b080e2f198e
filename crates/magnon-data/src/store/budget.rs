//! How much may come out of packed files: a bound in what lies on disk, not in what is claimed.

use std::cell::RefCell;
use std::collections::HashSet;

/// The most bytes that may come out of `packed` bytes: 64 MiB and 200 times the packed size. Text
/// and matrices of real graphs shrink to a fiftieth at most, while deflate can reach a factor of
/// 1032 and zstd far more.
pub(crate) fn allowance(packed: u64) -> u64 {
    packed.saturating_mul(200).saturating_add(64 << 20)
}

/// A sum over names, each of which counts once: files are opened again while formats are told apart.
#[derive(Default)]
struct Tally {
    sum: u64,
    names: HashSet<String>,
}

impl Tally {
    fn count(&mut self, name: &str, bytes: u64) {
        if self.names.insert(name.to_owned()) {
            self.sum = self.sum.saturating_add(bytes);
        }
    }
}

/// What the packed files of a store weigh on disk, and what has come out of them.
///
/// All of them share one allowance. Small archives can hold archives and many members that each
/// unpack to the most that one may, and sizes inside of them are only claims.
#[derive(Default)]
pub(crate) struct Budget {
    packed: RefCell<Tally>,
    unpacked: RefCell<Tally>,
}

impl Budget {
    /// Takes note of a packed file of `bytes` bytes on disk.
    pub(crate) fn add(&self, file: &str, bytes: u64) {
        self.packed.borrow_mut().count(file, bytes);
    }

    /// The most bytes that may come out of `file` now.
    pub(crate) fn room(&self, file: &str) -> u64 {
        let all = allowance(self.packed.borrow().sum);
        let unpacked = self.unpacked.borrow();
        // What was unpacked before may be so again.
        if unpacked.names.contains(file) { all } else { all.saturating_sub(unpacked.sum) }
    }

    /// Takes note that `bytes` bytes came out of `file`.
    pub(crate) fn draw(&self, file: &str, bytes: u64) {
        self.unpacked.borrow_mut().count(file, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_share_what_the_file_allows() {
        let budget = Budget::default();
        budget.add("a.zip", 1000);
        budget.add("a.zip", 1000);
        let all = (64 << 20) + 200_000;
        assert_eq!(budget.room("x"), all);
        budget.draw("x", all - 10);
        budget.draw("x", all - 10);
        assert_eq!((budget.room("x"), budget.room("y")), (all, 10));
        budget.add("b.zip", u64::MAX);
        assert_eq!(budget.room("z"), u64::MAX - (all - 10));
    }
}
