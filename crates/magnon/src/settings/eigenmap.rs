//! What an eigenmap is asked for.

use super::{DataSettings, OperatorSettings, SolverSettings, value};
use crate::Error;
use crate::spectrum::EigenmapConfig;
use serde::{Deserialize, Serialize};

/// What [`eigenmap`](crate::workflow::eigenmap) is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct EigenmapSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// The map is of the Laplacian: `kind` has no effect, and there is no `pass`.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Eigenvectors shown, counted from 0 at the smallest eigenvalue
    #[cfg_attr(
        feature = "clap",
        arg(
            long,
            value_name = "I,J,…",
            value_delimiter = ',',
            default_value = "0,1,2",
            help_heading = "Eigenmap"
        )
    )]
    #[serde(deserialize_with = "value::list")]
    pub vectors: Vec<usize>,
    /// Let components other than the largest count
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Eigenmap"))]
    pub whole_graph: bool,
    /// How they are found.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub solver: SolverSettings,
}

impl Default for EigenmapSettings {
    fn default() -> Self {
        let (data, operator, solver) = Default::default();
        Self { data, operator, vectors: vec![0, 1, 2], whole_graph: false, solver }
    }
}

impl EigenmapSettings {
    /// The library's configuration.
    pub fn config(&self, seed: u64) -> Result<EigenmapConfig, Error> {
        for (name, given) in
            [("pass", self.operator.pass.is_some()), ("kind", self.operator.kind.is_some())]
        {
            if given {
                let problem = "would have no effect: an eigenmap is of the Laplacian";
                return Err(Error::parameter(name, problem));
            }
        }
        let (vectors, whole_graph) = (self.vectors.clone(), self.whole_graph);
        let solver = self.solver.config(seed)?;
        solver.check()?;
        Ok(EigenmapConfig { vectors, whole_graph, solver, ..Default::default() })
    }
}
