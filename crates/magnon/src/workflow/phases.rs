//! `Phases`: where the time of a call went.

use serde::{Serialize, Serializer};
use std::time::Instant;

/// Seconds by phase, in the order in which they were begun.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    phases: Vec<(&'static str, f64)>,
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
            None => self.phases.push((name, seconds)),
        }
    }

    /// The phases with their seconds.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.phases.iter().copied()
    }
}

/// As an object, one key per phase.
impl Serialize for Phases {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}
