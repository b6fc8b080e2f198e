//! Readers of data sets, fed through `magnon::data::load` with the files of a fixture, changed.

use crate::fixtures::{Files, fixtures};
use crate::scratch::Scratch;
use crate::{Seeds, Test, bundle};
use magnon::data::{Dataset, Features, LoadConfig, load};
use magnon::graph::{Duplicates, SelfLoops};
use std::io::{Cursor, Read, Write};

/// One part of an input: a file, or a member of an archive of arrays.
struct Slot {
    file: String,
    member: Option<String>,
    bytes: Vec<u8>,
}

/// Which files a data set is made of.
struct Layout {
    /// What is loaded, within the folder.
    data: &'static str,
    slots: Vec<Slot>,
}

impl Layout {
    /// The layout of a fixture; `unpack` opens archives of arrays and packed texts.
    fn of(data: &'static str, files: Files, unpack: bool) -> Self {
        let mut slots = Vec::new();
        for (name, bytes) in files {
            let slot = |file: &str, bytes| Slot { file: file.to_owned(), member: None, bytes };
            match (unpack, name.strip_suffix(".gz")) {
                (true, Some(plain)) => slots.push(slot(plain, inflated(&bytes))),
                (true, None) if name.ends_with(".npz") => slots.extend(members(name, &bytes)),
                _ => slots.push(slot(name, bytes)),
            }
        }
        Self { data, slots }
    }

    /// Writes the files with these parts of an input.
    fn write(&self, scratch: &Scratch, parts: &[Option<&[u8]>]) {
        let mut parts = parts.iter().copied().chain(std::iter::repeat(None));
        for group in self.slots.chunk_by(|a, b| a.file == b.file) {
            let parts: Vec<_> = group.iter().zip(parts.by_ref()).collect();
            match &parts[..] {
                [(slot, part)] if slot.member.is_none() => scratch.put(&slot.file, *part),
                _ => scratch.put(&group[0].file, Some(&packed(&parts))),
            }
        }
    }
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut plain).expect("a packed fixture");
    plain
}

fn members(file: &str, bytes: &[u8]) -> Vec<Slot> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).expect("an archive");
    let count = archive.len();
    let member = |at| {
        let mut member = archive.by_index(at).expect("a member");
        let name = member.name().expect("a name").into_owned();
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("a member");
        Slot { file: file.to_owned(), member: Some(name), bytes }
    };
    (0..count).map(member).collect()
}

fn packed(parts: &[(&Slot, Option<&[u8]>)]) -> Vec<u8> {
    let stored = zip::CompressionMethod::Stored;
    let options = zip::write::SimpleFileOptions::default().compression_method(stored);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (slot, bytes) in parts {
        if let (Some(name), Some(bytes)) = (&slot.member, bytes) {
            writer.start_file(name.as_str(), options).expect("memory");
            writer.write_all(bytes).expect("memory");
        }
    }
    writer.finish().expect("memory").into_inner()
}

/// What names a fixture in the table: its first file.
fn first(files: &Files) -> &'static str {
    files[0].0
}

fn layouts(named: &[&str], unpack: bool) -> Vec<Layout> {
    let fixtures = fixtures().into_iter().filter(|(_, files)| named.contains(&first(files)));
    fixtures.map(|(data, files)| Layout::of(data, files, unpack)).collect()
}

/// Refuses a fixture that no target takes.
pub fn refuse_strays(named: &[&str]) {
    for (_, files) in fixtures() {
        let first = first(&files);
        assert!(named.contains(&first), "add a line with {first} to the table of fuzz targets");
    }
}

/// An input is the number of a fixture, a byte of options, and its files.
pub fn seeds(named: &[&str], unpack: bool) -> Seeds {
    let seed = |(which, layout): (usize, &Layout)| {
        let parts: Vec<&[u8]> = layout.slots.iter().map(|slot| &slot.bytes[..]).collect();
        [vec![which as u8, 0], bundle::join(&parts)].concat()
    };
    layouts(named, unpack).iter().enumerate().map(seed).collect()
}

pub fn test(named: &[&str], unpack: bool) -> Test {
    let layouts = layouts(named, unpack);
    // Each in its own folder, so that none sees the files of another.
    let layouts: Vec<_> = layouts.into_iter().map(|layout| (layout, Scratch::new())).collect();
    Box::new(move |input| {
        let [which, options, rest @ ..] = input else { return };
        let (layout, scratch) = &layouts[usize::from(*which) % layouts.len()];
        layout.write(scratch, &bundle::split(rest));
        if let Ok(dataset) = load(&scratch.path().join(layout.data), &config(*options)) {
            check(&dataset);
        }
    })
}

fn config(options: u8) -> LoadConfig {
    let bit = |at: u8| options >> at & 1 == 1;
    LoadConfig {
        reverse: bit(0),
        duplicates: if bit(1) { Duplicates::Max } else { Duplicates::Sum },
        self_loops: if bit(2) { SelfLoops::Keep } else { SelfLoops::Drop },
        nodes: bit(3).then_some(usize::from(options >> 4) * 100),
        ..LoadConfig::default()
    }
}

/// Nodes beyond these have no edges in files as small as ours, and would only take time.
const LOOKED_AT: usize = 10_000;

/// What holds for every data set that was read.
pub fn check(dataset: &Dataset) {
    let nodes = dataset.graph.nodes();
    assert!(nodes > 0);
    for node in 0..nodes.min(LOOKED_AT) {
        let targets = dataset.graph.targets(node);
        assert!(targets.is_sorted_by(|a, b| a < b), "targets ascend, each once");
        assert!(targets.iter().all(|&target| (target as usize) < nodes));
        let weights = dataset.graph.weights(node).unwrap_or_default();
        assert!(weights.iter().all(|weight| weight.is_finite()));
    }
    if let Some(features) = &dataset.features {
        assert_eq!(features.rows(), nodes);
        assert!(features.values().iter().all(|value| value.is_finite()));
        if let Features::Sparse(matrix) = features {
            assert!(matrix.columns().iter().all(|&column| (column as usize) < matrix.cols()));
        }
    }
    if let Some(labels) = &dataset.labels {
        assert_eq!(labels.classes.len(), nodes);
        assert_eq!(labels.sizes().len(), labels.names.len());
    }
    for split in &dataset.splits {
        let parts = [&split.train, &split.val, &split.test];
        assert!(parts.into_iter().flatten().all(|&node| (node as usize) < nodes));
    }
    if let Some(names) = &dataset.node_names {
        assert_eq!(names.len(), nodes);
    }
}
