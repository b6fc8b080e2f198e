//! Eigenpairs of every component, of those that are alike once.

use super::SpectrumError;
use super::dense;
use super::pairs::Pairs;
use super::solve::{Method, Task};
use crate::operator::{MagneticOperator, Pattern};
use std::collections::HashMap;
use std::sync::Arc;

/// Eigenvalues that differ by less, relative to the operator's radius, count as one.
const REPEATED: f64 = 1e-10;

/// What was found for the components.
pub struct Parts {
    /// The nodes of each component, ascending.
    pub nodes: Vec<Vec<u32>>,
    /// For each component its place among those that differ.
    kind: Vec<usize>,
    kinds: Vec<Kind>,
    pub method: Method,
    /// Products that the iteration made.
    pub products: usize,
}

/// Components that are the same but for the names of their nodes, in order.
struct Kind {
    pattern: Arc<Pattern>,
    pairs: Pairs,
    residuals: Option<Vec<f64>>,
}

impl Parts {
    /// Solves the components of `operator`, which is Hermitian.
    ///
    /// A graph may be a million copies of one small graph, or a million nodes without an edge. Copies
    /// whose nodes come in the same order have the same block, which is solved once.
    pub fn solve(task: &Task, operator: &MagneticOperator) -> Result<Self, SpectrumError> {
        let nodes = operator.pattern().components();
        let mut parts =
            Self { nodes, kind: vec![], kinds: vec![], method: Method::Dense, products: 0 };
        let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
        let mut found = 0;
        for part in 0..parts.nodes.len() {
            let pattern = operator.pattern().on(&parts.nodes[part]);
            let alike = known.entry(pattern.digest()).or_default();
            let same = alike.iter().find(|&&kind| parts.kinds[kind].pattern.is_same(&pattern));
            let kind = match same {
                Some(&kind) => kind,
                None => {
                    if !task.progress.advance(found, task.count, "eigenpairs") {
                        return Err(SpectrumError::Stopped);
                    }
                    alike.push(parts.kinds.len());
                    parts.add(task, operator, pattern)?
                }
            };
            parts.kind.push(kind);
            found = task.count.min(found + parts.kinds[kind].pairs.values.len());
        }
        Ok(parts)
    }

    fn add(
        &mut self,
        task: &Task,
        operator: &MagneticOperator,
        pattern: Arc<Pattern>,
    ) -> Result<usize, SpectrumError> {
        let block = MagneticOperator::from_pattern(pattern.clone(), operator.config())?;
        let mut pairs = if task.is_dense(block.nodes(), block.is_real())? {
            dense::solve(&block, task.needs_vectors())?
        } else {
            self.method = Method::Iterative;
            let (pairs, made) = task.iterate(&block)?;
            self.products += made;
            pairs
        };
        let wanted = task.wanted(&pairs.values);
        pairs.canonicalise(REPEATED * block.bounds().radius(), wanted);
        let residuals = pairs.residuals(&block);
        self.kinds.push(Kind { pattern, pairs, residuals });
        Ok(self.kinds.len() - 1)
    }

    /// The eigenpairs of a component.
    pub fn pairs(&self, part: usize) -> &Pairs {
        &self.kinds[self.kind[part]].pairs
    }

    /// ‖Su − λu‖ of one of them.
    pub fn residual(&self, part: usize, column: usize) -> Option<f64> {
        self.kinds[self.kind[part]].residuals.as_ref().map(|residuals| residuals[column])
    }
}
