//! `Table`: filtered channels of all nodes, the numbers of a node side by side, so that batches can take some of them.
//!
//! A table that memory has no room for lies in a file without a name, in the system's folder for temporary files: it
//! goes with the process, whatever ends it.

use super::channel::Channel;
use super::filtered::{ChannelBlock, filter_channels};
use crate::model::ModelError;
use magnon_core::compute::{Field, MapSource, Shape};
use magnon_core::filter::FilterError;
use magnon_core::matrix::Features;
use magnon_core::memory::try_zeroed;
use magnon_core::operator::Pattern;
use magnon_core::progress::{Part, Progress};
use magnon_data::disk;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

/// Filtered channels of all nodes.
pub(super) struct Table {
    nodes: usize,
    columns: usize,
    /// Where each channel stands in a row, and its field.
    places: Vec<(usize, Field)>,
    /// Numbers of a row.
    width: usize,
    store: Store,
}

enum Store {
    Memory(Vec<f32>),
    File(File),
}

/// Some columns of a channel as they were filtered, which wait in a file to be put into rows.
struct Piece {
    /// Where they stand in a row.
    place: usize,
    width: usize,
    /// The first byte in the file.
    start: u64,
}

/// Bytes that are put into rows at a time.
const JOINED: usize = 16 << 20;
/// Columns that are filtered at a time at least: those of a tile.
const TILE: usize = 8;

impl Table {
    /// Filters features into channels, which have these fields. Where all of them need more than `room` bytes, they
    /// go to a file, and no more columns are filtered at a time than need so much; a tile of eight is the least.
    pub fn new(
        pattern: &Arc<Pattern>,
        features: &Features,
        channels: &[(Channel, Field)],
        room: usize,
        progress: &dyn Progress,
    ) -> Result<Self, ModelError> {
        let (nodes, columns) = (features.rows(), features.cols());
        let mut width = 0;
        let place = |(_, field): &(Channel, Field)| {
            width += columns * field.parts();
            (width - columns * field.parts(), *field)
        };
        let places = channels.iter().map(place).collect();
        let names: Vec<Channel> = channels.iter().map(|(channel, _)| channel.clone()).collect();
        let bytes = nodes.saturating_mul(width).saturating_mul(size_of::<f32>());
        let mut table = Self { nodes, columns, places, width, store: Store::Memory(Vec::new()) };
        table.store = match bytes <= room {
            true => Store::Memory(table.in_memory(pattern, features, &names, progress)?),
            false => {
                let many = columns_within(nodes, columns, &names, room);
                let file = disk::nameless().map_err(|reason| table.failed(reason))?;
                let pieces = table.filter(pattern, features, &names, many, &file, progress)?;
                let joined = table.join(&file, &pieces);
                Store::File(joined.map_err(|reason| table.failed(reason))?)
            }
        };
        Ok(table)
    }

    fn failed(&self, reason: io::Error) -> ModelError {
        // Pieces and rows are there at the same time.
        let bytes = 2 * (self.nodes * self.width * size_of::<f32>()) as u64;
        ModelError::Disk { folder: std::env::temp_dir(), bytes, reason }
    }

    /// The places of a channel, which may be named more than once.
    fn places<'a>(
        &'a self,
        names: &'a [Channel],
        channel: &'a Channel,
    ) -> impl Iterator<Item = (usize, Field)> + 'a {
        let named = names.iter().zip(&self.places).filter(move |(name, _)| *name == channel);
        named.map(|(_, &place)| place)
    }

    fn in_memory(
        &self,
        pattern: &Arc<Pattern>,
        features: &Features,
        names: &[Channel],
        progress: &dyn Progress,
    ) -> Result<Vec<f32>, ModelError> {
        let (nodes, width) = (self.nodes, self.width);
        let bytes = nodes * width * size_of::<f32>();
        let refused = FilterError::OutOfMemory { rows: nodes, cols: width, bytes };
        let mut numbers = try_zeroed::<f32>(nodes * width).ok_or(refused)?;
        filter_channels::<ModelError>(
            pattern,
            features,
            names,
            progress,
            &mut |channel, block| {
                for (place, _) in self.places(names, channel) {
                    with_numbers(block, |cells, across| {
                        put(cells, across, &mut numbers, width, place)
                    });
                }
                Ok(())
            },
        )?;
        Ok(numbers)
    }

    /// Filters `many` columns at a time, and writes what comes of them one piece after the other.
    fn filter(
        &self,
        pattern: &Arc<Pattern>,
        features: &Features,
        names: &[Channel],
        many: usize,
        file: &File,
        progress: &dyn Progress,
    ) -> Result<Vec<Piece>, ModelError> {
        let (mut pieces, mut start, mut file) = (Vec::new(), 0, disk::Written(file));
        let blocks = self.columns.div_ceil(many);
        for (block, first) in (0..self.columns).step_by(many).enumerate() {
            let span = first..(first + many).min(self.columns);
            let part = features.columns(span);
            let of_part = Part { whole: progress, part: block, parts: blocks };
            filter_channels::<ModelError>(
                pattern,
                &part,
                names,
                &of_part,
                &mut |channel, cells| {
                    let written = with_numbers(cells, |cells, across| {
                        for (place, field) in self.places(names, channel) {
                            let place = place + first * field.parts();
                            pieces.push(Piece { place, width: across, start });
                        }
                        start += size_of_val(cells) as u64;
                        file.write_all(bytemuck::cast_slice(cells))
                    });
                    written.map_err(|reason| self.failed(reason))
                },
            )?;
        }
        Ok(pieces)
    }

    /// Puts the pieces side by side, into another file.
    fn join(&self, from: &File, pieces: &[Piece]) -> io::Result<File> {
        let joined = disk::nameless()?;
        let mut to = disk::Written(&joined);
        let bytes = self.width.max(1) * size_of::<f32>();
        let many = (JOINED / bytes).clamp(1, self.nodes.max(1));
        let mut rows = vec![0.0; many * self.width];
        let mut cells = Vec::new();
        for first in (0..self.nodes).step_by(many) {
            let count = many.min(self.nodes - first);
            let rows = &mut rows[..count * self.width];
            for Piece { place, width, start } in pieces {
                cells.resize(count * width, 0.0f32);
                let at = start + (first * width * size_of::<f32>()) as u64;
                disk::read_at(from, bytemuck::cast_slice_mut(&mut cells), at)?;
                put(&cells, *width, rows, self.width, *place);
            }
            to.write_all(bytemuck::cast_slice(rows))?;
        }
        Ok(joined)
    }

    /// The rows of some nodes, all channels of a node side by side.
    pub fn rows(&self, nodes: &[u32]) -> Result<Vec<f32>, ModelError> {
        let mut rows = vec![0.0; nodes.len() * self.width];
        let mut done = 0;
        while done < nodes.len() {
            // Nodes that follow each other are read at once.
            let first = nodes[done] as usize;
            let follow = nodes[done..].iter().zip(first..).take_while(|(u, v)| **u as usize == *v);
            let count = follow.count();
            let part = &mut rows[done * self.width..(done + count) * self.width];
            let start = first * self.width;
            match &self.store {
                Store::Memory(numbers) => part.copy_from_slice(&numbers[start..][..part.len()]),
                Store::File(file) => {
                    let at = (start * size_of::<f32>()) as u64;
                    let read = disk::read_at(file, bytemuck::cast_slice_mut(part), at);
                    read.map_err(|reason| self.failed(reason))?;
                }
            }
            done += count;
        }
        Ok(rows)
    }

    /// One channel of what [`rows`](Self::rows) gave.
    pub fn channel(&self, rows: &[f32], channel: usize) -> MapSource {
        let (place, field) = self.places[channel];
        let across = self.columns * field.parts();
        let each = rows.chunks_exact(self.width.max(1));
        let shape = Shape::new(each.len(), self.columns, field);
        let mut numbers = Vec::with_capacity(shape.len());
        for row in each {
            numbers.extend(row[place..place + across].iter().copied());
        }
        MapSource::Dense { shape, numbers }
    }

    /// Whether it lies in a file.
    #[cfg(test)]
    fn is_on_disk(&self) -> bool {
        matches!(self.store, Store::File(_))
    }
}

/// Calls `with` with the numbers of a block and how many a row of it has.
fn with_numbers<R>(block: ChannelBlock, with: impl FnOnce(&[f32], usize) -> R) -> R {
    match block {
        ChannelBlock::Sparse(block) => with(block.to_dense().as_slice(), block.cols()),
        ChannelBlock::Real(block) => with(block.as_slice(), block.cols()),
        ChannelBlock::Complex(block) => {
            with(bytemuck::cast_slice(block.as_slice()), 2 * block.cols())
        }
    }
}

/// Puts rows of `across` numbers into rows of `width`, from a place on.
fn put(cells: &[f32], across: usize, rows: &mut [f32], width: usize, place: usize) {
    let rows = rows.chunks_exact_mut(width.max(1));
    for (row, cells) in rows.zip(cells.chunks_exact(across.max(1))) {
        row[place..place + across].copy_from_slice(cells);
    }
}

/// How many columns can be filtered at a time within `room` bytes, as [`filter_channels`] needs them: whole tiles.
fn columns_within(nodes: usize, columns: usize, channels: &[Channel], room: usize) -> usize {
    let longest = channels.iter().map(|channel| match channel {
        Channel::Steps(word) => word.len(),
        _ => 2,
    });
    let powers = channels.iter().filter(|channel| matches!(channel, Channel::Filter { .. }));
    // The input, two real blocks for each step and two more, a complex one for each power, and the result.
    let column = 4 * (1 + 2 * longest.max().unwrap_or(0) + 2) + 8 * (powers.count() + 1);
    let fixed = 224; // tiles, factors and degrees
    let each = room / nodes.max(1);
    let most = each.saturating_sub(fixed) / column;
    (most / TILE * TILE).clamp(TILE, columns.max(TILE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnon_core::graph::GraphBuilder;
    use magnon_core::matrix::Matrix;
    use magnon_data::disk::faults::{Fault, NEVER, with};

    /// A file gives the same numbers as memory, of real and complex channels, for nodes in any order.
    #[test]
    fn a_table_on_disk_has_the_numbers_of_one_in_memory() {
        let edges = (0..60u32).map(|u| (u, (7 * u + 1) % 60)).filter(|(u, v)| u != v);
        let graph = GraphBuilder::new(60).edges(edges).build().unwrap().graph;
        let pattern = Arc::new(Pattern::new(&graph).unwrap());
        let numbers = (0..60 * 21).map(|i| ((i * 37) % 101) as f32 / 50.0 - 1.0).collect();
        let features = Features::Dense(Matrix::from_vec(60, 21, numbers).unwrap());
        let channels = [
            ("out", Field::Real),
            ("power(order=1,charge=1/8,self_loops=false,normalize=directed)", Field::Complex),
            ("linear-rank(order=3,charge=1/4)", Field::Complex),
            ("in.out", Field::Real),
            ("linear-rank(order=3)", Field::Real),
            ("out", Field::Real),
        ];
        let channels = channels.map(|(text, field)| (text.parse().unwrap(), field));
        let table = |room| Table::new(&pattern, &features, &channels, room, &()).unwrap();
        let [memory, file] = [usize::MAX, 0].map(table);
        assert!(!memory.is_on_disk() && file.is_on_disk());
        let nodes: Vec<u32> = (10..20).chain([59, 0, 3]).chain(30..60).collect();
        let [a, b] = [&memory, &file].map(|table| table.rows(&nodes).unwrap());
        assert_eq!(a, b);
        for (k, (_, field)) in channels.iter().enumerate() {
            let [MapSource::Dense { shape, numbers }, MapSource::Dense { numbers: other, .. }] =
                [(&memory, &a), (&file, &b)].map(|(table, rows)| table.channel(rows, k))
            else {
                panic!("a channel is dense")
            };
            assert_eq!((shape.rows(), shape.cols(), shape.field()), (43, 21, *field));
            assert!(numbers == other && numbers.iter().any(|&x| x != 0.0));
        }
    }

    #[test]
    fn a_disk_that_fails_is_an_error() {
        let graph = GraphBuilder::new(3).edges([(0, 1), (1, 2)]).build().unwrap().graph;
        let pattern = Arc::new(Pattern::new(&graph).unwrap());
        let features = Features::Dense(Matrix::from_vec(3, 1, vec![1.0; 3]).unwrap());
        let channels = [("out".parse().unwrap(), Field::Real)];
        let make = || Table::new(&pattern, &features, &channels, 0, &()).map(drop);
        let (made, operations) = with(NEVER, Fault::Torn, make);
        made.unwrap();
        assert!(operations.len() >= 4, "two files, and writes to both: {operations:?}");
        for at in 0..operations.len() {
            let (made, _) = with(at, Fault::Error(io::ErrorKind::StorageFull), make);
            let error = made.unwrap_err().to_string();
            assert!(error.contains("TMPDIR") && error.contains("24 bytes"), "{error}");
        }
    }
}
