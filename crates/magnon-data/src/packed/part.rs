//! Mapping a part of a graph that was cut.

use super::cut::rows_of;
use super::format::PartOf;
use super::limits;
use super::open::{Sections, map};
use crate::DataError;
use magnon_core::compute::pattern::PADDING;
use magnon_core::memory::Slab;
use magnon_core::operator::{MagneticOperator, OperatorConfig, OperatorError};
use std::ops::Range;
use std::path::Path;

/// Rows of a graph, and the nodes outside that they speak of. Local numbers are those in the order of the whole graph.
#[derive(Clone, Debug)]
pub struct GraphPart {
    of: PartOf,
    nodes: Slab<u64>,
    own: Range<usize>,
    offsets: Slab<usize>,
    columns: Slab<u32>,
    weights: Option<Slab<[f32; 2]>>,
    directed: bool,
}

impl GraphPart {
    /// Maps a part that [`cut`](super::cut()) wrote, and checks all of it.
    pub fn open(path: &Path) -> Result<Self, DataError> {
        let label = path.display().to_string();
        let (map, header) = map(path, &label)?;
        let sections = Sections { map, header: &header, label: &label };
        let of = header.part.ok_or_else(|| sections.wrong("it is a whole graph, not a part"))?;
        limits::check_nodes(&label, of.nodes)?;
        if of.index >= of.parts || of.parts > of.nodes || header.nodes > of.nodes {
            return Err(sections.wrong("its header speaks of a part that cannot be"));
        }
        let padded = header.stored.saturating_add(PADDING as u64);
        let offsets = sections.slab::<usize>("offsets", header.nodes + 1)?;
        let columns = sections.slab::<u32>("columns", padded)?;
        let weights = sections.weights::<[f32; 2]>("weights", padded)?;
        let nodes = sections.slab::<u64>("nodes", header.nodes)?;
        let count = header.nodes as usize;
        sections.check_rows("offsets", &offsets, &columns, header.stored as usize, count)?;
        let rises = nodes.windows(2).all(|pair| pair[0] < pair[1]);
        let rows = rows_of(of.index, of.parts, of.nodes);
        let local = |node: u64| nodes.partition_point(|&known| known < node);
        let own = local(rows.start)..local(rows.end);
        let finite =
            |weights: &Slab<[f32; 2]>| weights.iter().flatten().all(|weight| weight.is_finite());
        let within = nodes.last().is_some_and(|&last| last < of.nodes);
        let whole = rises && within && own.len() as u64 == rows.end - rows.start;
        if !whole || !weights.as_ref().is_none_or(finite) {
            return Err(sections.wrong("its nodes or weights are not those of a part"));
        }
        Ok(Self { of, nodes, own, offsets, columns, weights, directed: header.directed })
    }

    /// The operator of the part: its own rows are those of the whole operator once
    /// [`with_halo`](MagneticOperator::with_halo) has told it the degrees outside; those of the halo are of no use. The
    /// charge is given: a part's own cycles mislead.
    pub fn operator(&self, config: &OperatorConfig) -> Result<MagneticOperator, OperatorError> {
        let rows = (self.offsets.clone(), self.columns.clone());
        MagneticOperator::of_part(rows, self.weights.clone(), self.directed, config)
    }

    /// Which part this is, counted from 0.
    pub fn index(&self) -> usize {
        self.of.index as usize
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.of.parts as usize
    }

    /// Nodes of the whole graph.
    pub fn whole(&self) -> usize {
        self.of.nodes as usize
    }

    /// Which nodes of the whole graph are here, ascending.
    pub fn nodes(&self) -> &[u64] {
        &self.nodes
    }

    /// Which of them are its own; the others are its halo.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// The rows of another part, as nodes of the whole graph.
    pub fn rows_of(&self, part: usize) -> Range<u64> {
        rows_of(part as u64, self.of.parts, self.of.nodes)
    }
}
