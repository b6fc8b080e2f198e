//! Mapping a packed graph: its parts are checked once, and then read where they lie.

use super::finish::split_names;
use super::format::{Header, PAGE, Section};
use super::limits;
use crate::store::io_error;
use crate::{DataError, NodeNames};
use bytemuck::Pod;
use magnon_core::compute::pattern::{COLUMN, PADDING};
use magnon_core::graph::{BuildReport, DiGraph, Merged};
use magnon_core::memory::Slab;
use memmap2::Mmap;
use rayon::prelude::*;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// A packed graph that is mapped.
#[derive(Debug)]
pub(crate) struct Packed {
    pub graph: DiGraph,
    pub report: BuildReport,
    pub names: Option<NodeNames>,
    /// Whether self loops were kept when it was packed.
    pub keeps_self_loops: bool,
}

/// Bytes or numbers that one task looks at.
const PIECE: usize = 4 << 20;

/// Maps the packed graph at `path`, and checks all of it: one pass over the file.
pub(crate) fn open(path: &Path) -> Result<Packed, DataError> {
    let label = path.display().to_string();
    let (map, header) = map(path, &label)?;
    if let Some(part) = header.part {
        let problem = format!(
            "it is part {} of {} of a graph that was cut; name the whole graph",
            part.index, part.parts
        );
        return Err(DataError::format(label, problem));
    }
    Sections { map, header: &header, label: &label }.check()
}

/// Maps a file whose sections are what was written.
pub(super) fn map(path: &Path, label: &str) -> Result<(Arc<Mmap>, Header), DataError> {
    let wrong = |problem: &str| DataError::format(label, problem);
    if let Some(problem) = limits::machine() {
        return Err(wrong(problem));
    }
    let failed = |reason| io_error(path, "read", reason);
    let file = File::open(path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let mut page = Vec::new();
    (&file).take(PAGE).read_to_end(&mut page).map_err(failed)?;
    let header = Header::decode(&page, label)?;
    let ends = header.sections.iter().map(|section| section.start.checked_add(section.bytes));
    let end = ends.collect::<Option<Vec<u64>>>().and_then(|ends| ends.into_iter().max());
    if end != Some(length) {
        let problem = format!(
            "truncated or damaged: it has {length} bytes, and its header speaks of {}; pack the graph again",
            end.unwrap_or(u64::MAX)
        );
        return Err(wrong(&problem));
    }
    // SAFETY: the file has the length of its header and is opened to be read only; packing never writes to a file
    // under its final name, but gives a new file that name, so that a map stays what it was. All that is
    // relied on without a check is looked at below. Tested by `damaged_graphs_are_refused`.
    let map = Arc::new(unsafe { Mmap::map(&file) }.map_err(failed)?);
    header.sections.par_iter().try_for_each(|section| check_sum(&map, section, label))?;
    Ok((map, header))
}

/// Whether a section is what was written.
fn check_sum(map: &Mmap, section: &Section, label: &str) -> Result<(), DataError> {
    let bytes = map.get(section.start as usize..(section.start + section.bytes) as usize);
    let sums = bytes.unwrap_or_default().par_chunks(PIECE).map(|piece| {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(piece);
        hasher
    });
    let sum = sums.reduce(crc32fast::Hasher::new, |mut sum, next| {
        sum.combine(&next);
        sum
    });
    if bytes.is_some() && sum.finalize() == section.crc32 {
        return Ok(());
    }
    let problem = format!(
        "the checksum of its section {} does not match: the file is damaged; pack the graph again",
        section.name
    );
    Err(DataError::format(label, problem))
}

/// The sections of a mapped file.
pub(super) struct Sections<'a> {
    pub map: Arc<Mmap>,
    pub header: &'a Header,
    pub label: &'a str,
}

impl Sections<'_> {
    pub(super) fn wrong(&self, problem: impl Into<String>) -> DataError {
        DataError::format(self.label, problem)
    }

    /// A section of so many numbers.
    pub(super) fn slab<T: Pod>(&self, name: &str, len: u64) -> Result<Slab<T>, DataError> {
        let found = self
            .header
            .section(name)
            .filter(|section| len.checked_mul(size_of::<T>() as u64) == Some(section.bytes));
        let slab =
            found.and_then(|section| Slab::mapped(&self.map, section.start as usize, len as usize));
        slab.ok_or_else(|| self.wrong(format!("its section {name} is missing or of another size")))
    }

    /// The same of a section that only some graphs have.
    pub(super) fn weights<T: Pod>(
        &self,
        name: &str,
        len: u64,
    ) -> Result<Option<Slab<T>>, DataError> {
        self.header.weighted.then(|| self.slab(name, len)).transpose()
    }

    /// Looks at all that others rely on.
    fn check(&self) -> Result<Packed, DataError> {
        let header = self.header;
        limits::check_nodes(self.label, header.nodes)?;
        let nodes = header.nodes as usize;
        if nodes == 0 {
            return Err(self.wrong("it has no nodes"));
        }
        let padded = header.stored.saturating_add(PADDING as u64);
        let offsets = self.slab::<usize>("offsets", header.nodes + 1)?;
        let columns = self.slab::<u32>("columns", padded)?;
        let weights = self.weights::<[f32; 2]>("weights", padded)?;
        let degrees = self.slab::<[u32; 2]>("degrees", header.nodes)?;
        let out_offsets = self.slab::<usize>("out_offsets", header.nodes + 1)?;
        let targets = self.slab::<u32>("targets", header.edges)?;
        let out_weights = self.weights::<f32>("out_weights", header.edges)?;
        self.check_rows("offsets", &offsets, &columns, header.stored as usize, nodes)?;
        self.check_rows("out_offsets", &out_offsets, &targets, header.edges as usize, nodes)?;
        let finite = |numbers: &[f32]| numbers.par_iter().all(|weight| weight.is_finite());
        let all = weights.as_deref().is_none_or(|weights| finite(bytemuck::cast_slice(weights)));
        if !all || !out_weights.as_deref().is_none_or(finite) {
            return Err(self.wrong("it has weights that are not finite"));
        }
        let names = self.names(nodes)?;
        let directed = header.directed;
        let merged = Merged { offsets, columns, weights, degrees, directed };
        let graph = DiGraph::from_slabs(out_offsets, targets, out_weights, Some(Arc::new(merged)));
        let report = BuildReport {
            given: header.given as usize,
            self_loops: header.self_loops as usize,
            duplicates: header.duplicates as usize,
        };
        Ok(Packed { graph, report, names, keeps_self_loops: header.keeps_self_loops })
    }

    /// Rows that rise from 0 to their number of entries, whose columns name nodes and rise.
    pub(super) fn check_rows(
        &self,
        name: &str,
        offsets: &[usize],
        columns: &[u32],
        entries: usize,
        nodes: usize,
    ) -> Result<(), DataError> {
        let rises = offsets.par_windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= entries);
        if offsets.first() != Some(&0) || offsets.last() != Some(&entries) || !rises {
            return Err(self.wrong(format!("its section {name} does not rise from 0 to {entries}")));
        }
        let good = offsets.par_windows(2).with_min_len(1 << 12).all(|row| {
            let row = &columns[row[0]..row[1]];
            let rises = row.windows(2).all(|pair| pair[0] & COLUMN < pair[1] & COLUMN);
            rises && row.last().is_none_or(|last| ((last & COLUMN) as usize) < nodes)
        });
        match good {
            true => Ok(()),
            false => Err(self
                .wrong(format!("the entries of {name} do not rise, or name nodes beyond {nodes}"))),
        }
    }

    fn names(&self, nodes: usize) -> Result<Option<NodeNames>, DataError> {
        if self.header.section("numbers").is_some() {
            let numbers = self.slab::<u64>("numbers", nodes as u64)?;
            return Ok(Some(NodeNames::Numbers(numbers.into_vec())));
        }
        let Some(section) = self.header.section("words") else { return Ok(None) };
        let words = split_names(&self.slab::<u8>("words", section.bytes)?);
        let words = words.filter(|words| words.len() == nodes);
        let words = words.ok_or_else(|| self.wrong("its names are not those of its nodes"))?;
        Ok(Some(NodeNames::Words(words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::{PackConfig, pack};

    /// Whoever can write a file can write its checksums: what the product relies on is looked at all the same.
    #[test]
    fn entries_beyond_the_nodes_are_refused_whatever_the_checksums() {
        let folder = tempfile::tempdir().unwrap();
        let (source, path) = (folder.path().join("e.csv"), folder.path().join("g.magnon"));
        std::fs::write(&source, "0,1,2.5\n1,2,3\n2,0,1\n").unwrap();
        pack(&source, &path, &PackConfig::default(), &()).unwrap();
        assert!(open(&path).is_ok());
        let whole = std::fs::read(&path).unwrap();
        let harms: [(&str, usize, &[u8], &str); 6] = [
            ("columns", 4, &7u32.to_le_bytes(), "beyond 3"),
            ("columns", 0, &2u32.to_le_bytes(), "do not rise"),
            ("offsets", 8, &99u64.to_le_bytes(), "does not rise"),
            ("out_offsets", 24, &2u64.to_le_bytes(), "does not rise"),
            ("targets", 0, &u32::MAX.to_le_bytes(), "beyond 3"),
            ("weights", 0, &f32::NAN.to_le_bytes(), "not finite"),
        ];
        for (name, at, bytes, word) in harms {
            let mut file = whole.clone();
            let mut header = Header::decode(&file[..4096], "f").unwrap();
            let section = header.sections.iter_mut().find(|section| section.name == name).unwrap();
            let start = section.start as usize;
            file[start + at..][..bytes.len()].copy_from_slice(bytes);
            section.crc32 = crc32fast::hash(&file[start..][..section.bytes as usize]);
            let page = header.encode(&path).unwrap();
            file[..page.len()].copy_from_slice(&page);
            std::fs::write(&path, &file).unwrap();
            let error = open(&path).unwrap_err().to_string();
            assert!(error.contains(word), "{name}: {error}");
        }
        let mut header = Header::decode(&whole[..4096], "f").unwrap();
        header.nodes = u64::MAX;
        let page = header.encode(&path).unwrap();
        std::fs::write(&path, [&page, &whole[4096..]].concat()).unwrap();
        assert!(open(&path).unwrap_err().to_string().contains("at most 2^30"));
    }
}
