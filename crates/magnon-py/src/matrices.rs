//! Compressed sparse rows from Python: graphs and sparse features.

use crate::arrays::{floats, indices, offsets};
use crate::errors::Failure;
use magnon::graph::{BuildReport, Built, DiGraph, Duplicates, GraphBuilder, SelfLoops};
use magnon::matrix::SparseMatrix;
use pyo3::prelude::*;

/// What becomes of edges that are there twice, and of those from a node to itself.
#[derive(Clone, Copy)]
pub struct Rules {
    pub duplicates: Duplicates,
    pub self_loops: SelfLoops,
    pub unweighted: bool,
}

/// The arrays of a graph, copied from Python.
pub enum Edges {
    /// Compressed rows of a square matrix.
    Rows { offsets: Vec<usize>, targets: Vec<u32> },
    /// Sources beside targets.
    Pairs { sources: Vec<u32>, targets: Vec<u32> },
}

impl Edges {
    /// Reads `(offsets, targets)` of compressed rows or `(sources, targets)` of pairs.
    pub fn read(
        rows: bool,
        first: &Bound<'_, PyAny>,
        targets: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let targets = indices(targets, "targets")?;
        Ok(match rows {
            true => Self::Rows { offsets: offsets(first)?, targets },
            false => Self::Pairs { sources: indices(first, "sources")?, targets },
        })
    }

    /// Builds the graph.
    pub fn build(
        self,
        nodes: usize,
        weights: Option<Vec<f32>>,
        rules: Rules,
    ) -> Result<Built, Failure> {
        let weights = weights.filter(|_| !rules.unweighted);
        let (count, weight_count) = (self.count(), weights.as_ref().map(Vec::len));
        if weight_count.is_some_and(|weights| weights != count) {
            let words =
                format!("there are {count} edges, but {} weights", weight_count.unwrap_or(0));
            return Err(Failure::data(words));
        }
        let pairs: Vec<(u32, u32)> = match self {
            Self::Rows { offsets, targets } => {
                fits(nodes, &offsets, targets.len())?;
                let finite = weights.as_ref().is_none_or(|all| all.iter().all(|w| w.is_finite()));
                if finite && is_graph(&offsets, &targets) {
                    return as_they_are(offsets, targets, weights);
                }
                let rows = offsets.windows(2).enumerate();
                let sources = rows.flat_map(|(u, at)| std::iter::repeat_n(u as u32, at[1] - at[0]));
                sources.zip(targets).collect()
            }
            Self::Pairs { sources, targets } => {
                if sources.len() != targets.len() {
                    let words = format!(
                        "there are {} sources, but {} targets",
                        sources.len(),
                        targets.len()
                    );
                    return Err(Failure::data(words));
                }
                sources.into_iter().zip(targets).collect()
            }
        };
        let builder = GraphBuilder::new(nodes);
        let builder = match weights {
            Some(weights) => {
                let edges = pairs.into_iter().zip(weights);
                builder.weighted_edges(edges.map(|((u, v), w)| (u, v, w)))
            }
            None => builder.edges(pairs),
        };
        Ok(builder.duplicates(rules.duplicates).self_loops(rules.self_loops).build()?)
    }

    fn count(&self) -> usize {
        match self {
            Self::Rows { targets, .. } | Self::Pairs { targets, .. } => targets.len(),
        }
    }
}

/// Checks that the rows are where the offsets say.
fn fits(nodes: usize, offsets: &[usize], entries: usize) -> Result<(), Failure> {
    let whole = offsets.len() == nodes + 1
        && offsets.windows(2).all(|pair| pair[0] <= pair[1])
        && offsets.first() == Some(&0)
        && offsets.last() == Some(&entries);
    match whole {
        true => Ok(()),
        false => {
            let words = format!("the row offsets do not fit {nodes} rows of {entries} entries");
            Err(Failure::data(words))
        }
    }
}

/// Rows that ascend, each target once and no node its own, are a graph already.
fn is_graph(offsets: &[usize], targets: &[u32]) -> bool {
    let plain = |(u, at): (usize, &[usize])| {
        let row = &targets[at[0]..at[1]];
        row.windows(2).all(|pair| pair[0] < pair[1]) && row.binary_search(&(u as u32)).is_err()
    };
    offsets.windows(2).enumerate().all(plain)
}

fn as_they_are(
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Option<Vec<f32>>,
) -> Result<Built, Failure> {
    let report = BuildReport { given: targets.len(), ..Default::default() };
    // Weights that all equal 1 are none, as the builder has it.
    let weights = weights.filter(|weights| weights.iter().any(|&weight| weight != 1.0));
    Ok(Built { graph: DiGraph::from_csr(offsets, targets, weights)?, report })
}

/// Sparse features from compressed rows, whose columns ascend.
pub fn sparse(
    cols: usize,
    starts: &Bound<'_, PyAny>,
    columns: &Bound<'_, PyAny>,
    values: &Bound<'_, PyAny>,
) -> PyResult<SparseMatrix> {
    let py = starts.py();
    let (starts, columns) = (offsets(starts)?, indices(columns, "columns")?);
    let values = floats(values, "the values of the features")?;
    if let Some(at) = values.iter().position(|value| !value.is_finite()) {
        let words = format!("the features hold {} at entry {at}, not a number", values[at]);
        return Err(Failure::data(words).exception(py));
    }
    SparseMatrix::from_csr(cols, starts, columns, values)
        .map_err(|error| Failure::from(error).exception(py))
}
