//! Settings that are searched before models are compared.

use super::entrant::{Entrant, Variation, without_direction};
use super::job::Setting;
use crate::Error;
use crate::train::RunConfig;
use crate::workflow::tune::{TuneConfig, tune};
use crate::workflow::{Job, Journal, Progress};
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicBool;

/// How long settings are searched, for each model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneBudget {
    /// Most trials on each split.
    pub trials: usize,
    /// Minutes for each model, over all splits; what is found then depends on the machine.
    pub minutes: Option<f64>,
}

/// The settings that a model was given on a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// Model, split, seed and budget.
    pub key: String,
    /// The configuration that did best on the validation nodes of the split.
    pub config: RunConfig,
}

impl Job for Tuned {
    const CALL: &'static str = "compare-tune";

    fn key(&self) -> &str {
        &self.key
    }
}

/// Gives every model, and the network without the graph, the same budget on the validation nodes of each
/// split. Controls without direction take the settings of their model.
pub(super) fn tune_all(
    setting: &Setting,
    entrants: &mut [Entrant],
    budget: TuneBudget,
    mut journal: Option<&mut Journal<Tuned>>,
    progress: &dyn Progress,
) -> Result<(), Error> {
    let own =
        |entrant: &Entrant| matches!(entrant.variation, Variation::Itself | Variation::NoGraph);
    let count = entrants.iter().filter(|entrant| own(entrant)).count() * setting.splits.len();
    let mut done = 0;
    for entrant in entrants.iter_mut().filter(|entrant| own(entrant)) {
        let base = entrant.configs[0].clone();
        let mut found = Vec::new();
        for (k, split) in setting.splits.iter().enumerate() {
            progress.step(done, count, &format!("tuning {}", entrant.name));
            let minutes = budget.minutes.map(|minutes| minutes / setting.splits.len() as f64);
            let seed = setting.config.seed;
            let config = TuneConfig { trials: budget.trials, minutes, seed, ..Default::default() };
            let settings = serde_json::json!([base, split.train, split.val, config]).to_string();
            let check = crc32fast::hash(settings.as_bytes());
            let key = format!("{}-split{k}-{check:08x}", base.model.info().name);
            let known = journal.as_ref().and_then(|journal| journal.get(&key).cloned());
            let tuned = match known {
                Some(tuned) => tuned,
                None => {
                    let split = std::slice::from_ref(split);
                    let quiet = Quiet(progress);
                    let tuning = tune(setting.dataset, &base, split, &config, None, &quiet)?;
                    let tuned = Tuned { key, config: tuning.config };
                    journal.as_mut().map_or(Ok(()), |journal| journal.keep(&tuned))?;
                    tuned
                }
            };
            found.push(tuned.config);
            done += 1;
        }
        entrant.configs = found;
    }
    let models: Vec<(String, Vec<RunConfig>)> = entrants
        .iter()
        .filter(|entrant| entrant.variation == Variation::Itself)
        .map(|entrant| (entrant.name.clone(), entrant.configs.clone()))
        .collect();
    for entrant in entrants.iter_mut().filter(|e| e.variation == Variation::Undirected) {
        if let Some((_, configs)) = models.iter().find(|(name, _)| *name == entrant.name) {
            entrant.configs = configs.iter().map(without_direction).collect();
        }
    }
    Ok(())
}

/// Hands on the stop, and nothing of the steps inside.
struct Quiet<'a>(&'a dyn Progress);

impl Progress for Quiet<'_> {
    fn stop_flag(&self) -> &AtomicBool {
        self.0.stop_flag()
    }
}
