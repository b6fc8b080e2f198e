//! `Experiment`: candidate charges, controls and repeated runs on one data set.

use super::inputs::{Inputs, Plan, Targets, field_of};
use super::rows::{MappedRows, RowSource};
use super::select::{ChargeChoice, KindChoice, PassEvidence, choose_pass};
use super::trainer::{Feed, Watch, fit};
use super::{
    EpochRecord, RunConfig, State, Summary, TrainConfig, TrainError, Trial, TrialResult, Vary,
    checkpoint, classify, confusion, multiply, project,
};
use crate::cycles::{Candidate, ChargeAdvice};
use crate::data::{Dataset, Features, Labels, Split};
use crate::filter::{Filter, Propagated, propagate};
use crate::model::{Model, ModelKind, TwoLayer, mgc, mlp};
use crate::nn::{Cpu, Field};
use crate::operator::{Charge, MagneticOperator, Pattern};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Looks on while trials are trained, perhaps several at a time.
pub trait Observer: Sync {
    /// So many trials are about to begin.
    fn begin(&self, _trials: usize) {}
    /// After every epoch of every trial.
    fn epoch(&self, _trial: &Trial, _record: &EpochRecord, _best: &EpochRecord) {}
    /// A trial is over.
    fn done(&self, _result: &TrialResult) {}
    /// Whether to stop at once.
    fn stop(&self) -> bool {
        false
    }
    /// Part `done` of `total` of the filtering is made.
    fn filtering(&self, _done: usize, _total: usize) {}
}

/// Nobody looks on.
impl Observer for () {}

/// Where and how often unfinished trials are kept.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    /// The folder; it must exist.
    pub folder: PathBuf,
    /// Epochs between two checkpoints.
    pub every: usize,
    /// Whether trials go on from what the folder holds.
    pub resume: bool,
}

/// A charge that was tried, and how it did on the validation nodes.
#[derive(Clone, Debug)]
pub struct CandidateResult {
    /// The charge, and the cycle length that suggests it.
    pub candidate: Candidate,
    /// Mean of the runs' best validation losses; `None` where the charge was not trained because it
    /// acts as 0 does.
    pub val_loss: Option<f64>,
    /// Mean of the validation accuracies at those epochs.
    pub val_accuracy: Option<f64>,
}

/// A control and its runs.
#[derive(Clone, Debug)]
pub struct Control {
    /// What it is.
    pub name: &'static str,
    /// Its runs.
    pub runs: Vec<TrialResult>,
}

/// Wall time of the phases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Building operators.
    pub operator: f64,
    /// Filtering features.
    pub propagate: f64,
    /// Training and evaluating.
    pub train: f64,
}

/// What came of an experiment.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The charge taken.
    pub charge: Charge,
    /// The charges tried; empty where one was given.
    pub candidates: Vec<CandidateResult>,
    /// The sign taken.
    pub pass: PassEvidence,
    /// In which order products were made.
    pub plan: Plan,
    /// The runs with the charge taken.
    pub runs: Vec<TrialResult>,
    /// The controls.
    pub controls: Vec<Control>,
    /// Where the time went.
    pub seconds: Seconds,
}

impl Outcome {
    /// The run with the lowest validation loss.
    pub fn best(&self) -> Option<&TrialResult> {
        let loss = |run: &&TrialResult| run.best.val_loss;
        self.runs.iter().min_by(|a, b| loss(a).total_cmp(&loss(b)))
    }

    /// Test accuracies in summary.
    pub fn summary(runs: &[TrialResult]) -> Option<Summary> {
        let accuracies: Vec<f64> = runs.iter().map(|run| run.metrics[2].accuracy).collect();
        Summary::of(&accuracies)
    }
}

/// A data set with a recipe, checked and ready to be trained on.
pub struct Experiment<'a> {
    dataset: &'a Dataset,
    config: &'a RunConfig,
    features: &'a Features,
    labels: &'a Labels,
    splits: Vec<Split>,
    pass: PassEvidence,
    /// Filtered features from a file, in place of those computed.
    mapped: Option<MappedRows>,
    checkpoints: Option<Checkpoints>,
}

/// Makes the inputs for some training and validation nodes.
type MakeInputs<'a> = dyn Fn(&[u32], &[u32]) -> Result<Inputs, TrainError> + 'a;

/// What trials with one charge share.
struct Prepared {
    filter: Option<(MagneticOperator, Filter)>,
    filtered: Option<Propagated>,
    field: Field,
    plan: Plan,
    /// By split; none where rows come in batches.
    inputs: Vec<Inputs>,
}

impl<'a> Experiment<'a> {
    /// Checks that the data can be trained on, and chooses the sign of the operator.
    pub fn new(dataset: &'a Dataset, config: &'a RunConfig) -> Result<Self, TrainError> {
        let missing =
            |what, advice| TrainError::Missing { data: dataset.name.clone(), what, advice };
        config.train.check()?;
        config.model.check()?;
        let features = dataset.features.as_ref();
        let features =
            features.ok_or_else(|| missing("features", "give some with --features FILE"))?;
        let labels = dataset.labels.as_ref();
        let labels = labels.ok_or_else(|| missing("labels", "give some with --labels FILE"))?;
        if labels.names.len() < 2 {
            return Err(TrainError::OneClass(labels.names.len()));
        }
        config.runs.check()?;
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
        let pass = match (config.model.kind, config.operator.kind) {
            (ModelKind::Mgc, KindChoice::Adjacency) => {
                choose_pass(config.operator.pass, &dataset.graph, labels, &splits[0])?
            }
            _ => PassEvidence::given(false),
        };
        let (mapped, checkpoints) = (None, None);
        Ok(Self { dataset, config, features, labels, splits, pass, mapped, checkpoints })
    }

    /// Takes the filtered features from a file that `magnon propagate` wrote.
    pub fn with_filtered(mut self, rows: MappedRows) -> Result<Self, TrainError> {
        let (found, expected) = (rows.shape(), (self.features.rows(), self.features.cols()));
        if (found.rows, found.cols) != expected {
            return Err(TrainError::Mismatch {
                what: "the file of filtered features".to_owned(),
                found: format!("{} × {} numbers", found.rows, found.cols),
                expected: format!("{} × {}", expected.0, expected.1),
            });
        }
        self.mapped = Some(rows);
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

    /// Trains everything that the recipe asks for. `advice` has the candidates where the charge is
    /// left open.
    pub fn run(
        &self,
        advice: Option<&ChargeAdvice>,
        observer: &dyn Observer,
    ) -> Result<Outcome, TrainError> {
        let mut seconds = Seconds::default();
        let kind = self.config.model.kind;
        let candidates: Vec<Candidate> = match (self.config.operator.charge, advice, kind) {
            (_, _, ModelKind::Mlp) => vec![fixed(Charge::ZERO)],
            (ChargeChoice::Fixed(charge), ..) => vec![fixed(charge)],
            (ChargeChoice::Auto, Some(advice), _) => advice.candidates.clone(),
            (ChargeChoice::Auto, None, _) => vec![fixed(Charge::ZERO)],
        };
        // A trivial charge acts as 0 does, and 0 is always among the candidates.
        let tried: Vec<&Candidate> = match candidates.len() {
            1 => candidates.iter().collect(),
            _ => candidates.iter().filter(|c| !c.trivial || c.length.is_none()).collect(),
        };
        let mut trained: Vec<(Charge, Plan, Vec<TrialResult>)> = Vec::new();
        let pattern =
            self.timed(&mut seconds.operator, || Pattern::new(&self.dataset.graph).map(Arc::new));
        let pattern = pattern.map_err(crate::operator::OperatorError::from)?;
        let controls = self.config.runs.controls;
        let zero = tried.iter().any(|c| c.charge.value() == 0.0);
        let extra = usize::from(controls) * (1 + usize::from(!zero && kind == ModelKind::Mgc));
        observer.begin((tried.len() + extra) * self.config.runs.count);
        for candidate in &tried {
            let (plan, runs) =
                self.train(kind, candidate.charge, &pattern, observer, &mut seconds)?;
            trained.push((candidate.charge, plan, runs));
        }
        let mean = |runs: &[TrialResult], of: fn(&EpochRecord) -> f64| {
            runs.iter().map(|run| of(&run.best)).sum::<f64>() / runs.len().max(1) as f64
        };
        let results = candidates
            .iter()
            .map(|candidate| {
                let runs = trained.iter().find(|(charge, ..)| *charge == candidate.charge);
                CandidateResult {
                    candidate: candidate.clone(),
                    val_loss: runs.map(|(.., runs)| mean(runs, |best| best.val_loss)),
                    val_accuracy: runs.map(|(.., runs)| mean(runs, |best| best.val_accuracy)),
                }
            })
            .collect();
        let loss = |(.., runs): &(Charge, Plan, Vec<TrialResult>)| mean(runs, |b| b.val_loss);
        let best =
            (0..trained.len()).min_by(|&a, &b| loss(&trained[a]).total_cmp(&loss(&trained[b])));
        let undirected = trained.iter().find(|(charge, ..)| charge.value() == 0.0);
        let mut undirected = undirected.map(|(.., runs)| runs.clone());
        let (charge, plan, runs) = trained.swap_remove(best.unwrap_or(0));
        drop(trained);
        let mut list = Vec::new();
        if controls && kind == ModelKind::Mgc {
            if undirected.is_none() {
                let (_, runs) = self.train(kind, Charge::ZERO, &pattern, observer, &mut seconds)?;
                undirected = Some(runs);
            }
            let runs = undirected.unwrap_or_default();
            list.push(Control { name: "without direction (q = 0)", runs });
        }
        if controls && kind != ModelKind::Mlp {
            let (_, runs) =
                self.train(ModelKind::Mlp, Charge::ZERO, &pattern, observer, &mut seconds)?;
            list.push(Control { name: "without the graph (MLP)", runs });
        }
        let auto = self.config.operator.charge == ChargeChoice::Auto && kind == ModelKind::Mgc;
        Ok(Outcome {
            charge,
            candidates: if auto { results } else { Vec::new() },
            pass: self.pass,
            plan,
            runs,
            controls: list,
            seconds,
        })
    }

    fn timed<T>(&self, seconds: &mut f64, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        *seconds += start.elapsed().as_secs_f64();
        result
    }

    /// All runs of one model with one charge.
    fn train(
        &self,
        model: ModelKind,
        charge: Charge,
        pattern: &Arc<Pattern>,
        observer: &dyn Observer,
        seconds: &mut Seconds,
    ) -> Result<(Plan, Vec<TrialResult>), TrainError> {
        let prepared = self.prepare(model, charge, pattern, observer, seconds)?;
        let count = self.config.runs.count;
        let trials: Vec<Trial> = (0..count)
            .map(|k| {
                let (by_seed, by_split) = match self.config.runs.vary {
                    Vary::Seeds => (k, 0),
                    Vary::Splits => (0, k),
                    Vary::Both => (k, k),
                };
                let seed = self.config.train.seed.wrapping_add(by_seed as u64);
                Trial { model, charge, seed, split: by_split }
            })
            .collect();
        let results = self.timed(&mut seconds.train, || match trials[..] {
            [trial] => self.trial(&Cpu::parallel(), trial, &prepared, observer).map(|r| vec![r]),
            _ => trials
                .par_iter()
                .map(|&trial| self.trial(&Cpu::sequential(), trial, &prepared, observer))
                .collect(),
        });
        Ok((prepared.plan, results?))
    }

    /// What the runs of one model with one charge share.
    fn prepare(
        &self,
        model: ModelKind,
        charge: Charge,
        pattern: &Arc<Pattern>,
        observer: &dyn Observer,
        seconds: &mut Seconds,
    ) -> Result<Prepared, TrainError> {
        let batches = self.config.train.batch.is_some();
        let targets =
            |split: &Split| [&split.train, &split.val].map(|n| Targets::of(n, self.labels).nodes);
        let per_split = |make: &MakeInputs| {
            let splits = if batches { &[][..] } else { &self.splits[..] };
            splits
                .iter()
                .map(|split| {
                    let [train, val] = targets(split);
                    make(&train, &val)
                })
                .collect::<Result<Vec<_>, _>>()
        };
        if model == ModelKind::Mlp {
            let inputs = per_split(&|train, val| Ok(Inputs::raw(self.features, train, val)))?;
            let (plan, field) = (Plan::Rows, Field::Real);
            return Ok(Prepared { filter: None, filtered: None, field, plan, inputs });
        }
        let config = self.config.operator.config(charge, self.pass.high);
        let operator = self.timed(&mut seconds.operator, || {
            MagneticOperator::from_pattern(pattern.clone(), &config)
        })?;
        let filter = self.config.filter.build(operator.bounds(), operator.config().kind)?;
        let field = field_of(&operator);
        if let Some(mapped) = &self.mapped {
            let field = mapped.shape().field;
            let inputs = per_split(&|train, val| Ok(Inputs::rows(mapped, train, val)))?;
            let plan = Plan::Rows;
            return Ok(Prepared {
                filter: Some((operator, filter)),
                filtered: None,
                field,
                plan,
                inputs,
            });
        }
        let [train, val] = targets(&self.splits[0]).map(|nodes| nodes.len());
        let plan = match batches {
            true => Plan::Rows,
            false => Plan::cheaper(field, self.features, train, val),
        };
        self.timed(&mut seconds.propagate, || {
            let progress = |done, total| observer.filtering(done, total);
            let (inputs, filtered) = match (plan, self.features) {
                (Plan::Factored, Features::Sparse(x)) => {
                    let make = |train: &[u32], val: &[u32]| {
                        Inputs::factored(&operator, &filter, x, train, val)
                    };
                    (per_split(&make)?, None)
                }
                _ => {
                    let filtered = propagate(&operator, &filter, self.features, &progress)?;
                    let make = |train: &[u32], val: &[u32]| Ok(Inputs::rows(&filtered, train, val));
                    (per_split(&make)?, Some(filtered))
                }
            };
            Ok(Prepared { filter: Some((operator, filter)), filtered, field, plan, inputs })
        })
    }

    /// One trial: trained, then measured on all nodes.
    fn trial(
        &self,
        engine: &Cpu<f32>,
        trial: Trial,
        prepared: &Prepared,
        observer: &dyn Observer,
    ) -> Result<TrialResult, TrainError> {
        let config = TrainConfig { seed: trial.seed, ..self.config.train };
        let (inputs, classes) = (self.features.cols(), self.labels.names.len());
        let mut model: TwoLayer<Cpu<f32>> = match trial.model {
            ModelKind::Mgc => {
                mgc(engine, &self.config.model, prepared.field, inputs, classes, trial.seed)?
            }
            ModelKind::Mlp => mlp(engine, &self.config.model, inputs, classes, trial.seed)?,
        };
        let split = &self.splits[trial.split.min(self.splits.len() - 1)];
        let [train, val] = [&split.train, &split.val].map(|nodes| Targets::of(nodes, self.labels));
        let rows: &dyn RowSource = match (&self.mapped, &prepared.filtered) {
            (Some(mapped), _) if trial.model != ModelKind::Mlp => mapped,
            (_, Some(filtered)) => filtered,
            _ => self.features,
        };
        let feed = match config.batch {
            Some(size) => Feed::Batches { rows, size },
            None => Feed::Full(&prepared.inputs[trial.split.min(prepared.inputs.len() - 1)]),
        };
        let path = |folder: &PathBuf| folder.join(format!("{}.safetensors", trial.name()));
        let mut watch = TrialWatch {
            trial: &trial,
            observer,
            checkpoints: self.checkpoints.as_ref().map(|c| (path(&c.folder), c.every)),
        };
        let state = match (&self.checkpoints, &watch.checkpoints) {
            (Some(checkpoints), Some((path, _))) if checkpoints.resume && path.exists() => {
                Some(checkpoint::read(path, &trial.name())?)
            }
            _ => None,
        };
        let fitted = fit(engine, &mut model, &feed, [&train, &val], &config, state, &mut watch)?;
        let block = match (&prepared.filter, &prepared.filtered, &self.mapped) {
            (None, ..) => multiply(engine, &model, self.features),
            (_, _, Some(mapped)) => multiply(engine, &model, mapped),
            (_, Some(filtered), None) => multiply(engine, &model, filtered),
            (Some((operator, filter)), None, None) => {
                project(engine, &model, self.features, Some((operator, filter)))?
            }
        };
        let log_probabilities = classify(engine, &model, &block);
        let metrics = [&split.train, &split.val, &split.test].map(|nodes| {
            let Targets { nodes, pairs } = Targets::of(nodes, self.labels);
            let said = |u: u32| largest(log_probabilities.row(u as usize)) as u32;
            let pairs = nodes.iter().zip(&pairs).map(|(&u, &(_, class))| (class, said(u)));
            confusion(pairs, &self.labels.names)
        });
        let parameters = model.parameters();
        let weights = parameters
            .iter()
            .map(|(name, shape, numbers)| (name.to_owned(), shape, numbers.clone()));
        let weights = weights.collect();
        let result = TrialResult {
            trial,
            best: fitted.best,
            history: fitted.history,
            metrics,
            weights,
            log_probabilities,
        };
        observer.done(&result);
        Ok(result)
    }
}

fn fixed(charge: Charge) -> Candidate {
    Candidate { charge, length: None, trivial: false }
}

/// Place of the largest number; the first of equals.
pub(crate) fn largest(row: &[f32]) -> usize {
    (0..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// Hands on what one trial does.
struct TrialWatch<'a> {
    trial: &'a Trial,
    observer: &'a dyn Observer,
    /// File, and epochs between two checkpoints.
    checkpoints: Option<(PathBuf, usize)>,
}

impl Watch for TrialWatch<'_> {
    fn epoch(&mut self, record: &EpochRecord, best: &EpochRecord) {
        self.observer.epoch(self.trial, record, best);
    }

    fn wants(&self, epoch: usize) -> bool {
        self.checkpoints.as_ref().is_some_and(|(_, every)| epoch.is_multiple_of((*every).max(1)))
    }

    fn checkpoint(&mut self, state: State) -> Result<(), TrainError> {
        match &self.checkpoints {
            Some((path, _)) => Ok(checkpoint::write(path, &self.trial.name(), &state)?),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}
