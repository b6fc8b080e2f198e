//! What the channels of a bank are on a graph, and how their products with weights are made.

use super::channel::Channel;
use super::ground::{Ground, Step, Ways};
use super::prepared::Prepared;
use super::probe;
use super::table::Table;
use crate::data::Features;
use crate::filter::{Filter, Propagated, propagate};
use crate::matrix::{Matrix, SparseMatrix};
use crate::model::dirgnn::InAndOut;
use crate::model::network::{BuildSeconds, places_in};
use crate::model::rows::{dense_rows, feature_rows, filter_reach, filter_rows};
use crate::model::{Inputs, ModelError, ProductOrder, Purpose, Reach};
use crate::nn::{Engine, Field, MapSource, Relabelling, Scalar, Series};
use crate::operator::{Along, EdgeMatrix, MagneticOperator, Neighbourhood, Pattern};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

/// How C·W is made for a channel C.
enum Product {
    /// C has the rows of X.
    Raw,
    /// C has the rows of a word of P and Pᵀ.
    Rows(Vec<Along>),
    /// C is a channel of the table, computed once.
    Table(usize),
    /// C = h(S)X, computed once.
    Filtered(Arc<Propagated>),
    /// h(S)'s rows, computed once, times X·W.
    Factored { operator: MagneticOperator, filter: Filter },
    /// h(S) is applied to X·W in every step.
    Spread { operator: MagneticOperator, filter: Filter },
    /// P and Pᵀ are applied to X·W, or to W itself, in every step.
    Walk { word: Vec<Along>, from: From },
}

/// What a walk starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum From {
    /// X·W.
    Features,
    /// W, which has a row for each node.
    Nodes,
}

/// One channel on a graph.
pub(super) struct ComputedChannel {
    product: Product,
    /// Rows of its weights.
    pub inputs: usize,
    /// The field that it is over.
    pub field: Field,
    reach: Reach,
    /// Root of the mean square of its rows' norms.
    norm: f64,
}

impl ComputedChannel {
    /// The norm that rows of C·W have about, for weights of so many columns as they are drawn first.
    pub fn size(&self, hidden: usize) -> f64 {
        let (inputs, hidden) = (self.inputs as f64, hidden as f64);
        let size = self.norm * (2.0 * hidden / (inputs + hidden)).sqrt();
        if size > 0.0 { size } else { 1.0 }
    }
}

/// The channels of a bank on a graph with its features.
pub(super) struct Computed<'a, E: Engine> {
    pub channels: Vec<ComputedChannel>,
    features: Cow<'a, Features>,
    prepared: Prepared,
    pattern: Arc<Pattern>,
    steps: InAndOut,
    /// X, where products are made as H·(X·W).
    whole: Option<Arc<E::Map>>,
    /// Channels whose rows are taken as they are.
    table: Option<Table>,
    /// Whether batches are taken of it.
    by_rows: bool,
    pub seconds: BuildSeconds,
}

/// Bytes of filtered features that are kept in memory; what batches take beyond lies on disk, and other channels beyond
/// are filtered in every step.
const ROOM: usize = 2 << 30;
/// A product with sparse rows takes about this many times as long per multiplication as a dense one.
const SPARSE_COST: usize = 4;

impl<'a, E: Engine> Computed<'a, E> {
    pub fn new(
        engine: &E,
        inputs: &Inputs<'a>,
        channels: &[Channel],
        prepared: Prepared,
    ) -> Result<Self, ModelError> {
        let mut computed = Self {
            channels: Vec::new(),
            features: prepared.features(inputs),
            prepared,
            pattern: inputs.pattern.clone(),
            steps: InAndOut::new(inputs.graph, 0.5),
            whole: None,
            table: None,
            by_rows: matches!(inputs.purpose, Purpose::Train { batches: true, .. }),
            seconds: BuildSeconds::default(),
        };
        let (mut room, mut tabled) = (ROOM, Vec::new());
        for channel in channels {
            let mut made = computed.channel(inputs, channel, channels.len() == 1, &mut room)?;
            if let Product::Table(at) = &mut made.product {
                *at = tabled.len();
                tabled.push((channel.clone(), made.field));
            }
            computed.channels.push(made);
        }
        if !tabled.is_empty() {
            let (start, features) = (Instant::now(), computed.features.as_ref());
            let table = Table::new(inputs.pattern, features, &tabled, room, inputs.progress)?;
            computed.table = Some(table);
            computed.seconds.propagate += start.elapsed().as_secs_f64();
        }
        let factored =
            |channel: &ComputedChannel| matches!(channel.product, Product::Factored { .. });
        if computed.channels.iter().any(factored) {
            let features = computed.features.as_ref();
            let every = feature_rows(features, 0..features.rows());
            computed.whole = Some(Arc::new(engine.prepare(every)?));
        }
        Ok(computed)
    }

    fn channel(
        &mut self,
        inputs: &Inputs,
        channel: &Channel,
        only: bool,
        room: &mut usize,
    ) -> Result<ComputedChannel, ModelError> {
        let (features, real) = (self.features.cols(), Field::Real);
        let norm = match inputs.purpose {
            Purpose::Train { .. } => self.norm(inputs, channel)?,
            Purpose::Predict => 1.0,
        };
        let by_rows = self.by_rows;
        let made =
            |product, inputs, field, reach| ComputedChannel { product, inputs, field, reach, norm };
        Ok(match channel {
            Channel::Features => made(Product::Raw, features, real, Reach::Hops(0)),
            Channel::Rows(word) => {
                let product = match by_rows || word.len() == 1 {
                    true => Product::Rows(word.clone()),
                    false => Product::Walk { word: word.clone(), from: From::Nodes },
                };
                made(product, self.nodes(), real, Reach::Hops(word.len()))
            }
            Channel::Steps(word) => {
                let product = match by_rows {
                    true => Product::Table(0),
                    false => Product::Walk { word: word.clone(), from: From::Features },
                };
                made(product, features, real, Reach::Hops(word.len()))
            }
            Channel::Filter { operator, filter } => {
                let start = Instant::now();
                let operator = MagneticOperator::from_pattern(inputs.pattern.clone(), operator)?;
                let filter = filter.build(operator.bounds(), operator.config().kind)?;
                self.seconds.operator += start.elapsed().as_secs_f64();
                let field = if operator.is_real() { Field::Real } else { Field::Complex };
                let reach = filter_reach(&operator, &filter);
                let start = Instant::now();
                let product = match by_rows {
                    true => Product::Table(0),
                    false => self.filter(inputs, operator, filter, only, room)?,
                };
                self.seconds.propagate += start.elapsed().as_secs_f64();
                made(product, features, field, reach)
            }
        })
    }

    /// Root of the mean square of the rows' norms, ‖C‖_F/√n, by Hutchinson's estimate: E‖Cz‖² for random signs z.
    fn norm(&self, inputs: &Inputs, channel: &Channel) -> Result<f64, ModelError> {
        let nodes = self.nodes().max(1) as f64;
        let walk = |word: &[Along], mut block: Matrix<f32>| {
            for &along in word.iter().rev() {
                block = probe::step(&block, |u| self.step_row(along, u));
            }
            probe::mean_square(&block)
        };
        let square = match channel {
            Channel::Features => probe::square(&self.features),
            Channel::Steps(word) => walk(word, probe::signs(&self.features)),
            Channel::Rows(word) => walk(word, probe::plain_signs(self.nodes())),
            Channel::Filter { operator, filter } => {
                let operator = MagneticOperator::from_pattern(inputs.pattern.clone(), operator)?;
                let filter = filter.build(operator.bounds(), operator.config().kind)?;
                let block = Features::Dense(probe::signs(&self.features));
                match propagate(&operator, &filter, &block, &|_, _| true)? {
                    Propagated::Real(block) => probe::mean_square(&block),
                    // Of a complex channel half goes to the real part.
                    Propagated::Complex(block) => 0.5 * probe::complex_mean_square(&block),
                }
            }
        };
        Ok((square / nodes).sqrt())
    }

    /// The entries of a row of P or Pᵀ.
    fn step_row(&self, along: Along, u: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let InAndOut { left, right } = &self.steps;
        self.pattern.row(u).filter_map(move |(v, out, back)| {
            let weight = match along {
                Along::Out => out * left[u] * right[v],
                Along::In => back * right[u] * left[v],
            };
            (weight != 0.0).then_some((v, weight))
        })
    }

    /// The cheapest way to h(S)X·W, by multiplications for one hidden unit in one step.
    fn filter(
        &self,
        inputs: &Inputs,
        operator: MagneticOperator,
        filter: Filter,
        only: bool,
        room: &mut usize,
    ) -> Result<Product, ModelError> {
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        let x = self.features.as_ref();
        let bytes = x.rows().saturating_mul(x.cols()).saturating_mul(4 * field.parts());
        let steps = Series::of(&filter).steps();
        let compute = |operator: &MagneticOperator, filter: &Filter| {
            let compute = || Ok(propagate(operator, filter, x, inputs.progress)?);
            match inputs.shared.filter(|_| self.prepared == Prepared::default()) {
                Some(shared) => shared.filtered(operator, filter, compute),
                None => Ok(Arc::new(compute()?)),
            }
        };
        let Purpose::Train { train, val, .. } = inputs.purpose else {
            return match steps {
                Some(_) => Ok(Product::Spread { operator, filter }),
                None => Ok(Product::Filtered(compute(&operator, &filter)?)),
            };
        };
        let order = ProductOrder::cheaper(field, x, train, val);
        let dense = field.parts() * field.parts();
        let rows = 2 * train + val;
        let kept = match order {
            ProductOrder::Rows => dense * rows * x.cols(),
            ProductOrder::Factored => {
                dense * rows * x.rows() + SPARSE_COST * 2 * stored(x) * field.parts()
            }
        };
        // Forward and back for training nodes, forward for validation nodes, which see as much.
        let spread = steps
            .map(|steps| SPARSE_COST * 3 * (stored(x) + dense * steps * self.pattern.stored()));
        let kept_bytes = match order {
            ProductOrder::Rows => bytes,
            ProductOrder::Factored => {
                (train + val).saturating_mul(x.rows()).saturating_mul(4 * field.parts())
            }
        };
        if spread.is_some_and(|spread| (spread < kept && !only) || kept_bytes > *room) {
            return Ok(Product::Spread { operator, filter });
        }
        if order == ProductOrder::Rows && kept_bytes > *room {
            return Ok(Product::Table(0));
        }
        *room = room.saturating_sub(kept_bytes);
        match order {
            ProductOrder::Rows => Ok(Product::Filtered(compute(&operator, &filter)?)),
            ProductOrder::Factored => Ok(Product::Factored { operator, filter }),
        }
    }

    /// Nodes of the graph.
    pub fn nodes(&self) -> usize {
        self.pattern.nodes()
    }

    /// How far the channels see.
    pub fn reach(&self) -> Reach {
        let mut far = 0;
        for channel in &self.channels {
            match channel.reach {
                // A degree is known by the neighbours.
                Reach::Hops(hops) => far = far.max(hops + usize::from(self.prepared.degrees)),
                Reach::Everything => return Reach::Everything,
            }
        }
        Reach::Hops(far)
    }

    /// The most steps over the graph that a channel makes in a step of training; `None` where all have rows.
    fn longest(&self) -> Option<usize> {
        let steps = self.channels.iter().filter_map(|channel| match &channel.product {
            Product::Walk { word, .. } => Some(word.len()),
            Product::Spread { filter, .. } => Some(Series::of(filter).steps().unwrap_or(0)),
            _ => None,
        });
        steps.max()
    }

    /// Whether channels of a node are numbers of its own that batches can take.
    pub fn has_rows(&self) -> bool {
        self.by_rows
    }

    /// Nodes that a view of some works on, where it is more than rows.
    pub fn seen(&self, nodes: &[u32]) -> Option<usize> {
        self.longest().map(|steps| self.pattern.within(nodes, steps).len())
    }

    /// The places that nodes have in such a view.
    pub fn places(&self, nodes: &[u32]) -> Option<Relabelling> {
        let seen = Neighbourhood::new(&self.pattern, nodes, self.longest()?);
        Some(places_in(&seen, &self.features))
    }

    /// What the channels of some nodes need in a step.
    pub fn blocks(&self, engine: &E, nodes: &[u32]) -> Result<Blocks<E>, ModelError> {
        let longest = self.longest().unwrap_or(0);
        let (ground, _) = self.ground(engine, nodes, longest)?;
        self.blocks_on(engine, &ground, nodes, &ground.steps)
    }

    /// The same for training and validation nodes that share all steps but the last; `None` where that would not save
    /// anything.
    pub fn shared_blocks(
        &self,
        engine: &E,
        parts: [&[u32]; 2],
    ) -> Result<Option<[Blocks<E>; 2]>, ModelError> {
        let spreads = |channel: &ComputedChannel| matches!(channel.product, Product::Spread { .. });
        let Some(longest) = self.longest() else { return Ok(None) };
        let (nodes, [train, val]) = (parts.concat(), parts);
        let seen = |nodes: &[u32]| self.pattern.within(nodes, longest).len();
        // Training nodes go there and back, validation nodes only there; what is shared goes all the way with both.
        let saves = 2 * seen(&nodes) < 2 * seen(train) + seen(val);
        if self.by_rows || self.channels.iter().any(spreads) || !saves {
            return Ok(None);
        }
        let (ground, ways) = self.ground(engine, &nodes, longest)?;
        let Some(ways) = ways else { return Ok(None) };
        let of_val = |along: Along, step: &Step<E>| -> Result<Step<E>, ModelError> {
            let last = ways.last(engine, along, train.len()..nodes.len())?;
            Ok(Step { first: step.first.clone(), last })
        };
        let lasts = [of_val(Along::Out, &ground.steps[0])?, of_val(Along::In, &ground.steps[1])?];
        Ok(Some([
            self.blocks_on(engine, &ground, train, &ground.steps)?,
            self.blocks_on(engine, &ground, val, &lasts)?,
        ]))
    }

    /// What walks from some nodes are made on.
    fn ground(
        &self,
        engine: &E,
        nodes: &[u32],
        longest: usize,
    ) -> Result<(Ground<E>, Option<Ways>), ModelError> {
        let seen = Arc::new(Neighbourhood::new(&self.pattern, nodes, longest));
        let prepare = |map| engine.prepare(map).map(Arc::new);
        let walks =
            self.channels.iter().any(|channel| matches!(channel.product, Product::Walk { .. }));
        // On a card a second map is one more kernel to start; whether twins are worth it there was not measured.
        let ways = walks.then(|| Ways::new(&self.steps, &seen, !engine.has_lanes()));
        let steps = match &ways {
            Some(ways) if ways.have_twins() => {
                let step = |along: Along| -> Result<Step<E>, ModelError> {
                    let last = ways.last(engine, along, 0..seen.size(longest))?;
                    Ok(Step { first: ways.first(engine, along)?, last })
                };
                vec![step(Along::Out)?, step(Along::In)?]
            }
            Some(_) => {
                let step = |map| Ok(Step { first: None, last: prepare(map)? });
                self.steps.maps(&seen).into_iter().map(step).collect::<Result<_, ModelError>>()?
            }
            None => Vec::new(),
        };
        let starts = |at: From| {
            self.channels.iter().any(|channel| match &channel.product {
                Product::Spread { .. } => at == From::Features,
                Product::Walk { from, .. } => *from == at,
                Product::Rows(_) => at == From::Nodes && steps.first().is_some_and(Step::has_twins),
                _ => false,
            })
        };
        let rows: Vec<usize> = seen.nodes().collect();
        let features = starts(From::Features)
            .then(|| prepare(feature_rows(&self.features, rows.iter().copied())))
            .transpose()?;
        let selection = starts(From::Nodes).then(|| prepare(self.selection(&rows))).transpose()?;
        Ok((Ground { seen, steps, features, selection }, ways))
    }

    /// The channels of some nodes, the last steps of walks by `lasts`.
    fn blocks_on(
        &self,
        engine: &E,
        ground: &Ground<E>,
        nodes: &[u32],
        lasts: &[Step<E>],
    ) -> Result<Blocks<E>, ModelError> {
        let prepare = |map| engine.prepare(map).map(Arc::new);
        let each = || nodes.iter().map(|&u| u as usize);
        let table = match &self.table {
            Some(table) => Some((table, table.rows(nodes)?)),
            None => None,
        };
        let walk = |word: &[Along]| {
            let step = |(k, along): (usize, &Along)| {
                let steps = if k == 0 { lasts } else { &ground.steps };
                steps[usize::from(*along == Along::In)].clone()
            };
            word.iter().enumerate().map(step).collect()
        };
        let twins = lasts.first().is_some_and(Step::has_twins);
        let block = |channel: &ComputedChannel| -> Result<Block<E>, ModelError> {
            Ok(match &channel.product {
                Product::Rows(word) if twins && word.len() == 1 => {
                    Block::Walk { word: walk(word), from: From::Nodes }
                }
                Product::Raw => Block::Rows(prepare(feature_rows(&self.features, each()))?),
                Product::Rows(word) => Block::Rows(prepare(self.adjacency_rows(word, nodes))?),
                Product::Table(at) => match &table {
                    Some((table, rows)) => Block::Rows(prepare(table.channel(rows, *at))?),
                    None => unreachable!("a table was made where a channel is in it"),
                },
                Product::Filtered(filtered) => {
                    Block::Rows(prepare(dense_rows(filtered.as_ref(), each(), false))?)
                }
                Product::Factored { operator, filter } => {
                    Block::Factored(prepare(filter_rows(operator, filter, nodes)?)?)
                }
                Product::Spread { operator, filter } => {
                    let series = Series::of(filter);
                    let steps = series.steps().unwrap_or(0);
                    let near = Arc::new(Neighbourhood::new(&self.pattern, nodes, steps));
                    let edges = EdgeMatrix::operator(operator, &near);
                    Block::Spread(prepare(MapSource::Filter { edges, series })?, near.size(steps))
                }
                Product::Walk { word, from } => Block::Walk { word: walk(word), from: *from },
            })
        };
        Ok(Blocks {
            blocks: self.channels.iter().map(block).collect::<Result<Vec<_>, _>>()?,
            features: ground.features.clone(),
            selection: ground.selection.clone(),
            whole: self.whole.clone(),
            seen: ground.seen.clone(),
            rows: nodes.len(),
        })
    }

    /// The rows of some nodes of a matrix with a row for each.
    fn selection<T: Scalar>(&self, rows: &[usize]) -> MapSource<T> {
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
    fn adjacency_rows<T: Scalar>(&self, word: &[Along], nodes: &[u32]) -> MapSource<T> {
        let entries = nodes.iter().enumerate().flat_map(|(row, &u)| {
            let entries = self.word_row(word, u as usize);
            entries.into_iter().map(move |(v, weight)| (row, v as u32, weight as f32))
        });
        let rows = SparseMatrix::from_triplets(nodes.len(), self.pattern.nodes(), entries);
        let Ok(rows) = rows else { unreachable!("every neighbour is a node of the graph") };
        MapSource::Sparse(rows)
    }
}

/// Numbers that features store.
fn stored(x: &Features) -> usize {
    match x {
        Features::Sparse(x) => x.stored(),
        Features::Dense(x) => x.rows() * x.cols(),
    }
}

/// What the channels of some nodes need in a step.
pub(super) struct Blocks<E: Engine> {
    pub blocks: Vec<Block<E>>,
    /// Features of the nodes that are seen.
    pub features: Option<Arc<E::Map>>,
    /// The rows of weights of the nodes that are seen.
    pub selection: Option<Arc<E::Map>>,
    /// Features of all nodes.
    pub whole: Option<Arc<E::Map>>,
    pub seen: Arc<Neighbourhood>,
    /// Nodes whose channels these are.
    pub rows: usize,
}

impl<E: Engine> Blocks<E> {
    /// The rows of every channel; `None` where some are filtered in every step.
    pub fn maps(&self) -> Option<Vec<Arc<E::Map>>> {
        let rows = |block: &Block<E>| match block {
            Block::Rows(rows) | Block::Factored(rows) => Some(rows.clone()),
            _ => None,
        };
        self.blocks.iter().map(rows).collect()
    }

    /// The same with other rows.
    pub fn with_maps(&self, maps: Vec<Arc<E::Map>>) -> Option<Self> {
        let other = |(block, rows): (&Block<E>, Arc<E::Map>)| match block {
            Block::Rows(_) => Some(Block::Rows(rows)),
            Block::Factored(_) => Some(Block::Factored(rows)),
            _ => None,
        };
        let blocks = self.blocks.iter().zip(maps).map(other).collect::<Option<_>>()?;
        let (features, selection) = (self.features.clone(), self.selection.clone());
        let (whole, seen) = (self.whole.clone(), self.seen.clone());
        Some(Self { blocks, features, selection, whole, seen, rows: self.rows })
    }
}

/// One channel of some nodes.
pub(super) enum Block<E: Engine> {
    /// C·W.
    Rows(Arc<E::Map>),
    /// H·(X·W).
    Factored(Arc<E::Map>),
    /// h(S)(X·W), from so many nodes.
    Spread(Arc<E::Map>, usize),
    /// Steps, made from the last to the first.
    Walk { word: Vec<Step<E>>, from: From },
}
