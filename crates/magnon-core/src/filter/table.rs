//! The table of filters.

use super::{Filter, FilterConfig, FilterError};
use crate::operator::{Bounds, Kind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a filter is, which parameters of [`FilterConfig`] it has, and how it is built.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FilterEntry {
    /// Its name on the command line and in files.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// The parameters that it has.
    pub parameters: &'static [&'static str],
    /// The order K where none is given; `None` where the filter needs none.
    pub order: Option<usize>,
    /// The parameters that a search for better settings changes. With `kind`, it tries the other filters that have it,
    /// too.
    pub searched: &'static [&'static str],
    pub(super) build: Build,
    /// K steps of the iteration that the filter is the limit of, where that is another polynomial than its series cut
    /// at K.
    pub(super) iterate: Option<Build>,
}

/// Builds a filter from a checked configuration, for an operator of a kind with its spectrum in an interval.
pub(super) type Build = fn(&FilterConfig, Bounds, Kind) -> Result<Filter, FilterError>;

impl FilterEntry {
    /// An entry with no parameters; files add what their filter has.
    pub(super) const fn new(name: &'static str, summary: &'static str, build: Build) -> Self {
        let (parameters, searched): (&[&str], &[&str]) = (&[], &[]);
        Self { name, summary, parameters, order: None, searched, build, iterate: None }
    }
}

/// Makes the enum of all filters and the table of what they are.
macro_rules! filters {
    ($($kind:ident => $module:ident),* $(,)?) => {
        /// The name of one of the [`FILTERS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // each is documented by its entry
        #[non_exhaustive]
        pub enum FilterKind {
            $($kind),*
        }

        /// The filters.
        pub const FILTERS: &[FilterEntry] = &[$(super::$module::ENTRY),*];

        const NAMES: &[&str] = &[$(super::$module::ENTRY.name),*];

        impl FilterKind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];
        }
    };
}

filters! {
    LinearRank => linear_rank,
    Markov => markov,
    Ppr => page_rank,
    Heat => heat,
    Chebyshev => chebyshev,
    Bernstein => bernstein,
    Arma => arma,
    Polynomial => polynomial,
    Power => power,
}

/// LinearRank, the filter of the paper.
impl Default for FilterKind {
    fn default() -> Self {
        Self::LinearRank
    }
}

impl FilterKind {
    /// What the filter is.
    pub fn entry(self) -> &'static FilterEntry {
        &FILTERS[self as usize]
    }

    /// The name, as on the command line.
    pub fn name(self) -> &'static str {
        self.entry().name
    }
}

impl Serialize for FilterKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for FilterKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Self::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| D::Error::unknown_variant(&name, NAMES))
    }
}

#[cfg(feature = "clap")]
impl clap::ValueEnum for FilterKind {
    fn value_variants<'a>() -> &'a [Self] {
        Self::ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let entry = self.entry();
        Some(clap::builder::PossibleValue::new(entry.name).help(entry.summary))
    }
}
