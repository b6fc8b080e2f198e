//! What the trials of one model with one charge share: operator, filter and input rows.

use super::inputs::{Inputs, Plan, Targets, field_of};
use super::rows::{MappedRows, RowSource};
use super::{Experiment, Observer, Seconds, TrainError, timed};
use crate::data::{Features, Split};
use crate::filter::{Filter, Propagated, propagate, propagate_block};
use crate::model::ModelKind;
use crate::nn::Field;
use crate::operator::{Charge, MagneticOperator, Pattern};
use std::sync::Arc;

/// What trials with one charge share.
pub(super) struct Prepared<'a> {
    pub filter: Option<(MagneticOperator, Filter)>,
    pub field: Field,
    pub plan: Plan,
    rows: Rows<'a>,
    /// The inputs of the only split; with several, each trial makes its own and drops it.
    shared: Option<Inputs>,
}

/// Where input rows come from.
enum Rows<'a> {
    /// The features as they are.
    Raw(&'a Features),
    /// X̄, computed.
    Filtered(Propagated),
    /// X̄, from a file.
    Mapped(&'a MappedRows),
    /// X̄ is never made; X stays sparse.
    Factored(&'a Features),
}

impl Prepared<'_> {
    /// The rows of all nodes, where they exist.
    pub fn rows(&self) -> Option<&dyn RowSource> {
        match &self.rows {
            Rows::Raw(features) => Some(*features),
            Rows::Filtered(filtered) => Some(filtered),
            Rows::Mapped(mapped) => Some(*mapped),
            Rows::Factored(_) => None,
        }
    }

    /// The inputs that all trials share.
    pub fn shared(&self) -> Option<&Inputs> {
        self.shared.as_ref()
    }

    /// The inputs of a split.
    pub fn inputs(&self, train: &Targets, val: &Targets) -> Result<Inputs, TrainError> {
        let (train, val) = (&train.nodes[..], &val.nodes[..]);
        match (&self.rows, &self.filter) {
            (Rows::Raw(features), _) => Ok(Inputs::raw(features, train, val)),
            (Rows::Filtered(filtered), _) => Ok(Inputs::rows(filtered, train, val)),
            (Rows::Mapped(mapped), _) => Ok(Inputs::rows(*mapped, train, val)),
            (Rows::Factored(Features::Sparse(x)), Some((operator, filter))) => {
                Inputs::factored(operator, filter, x, train, val)
            }
            (Rows::Factored(features), _) => Ok(Inputs::raw(features, train, val)),
        }
    }
}

impl Experiment<'_> {
    /// Training and validation nodes of a split.
    pub(super) fn targets(&self, split: &Split) -> [Targets; 2] {
        [&split.train, &split.val].map(|nodes| Targets::of(nodes, self.labels))
    }

    /// What the runs of one model with one charge share.
    pub(super) fn prepare(
        &self,
        model: ModelKind,
        charge: Charge,
        pattern: &Arc<Pattern>,
        observer: &dyn Observer,
        seconds: &mut Seconds,
    ) -> Result<Prepared<'_>, TrainError> {
        let [train, val] = self.targets(&self.splits[0]);
        let mut prepared = if model == ModelKind::Mlp {
            let rows = Rows::Raw(self.features);
            let (plan, field) = (Plan::Rows, Field::Real);
            Prepared { filter: None, field, plan, rows, shared: None }
        } else {
            let config = self.config.operator.config(charge, self.pass.high);
            let operator = timed(&mut seconds.operator, || {
                MagneticOperator::from_pattern(pattern.clone(), &config)
            })?;
            let filter = self.config.filter.build(operator.bounds(), operator.config().kind)?;
            let field = field_of(&operator);
            let batches = self.config.train.batch.is_some();
            let mapped = self.mapped.as_ref().filter(|(of, _)| *of == charge);
            let plan = match batches || mapped.is_some() {
                true => Plan::Rows,
                false => Plan::cheaper(field, self.features, train.len(), val.len()),
            };
            let rows = match (mapped, plan) {
                (Some((_, mapped)), _) => {
                    self.check_mapped(mapped, &operator, &filter)?;
                    Rows::Mapped(mapped)
                }
                (None, Plan::Factored) => Rows::Factored(self.features),
                (None, Plan::Rows) => Rows::Filtered(timed(&mut seconds.propagate, || {
                    let progress = |done, total| observer.filtering(done, total);
                    propagate(&operator, &filter, self.features, &progress)
                })?),
            };
            Prepared { filter: Some((operator, filter)), field, plan, rows, shared: None }
        };
        if self.config.train.batch.is_none() && self.splits.len() == 1 {
            let inputs = timed(&mut seconds.propagate, || prepared.inputs(&train, &val))?;
            prepared.shared = Some(inputs);
        }
        Ok(prepared)
    }

    /// Holds the first columns of filtered features from a file against what the recipe gives.
    fn check_mapped(
        &self,
        mapped: &MappedRows,
        operator: &MagneticOperator,
        filter: &Filter,
    ) -> Result<(), TrainError> {
        let columns = self.features.cols().min(2);
        let ours = propagate_block(operator, filter, self.features, 0..columns, &|_, _| ())?;
        let (shape, other) = (ours.shape(), mapped.shape());
        let same = shape.field == other.field;
        let mut row = vec![0.0; other.width()];
        let mut own = vec![0.0; shape.width()];
        let (mut most, mut largest) = (0.0f32, 0.0f32);
        for u in 0..if same { shape.rows } else { 0 } {
            mapped.copy(u, &mut row);
            ours.copy(u, &mut own);
            for (a, b) in own.iter().zip(&row) {
                most = most.max((a - b).abs());
                largest = largest.max(a.abs());
            }
        }
        if same && most <= 1e-4 * largest.max(f32::MIN_POSITIVE) {
            return Ok(());
        }
        Err(TrainError::Mismatch {
            what: "the file of filtered features".to_owned(),
            found: "other numbers than this recipe gives".to_owned(),
            expected:
                "the same --charge, --pass, --filter, --order and operator flags that it was \
                       made with"
                    .to_owned(),
        })
    }
}
