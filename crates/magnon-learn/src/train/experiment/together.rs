//! Several experiments at once, on engines that work in lanes: configurations that differ in nothing but
//! numbers, such as a search tries.

use super::lanes::{BatchSlot, laned};
use super::ready::Shared;
use super::variant::{Variant, forget_but_best};
use super::{Experiment, Observer, Outcome, Seconds, TrialResult, timed};
use crate::model::{ChargeChoice, Inputs, Network, Purpose, SharedInputs};
use crate::train::TrainError;
use magnon_core::compute::Engine;
use magnon_core::cycles::ChargeAdvice;
use magnon_core::filter::FilterConfig;
use magnon_core::operator::OperatorConfig;
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
    observer: &dyn Observer,
    done: Done,
) -> Result<(), TrainError> {
    match experiments.first() {
        Some(first) => {
            let device = first.config.train.device;
            all_on(&device.engine()?, experiments, advice, observer, done)
        }
        None => Ok(()),
    }
}

/// All experiments on one engine.
fn all_on(
    engine: &Engine,
    experiments: &[Experiment],
    advice: Option<&ChargeAdvice>,
    observer: &dyn Observer,
    done: Done,
) -> Result<(), TrainError> {
    let mut left: Vec<usize> = (0..experiments.len()).collect();
    if engine.has_lanes() {
        let size = |of: &Experiment| 8 * of.features.rows().max(1) * of.features.cols().max(1);
        let at_once = experiments.first().map_or(1, |first| (ROOM / size(first)).max(1));
        let suited: Vec<usize> =
            left.iter().copied().filter(|&at| experiments[at].plain().is_some()).collect();
        for some in suited.chunks(at_once) {
            for at in train_some(engine, experiments, some, observer, done)? {
                left.retain(|&other| other != at);
            }
        }
    }
    let alone = |&at: &usize| {
        let outcome = experiments[at].run_on(&engine.sequential(), advice, observer);
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
    observer: &dyn Observer,
    done: Done,
) -> Result<Vec<usize>, TrainError> {
    let variants: Vec<(usize, Plain)> =
        some.iter().filter_map(|&at| Some((at, experiments[at].plain()?))).collect();
    let mut seconds = Seconds::default();
    // Experiments with another rate of dropout share a network.
    let of_network = |at: usize| variants.iter().position(|(_, other)| *other == variants[at].1);
    let places: Vec<usize> = (0..variants.len()).filter_map(of_network).collect();
    let built: Vec<Built> = timed(&mut seconds.propagate, || {
        let all = (0..variants.len()).into_par_iter().filter(|&at| places[at] == at);
        let build = |at: usize| {
            let (number, plain) = &variants[at];
            // One that cannot be built says so by itself.
            let made = experiments[*number].plain_network(&engine.sequential(), plain);
            Some(Built { at, network: made.ok().flatten()? })
        };
        all.filter_map(build).collect()
    });
    let mut shared: Vec<(usize, Shared)> = Vec::new();
    for built in &built {
        let experiment = &experiments[variants[built.at].0];
        let mut own = Shared::new(built.network.as_ref());
        if experiment.splits.len() == 1 {
            own.ready = Some(experiment.ready(engine, &own, 0)?);
        }
        shared.push((built.at, own));
    }
    let mut slots: Vec<BatchSlot> = Vec::new();
    let mut owners: Vec<usize> = Vec::new();
    for (at, (number, plain)) in variants.iter().enumerate() {
        let Some((_, shared)) = shared.iter().find(|(of, _)| *of == places[at]) else { continue };
        let experiment = &experiments[*number];
        for run in 0..experiment.repeats.len() {
            let trial = experiment.named(&plain.variant, run);
            let dropout = experiment.config.model.only_dropout();
            slots.push(BatchSlot { experiment, shared, trial, dropout });
            owners.push(at);
        }
    }
    let Some(seated) = laned(engine, &slots, observer)? else { return Ok(Vec::new()) };
    let mut finished = Vec::new();
    let mut results = owners.into_iter().zip(seated).peekable();
    for (at, (number, plain)) in variants.iter().enumerate() {
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
                charge: plain.variant.charge,
                candidates: Vec::new(),
                untried: Vec::new(),
                choices: Vec::new(),
                pass: experiments[*number].pass,
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

/// An experiment that leaves nothing open. Two of them are equal where the same network serves both.
struct Plain {
    variant: Variant,
    operator: Option<OperatorConfig>,
    filter: Option<FilterConfig>,
}

impl PartialEq for Plain {
    fn eq(&self, other: &Self) -> bool {
        let model = |of: &Self| {
            let mut settings = of.variant.model.settings();
            let rate = of.variant.model.only_dropout();
            if rate.is_some() {
                settings.remove("dropout");
            }
            (of.variant.model.info().name, settings, rate.map(|rate| rate > 0.0))
        };
        model(self) == model(other)
            && self.variant.charge == other.variant.charge
            && self.operator == other.operator
            && self.filter == other.filter
    }
}

impl<'a> Experiment<'a> {
    /// The only variant, where there is one and nothing but its runs is to be trained.
    fn plain(&self) -> Option<Plain> {
        let by_itself = self.config.train.batch.is_some()
            || self.config.runs.controls
            || self.checkpoints.is_some()
            || self.mapped.is_some()
            || self.shared.is_none();
        if by_itself {
            return None;
        }
        let charge = match self.config.operator.map(|operator| operator.charge) {
            Some(ChargeChoice::Fixed(charge)) => Some(charge),
            Some(_) => return None,
            None => None,
        };
        let open = !self.config.model.alternatives(self.graph, self.features).is_empty();
        if open && self.config.operator.is_none() {
            return None;
        }
        let operator = match (&self.config.operator, charge, self.pass) {
            (Some(choice), Some(charge), Some(pass)) => Some(choice.config(charge, pass.high)),
            _ => None,
        };
        let filter = operator.as_ref().and(self.config.filter.clone());
        Some(Plain { variant: self.variant(charge), operator, filter })
    }

    /// The network of the only variant.
    fn plain_network<'n>(
        &self,
        engine: &Engine,
        plain: &'n Plain,
    ) -> Result<Option<Box<dyn Network + 'n>>, TrainError>
    where
        'a: 'n,
    {
        let Some(shared): Option<&'a SharedInputs> = self.shared else { return Ok(None) };
        if let Some(charge) = plain.variant.charge {
            self.check_field(charge, shared.pattern())?;
        }
        let [train, val] = self.targets(&self.splits[0]);
        let inputs = Inputs {
            graph: self.graph,
            pattern: shared.pattern(),
            features: self.features,
            classes: self.labels.names.len(),
            operator: plain.operator.as_ref(),
            filter: plain.filter.as_ref(),
            filtered: None,
            shared: Some(shared),
            field: None,
            purpose: Purpose::Train { train: train.len(), val: val.len(), batches: false },
            progress: &|_, _| true,
        };
        Ok(Some(plain.variant.model.build(engine, &inputs)?))
    }
}
