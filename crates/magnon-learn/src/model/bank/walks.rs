//! Channels that walk over the graph in every step, made small beforehand.

use super::blocks::{Block, Blocks, Link};
use super::chain::{Chain, Source};
use super::compute::{Computed, ComputedChannel, From, Product, ROOM, stored};
use super::map_chains::{MapChain, MapChains};
use super::twins::Twins;
use crate::model::ModelError;
use crate::model::rows::feature_rows;
use magnon_core::compute::{Engine, Map, MapSource, PreciseRows};
use magnon_core::matrix::Features;
use magnon_core::operator::Along;
use std::sync::Arc;

/// Matrices that were handed to an engine, each once.
struct MapStore<'e> {
    engine: &'e Engine,
    known: Vec<(PreciseRows, Arc<Map>)>,
    /// Rows of dense features, by their nodes.
    features: Vec<(Vec<u32>, Arc<Map>)>,
}

impl MapStore<'_> {
    fn link(&mut self, matrix: PreciseRows) -> Result<Link, ModelError> {
        let rows = matrix.rows();
        let found = self.known.iter().find(|(known, _)| *known == matrix);
        let map = match found {
            Some((_, map)) => map.clone(),
            None => {
                let map = Arc::new(self.engine.prepare(MapSource::Precise(matrix.clone()))?);
                self.known.push((matrix, map.clone()));
                map
            }
        };
        Ok(Link { map, rows })
    }

    fn features(&mut self, x: &Features, nodes: &[u32]) -> Result<Link, ModelError> {
        let found = self.features.iter().find(|(known, _)| known == nodes);
        let map = match found {
            Some((_, map)) => map.clone(),
            None => {
                let rows = feature_rows(x, nodes.iter().map(|&u| u as usize));
                let map = Arc::new(self.engine.prepare(rows)?);
                self.features.push((nodes.to_vec(), map.clone()));
                map
            }
        };
        Ok(Link { map, rows: nodes.len() })
    }
}

/// The maps of a word.
struct Maps {
    /// Those that have the rows of each part.
    heads: Vec<Link>,
    /// What all parts share.
    tail: Vec<Link>,
}

impl Computed<'_> {
    /// What the channels of parts of the nodes need in steps that are made again and again: what can be computed beforehand
    /// is, and parts share what they have in common. `together` says whether all channels are wanted at once where they can be had so.
    pub fn repeated_blocks<const N: usize>(
        &self,
        engine: &Engine,
        parts: [&[u32]; N],
        together: bool,
    ) -> Result<[Blocks; N], ModelError> {
        let mut blocks: Vec<Blocks> = Vec::with_capacity(N);
        let chained = self.walks() && !engine.has_lanes() && self.chain_bytes() <= ROOM;
        let mut store = MapStore { engine, known: Vec::new(), features: Vec::new() };
        if let Some(chains) = self.all_chains(&mut store, &parts, chained && together)? {
            blocks.extend((0..N).map(|part| Blocks::Together { chains: chains.clone(), part }));
        } else if chained {
            let walks = self.walk_chains(&mut store, &parts)?;
            for (nodes, walks) in parts.iter().zip(walks) {
                blocks.push(self.assemble(engine, nodes, Some(walks))?);
            }
        } else {
            for nodes in parts {
                blocks.push(self.assemble(engine, nodes, None)?);
            }
        }
        let Ok(blocks) = blocks.try_into() else { unreachable!("one for each part") };
        Ok(blocks)
    }

    /// Whether training and validation nodes had better share all steps but the last.
    pub fn shares(&self, [train, val]: [&[u32]; 2]) -> bool {
        let Some(longest) = self.longest().filter(|_| self.walks()) else { return false };
        let seen = |nodes: &[u32]| self.pattern.within(nodes, longest).len();
        // Training nodes go there and back, validation nodes only there; what is shared goes all the way with both.
        2 * seen(&[train, val].concat()) < 2 * seen(train) + seen(val)
    }

    /// Whether channels walk over the graph in every step.
    fn walks(&self) -> bool {
        !self.has_rows() && self.channels.iter().any(|channel| channel.walk().is_some())
    }

    /// Bytes that the chains of one view take about: each entry in a matrix, in its transpose and, while they are made, in
    /// double precision.
    fn chain_bytes(&self) -> usize {
        const ENTRY: usize = 2 * size_of::<(u32, f32)>() + size_of::<u32>() + size_of::<f64>();
        const ROW: usize = 3 * size_of::<usize>();
        let bytes = |(word, from): (&[Along], From)| {
            let start = if from == From::Features { stored(&self.features) } else { 0 };
            let entries = word.len().saturating_mul(self.pattern.stored()).saturating_add(start);
            let rows = (word.len() + 1).saturating_mul(self.nodes());
            entries.saturating_mul(ENTRY).saturating_add(rows.saturating_mul(ROW))
        };
        let walks = self.channels.iter().filter_map(|channel| channel.walk());
        walks.map(bytes).fold(0, usize::saturating_add)
    }

    /// All channels as chains of sparse maps, where they are wanted and can be.
    fn all_chains(
        &self,
        store: &mut MapStore,
        parts: &[&[u32]],
        wanted: bool,
    ) -> Result<Option<Arc<MapChains>>, ModelError> {
        let sparse = matches!(self.features.as_ref(), Features::Sparse(_));
        let way = |channel: &'_ ComputedChannel| -> Option<(Vec<Along>, From)> {
            let (word, from) = match channel.product {
                Product::Raw => (Vec::new(), From::Features),
                _ => channel.walk().map(|(word, from)| (word.to_vec(), from))?,
            };
            (from == From::Nodes || sparse).then_some((word, from))
        };
        let ways: Option<Vec<_>> = self.channels.iter().map(way).collect();
        let Some(ways) = ways.filter(|_| wanted) else { return Ok(None) };
        let mut chains = Vec::with_capacity(ways.len());
        for (word, from) in ways {
            let Maps { heads, tail } = self.chain(store, parts, &word, from)?;
            let maps = |links: Vec<Link>| links.into_iter().map(|link| link.map).collect();
            chains.push(MapChain { tail: maps(tail), heads: maps(heads) });
        }
        Ok(Some(Arc::new(MapChains::new(chains))))
    }

    /// For each part, the blocks of the channels that walk.
    fn walk_chains(
        &self,
        store: &mut MapStore,
        parts: &[&[u32]],
    ) -> Result<Vec<Vec<Option<Block>>>, ModelError> {
        let mut made: Vec<Vec<Option<Block>>> = parts.iter().map(|_| Vec::new()).collect();
        for channel in &self.channels {
            let Some((word, from)) = channel.walk() else {
                made.iter_mut().for_each(|blocks| blocks.push(None));
                continue;
            };
            let Maps { heads, tail } = self.chain(store, parts, word, from)?;
            for (head, blocks) in heads.into_iter().zip(&mut made) {
                let links = std::iter::once(head).chain(tail.iter().cloned()).collect();
                blocks.push(Some(Block { links, by_rows: false }));
            }
        }
        Ok(made)
    }

    /// The maps of a word.
    fn chain(
        &self,
        store: &mut MapStore,
        parts: &[&[u32]],
        word: &[Along],
        from: From,
    ) -> Result<Maps, ModelError> {
        let (sources, cols) = self.sources(word, from);
        let Chain { factors, columns } = Chain::new(&parts.concat(), &sources, cols);
        let mut factors = factors.into_iter();
        let Some(first) = factors.next() else { unreachable!("a channel has a factor at least") };
        let (mut heads, mut start) = (Vec::with_capacity(parts.len()), 0);
        for nodes in parts {
            heads.push(store.link(first.select(start..start + nodes.len()))?);
            start += nodes.len();
        }
        let mut tail = Vec::new();
        for factor in factors {
            tail.push(store.link(factor)?);
        }
        if let Some(columns) = columns {
            tail.push(store.features(&self.features, &columns)?);
        }
        Ok(Maps { heads, tail })
    }

    /// The factors of a word times X, or of the word alone, and the columns of the last one where they are fixed.
    fn sources(&self, word: &[Along], from: From) -> (Vec<Source<'_>>, Option<usize>) {
        let nodes = self.nodes();
        let twins = self.twins.get_or_init(|| {
            let ways = [Along::Out, Along::In].map(|along| (along, self.source(along)));
            Twins::find(nodes, &ways)
        });
        let mut sources = Vec::new();
        for &along in word {
            match twins {
                Some(twins) => sources.extend(twins.factors(along, self.source(along))),
                None => sources.push(self.source(along)),
            }
        }
        let cols = match (from, self.features.as_ref()) {
            (From::Nodes, _) => Some(nodes),
            (From::Features, Features::Dense(_)) => None,
            (From::Features, Features::Sparse(x)) => {
                sources.push(Box::new(|u, row| {
                    let (columns, values) = x.row(u as usize);
                    let entries = columns.iter().zip(values);
                    row.extend(entries.map(|(&column, &value)| (column, f64::from(value))));
                }));
                Some(x.cols())
            }
        };
        (sources, cols)
    }

    /// The rows of P or Pᵀ.
    fn source(&self, along: Along) -> Source<'_> {
        Box::new(move |u, row| {
            let entries = self.step_row(along, u as usize);
            row.extend(entries.map(|(v, weight)| (v as u32, weight)));
        })
    }
}
