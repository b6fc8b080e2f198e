//! `frustration`: the smallest eigenvalue of the Laplacian against the charge.

use super::{Phases, Progress};
use crate::Error;
use crate::data::Dataset;
use crate::operator::{OperatorError, Pattern};
use crate::spectrum::{Frustration, FrustrationConfig};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What [`frustration`] found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrustrationReport {
    /// Name of the data set.
    pub name: String,
    /// The curve and its minima.
    #[serde(flatten)]
    pub frustration: Frustration,
    /// Where the time went.
    pub seconds: Phases,
}

/// Finds the smallest eigenvalue of the normalised Laplacian, without self loops, at charges from 0 to ½,
/// and the charges at which it is least.
pub fn frustration(
    dataset: &Dataset,
    config: &FrustrationConfig,
    progress: &dyn Progress,
) -> Result<FrustrationReport, Error> {
    config.check()?;
    let mut seconds = Phases::default();
    let pattern = seconds.time("operator", || Pattern::new(&dataset.graph).map(Arc::new));
    let pattern = pattern.map_err(OperatorError::from)?;
    let frustration =
        seconds.time("spectrum", || crate::spectrum::frustration(&pattern, config, progress))?;
    Ok(FrustrationReport { name: dataset.name.clone(), frustration, seconds })
}
