//! `Blocks`: filtered blocks of columns on the disk, each in a file with its number and checksum, until all are there
//! and are joined.

use super::precision::Precision;
use super::{BuiltOperator, FilteredFile};
use crate::data::write::{is_stream, write_own};
use crate::data::{DataError, FeatureFile};
use crate::disk::{self, Kind, TargetFile, Version, WorkFolder, is_numbered};
use crate::filter::{Filter, Propagated};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Bytes that are read at once.
const PIECE: usize = 4 << 20;

/// Behind the numbers of a block: its own number, and the checksum of all before.
const TRAILER: usize = 8;

static KIND: Kind = Kind { suffix: ".blocks", work: "filtering", is_ours };

/// Whether a file of the folder is one that filtering writes.
fn is_ours(name: &str) -> bool {
    name == "key" || is_numbered(name, "block-")
}

/// How columns are cut into blocks.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    /// Columns of a block; the last may have fewer.
    pub width: usize,
    pub cols: usize,
    pub nodes: usize,
    /// Bytes of a number.
    pub bytes: usize,
}

impl Shape {
    fn width(&self, block: usize) -> usize {
        self.width.min(self.cols - block * self.width)
    }
}

/// The blocks that are done.
pub(super) struct Blocks {
    pub folder: WorkFolder,
    shape: Shape,
}

impl Blocks {
    /// Opens the folder beside the output. Blocks of other work are removed.
    pub fn open(
        shape: Shape,
        built: &BuiltOperator,
        filter: &Filter,
        (features, file): (&FeatureFile, &FilteredFile),
    ) -> Result<Self, DataError> {
        let failed =
            |path: &Path, action, reason| DataError::Io { path: path.to_owned(), action, reason };
        let folder = match is_stream(&file.output) {
            true => WorkFolder::nameless(&KIND)?,
            false => {
                let target = TargetFile::of(&file.output);
                let target = target.map_err(|reason| failed(&file.output, "write", reason))?;
                WorkFolder::beside(&target.path, &KIND)?
            }
        };
        let meta = std::fs::metadata(features.path());
        let meta = meta.map_err(|reason| failed(features.path(), "read", reason))?;
        let key = format!(
            "{:?}",
            (
                env!("CARGO_PKG_VERSION"),
                built.operator.config(),
                built.operator.pattern().checksum(),
                filter,
                (features, Version::of(&meta), file.feature_norm),
                (shape.width, file.precision),
            )
        );
        // Numbers of a card are rounded otherwise.
        let key = match file.device.describe() {
            Ok(card) if !file.device.is_cpu() => format!("{key} on {card}"),
            _ => key,
        };
        let path = folder.path("key");
        if disk::read(&path).ok().as_deref() != Some(key.as_bytes()) {
            folder.empty()?;
            write_own(&path, |target| target.write_all(key.as_bytes()))?;
        }
        Ok(Self { folder, shape })
    }

    fn path(&self, block: usize) -> PathBuf {
        self.folder.path(&format!("block-{block}"))
    }

    /// Bytes of the numbers of a block.
    fn bytes(&self, block: usize) -> u64 {
        (self.shape.nodes * self.shape.width(block) * self.shape.bytes) as u64
    }

    /// Whether a block lies there as it was written.
    pub fn is_done(&self, block: usize) -> Result<bool, DataError> {
        let path = self.path(block);
        let check = || -> io::Result<bool> {
            let bytes = self.bytes(block);
            if disk::metadata(&path)?.is_none_or(|meta| meta.len() != bytes + TRAILER as u64) {
                return Ok(false);
            }
            let mut summed = Summed { target: io::sink(), sum: crc32fast::Hasher::new() };
            let mut file = disk::open(&path)?;
            io::copy(&mut (&mut file).take(bytes), &mut summed)?;
            let mut trailer = [0; TRAILER];
            file.read_exact(&mut trailer)?;
            Ok(trailer == summed.trailer(block))
        };
        check().map_err(|reason| DataError::Io { path: path.clone(), action: "read", reason })
    }

    /// Keeps a block.
    pub fn keep(
        &self,
        block: usize,
        result: &Propagated,
        precision: Precision,
    ) -> Result<(), DataError> {
        write_own(&self.path(block), |target| {
            let mut summed = Summed { target, sum: crc32fast::Hasher::new() };
            precision.put(result, &mut summed)?;
            let trailer = summed.trailer(block);
            summed.target.write_all(&trailer)
        })
    }

    /// Puts the blocks side by side.
    pub fn join(&self, target: &mut dyn Write) -> io::Result<()> {
        let Shape { width, cols, nodes, bytes } = self.shape;
        let open = |block: usize| disk::open(&self.path(block));
        let mut files = (0..cols.div_ceil(width)).map(open).collect::<io::Result<Vec<File>>>()?;
        let row = cols * bytes;
        let many = (PIECE / row.max(1)).clamp(1, nodes.max(1));
        let mut rows = vec![0u8; many * row];
        let mut part = vec![0u8; many * width * bytes];
        for first in (0..nodes).step_by(many) {
            let count = many.min(nodes - first);
            for (block, file) in files.iter_mut().enumerate() {
                let len = self.shape.width(block) * bytes;
                let part = &mut part[..count * len];
                file.read_exact(part)?;
                let places = rows.chunks_exact_mut(row);
                for (row, cells) in places.zip(part.chunks_exact(len)) {
                    row[block * width * bytes..][..len].copy_from_slice(cells);
                }
            }
            target.write_all(&rows[..count * row])?;
        }
        Ok(())
    }
}

/// Sums up what goes through it.
struct Summed<W> {
    target: W,
    sum: crc32fast::Hasher,
}

impl<W> Summed<W> {
    /// What stands behind a block of this number.
    fn trailer(&self, block: usize) -> [u8; TRAILER] {
        let number = (block as u32).to_le_bytes();
        let mut sum = self.sum.clone();
        sum.update(&number);
        let mut trailer = [0; TRAILER];
        trailer[..4].copy_from_slice(&number);
        trailer[4..].copy_from_slice(&sum.finalize().to_le_bytes());
        trailer
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.target.write(bytes)?;
        self.sum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}
