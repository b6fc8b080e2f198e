//! Several experiments at once, on engines that work in lanes: configurations that differ in nothing but
//! numbers, such as a search tries.

use super::{Experiment, Outcome, Seconds};
use crate::model::{ChargeChoice, Network, Purpose};
use crate::train::TrainError;
use crate::train::TrialResult;
use crate::train::trial::{Monitor, Shared, Slot, Spec, forget_but_best, side_by_side, timed};
use magnon_core::compute::Engine;
use magnon_core::cycles::ChargeAdvice;
use magnon_core::progress::Progress;
use rayon::prelude::*;

/// Bytes of filtered features that the networks of experiments at once may hold.
const ROOM: usize = 4 << 30;

/// Told what came of the experiment of a number.
pub(crate) type Done<'a> = &'a (dyn Fn(usize, Result<Outcome, TrainError>) + Sync);

/// Trains experiments on the same data, splits and device: in the same steps where the engine has lanes and
/// their configurations allow it, else each by itself. Both give the same results.
pub fn run_together(
    experiments: &[Experiment],
    advice: Option<&ChargeAdvice>,
    progress: &dyn Progress,
    done: Done,
) -> Result<(), TrainError> {
    match experiments.first() {
        Some(first) => {
            let device = first.trials.config.train.device;
            all_on(&device.engine()?, experiments, advice, progress, done)
        }
        None => Ok(()),
    }
}

/// All experiments on one engine.
fn all_on(
    engine: &Engine,
    experiments: &[Experiment],
    advice: Option<&ChargeAdvice>,
    progress: &dyn Progress,
    done: Done,
) -> Result<(), TrainError> {
    let mut left: Vec<usize> = (0..experiments.len()).collect();
    if engine.has_lanes() {
        let size = |of: &Experiment| {
            8 * of.trials.features.rows().max(1) * of.trials.features.cols().max(1)
        };
        let at_once = experiments.first().map_or(1, |first| (ROOM / size(first)).max(1));
        let suited: Vec<usize> =
            left.iter().copied().filter(|&at| experiments[at].only_spec().is_some()).collect();
        for some in suited.chunks(at_once) {
            for at in train_some(engine, experiments, some, progress, done)? {
                left.retain(|&other| other != at);
            }
        }
    }
    let alone = |&at: &usize| {
        let outcome = experiments[at].run_on(&engine.sequential(), advice, progress);
        done(at, outcome);
    };
    left.par_iter().for_each(alone);
    Ok(())
}

/// A network that one or more experiments have in common, and the first of them.
struct Built<'a> {
    at: usize,
    network: Box<dyn Network + 'a>,
}

/// Trains some experiments in lanes, and says which of them it could.
fn train_some(
    engine: &Engine,
    experiments: &[Experiment],
    some: &[usize],
    progress: &dyn Progress,
    done: Done,
) -> Result<Vec<usize>, TrainError> {
    let variants: Vec<(usize, Spec)> =
        some.iter().filter_map(|&at| Some((at, experiments[at].only_spec()?))).collect();
    let mut seconds = Seconds::default();
    // Experiments with another rate of dropout share a network.
    let of_network =
        |at: usize| variants.iter().position(|(_, other)| share_network(other, &variants[at].1));
    let places: Vec<usize> = (0..variants.len()).filter_map(of_network).collect();
    let built: Vec<Built> = timed(&mut seconds.propagate, || {
        let all = (0..variants.len()).into_par_iter().filter(|&at| places[at] == at);
        let build = |at: usize| {
            let (number, spec) = &variants[at];
            // One that cannot be built says so by itself.
            let made = experiments[*number].only_network(&engine.sequential(), spec);
            Some(Built { at, network: made.ok().flatten()? })
        };
        all.filter_map(build).collect()
    });
    let mut shared: Vec<(usize, Shared)> = Vec::new();
    for built in &built {
        let trials = &experiments[variants[built.at].0].trials;
        let mut own = Shared::new(built.network.as_ref());
        if trials.splits.len() == 1 {
            own.ready = Some(trials.ready(engine, &own, 0)?);
        }
        shared.push((built.at, own));
    }
    let mut slots: Vec<Slot> = Vec::new();
    let mut owners: Vec<usize> = Vec::new();
    for (at, (number, spec)) in variants.iter().enumerate() {
        let Some((_, shared)) = shared.iter().find(|(of, _)| *of == places[at]) else { continue };
        let trials = &experiments[*number].trials;
        for run in 0..trials.repeats.len() {
            let trial = trials.named(&spec.variant, run);
            let dropout = trials.config.model.only_dropout();
            slots.push(Slot { trials, shared, trial, dropout });
            owners.push(at);
        }
    }
    let found = side_by_side(engine, &slots, &Monitor::new(progress, None))?;
    let mut finished = Vec::new();
    let mut results = owners.into_iter().zip(found).peekable();
    for (at, (number, spec)) in variants.iter().enumerate() {
        let mut own = Vec::new();
        while let Some((_, result)) = results.next_if(|(owner, _)| *owner == at) {
            own.push(result);
        }
        let Some(own) = own.into_iter().collect::<Option<Vec<_>>>().filter(|own| !own.is_empty())
        else {
            continue;
        };
        let order = shared.iter().find(|(of, _)| *of == places[at]);
        let order = order.and_then(|(_, shared)| shared.network.order());
        let outcome = own.into_iter().collect::<Result<Vec<TrialResult>, _>>().map(|mut runs| {
            forget_but_best(&mut runs);
            Outcome {
                charge: spec.variant.charge,
                candidates: Vec::new(),
                untried: Vec::new(),
                choices: Vec::new(),
                pass: experiments[*number].trials.pass,
                order,
                controls: Vec::new(),
                seconds: Seconds {
                    operator: 0.0,
                    propagate: seconds.propagate / variants.len() as f64,
                    train: runs.iter().map(|run| run.seconds).sum(),
                },
                runs,
            }
        });
        done(*number, outcome);
        finished.push(*number);
    }
    Ok(finished)
}

/// Whether the same network serves two specifications, apart from the rate of its dropout.
fn share_network(a: &Spec, b: &Spec) -> bool {
    let model = |of: &Spec| {
        let mut settings = of.variant.model.settings();
        let rate = of.variant.model.only_dropout();
        if rate.is_some() {
            settings.remove("dropout");
        }
        (of.variant.model.info().name, settings, rate.map(|rate| rate > 0.0))
    };
    model(a) == model(b)
        && a.variant.charge == b.variant.charge
        && a.operator == b.operator
        && a.filter == b.filter
}

impl Experiment<'_> {
    /// The only variant, where nothing is left open and nothing but its runs is to be trained.
    fn only_spec(&self) -> Option<Spec> {
        let trials = &self.trials;
        let config = trials.config;
        let by_itself = config.train.batch.is_some()
            || config.runs.controls
            || trials.checkpoints.is_some()
            || trials.mapped.is_some()
            || trials.shared.is_none();
        if by_itself || self.chooses_charge() || (self.chooses() && config.operator.is_none()) {
            return None;
        }
        let charge = match config.operator.map(|operator| operator.charge) {
            Some(ChargeChoice::Fixed(charge)) => Some(charge),
            _ => None,
        };
        Some(trials.spec(&trials.variant(charge)))
    }

    /// The network of the only variant.
    fn only_network<'n>(
        &'n self,
        engine: &Engine,
        spec: &'n Spec,
    ) -> Result<Option<Box<dyn Network + 'n>>, TrainError> {
        let trials = &self.trials;
        let Some(shared) = trials.shared else { return Ok(None) };
        if let Some(charge) = spec.variant.charge {
            self.check_field(charge, shared.pattern())?;
        }
        let [train, val] = trials.targets(&trials.splits[0]);
        let purpose = Purpose::Train { train: train.len(), val: val.len(), batches: false };
        let pattern = shared.pattern();
        Ok(Some(trials.build(engine, spec, pattern, None, purpose, &())?))
    }
}
