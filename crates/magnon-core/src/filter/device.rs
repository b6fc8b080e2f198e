//! h(S)X on any device.

use super::{Filter, FilterError, Propagated, propagate};
use crate::compute::{EdgeMatrix, Engine, MapSource, Neighbourhood};
#[cfg(feature = "cuda")]
use crate::compute::{EngineError, Field, Map, Shape};
use crate::matrix::Features;
#[cfg(feature = "cuda")]
use crate::matrix::Matrix;
use crate::operator::MagneticOperator;
use crate::progress::Progress;
use std::sync::Arc;

impl MapSource {
    /// The filter matrix h(S) on all nodes.
    pub fn filter(operator: &MagneticOperator, filter: &Filter) -> Self {
        let everyone = Arc::new(Neighbourhood::everyone(operator.pattern()));
        let edges = EdgeMatrix::operator(operator, &everyone);
        Self::Filter { edges, series: filter.series().clone() }
    }
}

/// [`propagate()`] on the device of an engine; on a card in single precision, whatever the filter.
pub fn propagate_on(
    engine: &Engine,
    operator: &MagneticOperator,
    filter: &Filter,
    features: &Features,
    progress: &dyn Progress,
) -> Result<Propagated, FilterError> {
    Propagator::new(engine, operator, filter)?.run(features, progress)
}

/// A filter that is ready for features which come some columns at a time.
pub struct Propagator<'a> {
    operator: &'a MagneticOperator,
    filter: &'a Filter,
    #[cfg(feature = "cuda")]
    card: Option<(&'a Engine, Map)>,
}

impl<'a> Propagator<'a> {
    /// Prepares a filter of an operator for an engine.
    #[cfg(feature = "cuda")]
    pub fn new(
        engine: &'a Engine,
        operator: &'a MagneticOperator,
        filter: &'a Filter,
    ) -> Result<Self, FilterError> {
        let card = match engine.card() {
            Some(_) => Some((engine, engine.prepare(MapSource::filter(operator, filter))?)),
            None => None,
        };
        Ok(Self { operator, filter, card })
    }

    /// Prepares a filter of an operator for an engine.
    #[cfg(not(feature = "cuda"))]
    pub fn new(
        _: &'a Engine,
        operator: &'a MagneticOperator,
        filter: &'a Filter,
    ) -> Result<Self, FilterError> {
        Ok(Self { operator, filter })
    }

    /// h(S)X.
    pub fn run(
        &self,
        features: &Features,
        progress: &dyn Progress,
    ) -> Result<Propagated, FilterError> {
        #[cfg(feature = "cuda")]
        if let Some((engine, map)) = &self.card {
            return self.on_card(engine, map, features, progress);
        }
        propagate(self.operator, self.filter, features, progress)
    }

    #[cfg(feature = "cuda")]
    fn on_card(
        &self,
        engine: &Engine,
        map: &Map,
        features: &Features,
        progress: &dyn Progress,
    ) -> Result<Propagated, FilterError> {
        let (rows, cols, nodes) = (features.rows(), features.cols(), self.operator.nodes());
        if rows != nodes {
            return Err(FilterError::Shape { features: rows, nodes });
        }
        let field = if self.operator.is_real() { Field::Real } else { Field::Complex };
        let refused = || {
            let bytes = Shape::real(rows, cols).with_field(field).len() * size_of::<f32>();
            FilterError::OutOfMemory { rows, cols, bytes }
        };
        let filtered = engine.filter_columns(map, self.filter.series(), features, progress);
        let out = match filtered {
            Ok(out) => out.ok_or_else(refused)?,
            Err(EngineError::Stopped) => return Err(FilterError::Stopped),
            Err(error) => return Err(error.into()),
        };
        if let Some(at) = out.not_finite {
            let at = at / field.parts();
            return Err(FilterError::Overflow { node: at / cols, column: at % cols });
        }
        Ok(match field {
            Field::Real => {
                let matrix = Matrix::from_vec(rows, cols, out.numbers);
                Propagated::Real(matrix.map_err(|_| refused())?)
            }
            Field::Complex => {
                let pairs = bytemuck::allocation::try_cast_vec(out.numbers)
                    .unwrap_or_else(|(_, out)| bytemuck::cast_slice(&out).to_vec());
                Propagated::Complex(Matrix::from_vec(rows, cols, pairs).map_err(|_| refused())?)
            }
        })
    }
}
