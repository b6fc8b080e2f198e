//! `Experiment`: repeated runs on one data set, over seeds and splits, with the controls beside them.

mod controls;
mod outcome;
mod together;

pub use outcome::{CandidateResult, Checkpoints, ChoiceResult, Control, Outcome, Seconds};
pub use together::run_together;

use super::select::select;
use super::trial::{Monitor, ResultHook, TrialContext, Trials, Variant, timed};
use super::{Repeat, RunConfig, Targets, TrainError, Vary};
use crate::model::{
    ChargeChoice, Direction, KindChoice, MappedRows, ModelConfig, PassEvidence, RowSource,
    SharedInputs, choose_pass,
};
use magnon_core::compute::{Engine, Field};
use magnon_core::cycles::{Candidate, ChargeAdvice};
use magnon_core::graph::DiGraph;
use magnon_core::operator::{Charge, MagneticOperator, OperatorError, Pattern};
use magnon_core::progress::Progress;
use magnon_data::{Dataset, Split};
use std::sync::Arc;

/// A data set with a configuration, checked and ready to be trained on.
pub struct Experiment<'a> {
    trials: Trials<'a>,
    /// Whether each split chooses a charge of its own, where that is left open.
    charge_by_split: bool,
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
        let trials = Trials {
            config,
            graph: &dataset.graph,
            features,
            labels,
            splits,
            repeats,
            pass,
            mapped: None,
            checkpoints: None,
            shared: None,
            one_thread: false,
            on_result: None,
        };
        Ok(Self { trials, charge_by_split: false })
    }

    /// Takes another graph on the same nodes, as controls do, with what others have computed for it.
    pub fn with_graph(mut self, graph: &'a DiGraph, shared: &'a SharedInputs) -> Self {
        (self.trials.graph, self.trials.shared) = (graph, Some(shared));
        self
    }

    /// Trains even a single run on one thread, where the caller has other work for the others.
    pub fn on_one_thread(mut self) -> Self {
        self.trials.one_thread = true;
        self
    }

    /// Calls `hook` with the result of each trial as soon as it is known.
    pub fn on_result(mut self, hook: ResultHook<'a>) -> Self {
        self.trials.on_result = Some(hook);
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
        if self.trials.config.filter.is_none() {
            return Err(TrainError::Unused {
                model: self.trials.config.model.info().name,
                what: "filtered features".to_owned(),
                advice: "leave their file out".to_owned(),
            });
        }
        let (found, expected) =
            (rows.shape(), (self.trials.features.rows(), self.trials.features.cols()));
        if (found.rows(), found.cols()) != expected {
            return Err(TrainError::Mismatch {
                what: "the file of filtered features".to_owned(),
                found: format!("{} × {} numbers", found.rows(), found.cols()),
                expected: format!("{} × {}", expected.0, expected.1),
            });
        }
        self.trials.mapped = Some((charge, rows));
        Ok(self)
    }

    /// Keeps unfinished trials in a folder.
    pub fn with_checkpoints(mut self, checkpoints: Checkpoints) -> Self {
        self.trials.checkpoints = Some(checkpoints);
        self
    }

    /// The splits that runs use.
    pub fn splits(&self) -> &[Split] {
        &self.trials.splits
    }

    /// Classes that no training node of some split has: they cannot be learnt.
    pub fn unseen_classes(&self) -> Vec<&str> {
        let seen = |class: u32| {
            self.trials.splits.iter().all(|split| {
                split.train.iter().any(|&u| self.trials.labels.classes[u as usize] == Some(class))
            })
        };
        let names = (0..).zip(&self.trials.labels.names);
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
        let info = self.trials.config.model.info();
        let symmetric = self.trials.graph.is_symmetric();
        let charge = self.trials.config.operator.map(|operator| operator.charge);
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
        self.trials.config.operator.is_some_and(|operator| open(operator.charge))
    }

    /// Whether something is left open for validation to decide: the charge, or settings of the model.
    pub fn chooses(&self) -> bool {
        let trials = &self.trials;
        self.chooses_charge()
            || !trials.config.model.alternatives(trials.graph, trials.features).is_empty()
    }

    /// Trains everything that the configuration asks for. `advice` has the candidates where the
    /// charge is left open.
    pub fn run(
        &self,
        advice: Option<&ChargeAdvice>,
        progress: &dyn Progress,
    ) -> Result<Outcome, TrainError> {
        self.run_on(&self.trials.config.train.device.engine()?, advice, progress)
    }

    fn run_on(
        &self,
        engine: &Engine,
        advice: Option<&ChargeAdvice>,
        progress: &dyn Progress,
    ) -> Result<Outcome, TrainError> {
        let trials = &self.trials;
        let monitor = &Monitor::new(progress, trials.on_result);
        let model = &trials.config.model;
        let mut seconds = Seconds::default();
        let pattern = match trials.shared {
            Some(shared) => shared.pattern().clone(),
            None => {
                let pattern = timed(&mut seconds.operator, || Pattern::new(trials.graph));
                Arc::new(pattern.map_err(OperatorError::from)?)
            }
        };
        let candidates = self.candidates(advice, &pattern);
        if let [only] = &candidates[..] {
            self.check_field(only.charge, &pattern)?;
        }
        let variants = self.variants(&candidates);
        let mut context =
            TrialContext { engine, pattern: &pattern, monitor, seconds: &mut seconds };
        let by_split = self.charge_by_split;
        let mut selected = select(trials, by_split, &mut context, &candidates, &variants)?;

        let mut controls = match trials.config.runs.controls {
            true => controls::suitable(trials, most_taken(&selected.choices).unwrap_or(model)),
            false => Vec::new(),
        };
        // A model that is its own control tells nothing.
        controls.retain(|(_, control)| variants != [control.clone()]);
        // With a charge left open, 0 is among the candidates; it need not be trained twice.
        let all: Vec<usize> = (0..trials.repeats.len()).collect();
        let known = |control: &Variant| {
            let at = variants.iter().position(|variant| variant == control)?;
            selected.runs(at)
        };
        let known: Vec<_> = controls.iter().map(|(_, control)| known(control)).collect();
        monitor.begin(known.iter().filter(|runs| runs.is_none()).count() * all.len());
        let mut done = Vec::new();
        for ((mut control, variant), known) in controls.into_iter().zip(known) {
            control.runs = match known {
                Some(runs) => runs,
                None => trials.train(&mut context, &variant, &all)?.runs,
            };
            done.push(control);
        }
        let runs = selected.take_runs(trials, &mut context, &variants)?;
        let same = runs.first().map(|run| run.trial.charge);
        let charge = same.filter(|&of| runs.iter().all(|run| run.trial.charge == of)).flatten();
        Ok(Outcome {
            charge,
            candidates: if self.chooses_charge() { selected.candidates } else { Vec::new() },
            untried: selected.untried,
            choices: selected.choices,
            pass: trials.pass,
            order: selected.order,
            runs,
            controls: done,
            seconds,
        })
    }

    /// What is tried: the model at each charge, or each of its configurations.
    fn variants(&self, candidates: &[Candidate]) -> Vec<Variant> {
        let trials = &self.trials;
        if trials.config.operator.is_some() {
            return candidates.iter().map(|of| trials.variant(Some(of.charge))).collect();
        }
        match trials.config.model.alternatives(trials.graph, trials.features) {
            choices if choices.is_empty() => vec![trials.variant(None)],
            choices => {
                let numbered = choices.into_iter().enumerate();
                let variant = |(choice, model)| Variant { model, choice, ..trials.variant(None) };
                numbered.map(variant).collect()
            }
        }
    }

    /// The charges that are tried; one where nothing is left open.
    fn candidates(&self, advice: Option<&ChargeAdvice>, pattern: &Pattern) -> Vec<Candidate> {
        let choice = self.trials.config.operator.map(|operator| operator.charge);
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
        let (Some(choice), Some(pass)) = (&self.trials.config.operator, self.trials.pass) else {
            return Ok(());
        };
        let config = choice.config(charge, pass.high);
        let operator = MagneticOperator::from_pattern(pattern.clone(), &config)?;
        let field = if operator.is_real() { Field::Real } else { Field::Complex };
        Ok(self.trials.config.model.suits(field)?)
    }
}

/// The configuration that most runs took.
fn most_taken(choices: &[ChoiceResult]) -> Option<&ModelConfig> {
    // Of equals the first.
    let most = choices.iter().rev().max_by_key(|choice| choice.taken_by);
    most.map(|choice| &choice.model)
}

/// The error of data that lack something.
fn missing(dataset: &Dataset, what: &'static str) -> TrainError {
    TrainError::Missing { data: dataset.name.clone(), what, advice: "give some in a file" }
}
