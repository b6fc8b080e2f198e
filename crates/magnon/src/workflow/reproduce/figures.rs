//! The data of the paper's figures.

use super::{Table, Work};
use crate::Error;
use crate::operator::{Charge, Kind, MagneticOperator, OperatorConfig};
use crate::spectrum::{Eigenmap, EigenmapConfig, SpectrumConfig, eigenmap as map_of, spectrum};
use serde::Serialize;

/// Eigenvalues of the operators of a data set, one list for each charge.
#[derive(Clone, Debug, Serialize)]
pub struct ResponseData {
    /// The data set.
    pub dataset: String,
    /// Whether the adjacency is negated.
    pub high_pass: bool,
    /// Charges with their eigenvalues, ascending.
    pub curves: Vec<(f64, Vec<f64>)>,
}

/// The map of a data set.
#[derive(Clone, Debug, Serialize)]
pub struct EigenmapData {
    /// The data set.
    pub dataset: String,
    /// Its charge.
    pub charge: f64,
    /// The points of the nodes.
    #[serde(skip)]
    pub map: Eigenmap,
    /// The class of each node, where it has one.
    pub classes: Vec<Option<u32>>,
    /// The names of the classes.
    pub class_names: Vec<String>,
}

/// Cycle lengths whose charges are shown.
const LENGTHS: std::ops::RangeInclusive<u32> = 2..=5;
/// The web graphs.
const SHOWN: [&str; 4] = ["cornell", "texas", "washington", "wisconsin"];

pub(super) fn responses(work: &mut Work) -> Result<Vec<Table>, Error> {
    for found in work.data.found.iter().filter(|found| SHOWN.contains(&found.name())) {
        for (high_pass, kind) in [(false, Kind::Adjacency), (true, Kind::NegatedAdjacency)] {
            let mut curves = Vec::new();
            let others = LENGTHS.filter_map(|m| Charge::fraction(1, m).ok());
            for charge in std::iter::once(Charge::ZERO).chain(others) {
                if work.progress.is_stopped() {
                    return Err(Error::Stopped);
                }
                let config = OperatorConfig { charge, kind, ..Default::default() };
                let pattern = found.shared.pattern().clone();
                let operator = MagneticOperator::from_pattern(pattern, &config)?;
                let values = spectrum(&operator, &SpectrumConfig::default(), &())?;
                curves.push((charge.value(), values.eigenvalues));
            }
            let dataset = found.title().to_owned();
            work.responses.push(ResponseData { dataset, high_pass, curves });
        }
    }
    Ok(Vec::new())
}

pub(super) fn eigenmap(work: &mut Work) -> Result<Vec<Table>, Error> {
    let Some(found) = work.data.found.iter().find(|found| found.name() == "texas") else {
        return Ok(Vec::new());
    };
    let charge = Charge::fraction(1, 3)?;
    let kind = Kind::Laplacian;
    let config = OperatorConfig { charge, kind, self_loops: false, ..Default::default() };
    let map = map_of(&found.dataset.graph, &config, &EigenmapConfig::default(), &())?;
    let labels = found.dataset.labels.as_ref();
    work.eigenmap = Some(EigenmapData {
        dataset: found.title().to_owned(),
        charge: charge.value(),
        map,
        classes: labels.map(|labels| labels.classes.clone()).unwrap_or_default(),
        class_names: labels.map(|labels| labels.names.clone()).unwrap_or_default(),
    });
    Ok(Vec::new())
}
