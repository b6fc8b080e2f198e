//! `Tunable`: a setting of a model that a search may change, with the values worth trying.

use serde_json::Value;

/// A setting and the values that a search tries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tunable {
    /// The setting.
    pub key: &'static str,
    /// What it may be.
    pub values: Values,
}

/// Values of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Values {
    /// Whole numbers.
    Whole(&'static [u32]),
    /// Numbers.
    Numbers(&'static [f64]),
    /// Words.
    Words(&'static [&'static str]),
    /// Words that are tried where the setting is left open, as `auto`.
    Open(&'static [&'static str]),
    /// Yes or no.
    Flag,
}

impl Values {
    /// The values as they are written in a configuration.
    pub fn list(self) -> Vec<Value> {
        match self {
            Self::Whole(values) => values.iter().map(|&value| value.into()).collect(),
            Self::Numbers(values) => values.iter().map(|&value| value.into()).collect(),
            Self::Words(values) | Self::Open(values) => {
                values.iter().map(|&value| value.into()).collect()
            }
            Self::Flag => vec![false.into(), true.into()],
        }
    }
}

impl Tunable {
    /// Width of the hidden layers.
    pub const HIDDEN: Self = whole("hidden", &[16, 32, 64, 128, 256]);
    /// Share of a layer left out in training.
    pub const DROPOUT: Self = numbers("dropout", &[0.0, 0.2, 0.4, 0.5, 0.6, 0.8]);
    /// Number of layers.
    pub const LAYERS: Self = whole("layers", &[1, 2, 3, 4]);
    /// The highest polynomial of a layer.
    pub const LAYER_ORDER: Self = whole("order", &[1, 2, 3]);
    /// Share of edges out against edges in, or of a restart.
    pub const SHARE: Self = numbers("alpha", &[0.0, 0.25, 0.5, 0.75, 1.0]);
    /// A restart probability.
    pub const RESTART: Self = numbers("alpha", &[0.05, 0.1, 0.2, 0.5, 0.9]);
    /// Whether rows are scaled to norm 1.
    pub const NORMALIZE_ROWS: Self = Self { key: "normalize_rows", values: Values::Flag };
}

/// A setting with whole numbers.
pub const fn whole(key: &'static str, values: &'static [u32]) -> Tunable {
    Tunable { key, values: Values::Whole(values) }
}

/// A setting with numbers.
pub const fn numbers(key: &'static str, values: &'static [f64]) -> Tunable {
    Tunable { key, values: Values::Numbers(values) }
}
