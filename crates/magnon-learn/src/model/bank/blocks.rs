//! What the channels of some nodes need in a step.

use super::compute::{Computed, From, Product};
use super::map_chains::MapChains;
use crate::model::ModelError;
use crate::model::rows::{dense_rows, feature_rows, filter_rows};
use crate::nn::{Trace, Var};
use magnon_core::compute::{Engine, Map, MapSource};
use magnon_core::matrix::SparseMatrix;
use magnon_core::operator::{Along, EdgeMatrix, Neighbourhood};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The channels of some nodes.
pub(super) enum Blocks {
    /// One by one.
    Apart(Vec<Block>),
    /// All at once, as chains, of which a part has the rows of these nodes.
    Together { chains: Arc<MapChains>, part: usize },
}

/// One channel C of some nodes, as maps that are applied to its weights from the last to the first.
pub(super) struct Block {
    pub links: Vec<Link>,
    /// Whether the first map holds numbers of these nodes, and the others are the same for all.
    pub by_rows: bool,
}

/// A map, of which the first rows are taken.
pub(super) struct Link {
    pub map: Arc<Map>,
    pub rows: usize,
}

// By hand: a derived one would ask for an engine that can be cloned.
impl Clone for Link {
    fn clone(&self) -> Self {
        Self { map: self.map.clone(), rows: self.rows }
    }
}

impl Block {
    fn rows(map: Arc<Map>, rows: usize) -> Self {
        Self { links: vec![Link { map, rows }], by_rows: true }
    }

    /// C·W.
    pub fn times(&self, trace: &mut Trace, weight: Var) -> Var {
        let Some((first, rest)) = self.links.split_first() else { return weight };
        let step = |x: Var, link: &Link| trace.map_once(&link.map, x, link.rows);
        let product = rest.iter().rev().fold(weight, step);
        trace.map_head(&first.map, product, first.rows)
    }
}

impl Blocks {
    /// The rows of every channel; `None` where some are walked or filtered to in every step.
    pub fn maps(&self) -> Option<Vec<Arc<Map>>> {
        let Self::Apart(blocks) = self else { return None };
        let rows = |block: &Block| block.by_rows.then(|| block.links[0].map.clone());
        blocks.iter().map(rows).collect()
    }

    /// The same with other rows.
    pub fn with_maps(&self, maps: Vec<Arc<Map>>) -> Option<Self> {
        let other = |(block, map): (&Block, Arc<Map>)| {
            let mut links = block.links.clone();
            links.first_mut()?.map = map;
            block.by_rows.then_some(Block { links, by_rows: true })
        };
        let Self::Apart(blocks) = self else { return None };
        blocks.iter().zip(maps).map(other).collect::<Option<_>>().map(Self::Apart)
    }
}

/// What steps over the edges are made on, for some nodes.
struct WalkMaps {
    seen: Arc<Neighbourhood>,
    /// P and Pᵀ; none where nobody walks.
    steps: Vec<Arc<Map>>,
    /// Features of the nodes that are seen.
    features: Option<Arc<Map>>,
    /// The rows of weights of the nodes that are seen.
    selection: Option<Arc<Map>>,
}

impl WalkMaps {
    /// X·W or W of the nodes within some steps.
    fn start(&self, from: From, steps: usize) -> Link {
        let map = match from {
            From::Features => &self.features,
            From::Nodes => &self.selection,
        };
        let Some(map) = map else { unreachable!("what a channel starts from was prepared") };
        Link { map: map.clone(), rows: self.seen.size(steps) }
    }

    fn walk(&self, word: &[Along], from: From) -> Block {
        let step = |(k, along): (usize, &Along)| {
            let map = self.steps[usize::from(*along == Along::In)].clone();
            Link { map, rows: self.seen.size(k) }
        };
        let mut links: Vec<_> = word.iter().enumerate().map(step).collect();
        links.push(self.start(from, word.len()));
        Block { links, by_rows: false }
    }
}

impl Computed<'_> {
    /// What the channels of some nodes need in a step that is made once, or by an engine with lanes.
    pub fn blocks(&self, engine: &Engine, nodes: &[u32]) -> Result<Blocks, ModelError> {
        self.assemble(engine, nodes, None)
    }

    /// The blocks of all channels; those that walk are given, or go over the edges.
    pub fn assemble(
        &self,
        engine: &Engine,
        nodes: &[u32],
        walks: Option<Vec<Option<Block>>>,
    ) -> Result<Blocks, ModelError> {
        let prepare = |map| engine.prepare(map).map(Arc::new);
        let each = || nodes.iter().map(|&u| u as usize);
        let table = match &self.table {
            Some(table) => Some((table, table.rows(nodes)?)),
            None => None,
        };
        let walk_maps = self.walk_maps(engine, nodes, walks.is_none())?;
        let block = |product: &Product| -> Result<Block, ModelError> {
            let rows = match product {
                Product::Raw => feature_rows(&self.features, each()),
                Product::Rows(word) => self.adjacency_rows(word, nodes),
                Product::Table(at) => match &table {
                    Some((table, rows)) => table.channel(rows, *at),
                    None => unreachable!("a table was made where a channel is in it"),
                },
                Product::Filtered(filtered) => dense_rows(filtered.as_ref(), each(), false),
                Product::Factored { operator, filter } => {
                    let mut block =
                        Block::rows(prepare(filter_rows(operator, filter, nodes)?)?, nodes.len());
                    let Some(whole) = &self.whole else {
                        unreachable!("features were prepared for factored channels")
                    };
                    block.links.push(Link { map: whole.clone(), rows: self.nodes() });
                    return Ok(block);
                }
                Product::Spread { operator, filter } => {
                    let series = filter.series().clone();
                    let steps = series.steps().unwrap_or(0);
                    let near = Arc::new(Neighbourhood::new(&self.pattern, nodes, steps));
                    let edges = EdgeMatrix::operator(operator, &near);
                    let map = prepare(MapSource::Filter { edges, series })?;
                    let start = walk_maps.start(From::Features, steps);
                    let links = vec![Link { map, rows: nodes.len() }, start];
                    return Ok(Block { links, by_rows: false });
                }
                Product::Walk { word, from } => return Ok(walk_maps.walk(word, *from)),
            };
            Ok(Block::rows(prepare(rows)?, nodes.len()))
        };
        let mut walks = walks.into_iter().flatten();
        let mut blocks = Vec::with_capacity(self.channels.len());
        for channel in &self.channels {
            blocks.push(match walks.next().flatten() {
                Some(walk) => walk,
                None => block(&channel.product)?,
            });
        }
        Ok(Blocks::Apart(blocks))
    }

    /// What walks from some nodes, where they go over the edges, and filters in every step are made on.
    fn walk_maps(
        &self,
        engine: &Engine,
        nodes: &[u32],
        walks: bool,
    ) -> Result<WalkMaps, ModelError> {
        let prepare = |map| engine.prepare(map).map(Arc::new);
        let starts = |product: &Product| match product {
            Product::Spread { filter, .. } => {
                Some((From::Features, filter.series().steps().unwrap_or(0)))
            }
            Product::Walk { word, from } if walks => Some((*from, word.len())),
            _ => None,
        };
        let starts: Vec<(From, usize)> =
            self.channels.iter().filter_map(|channel| starts(&channel.product)).collect();
        let [of_features, of_nodes] = [From::Features, From::Nodes]
            .map(|from| starts.iter().any(|&(start, _)| start == from));
        let longest = starts.iter().map(|&(_, steps)| steps).max().unwrap_or(0);
        let seen = Arc::new(Neighbourhood::new(&self.pattern, nodes, longest));
        let mut steps = Vec::new();
        if walks && self.channels.iter().any(|c| matches!(c.product, Product::Walk { .. })) {
            for map in self.steps.maps(&seen) {
                steps.push(prepare(map)?);
            }
        }
        let rows: Vec<usize> = seen.nodes().collect();
        let features = of_features
            .then(|| prepare(feature_rows(&self.features, rows.iter().copied())))
            .transpose()?;
        let selection = of_nodes.then(|| prepare(self.selection(&rows))).transpose()?;
        Ok(WalkMaps { seen, steps, features, selection })
    }

    /// The rows of some nodes of a matrix with a row for each.
    fn selection(&self, rows: &[usize]) -> MapSource {
        let units = rows.iter().enumerate().map(|(row, &node)| (row, node as u32, 1.0));
        let units = SparseMatrix::from_triplets(rows.len(), self.nodes(), units);
        let Ok(units) = units else { unreachable!("every node is one of the graph") };
        MapSource::Sparse(units)
    }

    /// The entries of a row of a word.
    fn word_row(&self, word: &[Along], u: usize) -> Vec<(usize, f64)> {
        let mut row = vec![(u, 1.0)];
        for &along in word {
            let mut next = BTreeMap::new();
            for (v, weight) in row {
                for (w, step) in self.step_row(along, v) {
                    *next.entry(w).or_insert(0.0) += weight * step;
                }
            }
            row = next.into_iter().collect();
        }
        row
    }

    /// Rows of a word, one column per node of the graph.
    fn adjacency_rows(&self, word: &[Along], nodes: &[u32]) -> MapSource {
        let entries = nodes.iter().enumerate().flat_map(|(row, &u)| {
            let entries = self.word_row(word, u as usize);
            entries.into_iter().map(move |(v, weight)| (row, v as u32, weight as f32))
        });
        let rows = SparseMatrix::from_triplets(nodes.len(), self.pattern.nodes(), entries);
        let Ok(rows) = rows else { unreachable!("every neighbour is a node of the graph") };
        MapSource::Sparse(rows)
    }
}
