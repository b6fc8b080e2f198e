//! Scanning text on all threads: it is parted at line ends, and every line has a place for its edge in one
//! array, so that nothing is copied afterwards.

use super::edge_scan::Fault;
use bytemuck::Zeroable;
use magnon_core::memory;
use memchr::memchr;
use rayon::prelude::*;

/// Text that one task scans.
const CHUNK: usize = 1 << 18;

/// One part of the text, with a place for the edge of each line.
pub(super) struct Part<'a, 'o, P> {
    pub(super) text: &'a [u8],
    /// Where it starts in the whole text.
    pub(super) at: usize,
    pub(super) pairs: &'o mut [P],
    /// As many as pairs where edges have weights, else none.
    pub(super) weights: &'o mut [f32],
}

/// The edges of all parts.
pub(super) struct Edges<P, S> {
    pub(super) pairs: Vec<P>,
    pub(super) weights: Vec<f32>,
    /// The first edge of each part and what the scanner says of it, in the order of the text.
    pub(super) results: Vec<(usize, S)>,
}

/// Scans all parts. The scanner gives back how many edges it found and what it has to tell, or its first fault with
/// the offset in its part; the first fault of the text is given back with its offset.
pub(super) fn scan_parts<P: Copy + Send + Zeroable, S: Send>(
    text: &[u8],
    weighted: bool,
    scan: impl Fn(Part<'_, '_, P>) -> Result<(usize, S), (usize, Fault)> + Sync,
) -> Result<Edges<P, S>, (usize, Fault)> {
    let parts = chunks(text);
    let lines: Vec<usize> = parts.par_iter().map(|(_, chunk)| count_lines(chunk)).collect();
    let total = lines.iter().sum();
    let mut pairs = zeroed::<P>(total).map_err(|fault| (0, fault))?;
    let mut weights = zeroed::<f32>(if weighted { total } else { 0 }).map_err(|f| (0, f))?;
    let mut tasks = Vec::with_capacity(parts.len());
    let (mut pairs_left, mut weights_left) = (&mut pairs[..], &mut weights[..]);
    for (&(at, text), &lines) in parts.iter().zip(&lines) {
        let (pairs, rest) = pairs_left.split_at_mut(lines);
        let (weights, more) = weights_left.split_at_mut(if weighted { lines } else { 0 });
        (pairs_left, weights_left) = (rest, more);
        tasks.push(Part { text, at, pairs, weights });
    }
    let scanned = tasks.into_par_iter().map(|part| {
        let at = part.at;
        scan(part).map_err(|(offset, fault)| (at + offset, fault))
    });
    let scanned: Vec<_> = scanned.collect();
    // Comments and empty lines leave gaps; edges behind them move up.
    let (mut start, mut kept) = (0, 0);
    let mut results = Vec::with_capacity(scanned.len());
    for (result, lines) in scanned.into_iter().zip(lines) {
        let (found, tells) = result?;
        if kept < start {
            pairs.copy_within(start..start + found, kept);
            if weighted {
                weights.copy_within(start..start + found, kept);
            }
        }
        results.push((kept, tells));
        kept += found;
        start += lines;
    }
    pairs.truncate(kept);
    weights.truncate(kept);
    Ok(Edges { pairs, weights, results })
}

/// `len` zeros.
pub(super) fn zeroed<T: Zeroable>(len: usize) -> Result<Vec<T>, Fault> {
    memory::try_zeroed(len).ok_or(Fault::OutOfMemory(len.saturating_mul(size_of::<T>())))
}

/// Lines of a chunk, of which the last may lack its line end.
fn count_lines(chunk: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', chunk).count() + usize::from(chunk.last() != Some(&b'\n'))
}

/// Parts the text after line ends, with the offset of each part.
fn chunks(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut parts = Vec::with_capacity(text.len() / CHUNK + 1);
    let mut at = 0;
    while at < text.len() {
        let aim = (at + CHUNK).min(text.len());
        let end = memchr(b'\n', &text[aim..]).map_or(text.len(), |end| aim + end + 1);
        parts.push((at, &text[at..end]));
        at = end;
    }
    parts
}
