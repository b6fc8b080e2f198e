//! The last stage: the parts are joined, summed up in a header, and given their name.

use super::format::{Header, PAGE, Section, fixed_places};
use super::scan::{Numbers, Scanned, stopped};
use super::spill::Written;
use super::state::{Ids, Work};
use super::{PackConfig, PackReport};
use crate::DataError;
use crate::disk;
use crate::store::io_error;
use magnon_core::compute::pattern::{COLUMN, PADDING};
use magnon_core::graph::SelfLoops;
use magnon_core::progress::Progress;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes that are summed up at once.
const PIECE: usize = 8 << 20;

/// Joins the parts of a graph whose rows are built.
pub(super) fn run(
    mut work: Work,
    scanned: &Scanned,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<PackReport, DataError> {
    let build = work.state.build.clone().unwrap_or_default();
    let scan = work.state.scan.clone();
    let path = work.path("graph");
    let failed = |reason| io_error(&path, "write", reason);
    let file = OpenOptions::new().read(true).write(true).open(&path);
    let file = file.map_err(failed)?;
    // Weights that are all 1 are forgotten.
    let weighted = scan.weighted && build.unlike;
    let mut joined = Joined { file: &file, end: 0, sections: Vec::new() };
    let (nodes, stored, edges) = (build.nodes, build.stored, build.edges);
    let places = fixed_places(nodes);
    joined.sections.extend([
        section("offsets", places.offsets, 8 * (nodes + 1)),
        section("out_offsets", places.out_offsets, 8 * (nodes + 1)),
        section("degrees", places.degrees, 8 * nodes),
        section("columns", places.columns, 4 * (stored + PADDING as u64)),
    ]);
    joined.end = places.columns + 4 * (stored + PADDING as u64);
    let zeros = vec![0u8; 4 * PADDING];
    let put = |joined: &mut Joined| -> io::Result<()> {
        joined.file.set_len(places.columns + 4 * stored)?;
        joined.file.seek(SeekFrom::End(0))?;
        joined.file.write_all(&zeros)?;
        if weighted {
            joined.append("weights", &work.path("values"), 8 * PADDING as u64)?;
        }
        joined.append("targets", &work.path("targets"), 0)?;
        if weighted {
            joined.append("out_weights", &work.path("out_values"), 0)?;
        }
        match (scan.ids, &scanned.numbers) {
            (Ids::Names, _) => joined.append("words", &work.path("names"), 0)?,
            (Ids::Nodes, _) if scanned.named => joined.append("numbers", &work.path("names"), 0)?,
            (_, Numbers::Ranks(ranks)) if scanned.named => joined.numbers(ranks.ids())?,
            (_, Numbers::Sorted(ids)) if scanned.named => joined.numbers(ids.iter().copied())?,
            _ => {}
        }
        Ok(())
    };
    put(&mut joined).map_err(failed)?;
    if weighted {
        // Where there are weights, they say which edges exist.
        let columns = Written::at("columns", "graph", places.columns);
        let columns = work.written(columns);
        work.forget(|name| name == "columns");
        work.save()?;
        let crc32 = clear_classes(&file, places.columns, stored).map_err(failed)?;
        disk::sync(&file).map_err(failed)?;
        work.note(Written { crc32, ..columns });
        work.save()?;
    }
    let total = joined.end;
    let mut done = 0;
    for section in &mut joined.sections {
        section.crc32 = checksum(&file, section).map_err(failed)?;
        done += section.bytes;
        if !progress.advance(done as usize, total as usize, "check") {
            return Err(stopped(&scanned.file));
        }
    }
    let header = Header {
        nodes,
        stored,
        edges,
        given: scan.edges - scan.zeros,
        self_loops: build.self_loops,
        keeps_self_loops: config.load.self_loops == SelfLoops::Keep,
        duplicates: build.duplicates,
        directed: build.directed,
        weighted,
        part: None,
        sections: joined.sections,
    };
    let page = header.encode(&work.output)?;
    let name = || -> io::Result<()> {
        (&file).seek(SeekFrom::Start(0))?;
        (&file).write_all(&page)?;
        disk::sync(&file)?;
        work.target.put(&path)
    };
    name().map_err(|reason| io_error(&work.output, "write", reason))?;
    let report = PackReport {
        nodes,
        edges,
        stored,
        self_loops: build.self_loops,
        duplicates: build.duplicates,
        weighted,
        directed: build.directed,
        text_bytes: scan.text,
        bytes: total,
        buckets: build.records.len(),
        resumed: work.resumed,
        remarks: remarks(&work, config),
    };
    work.clear()?;
    Ok(report)
}

fn remarks(work: &Work, config: &PackConfig) -> Vec<String> {
    let mut remarks = work.state.scan.remarks.clone();
    if work.damaged {
        remarks.push("the work of an earlier call was damaged, and began anew".to_owned());
    }
    let build = work.state.build.clone().unwrap_or_default();
    let scan = &work.state.scan;
    if scan.zeros > 0 {
        remarks.push(format!(
            "{} edges were left out, whose weights are 0 in single precision",
            scan.zeros
        ));
    }
    if config.load.reverse {
        remarks.push("every edge was turned round, as asked".to_owned());
    }
    if scan.rounded {
        remarks
            .push("weights of edges were rounded to single precision, about 7 digits".to_owned());
    }
    if build.self_loops > 0 && config.load.self_loops == SelfLoops::Drop {
        remarks.push(format!("{} self loops were dropped", build.self_loops));
    }
    if build.duplicates > 0 {
        remarks.push(format!("{} repeated edges were merged", build.duplicates));
    }
    remarks
}

fn section(name: &str, start: u64, bytes: u64) -> Section {
    Section { name: name.to_owned(), start, bytes, crc32: 0 }
}

/// The file, and the sections in it so far.
struct Joined<'a> {
    file: &'a File,
    end: u64,
    sections: Vec<Section>,
}

impl Joined<'_> {
    /// Begins a section behind the others.
    fn begin(&mut self) -> io::Result<u64> {
        let start = self.end.next_multiple_of(PAGE);
        self.file.set_len(start)?;
        self.file.seek(SeekFrom::Start(start))
    }

    /// A section of what lies in another file, and zeros behind it.
    fn append(&mut self, name: &str, path: &Path, zeros: u64) -> io::Result<()> {
        let start = self.begin()?;
        let mut source = disk::open(path)?;
        let copied = io::copy(&mut source, &mut self.file)?;
        self.file.write_all(&vec![0; zeros as usize])?;
        self.sections.push(section(name, start, copied + zeros));
        self.end = start + copied + zeros;
        Ok(())
    }

    /// A section of the ids of the nodes.
    fn numbers(&mut self, ids: impl Iterator<Item = u64>) -> io::Result<()> {
        let start = self.begin()?;
        let mut target = BufWriter::with_capacity(1 << 20, self.file);
        let mut bytes = 0;
        for id in ids {
            target.write_all(&id.to_le_bytes())?;
            bytes += 8;
        }
        target.flush()?;
        self.sections.push(section("numbers", start, bytes));
        self.end = start + bytes;
        Ok(())
    }
}

/// The CRC-32 of a section.
fn checksum(mut file: &File, section: &Section) -> io::Result<u32> {
    let mut hasher = crc32fast::Hasher::new();
    let mut piece = vec![0; PIECE];
    file.seek(SeekFrom::Start(section.start))?;
    let mut left = section.bytes;
    while left > 0 {
        let part = &mut piece[..left.min(PIECE as u64) as usize];
        file.read_exact(part)?;
        hasher.update(part);
        left -= part.len() as u64;
    }
    Ok(hasher.finalize())
}

/// Takes the phase classes off the columns, and gives their new checksum; to do it twice does no harm.
fn clear_classes(mut file: &File, start: u64, stored: u64) -> io::Result<u32> {
    let mut sum = crc32fast::Hasher::new();
    let mut piece = vec![0u32; PIECE / 4];
    let mut at = 0;
    while at < stored {
        let part = &mut piece[..(stored - at).min(PIECE as u64 / 4) as usize];
        file.seek(SeekFrom::Start(start + 4 * at))?;
        file.read_exact(bytemuck::cast_slice_mut(part))?;
        part.iter_mut().for_each(|column| *column &= COLUMN);
        file.seek(SeekFrom::Start(start + 4 * at))?;
        file.write_all(bytemuck::cast_slice(part))?;
        sum.update(bytemuck::cast_slice(part));
        at += part.len() as u64;
    }
    Ok(sum.finalize())
}

/// The names in a file, each with its length before it, of which `len` bytes are good.
pub(super) fn read_names(path: &Path, len: u64) -> Result<Vec<String>, DataError> {
    let bytes = super::spill::read_all::<u8>(path, len)?;
    split_names(&bytes)
        .ok_or_else(|| DataError::format(path.display().to_string(), "names are damaged"))
}

/// Names, each with its length before it.
pub(super) fn split_names(mut bytes: &[u8]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    while let Some((length, rest)) = bytes.split_at_checked(4) {
        let length = u32::from_le_bytes(length.try_into().ok()?);
        let (name, rest) = rest.split_at_checked(length as usize)?;
        names.push(String::from_utf8(name.to_vec()).ok()?);
        bytes = rest;
    }
    bytes.is_empty().then_some(names)
}
