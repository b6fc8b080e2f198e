//! What the channels of a bank are on a graph, and how their products with weights are made.

use super::channel::Channel;
use super::prepared::Prepared;
use super::probe;
use super::table::Table;
use super::twins::Twins;
use crate::model::dirgnn::InAndOut;
use crate::model::network::{BuildSeconds, places_in};
use crate::model::rows::{feature_rows, filter_reach};
use crate::model::{Inputs, ModelError, ProductOrder, Purpose, Reach};
use magnon_core::compute::{Engine, Field, Map, Relabelling};
use magnon_core::filter::{Filter, Propagated, propagate};
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::{Along, MagneticOperator, Neighbourhood, Pattern};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// How C·W is made for a channel C.
pub(super) enum Product {
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
    pub product: Product,
    /// Rows of its weights.
    pub inputs: usize,
    /// The field that it is over.
    pub field: Field,
    reach: Reach,
    /// Root of the mean square of its rows' norms.
    norm: f64,
}

impl ComputedChannel {
    /// The steps that it makes in every step of training where they are not computed beforehand, and from where.
    pub fn walk(&self) -> Option<(&[Along], From)> {
        match &self.product {
            Product::Walk { word, from } if !word.is_empty() => Some((word, *from)),
            // As a walk its rows have what twins share.
            Product::Rows(word) if word.len() == 1 => Some((word, From::Nodes)),
            _ => None,
        }
    }

    /// The norm that rows of C·W have about, for weights of so many columns as they are drawn first.
    pub fn size(&self, hidden: usize) -> f64 {
        let (inputs, hidden) = (self.inputs as f64, hidden as f64);
        let size = self.norm * (2.0 * hidden / (inputs + hidden)).sqrt();
        if size > 0.0 { size } else { 1.0 }
    }
}

/// The channels of a bank on a graph with its features.
pub(super) struct Computed<'a> {
    pub channels: Vec<ComputedChannel>,
    pub features: Cow<'a, Features>,
    prepared: Prepared,
    pub pattern: Arc<Pattern>,
    pub steps: InAndOut,
    /// Nodes with the same neighbours, once they were asked for.
    pub twins: OnceLock<Option<Twins>>,
    /// X, where products are made as H·(X·W).
    pub whole: Option<Arc<Map>>,
    /// Channels whose rows are taken as they are.
    pub table: Option<Table>,
    /// Whether batches are taken of it.
    by_rows: bool,
    pub seconds: BuildSeconds,
}

/// Bytes of filtered features that are kept in memory; what batches take beyond lies on disk, and other channels beyond
/// are filtered in every step.
pub(super) const ROOM: usize = 2 << 30;
/// A product with sparse rows takes about this many times as long per multiplication as a dense one.
const SPARSE_COST: usize = 4;

impl<'a> Computed<'a> {
    pub fn new(
        engine: &Engine,
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
            twins: OnceLock::new(),
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
                match propagate(&operator, &filter, &block, &())? {
                    Propagated::Real(block) => probe::mean_square(&block),
                    // Of a complex channel half goes to the real part.
                    Propagated::Complex(block) => 0.5 * probe::complex_mean_square(&block),
                }
            }
        };
        Ok((square / nodes).sqrt())
    }

    /// The entries of a row of P or Pᵀ.
    pub fn step_row(&self, along: Along, u: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
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
        let steps = filter.series().steps();
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
    pub fn longest(&self) -> Option<usize> {
        let steps = self.channels.iter().filter_map(|channel| match &channel.product {
            Product::Walk { word, .. } => Some(word.len()),
            Product::Spread { filter, .. } => Some(filter.series().steps().unwrap_or(0)),
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
}

/// Numbers that features store.
pub(super) fn stored(x: &Features) -> usize {
    match x {
        Features::Sparse(x) => x.stored(),
        Features::Dense(x) => x.rows() * x.cols(),
    }
}
