//! `Experiment`: candidate charges, controls and repeated runs on one data set.

mod outcome;
mod trial;
mod variant;

pub use outcome::{CandidateResult, Checkpoints, Control, Observer, Outcome, Seconds};
pub use trial::{Trial, TrialResult};

use super::{EpochRecord, RunConfig, Targets, TrainError, Vary};
use crate::cycles::{Candidate, ChargeAdvice};
use crate::data::{Dataset, Features, Labels, Split};
use crate::model::{
    ChargeChoice, Direction, KindChoice, MappedRows, ModelConfig, PassEvidence, RowSource,
    choose_pass,
};
use crate::nn::{Device, Engine, EngineWork, Field};
use crate::operator::{Charge, MagneticOperator, OperatorError, Pattern};
use std::sync::Arc;
use std::time::Instant;
use variant::{Trained, Variant};

/// A data set with a configuration, checked and ready to be trained on.
pub struct Experiment<'a> {
    dataset: &'a Dataset,
    config: &'a RunConfig,
    features: &'a Features,
    labels: &'a Labels,
    splits: Vec<Split>,
    pass: Option<PassEvidence>,
    /// Filtered features from a file, in place of those computed, and the charge that they are of.
    mapped: Option<(Charge, MappedRows)>,
    checkpoints: Option<Checkpoints>,
}

impl<'a> Experiment<'a> {
    /// Checks that the data can be trained on, and chooses the sign of the operator.
    pub fn new(dataset: &'a Dataset, config: &'a RunConfig) -> Result<Self, TrainError> {
        let missing =
            |what, advice| TrainError::Missing { data: dataset.name.clone(), what, advice };
        config.check()?;
        let features = dataset.features.as_ref();
        let features = features.ok_or_else(|| missing("features", "give some in a file"))?;
        let labels = dataset.labels.as_ref();
        let labels = labels.ok_or_else(|| missing("labels", "give some in a file"))?;
        if labels.names.len() < 2 {
            return Err(TrainError::OneClass(labels.names.len()));
        }
        let count = config.runs.count;
        let several = if config.runs.vary == Vary::Seeds { 1 } else { count };
        let seed = config.data.split_seed.unwrap_or(config.train.seed);
        let splits: Result<Vec<Split>, _> = (0..several)
            .map(|k| {
                let choice = config.data.split.shifted(k);
                choice.choose(&dataset.splits, Some(labels), seed.wrapping_add(k as u64))
            })
            .collect();
        let splits = splits?;
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
        let (mapped, checkpoints) = (None, None);
        Ok(Self { dataset, config, features, labels, splits, pass, mapped, checkpoints })
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
        let symmetric = self.dataset.graph.is_symmetric();
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

    /// Trains everything that the configuration asks for. `advice` has the candidates where the
    /// charge is left open.
    pub fn run(
        &self,
        advice: Option<&ChargeAdvice>,
        observer: &dyn Observer,
    ) -> Result<Outcome, TrainError> {
        Device::default().run(Whole { experiment: self, advice, observer })
    }

    fn run_on<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        advice: Option<&ChargeAdvice>,
        observer: &dyn Observer,
    ) -> Result<Outcome, TrainError> {
        let mut seconds = Seconds::default();
        let pattern = timed(&mut seconds.operator, || Pattern::new(&self.dataset.graph));
        let pattern = Arc::new(pattern.map_err(OperatorError::from)?);
        let candidates = self.candidates(advice, &pattern);
        if let [only] = &candidates[..] {
            self.check_field(only.charge, &pattern)?;
        }
        let main = &self.config.model;
        let variants: Vec<Variant> = match self.config.operator {
            None => vec![Variant { model: main.clone(), charge: None, symmetrised: false }],
            Some(_) => candidates
                .iter()
                .map(|candidate| Variant {
                    model: main.clone(),
                    charge: Some(candidate.charge),
                    symmetrised: false,
                })
                .collect(),
        };
        let mut controls = match self.config.runs.controls {
            true => self.controls(),
            false => Vec::new(),
        };
        // A model that is its own control tells nothing.
        controls.retain(|(_, control)| variants != [control.clone()]);
        // With a charge left open, 0 is among the candidates; it need not be trained twice.
        let known = |control: &Variant| variants.iter().position(|variant| variant == control);
        let extra = controls.iter().filter(|(_, control)| known(control).is_none()).count();
        observer.begin((variants.len() + extra) * self.config.runs.count);
        let mut trained: Vec<Trained> = Vec::new();
        for variant in &variants {
            let result = self.train(engine, variant, &pattern, observer, &mut seconds);
            // Rows that could not be read are what is wrong, whatever came of them.
            self.mapped.as_ref().map_or(Ok(()), |(_, rows)| rows.check())?;
            trained.push(result?);
            forget_worse(&mut trained);
        }
        let list: Result<Vec<Control>, TrainError> = controls
            .drain(..)
            .map(|(mut control, variant)| {
                control.runs = match known(&variant) {
                    Some(at) => trained[at].runs.clone(),
                    None => self.train(engine, &variant, &pattern, observer, &mut seconds)?.runs,
                };
                Ok(control)
            })
            .collect();
        let controls = list?;
        let loss = |trained: &Trained| mean(&trained.runs, |best| best.val_loss);
        let results = candidates.iter().zip(&trained).map(|(candidate, trained)| CandidateResult {
            candidate: candidate.clone(),
            val_loss: loss(trained),
            val_accuracy: mean(&trained.runs, |best| best.val_accuracy),
        });
        let candidates = if self.chooses_charge() { results.collect() } else { Vec::new() };
        let best =
            (0..trained.len()).min_by(|&a, &b| loss(&trained[a]).total_cmp(&loss(&trained[b])));
        let best = best.unwrap_or(0);
        let charge = variants[best].charge;
        let Trained { order, runs } = trained.swap_remove(best);
        Ok(Outcome { charge, candidates, pass: self.pass, order, runs, controls, seconds })
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
    fn controls(&self) -> Vec<(Control, Variant)> {
        let main = &self.config.model;
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
                Variant { model: main.clone(), charge: Some(Charge::ZERO), symmetrised: false },
            ),
            Direction::InAndOut => add(
                "undirected",
                "without direction (symmetrised)",
                left,
                Variant { model: main.clone(), charge: None, symmetrised: true },
            ),
            Direction::Ignored | Direction::NoGraph => (),
        }
        if main.info().direction != Direction::NoGraph {
            let model = without_graph(main);
            let name = format!("without the graph ({})", model.info().title);
            let tells = "how much the features tell by themselves";
            add("mlp", &name, tells, Variant { model, charge: None, symmetrised: false });
        }
        list
    }
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

/// An experiment on whichever engine the device has.
struct Whole<'a, 'b> {
    experiment: &'b Experiment<'a>,
    advice: Option<&'b ChargeAdvice>,
    observer: &'b dyn Observer,
}

impl EngineWork for Whole<'_, '_> {
    type Output = Result<Outcome, TrainError>;

    fn run<E: Engine<Real = f32>>(self, engine: &E) -> Self::Output {
        self.experiment.run_on(engine, self.advice, self.observer)
    }
}

/// The mean of a figure of the runs' best epochs.
fn mean(runs: &[TrialResult], of: fn(&EpochRecord) -> f64) -> f64 {
    runs.iter().map(|run| of(&run.best)).sum::<f64>() / runs.len().max(1) as f64
}

/// Lets go of what the charges that will not be taken have learnt.
fn forget_worse(trained: &mut [Trained]) {
    let losses: Vec<f64> = trained.iter().map(|t| mean(&t.runs, |b| b.val_loss)).collect();
    let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
    for (trained, loss) in trained.iter_mut().zip(losses) {
        if loss > best {
            trained.runs.iter_mut().for_each(TrialResult::forget);
        }
    }
}

/// Runs `work` and adds its time.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
