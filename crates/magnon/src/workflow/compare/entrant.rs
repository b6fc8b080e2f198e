//! What is trained in a comparison: the models, and their controls.

use super::is_directed;
use super::job::{JobResult, Setting};
use crate::graph::DiGraph;
use crate::model::{ChargeChoice, Direction, MlpConfig, ModelConfig, ModelInfo};
use crate::operator::Charge;
use crate::train::RunConfig;

/// How an entrant differs from the model that it is a control of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variation {
    /// It is the model.
    Itself,
    /// A network that does not see the graph.
    NoGraph,
    /// The same without direction.
    Undirected,
    /// The same on a graph with directions by coin.
    Coin(usize),
}

/// One model or control, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Entrant {
    /// The row that it belongs to.
    pub name: String,
    pub variation: Variation,
    /// Its configuration, one for all splits or one for each.
    pub configs: Vec<RunConfig>,
    /// Whether the graph is made symmetric first.
    pub symmetrised: bool,
    /// Sign and charge that the model took, by job: a control on coins takes the same.
    pub fixed: Vec<JobResult>,
    /// One result for each job, split by split; empty where it failed.
    pub jobs: Vec<JobResult>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Entrant {
    fn new(name: &str, variation: Variation, config: RunConfig) -> Self {
        let (name, symmetrised) = (name.to_owned(), false);
        let (fixed, jobs) = (Vec::new(), Vec::new());
        let configs = vec![config];
        Self { name, variation, configs, symmetrised, fixed, jobs, error: None }
    }

    /// A control of this model with what it has chosen.
    pub fn with(&self, variation: Variation) -> Self {
        let (fixed, configs) = (self.jobs.clone(), self.configs.clone());
        let (jobs, error) = (Vec::new(), None);
        Self { variation, fixed, configs, jobs, error, ..self.clone() }
    }

    /// Which model or control it is, in words.
    pub fn label(&self) -> String {
        let control = match self.variation {
            Variation::Itself => String::new(),
            Variation::NoGraph => " without the graph".to_owned(),
            Variation::Undirected => " without direction".to_owned(),
            Variation::Coin(draw) => format!(" on coins, draw {}", draw + 1),
        };
        format!("{}{control}", self.name)
    }

    /// Whether it is a model that makes something of direction.
    pub fn is_directed(&self) -> bool {
        self.variation == Variation::Itself && self.configs.iter().any(is_directed)
    }

    /// What the model is.
    pub fn info(&self) -> &'static ModelInfo {
        self.configs[0].model.info()
    }

    /// The configuration on a split.
    pub fn config(&self, split: usize) -> &RunConfig {
        &self.configs[split.min(self.configs.len() - 1)]
    }

    /// Whether it came to its end.
    pub fn is_whole(&self) -> bool {
        self.error.is_none() && !self.jobs.is_empty()
    }

    /// The graph that it is trained on, where that is not the one of the data.
    pub fn graph(&self, setting: &Setting) -> Option<DiGraph> {
        let graph = &setting.dataset.graph;
        match self.variation {
            Variation::Coin(draw) => {
                Some(graph.with_random_directions(setting.config.seed.wrapping_add(draw as u64)))
            }
            _ if self.symmetrised => Some(graph.symmetrised()),
            _ => None,
        }
    }

    /// A name that no other entrant has, with everything that its results on a split depend on.
    pub fn key(&self, split: usize) -> String {
        let RunConfig { model, operator, filter, train, .. } = self.config(split);
        let settings = serde_json::json!([model, operator, filter, train]).to_string();
        let check = crc32fast::hash(settings.as_bytes());
        let variation = match self.variation {
            Variation::Itself | Variation::NoGraph => String::new(),
            Variation::Undirected => "-undirected".to_owned(),
            Variation::Coin(draw) => format!("-coin{draw}"),
        };
        format!("{}{variation}-{check:08x}", self.info().name)
    }

    /// Mean accuracy on the validation nodes.
    fn val_accuracy(&self) -> f64 {
        self.jobs.iter().map(|job| job.val_accuracy).sum::<f64>() / self.jobs.len().max(1) as f64
    }
}

/// The models with their controls; the coins come later, for one of them.
pub(super) fn list(setting: &Setting) -> Vec<Entrant> {
    let mut list = Vec::new();
    for model in &setting.config.models {
        list.push(Entrant::new(&model.name, Variation::Itself, model.config.clone()));
    }
    let has_mlp = |entrant: &Entrant| entrant.info().direction == Direction::NoGraph;
    if !list.iter().any(has_mlp) {
        let config = RunConfig::of(ModelConfig::from(MlpConfig::default()));
        let name = config.model.info().name;
        list.push(Entrant::new(name, Variation::NoGraph, config));
    }
    // On a symmetric graph these are the model itself.
    if !setting.symmetric {
        for model in setting.config.models.iter().filter(|model| is_directed(&model.config)) {
            list.push(undirected(&model.name, &model.config));
        }
    }
    list
}

/// Number of graphs with directions by coin; on a symmetric graph there is nothing to turn.
pub(super) fn draws(setting: &Setting, entrants: &[Entrant]) -> usize {
    let turns = !setting.symmetric && entrants.iter().any(Entrant::is_directed);
    if turns { setting.config.draws } else { 0 }
}

/// Directions by coin are for the model that would be taken, which validation decides.
pub(super) fn coins(entrants: &[Entrant], draws: usize) -> Vec<Entrant> {
    let leader = leader(entrants.iter().filter(|entrant| entrant.is_directed()));
    let coin = |draw| leader.map(|leader| leader.with(Variation::Coin(draw)));
    (0..draws).filter_map(coin).collect()
}

/// The control without direction.
fn undirected(name: &str, config: &RunConfig) -> Entrant {
    let mut entrant = Entrant::new(name, Variation::Undirected, without_direction(config));
    entrant.symmetrised = config.model.info().direction != Direction::Charge;
    entrant
}

/// A configuration at the charge 0, where the model has a charge.
pub(super) fn without_direction(config: &RunConfig) -> RunConfig {
    let mut config = config.clone();
    let by_charge = config.model.info().direction == Direction::Charge;
    if let (Some(operator), true) = (&mut config.operator, by_charge) {
        operator.charge = ChargeChoice::Fixed(Charge::ZERO);
    }
    config
}

/// The entrant with the highest mean accuracy on validation nodes; the first of equals.
pub(super) fn leader<'a>(entrants: impl Iterator<Item = &'a Entrant>) -> Option<&'a Entrant> {
    let whole = entrants.filter(|entrant| entrant.is_whole());
    whole.reduce(|best, next| if next.val_accuracy() > best.val_accuracy() { next } else { best })
}
