//! The third stage: rows are built bucket by bucket, and written where they belong.

use super::bucket::{self, Rows, Rules, is_whole};
use super::distribute::{self, Buckets};
use super::format::{Places, fixed_places};
use super::scan::{Scanned, stopped};
use super::spill::Spill;
use super::state::Work;
use super::{PackConfig, PackProgress};
use crate::data::DataError;
use crate::data::store::io_error;
use crate::disk;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Distributes the edges where that is not done, and builds the buckets that are not built.
pub(super) fn run(
    work: &mut Work,
    scanned: &Scanned,
    config: &PackConfig,
    progress: PackProgress,
) -> Result<(), DataError> {
    let weighted = work.state.scan.weighted;
    let whole = work.state.build.as_ref().is_some_and(|build| {
        let left = build.done..build.records.len();
        let spilt =
            || left.clone().all(|index| is_whole(work, index, build.records[index], weighted));
        left.is_empty() || !build.held && spilt()
    });
    let mut buckets = Buckets::Spilt;
    if !whole {
        let (mut build, distributed) = distribute::run(work, scanned, config, progress)?;
        // What was built before stays, where the rows are cut as they were.
        if let Some(before) = work.state.build.take()
            && before.bounds == build.bounds
        {
            build = before;
        }
        buckets = distributed;
        work.state.build = Some(build);
        work.save()?;
    }
    let Some(mut build) = work.state.build.clone() else { return Ok(()) };
    let mut parts = Parts::open(work, build.nodes, build.stored, build.edges, weighted)?;
    let rules = Rules { duplicates: config.load.duplicates, self_loops: config.load.self_loops };
    let all: u64 = build.records.iter().sum();
    let mut done: u64 = build.records.iter().take(build.done).sum();
    let mut noted = done;
    for index in build.done..build.records.len() {
        let rows = build.bounds[index] as usize..build.bounds[index + 1] as usize;
        let records = build.records[index];
        let mut row = rows.start;
        let taken = match &mut buckets {
            Buckets::Held(buckets) => std::mem::take(&mut buckets[index]),
            Buckets::Spilt => bucket::read(work, index, records, weighted)?,
        };
        for part in bucket::run(work, taken, rows, weighted, rules)? {
            parts.write(row, &part)?;
            row += part.lengths.len();
            build.self_loops += part.self_loops;
            build.duplicates += part.duplicates;
            build.directed |= part.directed;
            build.unlike |= part.unlike;
        }
        done += records;
        let go_on = progress("build", 8 * done, 8 * all);
        if done - noted >= NOTED || index + 1 == build.records.len() || !go_on {
            parts.sync()?;
            (build.stored, build.edges) = (parts.stored, parts.edges);
            let before = std::mem::replace(&mut build.done, index + 1);
            work.state.build = Some(build.clone());
            work.save()?;
            if !build.held {
                (before..build.done).try_for_each(|index| work.remove(&work.bucket(index)))?;
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
    path: PathBuf,
    /// One file, open once for each part that grows in it.
    offsets: Writer,
    out_offsets: Writer,
    degrees: Writer,
    columns: Writer,
    targets: Spill,
    weights: Spill,
    out_weights: Spill,
    weighted: bool,
    stored: u64,
    edges: u64,
    places: Places,
}

type Writer = BufWriter<File>;

/// A file opened at a place.
fn at(path: &Path, place: u64) -> Result<Writer, DataError> {
    let open = || {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        (&file).seek(SeekFrom::Start(place))?;
        Ok(file)
    };
    let file = open().map_err(|reason| io_error(path, "write", reason))?;
    Ok(BufWriter::with_capacity(1 << 20, file))
}

impl Parts {
    fn open(
        work: &Work,
        nodes: u64,
        stored: u64,
        edges: u64,
        weighted: bool,
    ) -> Result<Self, DataError> {
        let path = work.path("graph");
        let places = fixed_places(nodes);
        let value = |bytes: u64| if weighted { bytes } else { 0 };
        Ok(Self {
            offsets: at(&path, places.offsets)?,
            out_offsets: at(&path, places.out_offsets)?,
            degrees: at(&path, places.degrees)?,
            columns: at(&path, places.columns + 4 * stored)?,
            targets: Spill::open(&work.path("targets"), 4 * edges)?,
            weights: Spill::open(&work.path("values"), value(8 * stored))?,
            out_weights: Spill::open(&work.path("out_values"), value(4 * edges))?,
            path,
            weighted,
            stored,
            edges,
            places,
        })
    }

    /// Writes rows from node `first` on; they follow those that were written before.
    fn write(&mut self, first: usize, rows: &Rows) -> Result<(), DataError> {
        let write = |parts: &mut Self| -> std::io::Result<()> {
            let Places { offsets, out_offsets, degrees, .. } = parts.places;
            let first = first as u64;
            // The first offset is that of row 0, and each row writes where it ends.
            if first == 0 {
                parts.offsets.seek(SeekFrom::Start(offsets))?;
                parts.offsets.write_all(&0u64.to_le_bytes())?;
                parts.out_offsets.seek(SeekFrom::Start(out_offsets))?;
                parts.out_offsets.write_all(&0u64.to_le_bytes())?;
            }
            seek(&mut parts.offsets, offsets + 8 * (first + 1))?;
            seek(&mut parts.out_offsets, out_offsets + 8 * (first + 1))?;
            seek(&mut parts.degrees, degrees + 8 * first)?;
            for (&length, degree) in rows.lengths.iter().zip(&rows.degrees) {
                parts.stored += u64::from(length);
                parts.edges += u64::from(degree[0]);
                parts.offsets.write_all(&parts.stored.to_le_bytes())?;
                parts.out_offsets.write_all(&parts.edges.to_le_bytes())?;
            }
            parts.degrees.write_all(bytemuck::cast_slice(&rows.degrees))?;
            parts.columns.write_all(bytemuck::cast_slice(&rows.columns))
        };
        write(self).map_err(|reason| io_error(&self.path, "write", reason))?;
        self.targets.push(&rows.targets())?;
        if self.weighted {
            self.weights.push(&rows.weights)?;
            self.out_weights.push(&rows.out_weights())?;
        }
        Ok(())
    }

    /// Waits until all is on the disk.
    fn sync(&mut self) -> Result<(), DataError> {
        let Self { offsets, out_offsets, degrees, columns, .. } = self;
        let flushed = [offsets, out_offsets, degrees].into_iter().try_for_each(Write::flush);
        let synced =
            flushed.and_then(|()| columns.flush()).and_then(|()| disk::sync(columns.get_ref()));
        synced.map_err(|reason| io_error(&self.path, "write", reason))?;
        for spill in [&mut self.targets, &mut self.weights, &mut self.out_weights] {
            spill.sync()?;
        }
        Ok(())
    }
}

/// Goes to a place, without emptying the buffer where it is there already.
fn seek(writer: &mut Writer, place: u64) -> std::io::Result<()> {
    let now = writer.get_ref().stream_position_of()? + writer.buffer().len() as u64;
    if now != place {
        writer.seek(SeekFrom::Start(place))?;
    }
    Ok(())
}

/// Where a shared file stands.
trait Position {
    fn stream_position_of(&self) -> std::io::Result<u64>;
}

impl Position for File {
    fn stream_position_of(&self) -> std::io::Result<u64> {
        let mut file = self;
        file.stream_position()
    }
}
