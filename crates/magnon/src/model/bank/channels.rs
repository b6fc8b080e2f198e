//! `Channels`: those of a bank, given or left open.

use super::channel::Channel;
use crate::graph::DiGraph;
use crate::model::Inputs;
use crate::operator::Along;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The channels of a bank.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Channels {
    /// By the data.
    #[default]
    Auto,
    /// These.
    Given(Vec<Channel>),
}

impl Channels {
    /// The channels that are meant on a graph.
    pub(super) fn resolve(&self, inputs: &Inputs) -> Vec<Channel> {
        match self {
            Self::Given(channels) => channels.clone(),
            Self::Auto => suited(inputs.graph).pop().unwrap_or_default(),
        }
    }
}

/// Nodes up to which weights for each of them are worth a try.
const NODES: usize = 200_000;

/// Banks that suit a graph; the richest is the last.
pub(super) fn suited(graph: &DiGraph) -> Vec<Vec<Channel>> {
    use Along::{In, Out};
    let words: &[&[Along]] = match graph.is_symmetric() {
        true => &[&[Out], &[Out, Out]],
        false => &[&[Out], &[In], &[Out, Out], &[Out, In], &[In, Out], &[In, In]],
    };
    let walks: Vec<Channel> = std::iter::once(Channel::Features)
        .chain(words.iter().map(|word| Channel::Steps(word.to_vec())))
        .collect();
    let mut banks = vec![vec![Channel::low_pass(64)], vec![Channel::low_pass(8)], walks.clone()];
    if graph.nodes() <= NODES {
        let single = words.iter().filter(|word| word.len() == 1);
        let rows = single.map(|word| Channel::Rows(word.to_vec()));
        banks.push(walks.into_iter().chain(rows).collect());
    }
    banks
}

impl Serialize for Channels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => "auto".serialize(serializer),
            Self::Given(channels) => channels.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Channels {
    /// From `"auto"`, a list of channels, or one text with commas between them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let channels = match Value::deserialize(deserializer)? {
            Value::String(text) if text == "auto" => return Ok(Self::Auto),
            Value::String(text) => Channel::list(&text).map_err(D::Error::custom)?,
            list => serde_json::from_value(list).map_err(D::Error::custom)?,
        };
        match channels.len() {
            0 => Err(D::Error::custom("a bank needs a channel, such as x")),
            1..=256 => Ok(Self::Given(channels)),
            more => Err(D::Error::custom(format!("{more} channels; at most 256 are taken"))),
        }
    }
}
