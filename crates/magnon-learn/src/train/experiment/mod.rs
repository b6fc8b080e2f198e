//! `Experiment`: candidate charges, controls and repeated runs on one data set.

mod choose;
mod lanes;
mod outcome;
mod race;
mod ready;
mod together;
mod trial;
mod variant;

pub use outcome::{
    CandidateResult, Checkpoints, ChoiceResult, Control, Observer, Outcome, Seconds,
};
pub use together::run_together;
pub use trial::{Repeat, Trial, TrialResult};

use super::{RunConfig, Targets, TrainError, Vary};
use crate::model::{
    ChargeChoice, Direction, KindChoice, MappedRows, ModelConfig, PassEvidence, RowSource,
    SharedInputs, choose_pass,
};
use magnon_core::compute::{Engine, Field};
use magnon_core::cycles::{Candidate, ChargeAdvice};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use magnon_core::operator::{Charge, MagneticOperator, OperatorError, Pattern};
use magnon_data::{Dataset, Labels, Split};
use std::sync::Arc;
use std::time::Instant;
use variant::Variant;

/// A data set with a configuration, checked and ready to be trained on.
pub struct Experiment<'a> {
    config: &'a RunConfig,
    graph: &'a DiGraph,
    features: &'a Features,
    labels: &'a Labels,
    splits: Vec<Split>,
    repeats: Vec<Repeat>,
    /// Whether each split chooses a charge of its own, where that is left open.
    charge_by_split: bool,
    pass: Option<PassEvidence>,
    /// Filtered features from a file, in place of those computed, and the charge that they are of.
    mapped: Option<(Charge, MappedRows)>,
    checkpoints: Option<Checkpoints>,
    /// What other experiments on the same data have computed.
    shared: Option<&'a SharedInputs>,
    /// Whether a single run leaves the other threads alone.
    one_thread: bool,
}

impl<'a> Experiment<'a> {
    /// The experiment of a configuration: its splits, its seeds. Checks that the data can be trained
    /// on, and chooses the sign of the operator.
    pub fn new(dataset: &'a Dataset, config: &'a RunConfig) -> Result<Self, TrainError> {
        config.check()?;
        Self::check_data(dataset)?;
        let count = config.runs.count;
        let several = if config.runs.vary == Vary::Seeds { 1 } else { count };
        let seed = config.data.split_seed.unwrap_or(config.train.seed);
        let splits: Result<Vec<Split>, _> = (0..several)
            .map(|k| {
                let choice = config.data.split.shifted(k);
                choice.choose(&dataset.splits, dataset.labels.as_ref(), seed.wrapping_add(k as u64))
            })
            .collect();
        let repeat = |k: usize| {
            let (by_seed, split) = match config.runs.vary {
                Vary::Seeds => (k, 0),
                Vary::Splits => (0, k),
                Vary::Both => (k, k),
            };
            Repeat { seed: config.train.seed.wrapping_add(by_seed as u64), split }
        };
        Self::on(dataset, config, splits?, (0..count).map(repeat).collect())
    }

    /// Refuses data that nothing can be trained on, whatever the model.
    pub fn check_data(dataset: &Dataset) -> Result<(), TrainError> {
        dataset.features.as_ref().ok_or_else(|| missing(dataset, "features"))?;
        let labels = dataset.labels.as_ref().ok_or_else(|| missing(dataset, "labels"))?;
        match labels.names.len() {
            0 | 1 => Err(TrainError::OneClass(labels.names.len())),
            _ => Ok(()),
        }
    }

    /// An experiment on splits and seeds that are named one by one; those of the configuration are
    /// not looked at.
    pub fn on(
        dataset: &'a Dataset,
        config: &'a RunConfig,
        splits: Vec<Split>,
        repeats: Vec<Repeat>,
    ) -> Result<Self, TrainError> {
        config.check()?;
        let features = dataset.features.as_ref();
        let features = features.ok_or_else(|| missing(dataset, "features"))?;
        let labels = dataset.labels.as_ref();
        let labels = labels.ok_or_else(|| missing(dataset, "labels"))?;
        Self::check_data(dataset)?;
        let known = repeats.iter().all(|repeat| repeat.split < splits.len());
        if repeats.is_empty() || !known {
            let (name, value) = ("number of runs", repeats.len() as f64);
            return Err(TrainError::OutOfRange {
                name,
                value,
                range: "at least 1, on known splits",
            });
        }
        for split in &splits {
            let parts =
                [("training", &split.train), ("validation", &split.val), ("test", &split.test)];
            for (part, nodes) in parts {
                if Targets::of(nodes, labels).is_empty() {
                    return Err(TrainError::EmptyPart { part });
                }
            }
        }
        let pass = match &config.operator {
            Some(operator) if operator.kind == KindChoice::Adjacency => {
                Some(choose_pass(operator.pass, &dataset.graph, labels, &splits[0])?)
            }
            Some(_) => Some(PassEvidence::given(false)),
            None => None,
        };
        Ok(Self {
            config,
            graph: &dataset.graph,
            features,
            labels,
            splits,
            repeats,
            charge_by_split: false,
            pass,
            mapped: None,
            checkpoints: None,
            shared: None,
            one_thread: false,
        })
    }

    /// Takes another graph on the same nodes, as controls do, with what others have computed for it.
    pub fn with_graph(mut self, graph: &'a DiGraph, shared: &'a SharedInputs) -> Self {
        (self.graph, self.shared) = (graph, Some(shared));
        self
    }

    /// Trains even a single run on one thread, where the caller has other work for the others.
    pub fn on_one_thread(mut self) -> Self {
        self.one_thread = true;
        self
    }

    /// Lets each split choose its charge on its own validation nodes. The mean over several splits
    /// would choose with nodes that are another split's test nodes.
    pub fn with_charge_by_split(mut self) -> Self {
        self.charge_by_split = true;
        self
    }

    /// Takes the features filtered with a charge from a file that `magnon propagate` wrote.
    pub fn with_filtered(mut self, charge: Charge, rows: MappedRows) -> Result<Self, TrainError> {
        if self.config.filter.is_none() {
            return Err(TrainError::Unused {
                model: self.config.model.info().name,
                what: "filtered features".to_owned(),
                advice: "leave their file out".to_owned(),
            });
        }
        let (found, expected) = (rows.shape(), (self.features.rows(), self.features.cols()));
        if (found.rows(), found.cols()) != expected {
            return Err(TrainError::Mismatch {
                what: "the file of filtered features".to_owned(),
                found: format!("{} × {} numbers", found.rows(), found.cols()),
                expected: format!("{} × {}", expected.0, expected.1),
            });
        }
        self.mapped = Some((charge, rows));
        Ok(self)
    }

    /// Keeps unfinished trials in a folder.
    pub fn with_checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.checkpoints = Some(checkpoints);
        self
    }

    /// The splits that runs use.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// Classes that no training node of some split has: they cannot be learnt.
    pub fn unseen_classes(&self) -> Vec<&str> {
        let seen = |class: u32| {
            self.splits.iter().all(|split| {
                split.train.iter().any(|&u| self.labels.classes[u as usize] == Some(class))
            })
        };
        let names = (0..).zip(&self.labels.names);
        names.filter(|&(class, _)| !seen(class)).map(|(_, name)| name.as_str()).collect()
    }

    /// What a person should know before reading the figures.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let unseen = self.unseen_classes();
        if !unseen.is_empty() {
            let names = unseen.join(", ");
            remarks
                .push(format!("no training node is of class {names}; it will hardly be predicted"));
        }
        let info = self.config.model.info();
        let symmetric = self.graph.is_symmetric();
        let charge = self.config.operator.map(|operator| operator.charge);
        match (info.direction, symmetric, charge) {
            (Direction::Ignored, false, _) => remarks.push(format!(
                "{} does not look at the direction of edges: the graph is symmetrised",
                info.name
            )),
            (Direction::Charge, true, Some(ChargeChoice::Fixed(charge)))
                if charge.value() != 0.0 =>
            {
                remarks.push(format!(
                    "the graph is symmetric, so the charge {charge} gives the same operator as 0"
                ));
            }
            _ => (),
        }
        remarks
    }

    /// Whether the charge is left open for validation to decide.
    pub fn chooses_charge(&self) -> bool {
        let open = |charge| charge == ChargeChoice::Auto;
        self.config.operator.is_some_and(|operator| open(operator.charge))
    }

    /// Whether something is left open for validation to decide: the charge, or settings of the model.
    pub fn chooses(&self) -> bool {
        self.chooses_charge()
            || !self.config.model.alternatives(self.graph, self.features).is_empty()
    }

    /// Trains everything that the configuration asks for. `advice` has the candidates where the
    /// charge is left open.
    pub fn run(
        &self,
        advice: Option<&ChargeAdvice>,
        observer: &dyn Observer,
    ) -> Result<Outcome, TrainError> {
        self.run_on(&self.config.train.device.engine()?, advice, observer)
    }

    fn run_on(
        &self,
        engine: &Engine,
        advice: Option<&ChargeAdvice>,
        observer: &dyn Observer,
    ) -> Result<Outcome, TrainError> {
        let mut seconds = Seconds::default();
        let pattern = match self.shared {
            Some(shared) => shared.pattern().clone(),
            None => {
                let pattern = timed(&mut seconds.operator, || Pattern::new(self.graph));
                Arc::new(pattern.map_err(OperatorError::from)?)
            }
        };
        let candidates = self.candidates(advice, &pattern);
        if let [only] = &candidates[..] {
            self.check_field(only.charge, &pattern)?;
        }
        let choices = self.config.model.alternatives(self.graph, self.features);
        let variants: Vec<Variant> = match (self.config.operator, &choices[..]) {
            (Some(_), _) => candidates.iter().map(|c| self.variant(Some(c.charge))).collect(),
            (None, []) => vec![self.variant(None)],
            (None, choices) => {
                let numbered = choices.iter().cloned().enumerate();
                numbered
                    .map(|(choice, model)| Variant { model, choice, ..self.variant(None) })
                    .collect()
            }
        };
        let mut context =
            TrialContext { engine, pattern: &pattern, observer, seconds: &mut seconds };
        let (mut raced, choices) = match (self.config.operator, variants.len()) {
            (None, 2..) => self.choose(&mut context, &variants)?,
            _ => (self.race(&mut context, &candidates, &variants)?, Vec::new()),
        };

        let mut controls = match self.config.runs.controls {
            true => self.controls(most_taken(&choices).unwrap_or(&self.config.model)),
            false => Vec::new(),
        };
        // A model that is its own control tells nothing.
        controls.retain(|(_, control)| variants != [control.clone()]);
        // With a charge left open, 0 is among the candidates; it need not be trained twice.
        let all: Vec<usize> = (0..self.repeats.len()).collect();
        let known = |control: &Variant| {
            variants.iter().position(|variant| variant == control).and_then(|at| raced.runs(at))
        };
        let known: Vec<_> = controls.iter().map(|(_, control)| known(control)).collect();
        observer.begin(known.iter().filter(|runs| runs.is_none()).count() * all.len());
        let mut done = Vec::new();
        for ((mut control, variant), known) in controls.into_iter().zip(known) {
            control.runs = match known {
                Some(runs) => runs,
                None => self.train(&mut context, &variant, &all)?.runs,
            };
            done.push(control);
        }
        let mut runs = raced.take_runs();
        if !choices.is_empty() {
            self.with_weights(&mut context, &variants, &mut runs)?;
        }
        let same = runs.first().map(|run| run.trial.charge);
        let charge = same.filter(|&of| runs.iter().all(|run| run.trial.charge == of)).flatten();
        let candidates = if self.chooses_charge() { raced.candidates } else { Vec::new() };
        Ok(Outcome {
            charge,
            candidates,
            untried: raced.untried,
            choices,
            pass: self.pass,
            order: raced.order,
            runs,
            controls: done,
            seconds,
        })
    }

    /// The model at a charge.
    fn variant(&self, charge: Option<Charge>) -> Variant {
        Variant { model: self.config.model.clone(), charge, choice: 0, symmetrised: false }
    }

    /// The charges that are tried; one where nothing is left open.
    fn candidates(&self, advice: Option<&ChargeAdvice>, pattern: &Pattern) -> Vec<Candidate> {
        let choice = self.config.operator.map(|operator| operator.charge);
        match (choice, advice) {
            (Some(ChargeChoice::Fixed(charge)), _) => vec![Candidate::only(charge)],
            // On a symmetric graph all charges give the same operator.
            (Some(ChargeChoice::Auto), Some(advice)) if pattern.is_directed() => {
                advice.candidates.clone()
            }
            _ => vec![Candidate::only(Charge::ZERO)],
        }
    }

    /// Refuses settings of the model that its operator leaves without effect.
    fn check_field(&self, charge: Charge, pattern: &Arc<Pattern>) -> Result<(), TrainError> {
        let (Some(choice), Some(pass)) = (&self.config.operator, self.pass) else { return Ok(()) };
        let config = choice.config(charge, pass.high);
        let operator = MagneticOperator::from_pattern(pattern.clone(), &config)?;
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        Ok(self.config.model.suits(field)?)
    }

    /// The controls that suit the model, with what they are.
    fn controls(&self, main: &ModelConfig) -> Vec<(Control, Variant)> {
        let mut list = Vec::new();
        let mut add = |key, name: &str, tells, variant| {
            let control = Control { key, name: name.to_owned(), tells, runs: Vec::new() };
            list.push((control, variant));
        };
        let left = "how much is left without direction";
        match main.info().direction {
            Direction::Charge => add(
                "undirected",
                "without direction (q = 0)",
                left,
                Variant { model: main.clone(), ..self.variant(Some(Charge::ZERO)) },
            ),
            Direction::InAndOut => add(
                "undirected",
                "without direction (symmetrised)",
                left,
                Variant { model: main.clone(), symmetrised: true, ..self.variant(None) },
            ),
            Direction::Ignored | Direction::NoGraph => (),
        }
        if main.info().direction != Direction::NoGraph {
            let model = without_graph(main);
            let name = format!("without the graph ({})", model.info().title);
            let tells = "how much the features tell by themselves";
            add("mlp", &name, tells, Variant { model, ..self.variant(None) });
        }
        list
    }
}

/// The configuration that most runs took.
fn most_taken(choices: &[ChoiceResult]) -> Option<&ModelConfig> {
    // Of equals the first.
    let most = choices.iter().rev().max_by_key(|choice| choice.taken_by);
    most.map(|choice| &choice.model)
}

/// The plain network on the features, with the settings that it shares with a model.
fn without_graph(model: &ModelConfig) -> ModelConfig {
    let mut plain = ModelConfig::Mlp(Default::default());
    for (key, value) in model.settings() {
        if plain.has(&key) && plain.set(&key, value).is_err() {
            continue; // its own default serves
        }
    }
    plain
}

/// The error of data that lack something.
fn missing(dataset: &Dataset, what: &'static str) -> TrainError {
    TrainError::Missing { data: dataset.name.clone(), what, advice: "give some in a file" }
}

/// What the parts of an experiment work with.
pub(super) struct TrialContext<'s> {
    pub engine: &'s Engine,
    pub pattern: &'s Arc<Pattern>,
    pub observer: &'s dyn Observer,
    pub seconds: &'s mut Seconds,
}

/// Runs `work` and adds its time.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
