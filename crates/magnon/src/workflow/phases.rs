//! `Phases`: where the time of a call went.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Instant;

/// Seconds by phase, in the order in which they were begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    phases: Vec<(Cow<'static, str>, f64)>,
}

impl Phases {
    /// Runs `work` and notes its time under `name`.
    pub fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(name, start.elapsed().as_secs_f64());
        result
    }

    /// Adds time that was measured elsewhere.
    pub fn add(&mut self, name: &'static str, seconds: f64) {
        match self.phases.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += seconds,
            None => self.phases.push((name.into(), seconds)),
        }
    }

    /// The same after a phase that came before.
    pub fn after(self, name: &'static str, seconds: f64) -> Self {
        let mut phases = vec![(name.into(), seconds)];
        phases.extend(self.phases);
        Self { phases }
    }

    /// The seconds of all phases.
    pub fn total(&self) -> f64 {
        self.phases.iter().map(|(_, seconds)| seconds).sum()
    }

    /// The phases with their seconds.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.phases.iter().map(|(name, seconds)| (name.as_ref(), *seconds))
    }
}

/// As an object, one key per phase.
impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Phases {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let map = serde_json::Map::deserialize(deserializer)?;
        let seconds = |value: &serde_json::Value| value.as_f64().unwrap_or(0.0);
        let phases = map.iter().map(|(name, value)| (name.clone().into(), seconds(value)));
        Ok(Self { phases: phases.collect() })
    }
}
