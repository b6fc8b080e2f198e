//! `operator`: the magnetic operator of a data set.

use super::choice::{Chosen, choose, remark_symmetric, remark_wrapped};
use super::{Phases, Progress};
use crate::Error;
use crate::data::write::{Compressed, write_scipy_npz};
use crate::data::{Dataset, Split};
use crate::model::OperatorChoice;
use crate::operator::{
    Kind, MagneticOperator, Normalize, OperatorConfig, OperatorRows, Phase, Symmetrize,
};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Which operator was built, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorSummary {
    /// Name of the data set.
    pub name: String,
    /// Number of nodes, which is that of rows and of columns.
    pub nodes: usize,
    /// Number of entries of the matrix.
    pub stored: usize,
    /// Whether all entries are real.
    pub real: bool,
    /// The charge q.
    pub charge: f64,
    /// The charge as it is written, such as `1/3`.
    pub charge_text: String,
    /// Whether weights enter the phase.
    pub phase: Phase,
    /// How A became symmetric.
    pub symmetrize: Symmetrize,
    /// Whether every node got a self loop.
    pub self_loops: bool,
    /// How degrees were divided out.
    pub normalize: Normalize,
    /// Adjacency, its negative, or Laplacian.
    pub kind: Kind,
    /// Why this charge, where it was left open.
    pub charge_evidence: Option<String>,
    /// Why this sign of the adjacency, where it was left open.
    pub pass_evidence: Option<String>,
}

/// What [`operator`] did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorReport {
    /// Which operator was built.
    #[serde(flatten)]
    pub operator: OperatorSummary,
    /// Where the time went.
    pub seconds: Phases,
}

/// An operator, with what is told of it. Spectra, responses and filtered features are asked of it.
#[derive(Clone, Debug)]
pub struct BuiltOperator {
    /// The operator.
    pub operator: MagneticOperator,
    /// What is told of it.
    pub report: OperatorReport,
}

impl BuiltOperator {
    /// Writes the operator to an .npz file, as `scipy.sparse.load_npz` reads it: in double precision, real
    /// where all entries are.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let OperatorRows { offsets, columns, values } = self.operator.rows();
        let (shape, offsets, columns) = ([self.operator.nodes(); 2], &offsets[..], &columns[..]);
        if self.operator.is_real() {
            let values: Vec<f64> = values.iter().map(|value| value.re).collect();
            write_scipy_npz(path, Compressed { shape, offsets, columns, values: &values })?;
        } else {
            write_scipy_npz(path, Compressed { shape, offsets, columns, values: &values })?;
        }
        Ok(())
    }
}

/// Builds the operator of a data set. A charge that is left open comes from the directed cycles of the
/// graph; a pass that is left open from the labels of the training nodes of `split`.
///
/// ```
/// use magnon::data::SyntheticConfig;
/// use magnon::model::OperatorChoice;
/// use magnon::workflow::operator;
/// let dataset = SyntheticConfig::demo().dataset("demo")?;
/// let built = operator(&dataset, None, &OperatorChoice::low_pass(), &())?;
/// assert_eq!(built.report.operator.charge_text, "1/3");
/// # Ok::<(), magnon::Error>(())
/// ```
pub fn operator(
    dataset: &Dataset,
    split: Option<&Split>,
    choice: &OperatorChoice,
    progress: &dyn Progress,
) -> Result<BuiltOperator, Error> {
    let mut seconds = Phases::default();
    let chosen = choose(dataset, split, choice, &mut seconds, progress)?;
    let operator =
        seconds.time("operator", || MagneticOperator::new(&dataset.graph, &chosen.config))?;
    let charged = chosen.config.charge.value() != 0.0;
    remark_symmetric(charged, !operator.pattern().is_directed(), progress);
    remark_wrapped(operator.wrapped(), progress);
    let report = OperatorReport { operator: summary(dataset, &operator, chosen), seconds };
    Ok(BuiltOperator { operator, report })
}

fn summary(dataset: &Dataset, operator: &MagneticOperator, chosen: Chosen) -> OperatorSummary {
    let OperatorConfig { charge, phase, symmetrize, self_loops, normalize, kind } = chosen.config;
    OperatorSummary {
        name: dataset.name.clone(),
        nodes: operator.nodes(),
        stored: operator.stored(),
        real: operator.is_real(),
        charge: charge.value(),
        charge_text: charge.to_string(),
        phase,
        symmetrize,
        self_loops,
        normalize,
        kind,
        charge_evidence: chosen.charge_evidence,
        pass_evidence: chosen.pass_evidence,
    }
}
