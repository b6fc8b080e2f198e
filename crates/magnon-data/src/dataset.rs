//! `Dataset`: what every reader produces and every command starts from.

use super::Split;
use super::listing::listed;
use magnon_core::graph::{BuildReport, DiGraph};
use magnon_core::matrix::Features;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// How features are scaled after reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum FeatureNorm {
    /// Each row divided by the sum of its absolute values.
    Row,
    /// Each column shifted to mean 0 and scaled to standard deviation 1.
    Standard,
    /// As they are.
    None,
    /// `Standard` for dense columns of unlike scale, else `Row` for non-negative counts, else `None`.
    #[default]
    Auto,
}

/// What was done to the features.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Scaling {
    /// Nothing.
    #[default]
    None,
    /// Each row was divided by the sum of its absolute values.
    Rows,
    /// x became (x − mean) / std, column by column.
    Standard {
        /// The mean of each column.
        mean: Vec<f64>,
        /// The standard deviation of each column; 1 where a column is constant.
        std: Vec<f64>,
    },
    /// The first columns in one way, and those that were added to them in another.
    Joined {
        /// How many columns are the first.
        columns: usize,
        /// What was done to them.
        first: Box<Scaling>,
        /// What was done to the others.
        rest: Box<Scaling>,
    },
}

impl Scaling {
    /// Scales other features in the same way; they must be as wide.
    pub fn apply(&self, features: &mut Features) {
        match self {
            Self::None => {}
            Self::Rows => features.normalize_rows(),
            Self::Joined { columns, first, rest } => {
                let [mut a, mut b] = features.split_at(*columns);
                first.apply(&mut a);
                rest.apply(&mut b);
                *features = a.beside(&b);
            }
            Self::Standard { mean, std } => {
                if let Features::Sparse(matrix) = features {
                    *features = Features::Dense(matrix.to_dense());
                }
                for row in 0..features.rows() {
                    let values = features.row_values_mut(row);
                    for ((value, mean), std) in values.iter_mut().zip(mean).zip(std) {
                        *value = ((f64::from(*value) - mean) / std) as f32;
                    }
                }
            }
        }
    }

    /// What was done, in words; `None` where nothing was.
    pub fn words(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Rows => Some("the rows of the features were scaled to sum 1"),
            Self::Joined { .. } => Some("given and added features were scaled by themselves"),
            Self::Standard { .. } => {
                Some("the columns of the features were scaled to mean 0 and standard deviation 1")
            }
        }
    }
}

impl FeatureNorm {
    /// Applies the rule and says what was done.
    pub fn apply(self, features: &mut Features) -> Scaling {
        let standard = |features: &Features| {
            let (mean, std) = features.moments();
            let std = std.into_iter().map(|std| if std > 0.0 { std } else { 1.0 }).collect();
            Scaling::Standard { mean, std }
        };
        let scaling = match self {
            Self::Row => Scaling::Rows,
            Self::None => Scaling::None,
            Self::Standard => standard(features),
            Self::Auto if features.are_unlike() => standard(features),
            Self::Auto if features.are_counts() => Scaling::Rows,
            Self::Auto => Scaling::None,
        };
        scaling.apply(features);
        scaling
    }
}

/// Node labels: a class for every node that has one, and the names of the classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The class of each node; `None` where a node has no label.
    pub classes: Vec<Option<u32>>,
    /// The names of the classes; class `c` is called `names[c]`.
    pub names: Vec<String>,
}

impl Labels {
    /// The number of nodes in each class.
    pub fn sizes(&self) -> Vec<usize> {
        let mut sizes = vec![0; self.names.len()];
        for class in self.classes.iter().flatten() {
            sizes[*class as usize] += 1;
        }
        sizes
    }
}

/// What the source calls its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeNames {
    /// Numbers, kept as such: writing out a million of them would take longer than reading them.
    Numbers(Vec<u64>),
    /// Words.
    Words(Vec<String>),
}

impl NodeNames {
    /// The name of a node.
    pub fn name(&self, node: usize) -> Option<Cow<'_, str>> {
        match self {
            Self::Numbers(numbers) => numbers.get(node).map(|number| number.to_string().into()),
            Self::Words(words) => words.get(node).map(|word| word.as_str().into()),
        }
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Words(words) => words.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a reader took for what, so that a person can see whether it was right.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The format.
    pub format: String,
    /// The columns of the table of edges, and what each was taken for.
    pub columns: Vec<ColumnUse>,
    /// The first edge.
    pub first_edge: Option<FirstEdge>,
}

impl ColumnUse {
    /// The role of a column that has none.
    pub(super) const NONE: &str = "not used";

    /// A remark about columns that were not used; `weighted` says whether there is a weight.
    pub(super) fn unused(columns: &[Self], weighted: bool) -> Option<String> {
        let unused = columns.iter().filter(|column| column.role == Self::NONE);
        let unused: Vec<&str> = unused.map(|column| column.name.as_str()).collect();
        let hint = match weighted {
            true => "",
            false => "; --weight COLUMN takes one as the weight of the edges",
        };
        (!unused.is_empty())
            .then(|| format!("columns that were not used: {}{hint}", listed(&unused)))
    }
}

/// The first edge of a file, as it was understood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstEdge {
    /// The name of the node that it leaves.
    pub source: String,
    /// The name of the node that it enters.
    pub target: String,
    /// Its weight, where edges have weights.
    pub weight: Option<f32>,
}

/// What a column of the table of edges was taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnUse {
    /// The header, or `column 3` where there is none.
    pub name: String,
    /// `source`, `target`, `weight` or `not used`.
    pub role: String,
}

/// A directed graph with what is known about its nodes.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// A short name, from the file or the generator.
    pub name: String,
    /// The graph.
    pub graph: DiGraph,
    /// What was met while building the graph.
    pub report: BuildReport,
    /// Node features, one row per node.
    pub features: Option<Features>,
    /// What was done to the features.
    pub scaling: Scaling,
    /// Node labels.
    pub labels: Option<Labels>,
    /// The splits that came with the data.
    pub splits: Vec<Split>,
    /// The nodes' names in the source, where they are not simply 0, 1, 2….
    pub node_names: Option<NodeNames>,
    /// What was taken for what in the file of the edges.
    pub reading: Reading,
    /// What a user should know about the reading: edges turned, lines passed over, rows scaled.
    pub remarks: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnon_core::matrix::{Matrix, SparseMatrix};

    fn dense(rows: usize, values: &[f32]) -> Features {
        Features::Dense(Matrix::from_vec(rows, values.len() / rows, values.to_vec()).unwrap())
    }

    /// numpy: x.mean(axis=0), x.std(axis=0).
    #[test]
    fn columns_of_unlike_scale_are_standardised() {
        let mut people = dense(4, &[20.0, 30000.0, 30.0, 20000.0, 40.0, 10000.0, 50.0, 100.0]);
        let scaling = FeatureNorm::Auto.apply(&mut people);
        let Scaling::Standard { mean, std } = &scaling else { panic!("{scaling:?}") };
        assert_eq!(mean[..], [35.0, 15025.0]);
        assert!((std[0] - 11.180_339_887).abs() < 1e-6 && (std[1] - 11_146.832_51).abs() < 1e-3);
        let mut other = dense(1, &[35.0, 15025.0]);
        scaling.apply(&mut other);
        assert_eq!(other.values(), [0.0, 0.0]);
        let mut words = dense(2, &[0.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0]);
        assert_eq!(FeatureNorm::Auto.apply(&mut words), Scaling::Rows);
        let mut signal = dense(2, &[0.5, -1.5, 2.0, 0.25]);
        assert_eq!(FeatureNorm::Auto.apply(&mut signal), Scaling::None);
        let mut constant = dense(2, &[7.0, 1.0, 7.0, 2.0]);
        assert!(matches!(FeatureNorm::Standard.apply(&mut constant), Scaling::Standard { .. }));
        assert_eq!(constant.values(), [0.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn moments_of_sparse_features_count_zeros() {
        let entries = [(0usize, 1u32, 3.0f32), (2, 0, -1.0), (2, 1, 6.0)];
        let sparse = SparseMatrix::from_triplets(3, 2, entries.into_iter()).unwrap();
        let whole = Features::Dense(sparse.to_dense());
        let (mean, std) = Features::Sparse(sparse).moments();
        let (expected_mean, expected_std) = whole.moments();
        for (a, b) in mean.iter().chain(&std).zip(expected_mean.iter().chain(&expected_std)) {
            assert!((a - b).abs() < 1e-12, "{a} {b}");
        }
    }
}
