//! How the learning rate changes over the epochs.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Factor of the learning rate by epoch, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Schedule {
    /// 1 throughout.
    #[default]
    Constant,
    /// `factor` to the number of whole `every` epochs that have passed.
    Step {
        /// Epochs between two falls.
        every: usize,
        /// What the rate is multiplied by.
        factor: f64,
    },
    /// Half a cosine from 1 down to `least` over `epochs`, and `least` from there on.
    Cosine {
        /// Epochs of the fall.
        epochs: usize,
        /// Factor at its end.
        least: f64,
    },
}

/// Reads `constant`, `step:EVERY,FACTOR` or `cosine:EPOCHS,LEAST`.
impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let syntax =
            || format!("'{text}' is no schedule; write constant, step:100,0.5 or cosine:1000,0.01");
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let (count, factor) = values.split_once(',').unwrap_or((values, "0"));
        let count = || count.parse().map_err(|_| syntax());
        let factor = || factor.parse().map_err(|_| syntax());
        Ok(match name {
            "constant" if values.is_empty() => Self::Constant,
            "step" => Self::Step { every: count()?, factor: factor()? },
            "cosine" => Self::Cosine { epochs: count()?, least: factor()? },
            _ => return Err(syntax()),
        })
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Constant => f.write_str("constant"),
            Self::Step { every, factor } => write!(f, "step:{every},{factor}"),
            Self::Cosine { epochs, least } => write!(f, "cosine:{epochs},{least}"),
        }
    }
}

impl Schedule {
    /// The factor at an epoch.
    pub fn factor(self, epoch: usize) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Step { every, factor } => factor.powf((epoch / every.max(1)) as f64),
            Self::Cosine { epochs, least } => {
                let t = (epoch as f64 / epochs.max(1) as f64).min(1.0);
                least + (1.0 - least) * 0.5 * (1.0 + (std::f64::consts::PI * t).cos())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors() {
        let step = Schedule::Step { every: 10, factor: 0.5 };
        assert_eq!([0, 9, 10, 25].map(|e| step.factor(e)), [1.0, 1.0, 0.5, 0.25]);
        let cosine = Schedule::Cosine { epochs: 100, least: 0.1 };
        assert!((cosine.factor(50) - 0.55).abs() < 1e-12);
        assert_eq!([cosine.factor(0), cosine.factor(500)], [1.0, 0.1]);
    }
}
