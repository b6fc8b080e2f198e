//! Splits of the nodes into training, validation and test parts.

use super::Labels;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// One part of a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Nodes whose labels are learnt from.
    Train,
    /// Nodes that decide when to stop and what to choose.
    Val,
    /// Nodes that are only measured.
    Test,
}

/// Index sets of the three parts, each ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// Training nodes.
    pub train: Vec<u32>,
    /// Validation nodes.
    pub val: Vec<u32>,
    /// Test nodes.
    pub test: Vec<u32>,
}

/// Why a split cannot be had.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum SplitError {
    /// A node is outside of the graph.
    #[error("the split names node {node}, but the graph has {nodes} nodes")]
    OutOfRange {
        /// The node.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// A node is in two parts, or twice in one.
    #[error("the split names node {0} more than once; parts must not overlap")]
    Overlap(u32),
    /// The k-th split does not exist.
    #[error("split {asked} was asked for, but the data has {found} split(s), numbered from 0")]
    NoSuchSplit {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        found: usize,
    },
    /// The data has no split.
    #[error("the data has no split of its own; ask for a random one, for example 60/20/20")]
    NoneGiven,
    /// A random split draws per class and needs labels.
    #[error("a random split draws from each class, but the data has no labels")]
    NoLabels,
    /// No class is large enough for its share.
    #[error("the split has no training node; the classes are too small for such a percentage")]
    NoTraining,
    /// The text is not a split.
    #[error(
        "'{0}' is not a split; write given, given:K, three percentages such as 60/20/20, or nodes such as \
         20x/500: 20 of each class to train on, 500 to validate, the others to test"
    )]
    Syntax(String),
    /// Percentages must make sense.
    #[error(
        "the percentages {0}/{1}/{2} must each be at least 0, the first above 0, and sum to at most 100"
    )]
    Percentages(f64, f64, f64),
}

impl Split {
    /// The nodes of one part.
    pub fn part(&self, part: Part) -> &[u32] {
        match part {
            Part::Train => &self.train,
            Part::Val => &self.val,
            Part::Test => &self.test,
        }
    }

    /// Checks that all nodes exist and no node is named twice.
    pub fn check(&self, nodes: usize) -> Result<(), SplitError> {
        let mut seen = vec![false; nodes];
        for &node in [&self.train, &self.val, &self.test].into_iter().flatten() {
            match seen.get_mut(node as usize) {
                None => return Err(SplitError::OutOfRange { node, nodes }),
                Some(true) => return Err(SplitError::Overlap(node)),
                Some(mark) => *mark = true,
            }
        }
        Ok(())
    }

    /// Draws `train` nodes of each class, then `val` of those left, then `test` or all that are left, shuffled by
    /// `seed`. Nodes without a label are in no part; a class with fewer nodes gives them all.
    pub fn per_class(
        labels: &Labels,
        train: usize,
        val: usize,
        test: Option<usize>,
        seed: u64,
    ) -> Self {
        let mut nodes: Vec<u32> = (0..labels.classes.len() as u32).collect();
        nodes.retain(|&node| labels.classes[node as usize].is_some());
        nodes.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        let mut taken = vec![0; labels.names.len()];
        let mut split = Self::default();
        for node in nodes {
            let Some(class) = labels.classes[node as usize] else { continue };
            if taken[class as usize] < train {
                taken[class as usize] += 1;
                split.train.push(node);
            } else if split.val.len() < val {
                split.val.push(node);
            } else if test.is_none_or(|most| split.test.len() < most) {
                split.test.push(node);
            }
        }
        split.train.sort_unstable();
        split.val.sort_unstable();
        split.test.sort_unstable();
        split
    }

    /// Draws `train`/`val`/`test` per cent of each class, shuffled by `seed`.
    ///
    /// Shares of a class are rounded to the nearest node. Where the percentages sum to 100 the
    /// test part takes what is left, so that every labelled node is in one part. Nodes without a
    /// label are in none.
    pub fn random(labels: &Labels, percent: [f64; 3], seed: u64) -> Self {
        let mut members = vec![Vec::new(); labels.names.len()];
        for (node, class) in labels.classes.iter().enumerate() {
            if let Some(class) = class {
                members[*class as usize].push(node as u32);
            }
        }
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut split = Self::default();
        for mut nodes in members {
            nodes.shuffle(&mut rng);
            let n = nodes.len();
            let share = |sum: f64| (((sum / 100.0) * n as f64).round() as usize).min(n);
            let train = share(percent[0]);
            let val = share(percent[0] + percent[1]);
            let test = share(percent.iter().sum());
            split.train.extend(&nodes[..train]);
            split.val.extend(&nodes[train..val]);
            split.test.extend(&nodes[val..test]);
        }
        split.train.sort_unstable();
        split.val.sort_unstable();
        split.test.sort_unstable();
        split
    }
}

/// Which split to use: one that came with the data, or a random one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SplitChoice {
    /// The k-th split of the data, counted from 0.
    Given(usize),
    /// Percentages of each class for training, validation and test.
    Random([f64; 3]),
    /// So many nodes of each class for training, and so many for validation and test.
    PerClass {
        /// Training nodes of each class.
        train: usize,
        /// Validation nodes, of all classes.
        val: usize,
        /// Test nodes; all that are left where there is no number.
        test: Option<usize>,
    },
}

impl SplitChoice {
    /// Whether it is drawn, and not one of the data.
    pub fn is_drawn(self) -> bool {
        !matches!(self, Self::Given(_))
    }
}

impl Default for SplitChoice {
    fn default() -> Self {
        Self::Given(0)
    }
}

impl FromStr for SplitChoice {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let syntax = || SplitError::Syntax(text.to_owned());
        if text == "given" {
            return Ok(Self::Given(0));
        }
        if let Some(k) = text.strip_prefix("given:") {
            return k.parse().map(Self::Given).map_err(|_| syntax());
        }
        if let Some((train, rest)) = text.split_once("x/") {
            let (val, test) = match rest.split_once('/') {
                Some((val, test)) => (val, Some(test)),
                None => (rest, None),
            };
            let number = |text: &str| text.parse().ok().filter(|&number: &usize| number > 0);
            let numbers = number(train).zip(number(val)).ok_or_else(syntax)?;
            let test = test.map(|test| number(test).ok_or_else(syntax)).transpose()?;
            return Ok(Self::PerClass { train: numbers.0, val: numbers.1, test });
        }
        let shares: Vec<f64> =
            text.split('/').map(str::parse).collect::<Result<_, _>>().map_err(|_| syntax())?;
        let [train, val, test] = shares[..] else { return Err(syntax()) };
        let sum = train + val + test;
        if train > 0.0 && val >= 0.0 && test >= 0.0 && sum <= 100.0 + 1e-9 {
            Ok(Self::Random([train, val, test]))
        } else {
            Err(SplitError::Percentages(train, val, test))
        }
    }
}

impl TryFrom<String> for SplitChoice {
    type Error = SplitError;

    fn try_from(text: String) -> Result<Self, SplitError> {
        text.parse()
    }
}

impl From<SplitChoice> for String {
    fn from(choice: SplitChoice) -> Self {
        match choice {
            SplitChoice::Given(k) => format!("given:{k}"),
            SplitChoice::Random([train, val, test]) => format!("{train}/{val}/{test}"),
            SplitChoice::PerClass { train, val, test } => match test {
                Some(test) => format!("{train}x/{val}/{test}"),
                None => format!("{train}x/{val}"),
            },
        }
    }
}

impl SplitChoice {
    /// The choice of the `number`-th of several runs over splits: the next one of the data, or
    /// the same percentages, which are drawn with another seed.
    pub fn shifted(self, number: usize) -> Self {
        match self {
            Self::Given(k) => Self::Given(k + number),
            random => random,
        }
    }

    /// The split, from those `given` with the data or drawn with `seed`.
    pub fn choose(
        self,
        given: &[Split],
        labels: Option<&Labels>,
        seed: u64,
    ) -> Result<Split, SplitError> {
        match self {
            Self::Given(_) if given.is_empty() => Err(SplitError::NoneGiven),
            Self::Given(asked) => given
                .get(asked)
                .cloned()
                .ok_or(SplitError::NoSuchSplit { asked, found: given.len() }),
            Self::Random(percent) => {
                let labels = labels.ok_or(SplitError::NoLabels)?;
                let split = Split::random(labels, percent, seed);
                if split.train.is_empty() { Err(SplitError::NoTraining) } else { Ok(split) }
            }
            Self::PerClass { train, val, test } => {
                let labels = labels.ok_or(SplitError::NoLabels)?;
                Ok(Split::per_class(labels, train, val, test, seed))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels() -> Labels {
        let classes = (0..100).map(|i| if i == 7 { None } else { Some(u32::from(i >= 50)) });
        Labels { classes: classes.collect(), names: vec!["a".into(), "b".into()] }
    }

    #[test]
    fn random_splits_draw_from_each_class() {
        let split = Split::random(&labels(), [60.0, 20.0, 20.0], 3);
        split.check(100).unwrap();
        assert_eq!(split.train.len() + split.val.len() + split.test.len(), 99);
        assert_eq!(split.train.iter().filter(|&&v| v >= 50).count(), 30);
        assert_eq!(split, Split::random(&labels(), [60.0, 20.0, 20.0], 3));
        assert_ne!(split, Split::random(&labels(), [60.0, 20.0, 20.0], 4));
    }

    #[test]
    fn so_many_of_each_class() {
        let split = Split::per_class(&labels(), 20, 30, None, 5);
        split.check(100).unwrap();
        let first = split.train.iter().filter(|&&node| node < 50).count();
        assert_eq!((split.train.len(), first, split.val.len()), (40, 20, 30));
        assert_eq!(split.test.len(), 29); // node 7 has no label
        assert_eq!(Split::per_class(&labels(), 20, 30, Some(10), 5).test.len(), 10);
        assert_ne!(split, Split::per_class(&labels(), 20, 30, None, 6));
        // A class of 49 nodes gives them all.
        assert_eq!(Split::per_class(&labels(), 60, 1, None, 5).train.len(), 99);
    }

    #[test]
    fn choices_are_parsed() {
        assert_eq!("given".parse(), Ok(SplitChoice::Given(0)));
        assert_eq!("given:3".parse(), Ok(SplitChoice::Given(3)));
        assert_eq!("5/10/85".parse(), Ok(SplitChoice::Random([5.0, 10.0, 85.0])));
        let counts = SplitChoice::PerClass { train: 20, val: 500, test: None };
        assert_eq!("20x/500".parse(), Ok(counts));
        assert_eq!(String::from(counts), "20x/500");
        let counts = SplitChoice::PerClass { train: 20, val: 500, test: Some(1000) };
        assert_eq!(String::from(counts).parse(), Ok(counts));
        assert!("0x/500".parse::<SplitChoice>().is_err());
        assert!("20x/".parse::<SplitChoice>().is_err());
        assert!("60/20".parse::<SplitChoice>().is_err());
        assert!("60/30/20".parse::<SplitChoice>().is_err());
        assert!("NaN/1/2".parse::<SplitChoice>().is_err());
    }

    #[test]
    fn overlaps_and_strangers_are_refused() {
        let split = Split { train: vec![0, 1], val: vec![1], test: vec![] };
        assert_eq!(split.check(3), Err(SplitError::Overlap(1)));
        assert_eq!(split.check(1), Err(SplitError::OutOfRange { node: 1, nodes: 1 }));
    }
}
