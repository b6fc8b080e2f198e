//! `Experiment`: candidate charges, controls and repeated runs on one data set.

use super::inputs::{Plan, Targets};
use super::prepare::Prepared;
use super::rows::{MappedRows, RowSource};
use super::select::{ChargeChoice, KindChoice, PassEvidence, choose_pass};
use super::trainer::{Feed, Watch, fit};
use super::{
    CandidateResult, Checkpoints, Control, EpochRecord, Observer, Outcome, RunConfig, Seconds,
    State, TrainConfig, TrainError, Trial, TrialResult, Vary, checkpoint, classify, confusion,
    multiply, project,
};
use crate::cycles::{Candidate, ChargeAdvice};
use crate::data::{Dataset, Features, Labels, Split};
use crate::model::{Model, ModelKind, TwoLayer, mgc, mlp};
use crate::nn::Cpu;
use crate::operator::{Charge, Pattern};
use rayon::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// A data set with a recipe, checked and ready to be trained on.
pub struct Experiment<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) config: &'a RunConfig,
    pub(super) features: &'a Features,
    pub(super) labels: &'a Labels,
    pub(super) splits: Vec<Split>,
    pub(super) pass: PassEvidence,
    /// Filtered features from a file, in place of those computed, and the charge that they are of.
    pub(super) mapped: Option<(Charge, MappedRows)>,
    pub(super) checkpoints: Option<Checkpoints>,
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

    /// Takes the features filtered with a charge from a file that `magnon propagate` wrote.
    pub fn with_filtered(mut self, charge: Charge, rows: MappedRows) -> Result<Self, TrainError> {
        let (found, expected) = (rows.shape(), (self.features.rows(), self.features.cols()));
        if (found.rows, found.cols) != expected {
            return Err(TrainError::Mismatch {
                what: "the file of filtered features".to_owned(),
                found: format!("{} × {} numbers", found.rows, found.cols),
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
        let tried: Vec<&Candidate> = candidates.iter().collect();
        let mut trained: Vec<(Charge, Plan, Vec<TrialResult>)> = Vec::new();
        let pattern =
            timed(&mut seconds.operator, || Pattern::new(&self.dataset.graph).map(Arc::new));
        let pattern = pattern.map_err(crate::operator::OperatorError::from)?;
        let controls = self.config.runs.controls;
        let zero = tried.iter().any(|c| c.charge.value() == 0.0);
        let extra = match controls && kind == ModelKind::Mgc {
            true => 1 + usize::from(!zero),
            false => 0,
        };
        observer.begin((tried.len() + extra) * self.config.runs.count);
        for candidate in &tried {
            let (plan, runs) =
                self.train(kind, candidate.charge, &pattern, observer, &mut seconds)?;
            trained.push((candidate.charge, plan, runs));
            forget_worse(&mut trained);
        }
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
        self.check_memory(prepared.field.parts(), trials.len())?;
        let results = timed(&mut seconds.train, || match trials[..] {
            [trial] => self.trial(&Cpu::parallel(), trial, &prepared, observer).map(|r| vec![r]),
            _ => trials
                .par_iter()
                .map(|&trial| self.trial(&Cpu::sequential(), trial, &prepared, observer))
                .collect(),
        });
        let mut results = results?;
        forget_but_best(&mut results);
        Ok((prepared.plan, results))
    }

    /// Refuses weights that there is no memory for, before the first is drawn.
    fn check_memory(&self, parts: usize, trials: usize) -> Result<(), TrainError> {
        let hidden = self.config.model.hidden;
        let runs = trials.min(rayon::current_num_threads());
        let numbers = (self.features.cols() + 1)
            .saturating_mul(hidden * parts)
            .saturating_add((hidden + 1) * self.labels.names.len());
        // Weights, gradient, two moments, the best ones, and once more in double precision while
        // they are drawn.
        let bytes = numbers.saturating_mul(4 * 7).saturating_mul(runs);
        match Vec::<u8>::new().try_reserve_exact(bytes) {
            Ok(()) => Ok(()),
            Err(_) => Err(TrainError::OutOfMemory { runs, numbers, bytes }),
        }
    }

    /// One trial: trained, then measured on all nodes.
    fn trial(
        &self,
        engine: &Cpu<f32>,
        trial: Trial,
        prepared: &Prepared<'_>,
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
        let [train, val] = self.targets(split);
        let own;
        let feed = match (config.batch, prepared.rows(), prepared.shared()) {
            (Some(size), Some(rows), _) => Feed::Batches { rows, size },
            (_, _, Some(shared)) => Feed::Full(shared),
            _ => {
                own = prepared.inputs(&train, &val)?;
                Feed::Full(&own)
            }
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
        let block = match (prepared.rows(), &prepared.filter) {
            (Some(rows), _) => multiply(engine, &model, rows),
            (None, Some((operator, filter))) => {
                project(engine, &model, self.features, Some((operator, filter)))?
            }
            (None, None) => project(engine, &model, self.features, None)?,
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

/// Lets go of the weights and predictions of all runs but the best: of many runs on a large graph
/// they would fill the memory, and only one is kept in the end.
fn forget_but_best(runs: &mut [TrialResult]) {
    let best = runs.iter().map(|run| run.best.val_loss).fold(f64::INFINITY, f64::min);
    let mut kept = false;
    for run in runs {
        if kept || run.best.val_loss > best {
            run.forget();
        } else {
            kept = true;
        }
    }
}

/// The mean of a figure of the runs' best epochs.
fn mean(runs: &[TrialResult], of: fn(&EpochRecord) -> f64) -> f64 {
    runs.iter().map(|run| of(&run.best)).sum::<f64>() / runs.len().max(1) as f64
}

/// Lets go of what the charges that will not be taken have learnt.
fn forget_worse(trained: &mut [(Charge, Plan, Vec<TrialResult>)]) {
    let losses: Vec<f64> = trained.iter().map(|(.., runs)| mean(runs, |b| b.val_loss)).collect();
    let best = losses.iter().copied().fold(f64::INFINITY, f64::min);
    for ((.., runs), loss) in trained.iter_mut().zip(losses) {
        if loss > best {
            runs.iter_mut().for_each(TrialResult::forget);
        }
    }
}

/// Runs `work` and adds its time.
pub(super) fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}

fn fixed(charge: Charge) -> Candidate {
    Candidate { charge, length: None, gauge_equivalent: false }
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
