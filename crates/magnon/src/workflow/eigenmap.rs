//! `eigenmap`: eigenvectors of the Laplacian as points of the nodes.

use super::choice::choose;
use super::{Phases, Progress};
use crate::Error;
use crate::data::{Dataset, Labels};
use crate::model::{KindChoice, OperatorChoice, PassChoice};
use crate::spectrum::{Eigenmap, EigenmapConfig};
use serde::{Deserialize, Serialize};

/// What [`eigenmap`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EigenmapReport {
    /// Always false: no self loops are added.
    pub self_loops: bool,
    /// Name of the data set.
    pub name: String,
    /// Its nodes.
    pub nodes: usize,
    /// Nodes of the component, or of the whole graph, that the eigenvectors are of.
    pub component_nodes: usize,
    /// The charge q.
    pub charge: f64,
    /// The charge as it is written, such as `1/3`.
    pub charge_text: String,
    /// Why this charge, where it was left open.
    pub charge_evidence: Option<String>,
    /// The eigenvectors, counted from 0 at the smallest eigenvalue.
    pub vectors: Vec<usize>,
    /// Their eigenvalues.
    pub eigenvalues: Vec<f64>,
    /// Phase angles in (−π, π], one row per node and one column per vector.
    pub phases: Vec<Vec<f64>>,
    /// Where the time went.
    pub seconds: Phases,
}

/// Nodes as points, with what is told of them.
#[derive(Clone, Debug)]
pub struct MappedNodes {
    /// The points, one row per node.
    pub map: Eigenmap,
    /// What is told of them.
    pub report: EigenmapReport,
}

impl MappedNodes {
    /// Names of the columns of [`rows`](Self::rows).
    pub fn header(&self) -> Vec<String> {
        let mut header = vec!["node".to_owned(), "label".to_owned()];
        for j in &self.map.vectors {
            header.extend([format!("phase_{j}"), format!("re_{j}"), format!("im_{j}")]);
        }
        header
    }

    /// One row per node: its number, its label, and phase, real and imaginary part of each vector.
    pub fn rows(&self, labels: Option<&Labels>) -> impl Iterator<Item = Vec<String>> {
        let label = move |u: usize| {
            let labels = labels?;
            let class = (*labels.classes.get(u)?)?;
            labels.names.get(class as usize).cloned()
        };
        (0..self.map.points.rows()).map(move |u| {
            let mut cells = vec![u.to_string(), label(u).unwrap_or_default()];
            for (phase, z) in self.map.phases.row(u).iter().zip(self.map.points.row(u)) {
                cells.extend([phase, &z.re, &z.im].map(f64::to_string));
            }
            cells
        })
    }
}

/// Maps the nodes of a graph by eigenvectors of its magnetic Laplacian without self loops. Of `choice` the
/// charge, the symmetrisation and the normalisation are used.
pub fn eigenmap(
    dataset: &Dataset,
    choice: &OperatorChoice,
    config: &EigenmapConfig,
    progress: &dyn Progress,
) -> Result<MappedNodes, Error> {
    config.solver.check()?;
    let mut seconds = Phases::default();
    let (kind, pass) = (KindChoice::Laplacian, PassChoice::Low);
    let choice = OperatorChoice { kind, pass, self_loops: false, ..*choice };
    let chosen = choose(dataset, None, &choice, &mut seconds, progress)?;
    let graph = &dataset.graph;
    let map = seconds
        .time("spectrum", || crate::spectrum::eigenmap(graph, &chosen.config, config, progress))?;
    let report = EigenmapReport {
        self_loops: chosen.config.self_loops,
        name: dataset.name.clone(),
        nodes: map.points.rows(),
        component_nodes: map.nodes,
        charge: chosen.config.charge.value(),
        charge_text: chosen.config.charge.to_string(),
        charge_evidence: chosen.charge_evidence,
        vectors: map.vectors.clone(),
        eigenvalues: map.eigenvalues.clone(),
        phases: (0..map.phases.rows()).map(|u| map.phases.row(u).to_vec()).collect(),
        seconds,
    };
    Ok(MappedNodes { map, report })
}
