//! The first stage: the text becomes pairs of ids in a file.

use super::PackConfig;
use super::ids::{Ranks, Seen, Sorted};
use super::limits::{check_nodes, over_budget};
use super::spill::{Pieces, Spill, Written};
use super::state::{Ids, ScanState, Work};
use crate::read::edge_stream::{EdgeBlock, EdgeStream, Numbering, Step};
use crate::weights::too_large;
use crate::{DataError, LoadConfig, NodeNames, WeightTransform, detect, load};
use bytemuck::Pod;
use magnon_core::progress::Progress;
use std::path::Path;

/// Text between two notes of how far it is read.
const NOTED: u64 = 1 << 30;
/// Pairs that are looked at at once.
pub(super) const PIECE: usize = 1 << 16;

/// How ids become the numbers of nodes.
pub(super) enum Numbers {
    /// By rank among ids of 32 bits.
    Ranks(Ranks),
    /// By place in a list of all.
    Sorted(Vec<u64>),
    /// They are the numbers.
    Same,
}

/// What the first stage gives.
pub(super) struct Scanned {
    pub file: String,
    pub numbers: Numbers,
    pub nodes: u64,
    /// Whether every weight is divided by this.
    pub scale: Option<f64>,
    /// Whether the nodes have names other than 0, 1, 2….
    pub named: bool,
}

/// Reads the text, or what of it is not read yet.
pub(super) fn run(
    work: &mut Work,
    source: &Path,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<Scanned, DataError> {
    let Some((store, name)) = detect::edge_list(source)? else {
        return whole(work, source, &config.load);
    };
    let file = store.label(&name);
    // Blocks of text, and what is found in them, take a small part of the budget.
    let size = (config.memory / 64).clamp(1 << 16, 32 << 20) as usize;
    loop {
        let Some(mut stream) = EdgeStream::open(&store, &name, &config.load, size)? else {
            let reason = magnon_core::graph::GraphError::Empty;
            return Err(DataError::Graph { file, reason });
        };
        let state = &mut work.state.scan;
        if !stream.is_numeric() {
            state.ids = Ids::Names;
        }
        state.weighted = stream.is_weighted();
        let mut reading = Reading::open(work, &file, config)?;
        if reading.work.state.scan.text > 0 {
            let (text, lines) = (reading.work.state.scan.text, reading.work.state.scan.lines);
            stream.skip_to(text, lines)?;
        } else {
            reading.work.state.scan.remarks = stream.remarks();
        }
        let next = match (reading.work.state.scan.done, reading.work.state.scan.ids) {
            (true, _) => Step::End,
            (_, Ids::Narrow) => {
                reading.follow(progress, &mut stream, EdgeStream::numbers::<u32>)?
            }
            (_, Ids::Wide) => reading.follow(progress, &mut stream, EdgeStream::numbers::<u64>)?,
            (_, Ids::Names | Ids::Nodes) => reading.follow_names(progress, &mut stream)?,
        };
        let begun = |ids| ScanState { ids, ..ScanState::default() };
        match next {
            // Ids are larger than they seemed, or names: the text is read again from its start.
            Step::Wide => work.state.scan = begun(Ids::Wide),
            Step::Name => work.state.scan = begun(Ids::Names),
            Step::End | Step::Edges(()) => return reading.settle(),
        }
    }
}

/// Takes a graph of another format, which is read whole.
fn whole(work: &mut Work, source: &Path, config: &LoadConfig) -> Result<Scanned, DataError> {
    let file = source.display().to_string();
    // Directions are turned, weights changed and zeros left out here; the later stages find nothing to do.
    let dataset = load(source, config)?;
    let graph = &dataset.graph;
    let named = dataset.node_names.is_some();
    if !work.state.scan.done {
        let open = |name| Spill::open(work.root(), Written::new(name));
        let (mut pairs, mut weights) = (open("pairs")?, open("weights")?);
        for u in 0..graph.nodes() {
            for &v in graph.targets(u) {
                pairs.push(&[[u as u32, v]])?;
            }
            weights.push(graph.weights(u).unwrap_or_default())?;
        }
        let mut names = open("names")?;
        match &dataset.node_names {
            Some(NodeNames::Numbers(numbers)) => names.push(numbers)?,
            Some(NodeNames::Words(words)) => {
                push_names(&mut names, words.iter().map(String::as_str))?
            }
            None => {}
        }
        for spill in [&mut pairs, &mut weights, &mut names] {
            work.note(spill.sync()?);
        }
        let mut remarks = dataset.remarks.clone();
        remarks.push(
            "this format is read whole; edge lists as text may be larger than memory".to_owned(),
        );
        work.state.scan = ScanState {
            ids: match dataset.node_names {
                Some(NodeNames::Words(_)) => Ids::Names,
                _ => Ids::Nodes,
            },
            edges: graph.edges() as u64,
            names: names.len(),
            weighted: graph.is_weighted(),
            nodes: graph.nodes() as u64,
            done: true,
            remarks,
            ..ScanState::default()
        };
        work.save()?;
    }
    check_nodes(&file, work.state.scan.nodes)?;
    let nodes = work.state.scan.nodes;
    Ok(Scanned { file, numbers: Numbers::Same, nodes, scale: None, named })
}

/// Appends names, each with its length before it.
fn push_names<'a>(
    spill: &mut Spill,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), DataError> {
    for name in names {
        spill.push(&(name.len() as u32).to_le_bytes())?;
        spill.push(name.as_bytes())?;
    }
    Ok(())
}

/// The text under way into files.
struct Reading<'a> {
    work: &'a mut Work,
    file: String,
    config: &'a PackConfig,
    pairs: Spill,
    weights: Spill,
    names: Spill,
    seen: Seen,
    sorted: Sorted,
    numbering: Numbering,
}

impl<'a> Reading<'a> {
    /// Opens the files, and takes note again of the ids that are in them.
    fn open(work: &'a mut Work, file: &str, config: &'a PackConfig) -> Result<Self, DataError> {
        let state = &work.state.scan;
        let begun = state.edges > 0;
        let open = |name| {
            let new = Written::new(name);
            Spill::open(work.root(), if begun { work.written(new) } else { new })
        };
        let mut reading = Self {
            pairs: open("pairs")?,
            weights: open("weights")?,
            names: open("names")?,
            seen: Seen::default(),
            sorted: Sorted::default(),
            numbering: Numbering::default(),
            file: file.to_owned(),
            work,
            config,
        };
        reading.remember()?;
        Ok(reading)
    }

    fn remember(&mut self) -> Result<(), DataError> {
        let state = &self.work.state.scan;
        let (path, budget) = (self.work.path("pairs"), self.config.memory);
        match state.ids {
            Ids::Narrow => {
                let mut pieces = Pieces::<[u32; 2]>::open(&path, self.pairs.len(), PIECE)?;
                while let Some(pairs) = pieces.next()? {
                    self.seen.mark(pairs, &self.file, budget)?;
                }
            }
            Ids::Wide => {
                let mut pieces = Pieces::<[u64; 2]>::open(&path, self.pairs.len(), PIECE)?;
                while let Some(pairs) = pieces.next()? {
                    self.sorted.mark(pairs, &self.file, budget)?;
                }
            }
            Ids::Names | Ids::Nodes => {
                for name in super::finish::read_names(&self.work.path("names"), state.names)? {
                    self.numbering.number(name, &self.file)?;
                }
            }
        }
        Ok(())
    }

    /// Reads block after block of numbers.
    fn follow<I: Marked>(
        &mut self,
        progress: &dyn Progress,
        stream: &mut EdgeStream,
        read: fn(&mut EdgeStream) -> Result<Step<EdgeBlock<I>>, DataError>,
    ) -> Result<Step<()>, DataError> {
        loop {
            let mut block = match read(stream)? {
                Step::Edges(block) => block,
                Step::End => return Ok(Step::End),
                Step::Wide if size_of::<I>() == 4 => return Ok(Step::Wide),
                Step::Wide | Step::Name => return Ok(Step::Name),
            };
            I::mark(self, &block.pairs)?;
            self.keep(&mut block, stream, progress)?;
        }
    }

    /// Reads block after block of names.
    fn follow_names(
        &mut self,
        progress: &dyn Progress,
        stream: &mut EdgeStream,
    ) -> Result<Step<()>, DataError> {
        loop {
            let known = self.numbering.len();
            let mut remarks = std::mem::take(&mut self.work.state.scan.remarks);
            let step = stream.names(&mut self.numbering, &mut remarks);
            self.work.state.scan.remarks = remarks;
            let Step::Edges(mut block) = step? else { return Ok(Step::End) };
            push_names(&mut self.names, self.numbering.names_from(known))?;
            // A name, its place in two lists, and what the table of names takes for it.
            let bytes = 2 * self.names.len() + 96 * self.numbering.len() as u64;
            if bytes > self.config.memory / 2 {
                let what = format!("{} names of nodes", self.numbering.len());
                return Err(over_budget(&self.file, &what, 2 * bytes, self.config.memory));
            }
            self.keep(&mut block, stream, progress)?;
        }
    }

    /// Writes the edges of a block, and notes from time to time how far that is.
    fn keep<I: Pod>(
        &mut self,
        block: &mut EdgeBlock<I>,
        stream: &EdgeStream,
        progress: &dyn Progress,
    ) -> Result<(), DataError> {
        let state = &mut self.work.state.scan;
        if self.config.load.weight_transform == WeightTransform::Log {
            block.weights.iter_mut().for_each(|w| *w = w.abs().ln_1p().copysign(*w));
        }
        for (edge, number) in std::mem::take(&mut block.beyond) {
            let weight = match self.config.load.weight_transform {
                WeightTransform::Log => number.abs().ln_1p().copysign(number) as f32,
                WeightTransform::None | WeightTransform::Scale => number as f32,
            };
            if !weight.is_finite() {
                // Edges are written as they come, before the mean is known.
                let hint = "--weight-transform log makes it smaller";
                return Err(DataError::format(&self.file, too_large(number, "an edge", hint)));
            }
            if let Some(place) = block.weights.get_mut(edge) {
                *place = weight;
            }
        }
        state.weight_sum =
            block.weights.iter().fold(state.weight_sum, |sum, w| sum + f64::from(w.abs()));
        state.zeros += block.weights.iter().filter(|&&w| w == 0.0).count() as u64;
        state.rounded |= block.rounded;
        state.edges += block.pairs.len() as u64;
        state.names = self.names.len();
        self.pairs.push(&block.pairs)?;
        self.weights.push(&block.weights)?;
        let before = state.text;
        (state.text, state.lines) = (stream.at, stream.lines);
        if before / NOTED != state.text / NOTED {
            self.note()?;
        }
        match progress.advance(stream.at as usize, stream.total.unwrap_or(0) as usize, "read") {
            true => Ok(()),
            false => {
                self.note()?;
                Err(stopped(&self.file))
            }
        }
    }

    fn note(&mut self) -> Result<(), DataError> {
        for spill in [&mut self.pairs, &mut self.weights, &mut self.names] {
            self.work.note(spill.sync()?);
        }
        self.work.save()
    }

    /// Numbers the nodes when all text is read.
    fn settle(mut self) -> Result<Scanned, DataError> {
        if !self.work.state.scan.done {
            self.work.state.scan.done = true;
            self.note()?;
        }
        let state = &self.work.state.scan;
        let (ids, edges) = (state.ids, state.edges.max(1));
        let mean = state.weight_sum / edges as f64;
        let scales = self.config.load.weight_transform == WeightTransform::Scale && mean > 0.0;
        let scale = (scales && state.weighted).then_some(mean);
        let (numbers, mut nodes, mut named) = match ids {
            Ids::Narrow => {
                let ranks = self.seen.number();
                let (count, named) = (ranks.count, !ranks.full);
                (Numbers::Ranks(ranks), count, named)
            }
            Ids::Wide => {
                let ids = self.sorted.number();
                let count = ids.len() as u64;
                (Numbers::Sorted(ids), count, true)
            }
            Ids::Names | Ids::Nodes => (Numbers::Same, self.numbering.len() as u64, true),
        };
        let mut numbers = numbers;
        if let Some(given) = self.config.load.nodes {
            let top = match &numbers {
                Numbers::Ranks(ranks) => ranks.ids().last().unwrap_or(0),
                Numbers::Sorted(ids) => ids.last().copied().unwrap_or(0),
                Numbers::Same => nodes.saturating_sub(1),
            };
            let words = ids == Ids::Names;
            if top >= given as u64 || (words && nodes != given as u64) {
                let problem = match words {
                    true => format!("the graph has {nodes} named nodes, not {given}"),
                    false => format!("node {top} is not below the number of nodes {given}"),
                };
                return Err(DataError::format(self.file, problem));
            }
            if !words {
                (numbers, named) = (Numbers::Same, false);
            }
            nodes = given as u64;
        }
        check_nodes(&self.file, nodes)?;
        if nodes == 0 {
            let reason = magnon_core::graph::GraphError::Empty;
            return Err(DataError::Graph { file: self.file, reason });
        }
        Ok(Scanned { file: self.file, numbers, nodes, scale, named })
    }
}

/// Packing was stopped; what was read stays.
pub(super) fn stopped(file: &str) -> DataError {
    DataError::format(file, "stopped; the same command goes on from here")
}

/// Ids that are noted as they are read.
trait Marked: Pod {
    fn mark(reading: &mut Reading, pairs: &[[Self; 2]]) -> Result<(), DataError>;
}

impl Marked for u32 {
    fn mark(reading: &mut Reading, pairs: &[[Self; 2]]) -> Result<(), DataError> {
        reading.seen.mark(pairs, &reading.file, reading.config.memory)
    }
}

impl Marked for u64 {
    fn mark(reading: &mut Reading, pairs: &[[Self; 2]]) -> Result<(), DataError> {
        reading.sorted.mark(pairs, &reading.file, reading.config.memory)
    }
}
