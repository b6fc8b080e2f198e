//! The second stage: every edge becomes two records, one in the bucket of each of its ends.

use super::PackConfig;
use super::limits::over_budget;
use super::scan::{Numbers, PIECE, Scanned, stopped};
use super::spill::{Pieces, Spill, Written};
use super::state::{BuildState, Ids, Work, bucket};
use crate::DataError;
use magnon_core::progress::Progress;
use rayon::prelude::*;
use std::ops::Range;

/// The edge leaves the node of the row.
pub(super) const LEAVES: u32 = 1;
/// The edge enters it.
pub(super) const ENTERS: u32 = 2;

/// Rows are counted in groups, of which there are at most this many.
const GROUPS: u64 = 1 << 20;
/// Files that are written side by side, at most, and the memory that each must find in the budget.
const MOST_BUCKETS: u64 = 512;
const BUCKET: u64 = 1 << 18;
/// Bytes of memory for a record while its bucket is sorted.
const SORTED: u64 = 16;
/// More of them for a weight.
const WEIGHED: u64 = 16;

/// Some edges, and their weights where they have some.
type Piece<'a> = (&'a [[u32; 2]], Option<&'a [f32]>);

/// Edges with nodes in place of ids, a piece at a time.
struct Edges<'a> {
    narrow: Option<Pieces<[u32; 2]>>,
    wide: Option<Pieces<[u64; 2]>>,
    weights: Option<Pieces<f32>>,
    scanned: &'a Scanned,
    reverse: bool,
    pairs: Vec<[u32; 2]>,
}

impl<'a> Edges<'a> {
    fn open(work: &Work, scanned: &'a Scanned, reverse: bool) -> Result<Self, DataError> {
        let (state, path) = (&work.state.scan, work.path("pairs"));
        let wide = state.ids == Ids::Wide;
        let narrow = || Pieces::open(&path, 8 * state.edges, PIECE);
        let pieces = || Pieces::open(&path, 16 * state.edges, PIECE);
        let weights = || Pieces::open(&work.path("weights"), 4 * state.edges, PIECE);
        Ok(Self {
            narrow: (!wide).then(narrow).transpose()?,
            wide: wide.then(pieces).transpose()?,
            weights: state.weighted.then(weights).transpose()?,
            scanned,
            reverse,
            pairs: Vec::new(),
        })
    }

    /// The next edges and their weights; none at the end.
    fn next(&mut self) -> Result<Piece<'_>, DataError> {
        self.pairs.clear();
        if let Some(pieces) = &mut self.narrow
            && let Some(pairs) = pieces.next()?
        {
            if let Numbers::Ranks(ranks) = &self.scanned.numbers
                && !ranks.full
            {
                let number = |pair: &mut [u32; 2]| *pair = pair.map(|id| ranks.rank(id));
                pairs.par_iter_mut().with_min_len(1 << 14).for_each(number);
            }
            self.pairs.extend_from_slice(pairs);
        }
        if let Some(pieces) = &mut self.wide
            && let Some(pairs) = pieces.next()?
        {
            let number = |pair: &[u64; 2]| match &self.scanned.numbers {
                Numbers::Sorted(ids) => {
                    pair.map(|id| ids.partition_point(|&other| other < id) as u32)
                }
                _ => pair.map(|id| id as u32),
            };
            pairs.par_iter().with_min_len(1 << 14).map(number).collect_into_vec(&mut self.pairs);
        }
        if self.reverse {
            self.pairs.iter_mut().for_each(|pair| pair.swap(0, 1));
        }
        let mut weights = None;
        if let Some(pieces) = &mut self.weights
            && let Some(values) = pieces.next()?
        {
            if let Some(mean) = self.scanned.scale {
                values.iter_mut().for_each(|w| *w = (f64::from(*w) / mean) as f32);
            }
            weights = Some(&*values);
        }
        Ok((&self.pairs, weights))
    }
}

/// Where the records of the buckets lie.
pub(super) enum Buckets {
    /// In memory, where the budget allows it.
    Held(Vec<Vec<u32>>),
    /// Each in a file, of which this lies on the disk.
    Spilt(Vec<Written>),
}

/// Distributes all edges, and says which rows each bucket has.
pub(super) fn run(
    work: &Work,
    scanned: &Scanned,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<(BuildState, Buckets), DataError> {
    // The edges of a graph that was read whole are turned already.
    let turned = config.load.reverse && work.state.scan.text > 0;
    let weighted = work.state.scan.weighted;
    let total = 2 * work.state.scan.edges;
    let mut done = 0;
    let mut tell = |more: usize| {
        done += more as u64;
        match progress.advance((8 * done) as usize, (8 * total) as usize, "distribute") {
            true => Ok(()),
            false => Err(stopped(&scanned.file)),
        }
    };
    let shift = scanned.nodes.div_ceil(GROUPS).next_power_of_two().trailing_zeros();
    let mut groups = vec![0u64; scanned.nodes.div_ceil(1 << shift) as usize];
    let mut edges = Edges::open(work, scanned, turned)?;
    loop {
        let (pairs, weights) = edges.next()?;
        if pairs.is_empty() {
            break;
        }
        let heavy = |e: usize| weights.is_none_or(|weights| weights[e] != 0.0);
        for (e, pair) in pairs.iter().enumerate() {
            if heavy(e) {
                pair.iter().for_each(|&u| groups[u as usize >> shift] += 1);
            }
        }
        tell(pairs.len())?;
    }
    let width = if weighted { 3 } else { 2 };
    let held = 4 * width * groups.iter().sum::<u64>() <= config.memory / 2;
    let (bounds, records) = cut(&groups, shift, scanned, weighted, config.memory, held)?;
    let owner = owners(&bounds, shift, groups.len());
    let mut buckets = match held {
        true => Sink::hold(&records, width, &scanned.file)?,
        false => Sink::spill(work, records.len())?,
    };
    let mut edges = Edges::open(work, scanned, turned)?;
    loop {
        let (pairs, weights) = edges.next()?;
        if pairs.is_empty() {
            break;
        }
        for (e, &[u, v]) in pairs.iter().enumerate() {
            let weight = weights.map(|weights| weights[e]);
            if weight == Some(0.0) {
                continue; // a zero that is stored is no edge
            }
            for (row, key) in [(u, v << 2 | LEAVES), (v, u << 2 | ENTERS)] {
                let bucket = usize::from(owner[row as usize >> shift]);
                buckets.push(bucket, row, key, weight)?;
            }
        }
        tell(pairs.len())?;
    }
    let build = BuildState { nodes: scanned.nodes, bounds, records, held, ..BuildState::default() };
    Ok((build, buckets.finish()?))
}

/// Takes the records of all buckets.
struct Sink {
    /// Of a bucket that is held, all of them; of others, those that wait to be written.
    records: Vec<Vec<u32>>,
    files: Vec<Spill>,
}

impl Sink {
    fn hold(records: &[u64], width: u64, file: &str) -> Result<Self, DataError> {
        let mut sink = Self { records: Vec::new(), files: Vec::new() };
        for count in records {
            let mut bucket = Vec::new();
            crate::allocate::reserve(&mut bucket, (count * width) as usize, file)?;
            sink.records.push(bucket);
        }
        Ok(sink)
    }

    fn spill(work: &Work, buckets: usize) -> Result<Self, DataError> {
        let open = |index: usize| Spill::open(work.root(), Written::new(&bucket(index)));
        let files = (0..buckets).map(open).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { records: vec![Vec::with_capacity(WAITING + 6); buckets], files })
    }

    #[inline]
    fn push(
        &mut self,
        bucket: usize,
        row: u32,
        key: u32,
        weight: Option<f32>,
    ) -> Result<(), DataError> {
        let records = &mut self.records[bucket];
        records.extend_from_slice(&[row, key]);
        records.extend(weight.map(f32::to_bits));
        if records.len() >= WAITING
            && let Some(file) = self.files.get_mut(bucket)
        {
            file.push(records)?;
            records.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Buckets, DataError> {
        if self.files.is_empty() {
            return Ok(Buckets::Held(self.records));
        }
        let mut written = Vec::new();
        for (file, records) in self.files.iter_mut().zip(&self.records) {
            file.push(records)?;
            written.push(file.sync()?);
        }
        Ok(Buckets::Spilt(written))
    }
}

/// Numbers that wait for a bucket.
const WAITING: usize = 1 << 13;

/// The bucket of each group of rows.
fn owners(bounds: &[u32], shift: u32, groups: usize) -> Vec<u16> {
    let mut owner = vec![0u16; groups];
    for (bucket, rows) in bounds.windows(2).enumerate() {
        let end = (rows[1] as usize).div_ceil(1 << shift);
        owner[rows[0] as usize >> shift..end].fill(bucket as u16);
    }
    owner
}

/// Cuts the rows into buckets that can be sorted within the budget.
fn cut(
    groups: &[u64],
    shift: u32,
    scanned: &Scanned,
    weighted: bool,
    memory: u64,
    held: bool,
) -> Result<(Vec<u32>, Vec<u64>), DataError> {
    let record = SORTED + if weighted { WEIGHED } else { 0 };
    let row = 32; // offsets, degrees and places
    // Records that are held leave half of the budget, and small buckets are sorted in the caches.
    let all = groups.iter().sum::<u64>() * record;
    let most = if held { (memory / 4).min((all / 256).max(1 << 22)) } else { memory / 2 };
    let bytes = |records: u64, rows: &Range<usize>| records * record + row * rows.len() as u64;
    let (mut bounds, mut records) = (vec![0u32], Vec::new());
    let (mut start, mut sum) = (0, 0);
    for (group, &count) in groups.iter().enumerate() {
        let grown = bytes(sum + count, &(start << shift..(group + 1) << shift));
        if grown > most && group > start {
            bounds.push((group << shift) as u32);
            records.push(sum);
            (start, sum) = (group, 0);
        }
        let alone = bytes(sum + count, &(start << shift..(group + 1) << shift));
        if alone > memory / 2 {
            let what = format!("the {count} edges of nodes {} and some after it", group << shift);
            return Err(over_budget(&scanned.file, &what, 2 * alone, memory));
        }
        sum += count;
    }
    bounds.push(scanned.nodes as u32);
    records.push(sum);
    let parts = MOST_BUCKETS.min(memory / BUCKET);
    if records.len() as u64 > parts {
        return Err(over_budget(&scanned.file, "the edges", 2 * all.div_ceil(parts), memory));
    }
    Ok((bounds, records))
}
