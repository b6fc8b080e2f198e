//! `OperatorConfig`: the configuration of an operator, in orthogonal choices.

use super::Charge;
use serde::{Deserialize, Serialize};

/// How A becomes symmetric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Symmetrize {
    /// A_s = max(A, Aᵀ), entry by entry; of signed weights the one of larger magnitude, and of equal
    /// magnitudes the positive one.
    #[default]
    Max,
    /// A_s = ½(A + Aᵀ).
    Mean,
}

/// How degrees are divided out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Normalize {
    /// D^{-1/2} A D^{-1/2}: Hermitian, spectrum within [−1, 1].
    #[default]
    #[serde(rename = "sym")]
    #[cfg_attr(feature = "clap", value(name = "sym"))]
    Symmetric,
    /// D^{-1} A: not Hermitian, but similar to the symmetric one and of the same spectrum.
    #[serde(rename = "rw")]
    #[cfg_attr(feature = "clap", value(name = "rw"))]
    RandomWalk,
    /// A as it is.
    #[serde(rename = "none")]
    None,
    /// Degrees out and in, apart: ½(e^{i2πq}P + e^{−i2πq}Pᵀ) with P = D_out^{-1/2} A D_in^{-1/2};
    /// Hermitian, spectrum within [−1, 1].
    #[serde(rename = "directed")]
    Directed,
}

/// What the phase of an edge is made of. Without weights both are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Phase {
    /// e^{i2πq·s} with s = ±1 for the direction of larger |weight|, 0 where both weigh the same: the
    /// unit of the weights does not matter
    #[default]
    Sign,
    /// e^{i2πq(A(u,v) − A(v,u))}, as in the paper: the unit of the weights decides
    Weight,
}

impl Phase {
    /// By how many charges an entry is turned, from A(u,v) and A(v,u).
    pub fn difference(self, out: f64, back: f64) -> f64 {
        match self {
            Self::Weight => out - back,
            // A negative weight keeps its sign in A_s; its direction is that of the edge.
            Self::Sign => match out.abs().partial_cmp(&back.abs()) {
                Some(std::cmp::Ordering::Greater) => 1.0,
                Some(std::cmp::Ordering::Less) => -1.0,
                _ => 0.0,
            },
        }
    }
}

/// Which operator is built from the normalised A.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A itself: low pass.
    #[default]
    Adjacency,
    /// −A: high pass.
    NegatedAdjacency,
    /// I − A where normalised, D − A where not.
    Laplacian,
}

impl Kind {
    /// What a filter of low order keeps of it, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Adjacency => "low pass",
            Self::NegatedAdjacency => "high pass",
            Self::Laplacian => "Laplacian",
        }
    }
}

/// Configuration of a [`MagneticOperator`](super::MagneticOperator).
///
/// Weights may be negative. Degrees are the row sums of |A_s|, plus 1 where self loops are added, so
/// that signs change neither which degrees can be divided out nor the bounds of the spectrum.
///
/// | name | default | purpose |
/// |---|---|---|
/// | `charge` | 0 | phase of a one-way edge, in turns |
/// | `phase` | `sign` | whether weights enter the phase |
/// | `symmetrize` | `max` | how A becomes symmetric |
/// | `self_loops` | true | whether I is added to A_s before degrees are taken |
/// | `normalize` | `sym` | how degrees are divided out |
/// | `kind` | `adjacency` | adjacency, its negative, or Laplacian |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OperatorConfig {
    /// Phase of a one-way edge, in turns.
    pub charge: Charge,
    /// Whether weights enter the phase.
    pub phase: Phase,
    /// How A becomes symmetric.
    pub symmetrize: Symmetrize,
    /// Whether every node gets a self loop of weight 1, Ã_s = A_s + I.
    pub self_loops: bool,
    /// How degrees are divided out.
    pub normalize: Normalize,
    /// Which operator is built.
    pub kind: Kind,
}

impl Default for OperatorConfig {
    fn default() -> Self {
        Self {
            charge: Charge::ZERO,
            phase: Phase::default(),
            symmetrize: Symmetrize::default(),
            self_loops: true,
            normalize: Normalize::default(),
            kind: Kind::default(),
        }
    }
}
