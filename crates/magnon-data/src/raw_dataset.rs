//! `Raw`: what a reader found, before any policy about loops, duplicates or scaling.

use super::allocate::{collect, reserve};
use super::numpy::Sparse;
use super::table::is_missing;
use super::weights::Beyond;
use super::{DataError, Features, FirstEdge, Labels, NodeNames, Reading, Split};
use magnon_core::graph::Built;

/// What a reader found.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    /// The file of the edges, for errors.
    pub(crate) file: String,
    /// Edges as source and target.
    pub(crate) edges: Vec<(u32, u32)>,
    /// A weight for each edge, where the file has weights, even if all are 1.
    pub(crate) weights: Option<Vec<f32>>,
    /// The graph, where it came whole; there are no edges then.
    pub(crate) built: Option<Built>,
    /// Weights that single precision cannot hold; they are 0 above.
    pub(crate) beyond: Beyond,
    /// Whether single precision has changed a weight.
    pub(crate) rounded: bool,
    /// Number of nodes.
    pub(crate) nodes: usize,
    pub(crate) features: Option<Features>,
    /// The file of the features, where it is not that of the edges.
    pub(crate) features_file: Option<String>,
    /// The file of the labels, where it is not that of the edges.
    pub(crate) labels_file: Option<String>,
    pub(crate) labels: Option<Labels>,
    pub(crate) splits: Vec<Split>,
    /// The nodes' names, where they are not simply 0, 1, 2….
    pub(crate) node_names: Option<NodeNames>,
    /// What was taken for what.
    pub(crate) reading: Reading,
    /// What a user should know.
    pub(crate) remarks: Vec<String>,
}

impl Raw {
    /// The graph of a square matrix whose entry (i, j) is the edge i → j.
    pub(crate) fn from_matrix(file: &str, matrix: Sparse) -> Result<Self, DataError> {
        let (rows, cols) = (matrix.rows(), matrix.cols());
        if rows != cols {
            let problem = format!("a graph needs a square matrix, but this one is {rows} x {cols}");
            return Err(DataError::format(file, problem));
        }
        let rounded = matrix.rounded;
        let edges = matrix.into_edges(file)?;
        let (weights, edges) = (Some(edges.weights), edges.pairs);
        let file = file.to_owned();
        Ok(Self { file, edges, weights, rounded, nodes: rows, ..Self::default() })
    }

    /// Leaves out edges of weight 0; all but so many of them are zeros that the file has.
    pub(super) fn drop_zeros(&mut self, vanished: usize) {
        let Some(weights) = self.weights.as_mut().filter(|weights| weights.contains(&0.0)) else {
            return;
        };
        let before = weights.len();
        let mut kept = weights.iter().map(|&weight| weight != 0.0);
        self.edges.retain(|_| kept.next().unwrap_or(true));
        weights.retain(|&weight| weight != 0.0);
        let zeros = before - weights.len() - vanished;
        if zeros > 0 {
            self.remarks.push(format!("{zeros} edges of weight 0 were left out of the graph"));
        }
    }

    /// The first edge, by the names of its nodes.
    pub(crate) fn first_edge(&self) -> Option<FirstEdge> {
        let &(source, target) = self.edges.first()?;
        let weight = self.weights.as_ref().and_then(|weights| weights.first().copied());
        Some(FirstEdge { source: self.name(source), target: self.name(target), weight })
    }

    /// What a node is called.
    pub(super) fn name(&self, node: u32) -> String {
        let name = self.node_names.as_ref().and_then(|names| names.name(node as usize));
        name.map_or_else(|| node.to_string(), |name| name.into_owned())
    }

    /// Turns every edge round, and says why.
    pub(crate) fn turn(&mut self, reason: &str) {
        for edge in &mut self.edges {
            *edge = (edge.1, edge.0);
        }
        self.remarks.push(reason.to_owned());
    }
}

/// Whether the number that was read from `text` is another than what stands there, in digits: 0.1 is
/// kept, though no binary number is 0.1, and 0.123456789 is not.
pub(crate) fn loses_digits(text: &str, number: f32) -> bool {
    // Six digits always come back.
    let long = text.len() > 6;
    long && number.to_string().parse::<f64>() != text.parse::<f64>()
}

/// Whether single precision changes a number beyond what its digits say: 0.1 is kept, 1/3 is not.
pub(crate) fn loses_double(number: f64) -> bool {
    loses_digits(&number.to_string(), number as f32)
}

/// Refuses a count that is claimed, but out of all proportion to the `bytes` that are there: memory
/// is needed for each one.
pub(crate) fn check_count(
    file: &str,
    what: &str,
    claimed: u64,
    bytes: u64,
) -> Result<usize, DataError> {
    let limit = bytes.saturating_mul(64).saturating_add(1 << 22).min(u64::from(u32::MAX));
    if claimed > limit {
        let problem = format!("claims {claimed} {what}, too many for its {bytes} bytes");
        return Err(DataError::format(file, problem));
    }
    Ok(claimed as usize)
}

impl Labels {
    /// Labels from numbers: the distinct numbers in ascending order are the classes.
    pub(crate) fn from_numbers(numbers: &[Option<i64>], file: &str) -> Result<Self, DataError> {
        let mut distinct = Vec::new();
        reserve(&mut distinct, numbers.len(), file)?;
        distinct.extend(numbers.iter().flatten().copied());
        distinct.sort_unstable();
        distinct.dedup();
        let class = |number: i64| distinct.binary_search(&number).ok().map(|class| class as u32);
        let classes = collect(numbers.iter().map(|number| number.and_then(class)), file)?;
        let names = collect(distinct.iter().map(i64::to_string), file)?;
        Ok(Self { classes, names })
    }

    /// Labels from words: the distinct words in alphabetical order are the classes.
    pub(crate) fn from_words<W: AsRef<str>>(
        words: &[Option<W>],
        file: &str,
    ) -> Result<Self, DataError> {
        let mut distinct: Vec<&str> = Vec::new();
        reserve(&mut distinct, words.len(), file)?;
        distinct.extend(words.iter().flatten().map(AsRef::as_ref));
        distinct.sort_unstable();
        distinct.dedup();
        let class =
            |word: &W| distinct.binary_search(&word.as_ref()).ok().map(|class| class as u32);
        let classes = collect(words.iter().map(|word| word.as_ref().and_then(class)), file)?;
        let names = collect(distinct.iter().map(|&name| name.to_owned()), file)?;
        Ok(Self { classes, names })
    }

    /// Labels from texts: numbers where all of them are whole, else words.
    pub(crate) fn from_texts<W: AsRef<str>>(
        texts: &[Option<W>],
        file: &str,
    ) -> Result<Self, DataError> {
        let whole = |text: &W| {
            let text = text.as_ref();
            text.strip_suffix(".0").unwrap_or(text).parse::<i64>().ok()
        };
        if texts.iter().flatten().all(|text| whole(text).is_some()) {
            let numbers = texts.iter().map(|text| text.as_ref().and_then(whole));
            return Self::from_numbers(&collect(numbers, file)?, file);
        }
        Self::from_words(texts, file)
    }

    /// Takes classes away that stand for no label: −1, `?`, `None`, `NA`, `nan` and the words of
    /// `further`; gives back the first of them. Where −1 and 1 are the only classes, −1 is one.
    pub(crate) fn drop_missing(&mut self, further: &[String]) -> Option<String> {
        let minus = self.names.len() > 2;
        let stands_for_none = |name: &String| {
            (minus && name == "-1") || is_missing(name.as_bytes()) || further.contains(name)
        };
        let dropped: Vec<bool> = self.names.iter().map(stands_for_none).collect();
        let first = dropped.iter().position(|dropped| *dropped)?;
        let word = self.names.get(first).cloned();
        let mut next = 0;
        let new: Vec<Option<u32>> = dropped
            .iter()
            .map(|dropped| {
                (!dropped).then(|| {
                    next += 1;
                    next - 1
                })
            })
            .collect();
        for class in &mut self.classes {
            *class = class.and_then(|class| new.get(class as usize).copied().flatten());
        }
        let mut kept = dropped.iter().map(|dropped| !dropped);
        self.names.retain(|_| kept.next().unwrap_or(true));
        word
    }

    /// Labels that number `names`; a number without a name is an error, `None` is no label.
    pub(crate) fn from_named(
        file: &str,
        numbers: &[i64],
        names: Vec<String>,
    ) -> Result<Self, DataError> {
        let class = |(node, &number): (usize, &i64)| {
            let class = u32::try_from(number).ok().filter(|&c| (c as usize) < names.len());
            class.map(Some).ok_or_else(|| {
                let problem = format!(
                    "node {node} has the class {number}, but there are {} class names",
                    names.len()
                );
                DataError::format(file, problem)
            })
        };
        let mut classes = Vec::new();
        reserve(&mut classes, numbers.len(), file)?;
        for labelled in numbers.iter().enumerate() {
            classes.push(class(labelled)?);
        }
        Ok(Self { classes, names })
    }
}

impl Split {
    /// A split of three lists in any order.
    pub(crate) fn from_lists(mut train: Vec<u32>, mut val: Vec<u32>, mut test: Vec<u32>) -> Self {
        train.sort_unstable();
        val.sort_unstable();
        test.sort_unstable();
        Self { train, val, test }
    }

    /// A split of a column that says train, val or test.
    pub(crate) fn from_parts<W: AsRef<str>>(parts: &[Option<W>]) -> Self {
        let nodes = |starts: &[&str]| -> Vec<u32> {
            let fits = |part: &str| {
                let part = part.to_lowercase();
                starts.iter().any(|start| part.starts_with(start))
            };
            let of = |(part, node): (&Option<W>, u32)| {
                part.as_ref().is_some_and(|part| fits(part.as_ref())).then_some(node)
            };
            parts.iter().zip(0..).filter_map(of).collect()
        };
        Self { train: nodes(&["train"]), val: nodes(&["val", "dev"]), test: nodes(&["test"]) }
    }

    /// A split of three masks over the nodes.
    pub(crate) fn from_masks(train: &[bool], val: &[bool], test: &[bool]) -> Self {
        let nodes = |mask: &[bool]| {
            mask.iter().enumerate().filter(|(_, set)| **set).map(|(node, _)| node as u32).collect()
        };
        Self { train: nodes(train), val: nodes(val), test: nodes(test) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sorted() {
        let labels = Labels::from_numbers(&[Some(7), None, Some(-1), Some(7)], "f").unwrap();
        assert_eq!(labels.classes, [Some(1), None, Some(0), Some(1)]);
        assert_eq!(labels.names, ["-1", "7"]);
        let labels = Labels::from_words(&[Some("b"), Some("a"), None], "f").unwrap();
        assert_eq!(labels.classes, [Some(1), Some(0), None]);
    }

    #[test]
    fn labels_that_stand_for_none() {
        let of = |texts: &[&str], further: &[&str]| {
            let texts: Vec<Option<&str>> = texts.iter().copied().map(Some).collect();
            let mut labels = Labels::from_texts(&texts, "f").unwrap();
            let further: Vec<String> = further.iter().map(|&word| word.to_owned()).collect();
            labels.drop_missing(&further);
            (labels.names, labels.classes)
        };
        let names = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
        assert_eq!(
            of(&["2", "-1", "0.0", "2"], &[]),
            (names(&["0", "2"]), vec![Some(1), None, Some(0), Some(1)])
        );
        assert_eq!(of(&["-1", "1"], &[]), (names(&["-1", "1"]), vec![Some(0), Some(1)]));
        let (classes, _) = of(&["a", "None", "?", "b", "unknown"], &["unknown"]);
        assert_eq!(classes, ["a", "b"]);
    }

    #[test]
    fn digits_are_lost_beyond_single_precision() {
        for (text, lost) in [
            ("0.1", false),
            ("1e-3", false),
            ("-2.50000000", false),
            ("0.1234567", false),
            ("16777216", false),
            ("16777217", true),
            ("0.123456789", true),
            ("3.141592653589793", true),
        ] {
            assert_eq!(loses_digits(text, text.parse().unwrap()), lost, "{text}");
        }
    }

    #[test]
    fn classes_without_a_name_are_refused() {
        assert!(Labels::from_named("f", &[0, 2], vec!["a".into(), "b".into()]).is_err());
    }
}
