//! What is left open for the data to decide: the charge and the sign of the operator.

use super::ModelError;
use magnon_core::graph::{DiGraph, homophily};
use magnon_core::operator::{
    Charge, ChargeError, Kind, Normalize, OperatorConfig, Phase, Symmetrize,
};
use magnon_data::{Labels, Split};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A charge, or a choice among those that the cycles of the graph suggest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ChargeChoice {
    /// By the directed cycles of the graph, and by validation where a model is trained.
    #[default]
    Auto,
    /// This one.
    Fixed(Charge),
}

impl FromStr for ChargeChoice {
    type Err = ChargeError;

    fn from_str(text: &str) -> Result<Self, ChargeError> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Fixed),
        }
    }
}

impl fmt::Display for ChargeChoice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Fixed(charge) => charge.fmt(f),
        }
    }
}

impl TryFrom<String> for ChargeChoice {
    type Error = ChargeError;

    fn try_from(text: String) -> Result<Self, ChargeError> {
        text.parse()
    }
}

impl From<ChargeChoice> for String {
    fn from(choice: ChargeChoice) -> Self {
        choice.to_string()
    }
}

/// The sign of the adjacency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum PassChoice {
    /// Neighbours alike
    Low,
    /// Neighbours unlike
    High,
    /// High where training neighbours share their label less often than chance would have it, beyond doubt
    #[default]
    Auto,
}

/// Adjacency or Laplacian.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum KindChoice {
    /// The adjacency
    #[default]
    Adjacency,
    /// I minus the adjacency, or D minus it where not normalised
    Laplacian,
}

/// Configuration of an operator with what is left open.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `charge` | `auto` | phase of a one-way edge, in turns |
/// | `kind` | `adjacency` | adjacency or Laplacian |
/// | `pass` | `auto` | sign of the adjacency |
/// | `phase` | `sign` | whether weights enter the phase |
/// | `symmetrize` | `max` | how A becomes symmetric |
/// | `self_loops` | true | whether I is added to A_s before degrees are taken |
/// | `normalize` | `sym` | how degrees are divided out |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperatorChoice {
    /// Phase of a one-way edge, in turns.
    pub charge: ChargeChoice,
    /// Adjacency or Laplacian.
    pub kind: KindChoice,
    /// Sign of the adjacency; a Laplacian has none.
    pub pass: PassChoice,
    /// Whether weights enter the phase.
    pub phase: Phase,
    /// How A becomes symmetric.
    pub symmetrize: Symmetrize,
    /// Whether every node gets a self loop of weight 1.
    pub self_loops: bool,
    /// How degrees are divided out.
    pub normalize: Normalize,
}

impl Default for OperatorChoice {
    fn default() -> Self {
        let OperatorConfig { phase, symmetrize, self_loops, normalize, .. } =
            OperatorConfig::default();
        let (charge, kind, pass) = Default::default();
        Self { charge, kind, pass, phase, symmetrize, self_loops, normalize }
    }
}

impl OperatorChoice {
    /// The default where no model is trained: the adjacency keeps its sign.
    pub fn low_pass() -> Self {
        Self { pass: PassChoice::Low, ..Self::default() }
    }

    /// The names of the settings in which another differs.
    pub fn differences(&self, other: &Self) -> Vec<&'static str> {
        let same = [
            ("charge", self.charge == other.charge),
            ("kind", self.kind == other.kind),
            ("pass", self.pass == other.pass),
            ("phase", self.phase == other.phase),
            ("symmetrize", self.symmetrize == other.symmetrize),
            ("self_loops", self.self_loops == other.self_loops),
            ("normalize", self.normalize == other.normalize),
        ];
        same.into_iter().filter(|(_, same)| !same).map(|(name, _)| name).collect()
    }

    /// The configuration with both choices made.
    pub fn config(&self, charge: Charge, high: bool) -> OperatorConfig {
        let kind = match (self.kind, high) {
            (KindChoice::Laplacian, _) => Kind::Laplacian,
            (KindChoice::Adjacency, true) => Kind::NegatedAdjacency,
            (KindChoice::Adjacency, false) => Kind::Adjacency,
        };
        let Self { phase, symmetrize, self_loops, normalize, .. } = *self;
        OperatorConfig { charge, phase, symmetrize, self_loops, normalize, kind }
    }
}

/// The sign that was taken, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PassEvidence {
    /// Whether the adjacency is negated.
    pub high: bool,
    /// Node homophily of the training labels, where it decided.
    pub homophily: Option<f64>,
    /// What it would be if edges did not care for labels: Σ p_c² over the shares of the classes.
    pub chance: Option<f64>,
}

impl PassEvidence {
    /// A sign that was given.
    pub fn given(high: bool) -> Self {
        Self { high, homophily: None, chance: None }
    }

    /// The figures that decided, in words.
    pub fn words(self) -> Option<String> {
        let (homophily, chance) = (self.homophily?, self.chance?);
        Some(format!("homophily of the training labels {homophily:.2}, by chance {chance:.2}"))
    }

    /// The pass by name.
    pub fn name(self) -> &'static str {
        if self.high { "high" } else { "low" }
    }
}

/// Takes the sign that was asked for, or measures homophily on the training labels alone and
/// compares it with chance: with many classes neighbours may be alike far more often than not
/// caring would make them, and still in less than half of the cases. The adjacency is negated only where
/// homophily is below chance by more than two standard errors: within them it would be a coin's toss.
pub fn choose_pass(
    choice: PassChoice,
    graph: &DiGraph,
    labels: &Labels,
    split: &Split,
) -> Result<PassEvidence, ModelError> {
    match choice {
        PassChoice::Low => return Ok(PassEvidence::given(false)),
        PassChoice::High => return Ok(PassEvidence::given(true)),
        PassChoice::Auto => (),
    }
    let mut classes = vec![None; labels.classes.len()];
    for &node in &split.train {
        classes[node as usize] = labels.classes[node as usize];
    }
    let measured = homophily(graph, &classes);
    let index = measured.node.ok_or(ModelError::NoHomophily)?;
    let margin = 2.0 * measured.node_error.unwrap_or(0.0);
    let mut counts = vec![0.0; labels.names.len()];
    classes.iter().flatten().for_each(|&class: &u32| counts[class as usize] += 1.0);
    let total: f64 = counts.iter().sum();
    let chance: f64 = counts.iter().map(|count: &f64| (count / total).powi(2)).sum();
    let high = index + margin < chance;
    Ok(PassEvidence { high, homophily: Some(index), chance: Some(chance) })
}
