//! `Channels`: those of a bank, given or left open.

use super::channel::Channel;
use crate::model::Inputs;
use magnon_core::graph::DiGraph;
use magnon_core::operator::Along;
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
            Self::Auto => walks_and_rows(inputs.graph).unwrap_or_else(|| walks(inputs.graph)),
        }
    }
}

/// Nodes up to which weights for each of them are worth a try.
const NODES: usize = 200_000;

/// The words of one and two steps that differ on a graph.
fn words(graph: &DiGraph) -> &'static [&'static [Along]] {
    use Along::{In, Out};
    match graph.is_symmetric() {
        true => &[&[Out], &[Out, Out]],
        false => &[&[Out], &[In], &[Out, Out], &[Out, In], &[In, Out], &[In, In]],
    }
}

/// The features, and all words of one and two steps.
pub(super) fn walks(graph: &DiGraph) -> Vec<Channel> {
    let walks = words(graph).iter().map(|word| Channel::Steps(word.to_vec()));
    std::iter::once(Channel::Features).chain(walks).collect()
}

/// The same with the rows of the adjacency, where the graph is not too large for them.
pub(super) fn walks_and_rows(graph: &DiGraph) -> Option<Vec<Channel>> {
    let single = words(graph).iter().filter(|word| word.len() == 1);
    let rows = single.map(|word| Channel::Rows(word.to_vec()));
    (graph.nodes() <= NODES).then(|| walks(graph).into_iter().chain(rows).collect())
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
