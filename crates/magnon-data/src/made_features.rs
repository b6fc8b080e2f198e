//! Features that are made from the graph, where nodes bring none of their own.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Features made from the graph, in place of given ones or beside them: `degree`, `+degree`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MadeFeatures {
    /// What is made.
    pub kind: MadeKind,
    /// Whether it is added to what the nodes have.
    pub added: bool,
}

/// What features can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeKind {
    /// ln(1 + in-degree) and ln(1 + out-degree), each with mean 0 and standard deviation 1.
    Degree,
    /// The rows of the identity: every node is a feature of its own.
    Identity,
    /// Real and imaginary parts of so many eigenvectors of the magnetic Laplacian with the charge ¼, those of the
    /// smallest eigenvalues, scaled to a mean square of 1.
    Eigen(usize),
    /// A column of ones: nodes differ by their place in the graph alone.
    None,
}

impl From<MadeKind> for MadeFeatures {
    /// In place of given ones.
    fn from(kind: MadeKind) -> Self {
        Self { kind, added: false }
    }
}

/// Most eigenvectors.
const MOST: usize = 1024;

impl FromStr for MadeFeatures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, added) = match text.strip_prefix('+') {
            Some(name) => (name, true),
            None => (text, false),
        };
        let kind = match name.split_once(':') {
            None if name == "degree" => MadeKind::Degree,
            None if name == "identity" => MadeKind::Identity,
            None if name == "none" && !added => MadeKind::None,
            Some(("eigen", count)) => match count.parse() {
                Ok(count) if (1..=MOST).contains(&count) => MadeKind::Eigen(count),
                _ => {
                    return Err(format!(
                        "'{text}': the number of eigenvectors is from 1 to {MOST}"
                    ));
                }
            },
            _ => {
                return Err(format!(
                    "'{text}' is neither a file nor degree, identity, eigen:K or none; +degree adds to given features"
                ));
            }
        };
        Ok(Self { kind, added })
    }
}

impl fmt::Display for MadeFeatures {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        if self.added {
            f.write_str("+")?;
        }
        match self.kind {
            MadeKind::Degree => f.write_str("degree"),
            MadeKind::Identity => f.write_str("identity"),
            MadeKind::Eigen(count) => write!(f, "eigen:{count}"),
            MadeKind::None => f.write_str("none"),
        }
    }
}

impl TryFrom<String> for MadeFeatures {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<MadeFeatures> for String {
    fn from(made: MadeFeatures) -> Self {
        made.to_string()
    }
}

impl MadeFeatures {
    /// What is made, in words.
    pub fn words(self) -> String {
        let what = match self.kind {
            MadeKind::Degree => "the logarithms of in-degree and out-degree".to_owned(),
            MadeKind::Identity => "the rows of the identity, one column per node".to_owned(),
            MadeKind::Eigen(count) => {
                format!("{count} eigenvectors of the magnetic Laplacian at charge 1/4")
            }
            MadeKind::None => "a column of ones".to_owned(),
        };
        match self.added {
            true => format!("{what} were added to the features"),
            false => format!("the features are {what}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in [MadeKind::Degree, MadeKind::Identity, MadeKind::Eigen(7), MadeKind::None] {
            let made = MadeFeatures::from(kind);
            assert_eq!(made.to_string().parse(), Ok(made));
            let added = MadeFeatures { added: true, ..made };
            assert!(kind == MadeKind::None || added.to_string().parse() == Ok(added));
        }
        assert!("+none".parse::<MadeFeatures>().is_err());
        assert!("eigen:0".parse::<MadeFeatures>().unwrap_err().contains("from 1 to 1024"));
        assert!("eigen".parse::<MadeFeatures>().unwrap_err().contains("eigen:K"));
    }
}
