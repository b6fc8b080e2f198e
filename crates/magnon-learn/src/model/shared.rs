//! `SharedInputs`: what several networks on the same graph need not compute twice.

use super::ModelError;
use magnon_core::filter::{Filter, Propagated};
use magnon_core::graph::DiGraph;
use magnon_core::operator::{MagneticOperator, OperatorConfig, OperatorError, Pattern};
use std::sync::{Arc, Mutex, PoisonError};

/// The pattern of a graph, and features that were filtered with operators on it, up to a limit in bytes.
/// All who share it must have the same features.
#[derive(Debug)]
pub struct SharedInputs {
    pattern: Arc<Pattern>,
    limit: usize,
    filtered: Mutex<Vec<Filtered>>,
}

#[derive(Debug)]
struct Filtered {
    operator: OperatorConfig,
    filter: Filter,
    rows: Arc<Propagated>,
}

impl SharedInputs {
    /// The pattern of a graph, with room for `limit` bytes of filtered features.
    pub fn new(graph: &DiGraph, limit: usize) -> Result<Self, OperatorError> {
        let pattern = Arc::new(Pattern::new(graph)?);
        Ok(Self { pattern, limit, filtered: Mutex::default() })
    }

    /// The same pattern, with as much room and nothing in it.
    pub fn anew(&self) -> Self {
        Self { pattern: self.pattern.clone(), limit: self.limit, filtered: Mutex::default() }
    }

    /// The pattern, which all operators share.
    pub fn pattern(&self) -> &Arc<Pattern> {
        &self.pattern
    }

    /// What the filter makes of the features: as it was computed before, or by `compute`.
    pub(super) fn filtered(
        &self,
        operator: &MagneticOperator,
        filter: &Filter,
        compute: impl FnOnce() -> Result<Propagated, ModelError>,
    ) -> Result<Arc<Propagated>, ModelError> {
        let held = || self.filtered.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |of: &&Filtered| of.operator == *operator.config() && of.filter == *filter;
        if !Arc::ptr_eq(operator.pattern(), &self.pattern) {
            return Ok(Arc::new(compute()?));
        }
        if let Some(found) = held().iter().find(same) {
            return Ok(found.rows.clone());
        }
        let rows = Arc::new(compute()?);
        let mut held = held();
        let entry =
            Filtered { operator: *operator.config(), filter: filter.clone(), rows: rows.clone() };
        held.push(entry);
        while held.iter().map(|of| bytes(&of.rows)).sum::<usize>() > self.limit {
            held.remove(0);
        }
        Ok(rows)
    }
}

fn bytes(rows: &Propagated) -> usize {
    match rows {
        Propagated::Real(matrix) => size_of_val(matrix.as_slice()),
        Propagated::Complex(matrix) => size_of_val(matrix.as_slice()),
    }
}
