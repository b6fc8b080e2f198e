//! `RowNetwork`: a head on rows of features.

use super::check::check_mapped;
use super::order::{ProductOrder, dense_rows, feature_rows, filter_rows};
use super::project::{classify, multiply, project};
use super::source::{MappedRows, RowSource};
use crate::model::network::{BuildSeconds, Gathered, RowClassifier};
use crate::model::{Inputs, Mode, ModelError, Network, Purpose, Reach, View};
use crate::nn::{Layout, Linear, Parameters, Trace, Var};
use magnon_core::compute::Series;
use magnon_core::compute::{Engine, Field, Map, MapSource};
use magnon_core::filter::{Filter, Propagated, propagate, propagate_on};
use magnon_core::matrix::Features;
use magnon_core::matrix::Matrix;
use magnon_core::operator::MagneticOperator;
use std::sync::Arc;
use std::time::Instant;

/// What comes after the first product: bias, activation, further layers.
pub(in crate::model) trait Head: Copy + Send + Sync + 'static {
    /// The first layer, whose weights are multiplied with the rows.
    fn first(&self) -> Linear;
    /// Logits from the product of rows and first weights.
    fn finish(&self, trace: &mut Trace, product: Var, mode: Mode) -> Var;
}

/// Where rows come from, with what was computed for them.
pub(in crate::model) struct RowInput<'a> {
    features: &'a Features,
    filter: Option<(MagneticOperator, Filter)>,
    rows: Rows<'a>,
    order: ProductOrder,
    /// The field of the network that was asked for.
    field: Option<Field>,
    seconds: BuildSeconds,
}

enum Rows<'a> {
    /// The features as they are.
    Raw,
    /// X̄, computed.
    Filtered(Arc<Propagated>),
    /// X̄, from a file.
    Mapped(&'a MappedRows),
    /// X̄ is not made: X stays sparse, or nothing is trained.
    Unmade,
}

impl<'a> RowInput<'a> {
    /// The features as they are.
    pub fn raw(inputs: &Inputs<'a>) -> Self {
        Self {
            features: inputs.features,
            filter: None,
            rows: Rows::Raw,
            order: ProductOrder::Rows,
            field: None,
            seconds: BuildSeconds::default(),
        }
    }

    /// X̄ = h(S)X, for a head over the operator's field, or over the reals where `real`.
    pub fn filtered(
        engine: &Engine,
        inputs: &Inputs<'a>,
        filter: impl FnOnce(&MagneticOperator) -> Result<Filter, ModelError>,
        real: bool,
    ) -> Result<Self, ModelError> {
        let Some(config) = inputs.operator else {
            return Err(ModelError::Missing { model: "the model", what: "an operator" });
        };
        let mut seconds = BuildSeconds::default();
        let start = Instant::now();
        let operator = MagneticOperator::from_pattern(inputs.pattern.clone(), config)?;
        let filter = filter(&operator)?;
        seconds.operator = start.elapsed().as_secs_f64();
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        let features = inputs.features;
        let order = match (inputs.purpose, inputs.filtered) {
            (Purpose::Train { train, val, batches: false }, None)
                if field == Field::Real || !real =>
            {
                ProductOrder::cheaper(field, features, train, val)
            }
            _ => ProductOrder::Rows,
        };
        let start = Instant::now();
        let rows = match (inputs.filtered, inputs.purpose, order) {
            (Some(mapped), ..) => {
                check_mapped(features, mapped, &operator, &filter)?;
                Rows::Mapped(mapped)
            }
            (None, Purpose::Predict, _) | (None, _, ProductOrder::Factored) => Rows::Unmade,
            (None, _, ProductOrder::Rows) => {
                let compute =
                    || Ok(propagate_on(engine, &operator, &filter, features, inputs.progress)?);
                Rows::Filtered(match inputs.shared {
                    Some(shared) => shared.filtered(&operator, &filter, compute)?,
                    None => Arc::new(compute()?),
                })
            }
        };
        seconds.propagate = start.elapsed().as_secs_f64();
        let (filter, field) = (Some((operator, filter)), inputs.field);
        Ok(Self { features, filter, rows, order, field, seconds })
    }

    /// The field that X̄ is over, or that the network was asked to be over.
    pub fn field(&self) -> Field {
        match &self.filter {
            Some(_) if self.field == Some(Field::Complex) => Field::Complex,
            Some((operator, _)) if !operator.is_real() => Field::Complex,
            _ => Field::Real,
        }
    }

    /// Columns of X.
    pub fn cols(&self) -> usize {
        self.features.cols()
    }

    /// The rows of all nodes, where they exist.
    fn all(&self) -> Option<&dyn RowSource> {
        match &self.rows {
            Rows::Raw => Some(self.features),
            Rows::Filtered(filtered) => Some(filtered.as_ref()),
            Rows::Mapped(mapped) => Some(*mapped),
            Rows::Unmade => None,
        }
    }
}

/// A head on rows of features.
pub(in crate::model) struct RowNetwork<'a, H> {
    layout: Layout,
    head: H,
    input: RowInput<'a>,
    /// Whether the first layer is real: complex rows are then twice as many real columns.
    real: bool,
    /// X, where products are made as H·(X·W).
    features: Option<Arc<Map>>,
}

impl<'a, H: Head> RowNetwork<'a, H> {
    /// Puts a head on rows.
    pub fn new(
        engine: &Engine,
        layout: Layout,
        head: H,
        input: RowInput<'a>,
    ) -> Result<Self, ModelError> {
        let features = match (input.order, input.features) {
            (ProductOrder::Factored, Features::Sparse(x)) => {
                Some(Arc::new(engine.prepare(MapSource::Sparse(x.clone()))?))
            }
            _ => None,
        };
        let real = head.first().shape.field() == Field::Real;
        Ok(Self { layout, head, input, real, features })
    }

    fn rows_of(&self, nodes: &[u32]) -> Result<MapSource, ModelError> {
        let each = nodes.iter().map(|&u| u as usize);
        match (&self.input.rows, &self.input.filter) {
            (Rows::Raw, _) => Ok(feature_rows(self.input.features, each)),
            (Rows::Filtered(filtered), _) => Ok(dense_rows(filtered.as_ref(), each, self.real)),
            (Rows::Mapped(mapped), _) => Ok(dense_rows(*mapped, each, self.real)),
            // A network that was built to predict has made neither X̄ nor X ready.
            (Rows::Unmade, Some((operator, filter))) if self.features.is_none() => {
                let filtered = propagate(operator, filter, self.input.features, &())?;
                Ok(dense_rows(&filtered, each, self.real))
            }
            (Rows::Unmade, Some((operator, filter))) => filter_rows(operator, filter, nodes),
            (Rows::Unmade, None) => Ok(feature_rows(self.input.features, each)),
        }
    }
}

impl<H: Head> Network for RowNetwork<'_, H> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn view(&self, engine: &Engine, nodes: &[u32]) -> Result<Box<dyn View>, ModelError> {
        let rows = Arc::new(engine.prepare(self.rows_of(nodes)?)?);
        Ok(Box::new(RowView { rows, features: self.features.clone(), head: self.head }))
    }

    fn reach(&self) -> Reach {
        match &self.input.filter {
            None => Reach::Hops(0),
            Some((operator, filter)) => filter_reach(operator, filter),
        }
    }

    fn by_rows(&self) -> Option<&dyn RowClassifier> {
        self.input.all().map(|_| self as &dyn RowClassifier)
    }

    fn order(&self) -> Option<ProductOrder> {
        Some(self.input.order)
    }

    fn seconds(&self) -> BuildSeconds {
        self.input.seconds
    }

    fn predict(
        &self,
        engine: &Engine,
        parameters: &Parameters,
        nodes: Option<&[u32]>,
    ) -> Result<Matrix<f32>, ModelError> {
        let (head, features) = (&self.head, self.input.features);
        let filter = self.input.filter.as_ref();
        match (nodes, self.input.all(), filter) {
            (None, Some(rows), _) => {
                let block = multiply(engine, parameters, head, rows, self.real)?;
                classify(engine, parameters, head, &block)
            }
            (None, None, filter) => {
                let filter = filter.map(|(operator, filter)| (operator, filter));
                let block = project(engine, parameters, head, features, filter, self.real)?;
                classify(engine, parameters, head, &block)
            }
            (Some(nodes), _, None) => {
                let part = features.select(nodes);
                let block = project(engine, parameters, head, &part, None, self.real)?;
                classify(engine, parameters, head, &block)
            }
            (Some(nodes), _, Some((operator, filter))) => {
                // The rows of the operator within the filter's order of them suffice.
                let pattern = operator.pattern();
                let ball = pattern.within(nodes, filter.order().unwrap_or(pattern.nodes()));
                let part = operator.among(&ball);
                let rows = features.select(&ball);
                let filter = Some((&part, filter));
                let block = project(engine, parameters, head, &rows, filter, self.real)?;
                let table = classify(engine, parameters, head, &block)?;
                let place = |u: u32| ball.partition_point(|&v| v < u);
                let rows = nodes.iter().flat_map(|&u| table.row(place(u)).iter().copied());
                let wanted = Matrix::from_vec(nodes.len(), table.cols(), rows.collect());
                Ok(wanted.unwrap_or_else(|_| Matrix::zeros(0, table.cols())))
            }
        }
    }
}

impl<H: Head> RowClassifier for RowNetwork<'_, H> {
    fn logits_of(
        &self,
        trace: &mut Trace,
        nodes: &[u32],
        gathered: &mut Gathered,
        mode: Mode,
    ) -> Result<Var, ModelError> {
        let Some(rows) = self.input.all() else { unreachable!("there are rows to classify by") };
        let shape = rows.shape().with_rows(nodes.len());
        // Complex rows may be twice as many real columns.
        let shape = if self.real { shape.as_real() } else { shape };
        let Gathered { row, numbers } = gathered;
        row.resize(shape.width(), 0.0);
        numbers.clear();
        for &node in nodes {
            rows.copy(node as usize, row);
            numbers.extend_from_slice(row);
        }
        let rows = trace.input(shape, numbers);
        let weight = trace.parameter(self.head.first().weight);
        let product = trace.product(rows, weight);
        Ok(self.head.finish(trace, product, mode))
    }
}

/// The rows of some nodes.
struct RowView<H> {
    rows: Arc<Map>,
    features: Option<Arc<Map>>,
    head: H,
}

impl<H: Head> View for RowView<H> {
    /// The first weights, or X·W where products are made as H·(X·W).
    fn begin(&self, trace: &mut Trace) -> Option<Var> {
        let weight = trace.parameter(self.head.first().weight);
        Some(match &self.features {
            Some(features) => trace.map(features, weight),
            None => weight,
        })
    }

    fn maps(&self) -> Option<Vec<Arc<Map>>> {
        Some(vec![self.rows.clone()])
    }

    fn with_maps(&self, maps: Vec<Arc<Map>>) -> Option<Box<dyn View>> {
        let rows = maps.into_iter().next()?;
        Some(Box::new(Self { rows, features: self.features.clone(), head: self.head }))
    }

    fn logits(&self, trace: &mut Trace, shared: Option<Var>, mode: Mode) -> Var {
        let shared = shared.or_else(|| self.begin(trace));
        let Some(shared) = shared else { unreachable!("a row network shares its first weights") };
        let product = trace.map(&self.rows, shared);
        self.head.finish(trace, product, mode)
    }
}

/// How far the rows of h(S)X depend on the graph.
pub(in crate::model) fn filter_reach(operator: &MagneticOperator, filter: &Filter) -> Reach {
    // A Chebyshev series is drawn over the spectrum's bounds, which move with the graph where it is
    // not normalised.
    let moves = matches!(filter.series(), Series::Chebyshev { .. }) && !operator.has_fixed_bounds();
    match filter.order() {
        Some(order) if !moves => Reach::Hops(order),
        _ => Reach::Everything,
    }
}
