//! A table of names that all threads fill at once.
//!
//! A name is known by where it stands in the text. Its place in the table keeps the earliest of these, whichever
//! thread came first, so that the order of first appearance does not depend on the number of threads.

use super::edge_chunks::zeroed;
use super::edge_scan::Fault;
use foldhash::fast::RandomState;
use magnon_core::memory::prefetch;
use rayon::prelude::*;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

/// A name in a text: where it starts, its length and some bits of its hash, which tell most other names
/// from it without a look at the text. Of equal names the earlier one is the smaller number; 0 is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(super) struct Span(u64);

// SAFETY: a plain number. Tested by `names_are_numbered_by_first_appearance`.
unsafe impl bytemuck::Zeroable for Span {}

const TAG_BITS: u32 = 10;
const LENGTH_BITS: u32 = 16;
const LOW_BITS: u32 = TAG_BITS + LENGTH_BITS;

/// The most bytes that a name may have.
pub(super) const LONGEST: usize = (1 << LENGTH_BITS) - 1;
/// The most bytes that a text may have: 256 GiB, less one.
pub(super) const LONGEST_TEXT: usize = (1 << (64 - LOW_BITS)) - 1;

impl Span {
    /// A name of `length` bytes at `start`, neither of which may be above its bound.
    #[inline(always)]
    pub(super) fn new(start: usize, length: usize, hash: u64) -> Self {
        let tag = hash >> (64 - TAG_BITS);
        Self(((start as u64 + 1) << LOW_BITS) | ((length as u64) << TAG_BITS) | tag)
    }

    #[inline(always)]
    fn start(self) -> usize {
        (self.0 >> LOW_BITS).saturating_sub(1) as usize
    }

    #[inline(always)]
    fn length(self) -> usize {
        (self.0 >> TAG_BITS) as usize & LONGEST
    }

    /// The name.
    #[inline(always)]
    pub(super) fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start()..).and_then(|rest| rest.get(..self.length())).unwrap_or_default()
    }

    /// Whether length and bits of the hash are the same.
    #[inline(always)]
    fn is_like(self, other: Self) -> bool {
        (self.0 ^ other.0) & ((1 << LOW_BITS) - 1) == 0
    }
}

/// Whether two names of the same length are one. Short ones are compared in two words that may overlap: the general way
/// reads 32 bytes at once, of which half the time some lie in a line of memory that nobody has asked for.
#[inline(always)]
fn same(a: &[u8], b: &[u8]) -> bool {
    match (a.first_chunk::<8>(), b.first_chunk::<8>(), a.last_chunk::<8>(), b.last_chunk::<8>()) {
        (Some(a0), Some(b0), Some(a1), Some(b1)) if a.len() <= 16 => (a0 == b0) & (a1 == b1),
        _ => a == b,
    }
}

/// Hashes names, with a seed that nobody can foresee: no file is made to collide.
#[derive(Clone, Default)]
pub(super) struct NameHash(RandomState);

impl NameHash {
    #[inline(always)]
    pub(super) fn of(&self, name: &[u8]) -> u64 {
        let mut hasher = self.0.build_hasher();
        hasher.write(name);
        hasher.finish()
    }
}

/// Edges of numbered nodes, and where the name of each node stands first.
pub(super) struct Interned {
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) first: Vec<Span>,
}

impl Interned {
    /// The same with nodes numbered as edges name them: the source of an edge, then its target.
    pub(super) fn by_edges(mut self) -> Result<Self, Fault> {
        const NONE: u32 = u32::MAX;
        let mut numbers = zeroed::<u32>(self.first.len())?;
        numbers.fill(NONE);
        let mut first = zeroed::<Span>(self.first.len())?;
        let mut next = 0u32;
        for node in self.edges.iter().flat_map(|&(u, v)| [u, v]) {
            let Some(number) = numbers.get_mut(node as usize) else { continue };
            if *number == NONE {
                if let (Some(to), Some(from)) =
                    (first.get_mut(next as usize), self.first.get(node as usize))
                {
                    *to = *from;
                }
                *number = next;
                next += 1;
            }
        }
        let number = |node: u32| numbers.get(node as usize).copied().unwrap_or_default();
        self.edges
            .par_iter_mut()
            .with_min_len(1 << 14)
            .for_each(|(u, v)| (*u, *v) = (number(*u), number(*v)));
        Ok(Self { edges: self.edges, first })
    }
}

/// Numbers the names at the ends of edges in the order of their first appearance. About `distinct` are expected.
pub(super) fn intern(
    text: &[u8],
    pairs: &[[Span; 2]],
    hash: &NameHash,
    distinct: usize,
) -> Result<Interned, Fault> {
    let mut edges = zeroed::<(u32, u32)>(pairs.len())?;
    let mut size = (2 * distinct.min(2 * pairs.len())).max(64).next_power_of_two();
    let table = loop {
        if size > 1 << 32 {
            return Err(Fault::TooMany);
        }
        let table = Table { text, hash, places: zeroed::<AtomicU64>(size)? };
        match table.find_all(pairs, &mut edges) {
            true => break table,
            false => size *= 2, // the estimate was too low
        }
    };
    let (numbers, first) = table.ranked()?;
    let number = |place: u32| numbers.get(place as usize).copied().unwrap_or_default();
    edges
        .par_iter_mut()
        .with_min_len(1 << 14)
        .for_each(|(u, v)| (*u, *v) = (number(*u), number(*v)));
    Ok(Interned { edges, first })
}

/// How many names lie between two steps towards one: its place is asked for, then what stands there, then both are
/// compared. Memory takes about as long as the steps for so many others.
const AHEAD: usize = 24;
/// Edges of one task.
const BLOCK: usize = 1 << 13;

/// Open addressing; the number of places is a power of two. A place holds a [`Span`], or 0.
struct Table<'a> {
    text: &'a [u8],
    hash: &'a NameHash,
    places: Vec<AtomicU64>,
}

impl Table<'_> {
    /// Puts the places of the names into `edges`; `false` where there are too few places.
    fn find_all(&self, pairs: &[[Span; 2]], edges: &mut [(u32, u32)]) -> bool {
        let (taken, full) = (AtomicUsize::new(0), AtomicBool::new(false));
        let most = self.places.len() / 8 * 7;
        let blocks = pairs.par_chunks(BLOCK).zip(edges.par_chunks_mut(BLOCK));
        blocks.for_each(|(pairs, edges)| {
            if full.load(Relaxed) {
                return;
            }
            let fresh = self.find_block(pairs, edges);
            let taken = fresh.map(|fresh| taken.fetch_add(fresh, Relaxed) + fresh);
            if taken.is_none_or(|taken| taken > most) {
                full.store(true, Relaxed);
            }
        });
        !full.load(Relaxed)
    }

    /// The same for one block; gives back how many names were new, or `None` where the table is full.
    fn find_block(&self, pairs: &[[Span; 2]], edges: &mut [(u32, u32)]) -> Option<usize> {
        let spans = pairs.as_flattened();
        let mut hashes = [0; (2 * AHEAD).next_power_of_two()];
        let ring = hashes.len() - 1;
        let mut fresh = 0;
        for step in 0..spans.len() + 2 * AHEAD {
            if let Some(at) = step.checked_sub(2 * AHEAD)
                && let (Some(&span), Some(edge)) = (spans.get(at), edges.get_mut(at / 2))
            {
                let place = self.find(span, hashes[at & ring], &mut fresh)?;
                *(if at % 2 == 0 { &mut edge.0 } else { &mut edge.1 }) = place;
            }
            if let Some(at) = step.checked_sub(AHEAD).filter(|&at| at < spans.len()) {
                let known = self.known(self.home(hashes[at & ring]));
                let start = self.text.as_ptr().wrapping_add(known.start());
                prefetch(start);
                prefetch(start.wrapping_add(known.length()));
            }
            if let Some(span) = spans.get(step) {
                let hash = self.hash.of(span.of(self.text));
                hashes[step & ring] = hash;
                prefetch(self.places.as_ptr().wrapping_add(self.home(hash)));
            }
        }
        Some(fresh)
    }

    /// Where the search for a name begins.
    #[inline(always)]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    #[inline(always)]
    fn known(&self, place: usize) -> Span {
        Span(self.places.get(place).map_or(0, |place| place.load(Relaxed)))
    }

    /// The place of a name, which is a free one if it is new; `None` where there is none.
    ///
    /// A place never changes its name once it has one, and the text never changes: whatever a thread sees of
    /// a place is right, so no order between threads is needed.
    #[inline(always)]
    fn find(&self, span: Span, hash: u64, fresh: &mut usize) -> Option<u32> {
        let mut at = self.home(hash);
        for _ in 0..self.places.len() {
            let place = self.places.get(at)?;
            let mut known = Span(place.load(Relaxed));
            if known == Span(0) {
                match place.compare_exchange(0, span.0, Relaxed, Relaxed) {
                    Ok(_) => {
                        *fresh += 1;
                        return Some(at as u32);
                    }
                    Err(other) => known = Span(other),
                }
            }
            if known.is_like(span) && same(known.of(self.text), span.of(self.text)) {
                if span < known {
                    place.fetch_min(span.0, Relaxed);
                }
                return Some(at as u32);
            }
            at = (at + 1) & (self.places.len() - 1);
        }
        None
    }

    /// The number of the name in each place, and the names by number.
    fn ranked(&self) -> Result<(Vec<u32>, Vec<Span>), Fault> {
        let taken = || (0u32..).zip(&self.places).filter(|(_, place)| place.load(Relaxed) != 0);
        let count = u32::try_from(taken().count()).map_err(|_| Fault::TooMany)? as usize;
        let mut names = zeroed::<(u64, u32)>(count)?;
        for (name, (at, place)) in names.iter_mut().zip(taken()) {
            *name = (place.load(Relaxed), at);
        }
        names.par_sort_unstable();
        let mut numbers = zeroed::<u32>(self.places.len())?;
        let mut first = zeroed::<Span>(count)?;
        for ((number, &(span, at)), first) in (0u32..).zip(&names).zip(&mut first) {
            *first = Span(span);
            if let Some(place) = numbers.get_mut(at as usize) {
                *place = number;
            }
        }
        Ok((numbers, first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names numbered as they come, by a table of the standard library.
    fn plainly(names: &[&str]) -> Vec<u32> {
        let mut known = std::collections::HashMap::new();
        let number = |name| {
            let next = known.len() as u32;
            *known.entry(name).or_insert(next)
        };
        names.iter().map(number).collect()
    }

    #[test]
    fn names_of_every_length_are_told_apart() {
        for length in 0..40 {
            let name = vec![b'a'; length];
            assert!(same(&name, &name.clone()), "{length}");
            for at in 0..length {
                let mut other = name.clone();
                other[at] = b'b';
                assert!(!same(&name, &other), "{length}, {at}");
            }
        }
    }

    #[test]
    fn names_are_numbered_by_first_appearance() {
        let names: Vec<String> = (0..40_000u64).map(|i| format!("n{}", i * i % 9973)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = names.join(" ");
        let hash = NameHash::default();
        let mut at = 0;
        let mut span = |name: &str| {
            let span = Span::new(at, name.len(), hash.of(name.as_bytes()));
            at += name.len() + 1;
            span
        };
        let spans: Vec<Span> = names.iter().map(|name| span(name)).collect();
        let (pairs, _) = spans.as_chunks::<2>();
        // Estimates that are far too low make the table grow.
        for distinct in [0, 300, 10_000] {
            for threads in [1, 2, 7] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let interned =
                    pool.install(|| intern(text.as_bytes(), pairs, &hash, distinct)).unwrap();
                let ends: Vec<u32> = interned.edges.iter().flat_map(|&(u, v)| [u, v]).collect();
                assert_eq!(ends, plainly(&names), "{distinct} expected, {threads} threads");
                for (span, node) in interned.first.iter().zip(0..) {
                    let at = ends.iter().position(|&end| end == node).unwrap();
                    assert_eq!(span.of(text.as_bytes()), names[at].as_bytes());
                }
            }
        }
    }
}
