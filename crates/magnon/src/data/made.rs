//! Features that are made from the graph, where nodes bring none of their own.

use super::load::set_features;
use super::room::zeroed;
use super::{DataError, Dataset, FeatureNorm, Features};
use crate::matrix::{Matrix, SparseMatrix};
use serde::{Deserialize, Serialize};

/// Features made from the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MadeFeatures {
    /// ln(1 + in-degree) and ln(1 + out-degree), each with mean 0 and standard deviation 1.
    Degree,
    /// The rows of the identity: every node is a feature of its own.
    Identity,
}

impl std::str::FromStr for MadeFeatures {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "degree" => Ok(Self::Degree),
            "identity" => Ok(Self::Identity),
            _ => Err(format!("'{text}' is neither a file nor degree nor identity")),
        }
    }
}

impl MadeFeatures {
    /// What was made, in words.
    fn words(self) -> &'static str {
        match self {
            Self::Degree => "the features are the logarithms of in-degree and out-degree",
            Self::Identity => "the features are the rows of the identity, one column per node",
        }
    }
}

/// Puts features that are made from the graph in place of those of the data set, and says so.
pub fn make_features(dataset: &mut Dataset, made: MadeFeatures) -> Result<(), DataError> {
    let nodes = dataset.graph.nodes();
    let (features, norm) = match made {
        MadeFeatures::Degree => {
            let mut values: Vec<f32> = zeroed(nodes * 2, &dataset.name)?;
            for (u, v) in dataset.graph.iter() {
                values[2 * v as usize] += 1.0;
                values[2 * u as usize + 1] += 1.0;
            }
            values.iter_mut().for_each(|degree| *degree = degree.ln_1p());
            let matrix = Matrix::from_vec(nodes, 2, values)
                .map_err(|_| DataError::format(&dataset.name, "degrees do not fill their shape"))?;
            (Features::Dense(matrix), FeatureNorm::Standard)
        }
        MadeFeatures::Identity => {
            let ones = (0..nodes).map(|u| (u, u as u32, 1.0));
            let matrix = SparseMatrix::from_triplets(nodes, nodes, ones)
                .map_err(|error| DataError::format(&dataset.name, error.to_string()))?;
            (Features::Sparse(matrix), FeatureNorm::None)
        }
    };
    let name = dataset.name.clone();
    set_features(dataset, features, &name, norm)?;
    dataset.remarks.push(made.words().to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SyntheticConfig;

    #[test]
    fn degrees_and_identity() {
        let mut dataset = SyntheticConfig::demo().dataset("demo").unwrap();
        make_features(&mut dataset, MadeFeatures::Degree).unwrap();
        let (mean, std) = dataset.features.as_ref().unwrap().moments();
        assert!(mean.iter().all(|m| m.abs() < 1e-6) && std.iter().all(|s| (s - 1.0).abs() < 1e-6));
        make_features(&mut dataset, MadeFeatures::Identity).unwrap();
        let features = dataset.features.unwrap();
        assert_eq!((features.rows(), features.cols()), (features.cols(), features.rows()));
        assert!(features.values().iter().all(|&v| v == 1.0));
    }
}
