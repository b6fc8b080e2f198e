//! The settings that a search changes, and the values that it tries.

use crate::Error;
use crate::cycles::ChargeAdvice;
use crate::filter::FILTERS;
use crate::model::{ChargeChoice, KindChoice, PassChoice, Values};
use crate::train::RunConfig;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde_json::{Value, json};

/// One setting, and the values that are tried.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dimension {
    /// What it is called.
    pub name: String,
    /// Where it stands in a configuration, as a JSON pointer.
    pub path: String,
    /// The values.
    pub values: Vec<Value>,
}

/// Learning rates that are tried.
const RATES: [f64; 6] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05];
/// Strengths of the decay that are tried.
const DECAYS: [f64; 6] = [0.0, 1e-5, 1e-4, 5e-4, 1e-3, 5e-3];
/// Orders of a filter that are tried.
const ORDERS: [u32; 7] = [1, 2, 3, 4, 8, 12, 16];
/// α of personalised PageRank.
const ALPHAS: [f64; 6] = [0.1, 0.3, 0.5, 0.7, 0.9, 0.95];

/// The space of a model: its own settings, training, and what it leaves open of operator and filter. What
/// is fixed in the configuration (a charge, a pass) stays.
pub(super) fn space(base: &RunConfig, advice: Option<&ChargeAdvice>) -> Vec<Dimension> {
    let mut space = Vec::new();
    let mut add = |name: &str, path: String, values: Vec<Value>| {
        if values.len() > 1 {
            space.push(Dimension { name: name.to_owned(), path, values });
        }
    };
    let numbers = |values: &[f64]| values.iter().map(|&value| json!(value)).collect::<Vec<_>>();
    for tunable in base.model.info().tunable {
        let is_open = || base.model.settings().get(tunable.key) == Some(&json!("auto"));
        if matches!(tunable.values, Values::Open(_)) && !is_open() {
            continue;
        }
        add(tunable.key, format!("/model/{}", tunable.key), tunable.values.list());
    }
    if let Some(operator) = &base.operator {
        if let (ChargeChoice::Auto, Some(advice)) = (operator.charge, advice) {
            let charges = advice.candidates.iter().map(|of| json!(of.charge.to_string()));
            add("charge", "/operator/charge".to_owned(), charges.collect());
        }
        if operator.kind == KindChoice::Adjacency && operator.pass == PassChoice::Auto {
            let passes = vec![json!("low"), json!("high")];
            add("pass", "/operator/pass".to_owned(), passes);
        }
    }
    for &parameter in base.filter.as_ref().map_or(&[][..], |of| of.kind.entry().searched) {
        match parameter {
            "kind" => {
                let open = FILTERS.iter().filter(|entry| entry.searched.contains(&"kind"));
                let kinds = open.map(|entry| json!(entry.name)).collect();
                add("filter", "/filter/kind".to_owned(), kinds);
            }
            "order" => {
                add("order", "/filter/order".to_owned(), ORDERS.map(|k| json!(k)).to_vec());
            }
            _ => add("alpha", "/filter/alpha".to_owned(), numbers(&ALPHAS)),
        }
    }
    add("rate", "/train/optimiser/rate".to_owned(), numbers(&RATES));
    add("weight_decay", "/train/optimiser/weight_decay".to_owned(), numbers(&DECAYS));
    space
}

/// A value for each dimension, drawn.
pub(super) fn draw(space: &[Dimension], rng: &mut ChaCha8Rng) -> Vec<Value> {
    let one = |dimension: &Dimension| {
        dimension.values[rng.random_range(0..dimension.values.len())].clone()
    };
    space.iter().map(one).collect()
}

/// The values that a configuration has.
pub(super) fn values(space: &[Dimension], config: &RunConfig) -> Vec<Value> {
    let whole = serde_json::to_value(config).unwrap_or(Value::Null);
    space.iter().map(|of| whole.pointer(&of.path).cloned().unwrap_or(Value::Null)).collect()
}

/// The configuration with other values.
pub(super) fn apply(
    space: &[Dimension],
    base: &RunConfig,
    values: &[Value],
) -> Result<RunConfig, Error> {
    let broken = |error: serde_json::Error| Error::Argument(error.to_string());
    let mut whole = serde_json::to_value(base).map_err(broken)?;
    for (dimension, value) in space.iter().zip(values) {
        if let Some(place) = whole.pointer_mut(&dimension.path) {
            *place = value.clone();
        }
    }
    let config: RunConfig = serde_json::from_value(whole).map_err(broken)?;
    config.check()?;
    Ok(config)
}

/// Whether the operator of a configuration has a phase, so that its network is complex.
pub(super) fn is_complex(config: &RunConfig) -> bool {
    match config.operator.map(|operator| operator.charge) {
        Some(ChargeChoice::Fixed(charge)) => charge.value() != 0.0 && charge.value() != 0.5,
        _ => false,
    }
}
