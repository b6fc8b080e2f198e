//! `Channel`: one input of a bank, written as a short text.

use magnon_core::filter::{FilterConfig, FilterKind};
use magnon_core::operator::{Along, OperatorConfig};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::str::FromStr;

/// One input of a bank.
///
/// | text | numbers |
/// |---|---|
/// | `x` | the features X |
/// | `out`, `in` | PX, PᵀX with P = D_out^{-1/2} A D_in^{-1/2}: a step along the edges out, or in |
/// | `out.in` | PPᵀX, and so on for any word of steps |
/// | `rows-out`, `rows-in` | the rows of P, or of Pᵀ: which nodes a node points to, or is pointed to by |
/// | `rows-out.in` | the rows of PPᵀ: which nodes point where a node points, and so on for any word |
/// | `FILTER(key=value,…)` | h(S)X with the settings of a filter and of its operator, as in `linear-rank(order=8)` or `power(order=2,charge=1/4,normalize=directed)` |
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Channel {
    /// X.
    Features,
    /// A word of steps over P and Pᵀ, applied from the last to the first.
    Steps(Vec<Along>),
    /// The rows of a word of P and Pᵀ.
    Rows(Vec<Along>),
    /// h(S)X.
    Filter {
        /// S.
        operator: OperatorConfig,
        /// h.
        filter: FilterConfig,
    },
}

/// Most steps of a word.
const LONGEST: usize = 16;

impl Channel {
    /// S^k X, with degrees out and in divided out and no self loops.
    pub fn power(charge: magnon_core::operator::Charge, order: usize) -> Self {
        let normalize = magnon_core::operator::Normalize::Directed;
        let kind = magnon_core::filter::FilterKind::Power;
        Self::Filter {
            operator: OperatorConfig { charge, normalize, self_loops: false, ..Default::default() },
            filter: FilterConfig { kind, order: Some(order), ..Default::default() },
        }
    }

    /// LinearRank of the undirected graph with self loops.
    pub fn low_pass(order: usize) -> Self {
        let filter = FilterConfig { order: Some(order), ..Default::default() };
        Self::Filter { operator: OperatorConfig::default(), filter }
    }

    /// Personalised PageRank of the undirected graph with self loops.
    pub fn page_rank(order: usize) -> Self {
        let filter =
            FilterConfig { kind: FilterKind::Ppr, order: Some(order), ..Default::default() };
        Self::Filter { operator: OperatorConfig::default(), filter }
    }

    /// What it holds, in words.
    pub fn words(&self) -> String {
        let ways = |word: &[Along]| {
            let way = |along: &Along| match along {
                Along::Out => "out",
                Along::In => "in",
            };
            word.iter().map(way).collect::<Vec<_>>().join(", then ")
        };
        match self {
            Self::Features => "the node's own features".to_owned(),
            Self::Steps(word) => match word.len() {
                1 => format!("features of the nodes one step {}", ways(word)),
                steps => format!("features of the nodes {steps} steps away: {}", ways(word)),
            },
            Self::Rows(word) => match word.len() {
                1 => format!("which nodes are one step {}", ways(word)),
                steps => format!("which nodes are {steps} steps away: {}", ways(word)),
            },
            Self::Filter { operator, filter } => {
                let order = filter.effective_order().map(|k| format!(" of order {k}"));
                let charge = match operator.charge.value() {
                    0.0 => "without direction".to_owned(),
                    _ => format!("charge {}", operator.charge),
                };
                let (name, order) = (filter.kind.name(), order.unwrap_or_default());
                let kind = operator.kind.words();
                format!("features filtered by {name}{order}, {kind}, {charge}")
            }
        }
    }

    /// Channels from a list with commas between them; commas within brackets belong to a channel.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        split(text).into_iter().map(str::parse).collect()
    }
}

impl FromStr for Channel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text == "x" {
            return Ok(Self::Features);
        }
        let (rows, word) = match text.strip_prefix("rows-") {
            Some(word) => (true, word),
            None => (false, text),
        };
        let step = |word: &str| match word {
            "out" => Some(Along::Out),
            "in" => Some(Along::In),
            _ => None,
        };
        if let Some(word) = word.split('.').map(step).collect::<Option<Vec<_>>>() {
            return match word.len() <= LONGEST {
                true if rows => Ok(Self::Rows(word)),
                true => Ok(Self::Steps(word)),
                false => Err(format!("'{text}' has more than {LONGEST} steps")),
            };
        }
        let (name, settings) = match text.split_once('(') {
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(settings) => (name, settings),
                None => return Err(format!("'{text}' lacks its closing bracket")),
            },
            None => (text, ""),
        };
        filtered(text, name.trim(), settings)
    }
}

/// The channel of a filter with settings.
fn filtered(text: &str, name: &str, settings: &str) -> Result<Channel, String> {
    let unknown = || {
        format!(
            "'{text}' is no channel; there are x, out, in and words such as out.in, rows-out, rows-in, and \
             filters such as linear-rank(order=8,charge=1/4)"
        )
    };
    let object = |value: Result<Value, _>| match value {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    };
    let mut operator = object(serde_json::to_value(OperatorConfig::default()));
    let mut filter = object(serde_json::to_value(FilterConfig::default()));
    filter.insert("kind".to_owned(), name.into());
    serde_json::from_value::<FilterConfig>(filter.clone().into()).map_err(|_| unknown())?;
    for setting in split(settings) {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| format!("'{setting}' in '{text}' is no key=value"))?;
        let key = key.trim().replace('-', "_");
        let value = match key.as_str() {
            "charge" => value.trim().into(),
            _ => serde_json::from_str(value.trim()).unwrap_or_else(|_| value.trim().into()),
        };
        // The filter has a kind too, but it is the channel's name.
        let (of_filter, of_operator) =
            (key != "kind" && filter.contains_key(&key), operator.contains_key(&key));
        if !of_filter && !of_operator {
            let keys = filter.keys().chain(operator.keys()).map(String::as_str);
            let near = crate::strict::nearest(&key, keys);
            let hint = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            return Err(format!("'{text}': neither filter nor operator has a '{key}'{hint}"));
        }
        let own = if of_filter { &mut filter } else { &mut operator };
        own.insert(key, value);
    }
    let read = |error: serde_json::Error| format!("'{text}': {error}");
    let operator: OperatorConfig = serde_json::from_value(operator.into()).map_err(read)?;
    let filter: FilterConfig = serde_json::from_value(filter.into()).map_err(read)?;
    Ok(Channel::Filter { operator, filter })
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let way = |along: &Along| match along {
            Along::Out => "out",
            Along::In => "in",
        };
        let word = |steps: &[Along]| steps.iter().map(way).collect::<Vec<_>>().join(".");
        match self {
            Self::Features => f.write_str("x"),
            Self::Steps(steps) => f.write_str(&word(steps)),
            Self::Rows(steps) => write!(f, "rows-{}", word(steps)),
            Self::Filter { operator, filter } => {
                let mut settings = Vec::new();
                let plain = FilterConfig { kind: filter.kind, ..Default::default() };
                settings.extend(changed(&plain, filter));
                settings.extend(changed(&OperatorConfig::default(), operator));
                write!(f, "{}", filter.kind.name())?;
                if settings.is_empty() { Ok(()) } else { write!(f, "({})", settings.join(",")) }
            }
        }
    }
}

/// The settings of `given` that are not as in `plain`, as key=value.
fn changed<T: Serialize>(plain: &T, given: &T) -> Vec<String> {
    let (Ok(Value::Object(plain)), Ok(Value::Object(given))) =
        (serde_json::to_value(plain), serde_json::to_value(given))
    else {
        return Vec::new();
    };
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let other = given.iter().filter(|(key, value)| plain.get(*key) != Some(value));
    other.map(|(key, value)| format!("{key}={}", text(value))).collect()
}

/// The parts between commas that stand in no bracket.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0i32);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => (),
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

impl TryFrom<String> for Channel {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Channel> for String {
    fn from(channel: Channel) -> Self {
        channel.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_they_are_written() {
        for text in [
            "x",
            "out",
            "in.out.in",
            "rows-out",
            "rows-in",
            "rows-in.out",
            "linear-rank",
            "linear-rank(order=4)",
            "power(order=2,charge=1/4,self_loops=false,normalize=directed)",
            "ppr(alpha=0.5,kind=negated-adjacency)",
            "polynomial(coefficients=[0.5,1.0])",
        ] {
            assert_eq!(text.parse::<Channel>().unwrap().to_string(), text);
        }
        let list = Channel::list("x, power(order=2,charge=1/8), out.out").unwrap();
        let texts: Vec<String> = list.iter().map(Channel::to_string).collect();
        assert_eq!(texts, ["x", "power(order=2,charge=1/8)", "out.out"]);
    }

    #[test]
    fn nonsense_is_named() {
        let refused = |text: &str| text.parse::<Channel>().unwrap_err();
        assert!(refused("sideways").contains("'sideways' is no channel; there are x, out, in"));
        assert!(refused("heat(time=2").contains("lacks its closing bracket"));
        assert!(refused("heat(tim=2)").contains("did you mean time?"));
        assert!(refused("power(order)").contains("no key=value"));
        assert!(refused("power(charge=2)").contains("charge"));
        assert!(refused(&["out"; 17].join(".")).contains("more than 16 steps"));
    }
}
