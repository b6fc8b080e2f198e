//! Features that are made from the graph, where nodes bring none of their own.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Features made from the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MadeFeatures {
    /// ln(1 + in-degree) and ln(1 + out-degree), each with mean 0 and standard deviation 1.
    Degree,
    /// The rows of the identity: every node is a feature of its own.
    Identity,
    /// Real and imaginary parts of so many eigenvectors of the magnetic Laplacian with the charge ¼, those of the
    /// smallest eigenvalues, scaled to a mean square of 1.
    Eigen(usize),
}

/// Most eigenvectors.
const MOST: usize = 1024;

impl FromStr for MadeFeatures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "degree" => Ok(Self::Degree),
            None if text == "identity" => Ok(Self::Identity),
            Some(("eigen", count)) => match count.parse() {
                Ok(count) if (1..=MOST).contains(&count) => Ok(Self::Eigen(count)),
                _ => Err(format!("'{text}': the number of eigenvectors is from 1 to {MOST}")),
            },
            _ => Err(format!("'{text}' is neither a file nor degree, identity or eigen:K")),
        }
    }
}

impl fmt::Display for MadeFeatures {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Degree => f.write_str("degree"),
            Self::Identity => f.write_str("identity"),
            Self::Eigen(count) => write!(f, "eigen:{count}"),
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
    pub(crate) fn words(self) -> String {
        match self {
            Self::Degree => {
                "the features are the logarithms of in-degree and out-degree".to_owned()
            }
            Self::Identity => {
                "the features are the rows of the identity, one column per node".to_owned()
            }
            Self::Eigen(count) => format!(
                "the features are {count} eigenvectors of the magnetic Laplacian at charge 1/4"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for made in [MadeFeatures::Degree, MadeFeatures::Identity, MadeFeatures::Eigen(7)] {
            assert_eq!(made.to_string().parse(), Ok(made));
        }
        assert!("eigen:0".parse::<MadeFeatures>().unwrap_err().contains("from 1 to 1024"));
        assert!("eigen".parse::<MadeFeatures>().unwrap_err().contains("eigen:K"));
    }
}
