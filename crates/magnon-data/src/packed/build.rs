//! The third stage: rows are built bucket by bucket, and written where they belong.

use super::PackConfig;
use super::bucket::{self, Rows, Rules, is_whole};
use super::distribute::{self, Buckets};
use super::format::fixed_places;
use super::scan::{Scanned, stopped};
use super::spill::{Spill, Written};
use super::state::{BUCKETS, BuildState, Work, bucket as bucket_name};
use crate::DataError;
use magnon_core::progress::Progress;

/// Distributes the edges where that is not done, and builds the buckets that are not built.
pub(super) fn run(
    work: &mut Work,
    scanned: &Scanned,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<(), DataError> {
    let weighted = work.state.scan.weighted;
    let whole = work.state.build.as_ref().is_some_and(|build| {
        let left = build.done..build.records.len();
        let spilt =
            || left.clone().all(|index| is_whole(work, index, build.records[index], weighted));
        left.is_empty() || !build.held && spilt()
    });
    let mut buckets = Buckets::Spilt(Vec::new());
    if !whole {
        let (mut build, distributed) = distribute::run(work, scanned, config, progress)?;
        // What was built before stays, where the rows are cut as they were.
        if let Some(before) = work.state.build.take()
            && before.bounds == build.bounds
        {
            build = before;
        }
        work.forget(|name| name.starts_with(BUCKETS));
        if let Buckets::Spilt(written) = &distributed {
            written.iter().for_each(|written| work.note(written.clone()));
        }
        buckets = distributed;
        work.state.build = Some(build);
        work.save()?;
    }
    let Some(mut build) = work.state.build.clone() else { return Ok(()) };
    let mut parts = Parts::open(work, &build, weighted)?;
    let rules = Rules { duplicates: config.load.duplicates, self_loops: config.load.self_loops };
    let all: u64 = build.records.iter().sum();
    let mut done: u64 = build.records.iter().take(build.done).sum();
    let mut noted = done;
    for index in build.done..build.records.len() {
        let rows = build.bounds[index] as usize..build.bounds[index + 1] as usize;
        let records = build.records[index];
        let taken = match &mut buckets {
            Buckets::Held(buckets) => std::mem::take(&mut buckets[index]),
            Buckets::Spilt(_) => bucket::read(work, index, records, weighted)?,
        };
        for part in bucket::run(work, taken, rows, weighted, rules)? {
            parts.write(&part)?;
            build.self_loops += part.self_loops;
            build.duplicates += part.duplicates;
            build.directed |= part.directed;
            build.unlike |= part.unlike;
        }
        done += records;
        let go_on = progress.advance((8 * done) as usize, (8 * all) as usize, "build");
        if done - noted >= NOTED || index + 1 == build.records.len() || !go_on {
            parts.sync(work)?;
            (build.stored, build.edges) = (parts.stored, parts.edges);
            let built = std::mem::replace(&mut build.done, index + 1)..index + 1;
            let names: Vec<String> = built.map(bucket_name).collect();
            work.forget(|name| names.iter().any(|built| built == name));
            work.state.build = Some(build.clone());
            work.save()?;
            if !build.held {
                names.iter().try_for_each(|name| work.remove(name))?;
            }
            noted = done;
        }
        if !go_on {
            return Err(stopped(&scanned.file));
        }
    }
    Ok(())
}

/// Records between two notes of how far the rows are built.
const NOTED: u64 = 1 << 26;

/// The parts of the packed graph under way. Those whose size is known lie in their place already, followed by the
/// columns; others wait in files of their own.
struct Parts {
    offsets: Spill,
    out_offsets: Spill,
    degrees: Spill,
    columns: Spill,
    targets: Spill,
    weights: Spill,
    out_weights: Spill,
    weighted: bool,
    stored: u64,
    edges: u64,
}

impl Parts {
    fn open(work: &Work, build: &BuildState, weighted: bool) -> Result<Self, DataError> {
        let open = |new: Written| {
            Spill::open(work.root(), if build.done > 0 { work.written(new) } else { new })
        };
        let places = fixed_places(build.nodes);
        let part = |name, start| open(Written::at(name, "graph", start));
        Ok(Self {
            offsets: part("offsets", places.offsets)?,
            out_offsets: part("out_offsets", places.out_offsets)?,
            degrees: part("degrees", places.degrees)?,
            columns: part("columns", places.columns)?,
            targets: open(Written::new("targets"))?,
            weights: open(Written::new("values"))?,
            out_weights: open(Written::new("out_values"))?,
            weighted,
            stored: build.stored,
            edges: build.edges,
        })
    }

    /// Writes rows; they follow those that were written before.
    fn write(&mut self, rows: &Rows) -> Result<(), DataError> {
        // The first offset is that of row 0, and each row writes where it ends.
        let first = (self.offsets.len() == 0).then_some(0);
        let mut ends: Vec<[u64; 2]> = first.map(|zero| [zero; 2]).into_iter().collect();
        for (&length, degree) in rows.lengths.iter().zip(&rows.degrees) {
            self.stored += u64::from(length);
            self.edges += u64::from(degree[0]);
            ends.push([self.stored, self.edges]);
        }
        let column = |k: usize| ends.iter().map(|end| end[k].to_le()).collect::<Vec<u64>>();
        self.offsets.push(&column(0))?;
        self.out_offsets.push(&column(1))?;
        self.degrees.push(&rows.degrees)?;
        self.columns.push(&rows.columns)?;
        self.targets.push(&rows.targets())?;
        if self.weighted {
            self.weights.push(&rows.weights)?;
            self.out_weights.push(&rows.out_weights())?;
        }
        Ok(())
    }

    /// Waits until all is on the disk, and notes what that is.
    fn sync(&mut self, work: &mut Work) -> Result<(), DataError> {
        let Self { offsets, out_offsets, degrees, columns, .. } = self;
        let Self { targets, weights, out_weights, .. } = self;
        for part in [offsets, out_offsets, degrees, columns, targets, weights, out_weights] {
            work.note(part.sync()?);
        }
        Ok(())
    }
}
