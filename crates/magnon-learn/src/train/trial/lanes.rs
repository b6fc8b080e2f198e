//! Several trials at once, on engines that work in lanes.

use super::monitor::Monitor;
use super::single::{Learnt, TrialWatch};
use super::views::{Ready, Shared, Views};
use super::{Trial, TrialResult, Trials};
use crate::model::{Mode, View};
use crate::nn::{Parameters, Tape};
use crate::train::fit::share_steps;
use crate::train::{Targets, TrainConfig, TrainError, Watch, fit_lanes};
use magnon_core::compute::{Engine, EngineError, LaneConfig, Map, Relabelling};
use magnon_core::matrix::Matrix;
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A trial with what it is trained on.
pub(in crate::train) struct Slot<'s, 'a> {
    pub trials: &'s Trials<'a>,
    pub shared: &'s Shared<'s>,
    pub trial: Trial,
    /// The rate of its dropouts, where the network may have been built with another.
    pub dropout: Option<f64>,
}

/// What became of each slot; `None` where it could not be trained beside others.
pub(in crate::train) type BatchResults = Vec<Option<Result<TrialResult, TrainError>>>;

impl Slot<'_, '_> {
    fn split_targets(&self) -> [Targets; 2] {
        self.trials.targets(&self.trials.splits[self.trial.split])
    }

    fn config(&self) -> TrainConfig {
        TrainConfig { seed: self.trial.seed, ..self.trials.config.train }
    }

    fn is_whole(&self, engine: &Engine) -> bool {
        self.trials.is_whole(engine, self.shared.network, self.trial.split)
    }

    /// Whether the steps of two slots with as many targets have the same operations on the same shapes, as far
    /// as can be told without their views.
    fn is_like(&self, other: &Self) -> bool {
        let one_network = std::ptr::eq(self.shared, other.shared);
        if one_network && std::ptr::eq(self.trials, other.trials) {
            return true;
        }
        // Views that hold more than rows of their nodes are one network's own.
        if !one_network && self.shared.network.seen(&[]).is_some() {
            return false;
        }
        let model = |slot: &Self| {
            let mut settings = slot.trials.config.model.settings();
            if slot.dropout.is_some() {
                settings.remove("dropout");
            }
            (slot.trial.model, settings, slot.dropout.map(|rate| rate > 0.0))
        };
        let [own, others] = [self, other].map(|slot| slot.shared.network.layout().iter());
        model(self) == model(other)
            && share_steps(&self.config(), &other.config())
            && own.eq(others)
    }

    /// The network and the split, as what views are told apart by.
    fn place(&self) -> (*const Shared<'_>, usize) {
        (std::ptr::from_ref(self.shared), self.trial.split)
    }
}

/// Trains all slots in the same steps that are alike, or as many at a time as there is memory for. The results
/// are those that each would have alone. `None` for slots that have to be trained alone: all of them, where the
/// engine has no lanes.
pub(in crate::train) fn side_by_side(
    engine: &Engine,
    slots: &[Slot],
    monitor: &Monitor,
) -> Result<BatchResults, TrainError> {
    let mut results: BatchResults = slots.iter().map(|_| None).collect();
    if slots.len() < 2 || !engine.has_lanes() {
        return Ok(results);
    }
    let groups = groups(engine, slots);
    // Groups of other shapes go side by side on streams.
    let found: Result<Vec<_>, TrainError> = groups
        .par_iter()
        .map(|group| {
            let chosen: Vec<&Slot> = group.iter().map(|&at| &slots[at]).collect();
            train_group(&engine.sequential(), &chosen, monitor)
        })
        .collect();
    for (group, found) in groups.iter().zip(found?) {
        group.iter().zip(found).for_each(|(&at, found)| results[at] = found);
    }
    Ok(results)
}

/// Slots that are alike, as many at a time as there is memory for.
fn train_group(
    engine: &Engine,
    slots: &[&Slot],
    monitor: &Monitor,
) -> Result<BatchResults, TrainError> {
    let mut results: BatchResults = Vec::new();
    let mut size = slots.len();
    while results.len() < slots.len() {
        let left = &slots[results.len()..];
        let some = &left[..size.min(left.len())];
        match train_lanes(engine, some, monitor) {
            Ok(Some(found)) => results.extend(found.into_iter().map(Some)),
            Ok(None) => results.extend(some.iter().map(|_| None)),
            // Half as many need half as much.
            Err(TrainError::Engine(EngineError::OutOfMemory { .. })) if some.len() > 1 => {
                size = some.len() / 2;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(results)
}

/// Training and validation targets, and whether views are of all nodes.
type Sizes = ([usize; 2], bool);

/// The places of slots, together where they are alike.
fn groups(engine: &Engine, slots: &[Slot]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Sizes, Vec<usize>)> = Vec::new();
    let mut known = HashMap::new();
    for (at, slot) in slots.iter().enumerate() {
        let kind = *known.entry(slot.place()).or_insert_with(|| {
            let sizes = slot.split_targets().map(|targets| targets.len());
            (sizes, slot.is_whole(engine))
        });
        let found =
            groups.iter_mut().find(|(of, group)| *of == kind && slots[group[0]].is_like(slot));
        match found {
            Some((_, group)) => group.push(at),
            None => groups.push((kind, vec![at])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Trains slots in a lane each. `None` where they cannot lie beside each other.
fn train_lanes(
    engine: &Engine,
    slots: &[&Slot],
    monitor: &Monitor,
) -> Result<Option<Vec<Result<TrialResult, TrainError>>>, TrainError> {
    let lanes: Vec<LaneConfig> = slots
        .iter()
        .map(|slot| LaneConfig { seed: slot.trial.seed, dropout: slot.dropout })
        .collect();
    let Some(laned) = engine.lanes(&lanes) else { return Ok(None) };
    let (laned, start) = (laned?, Instant::now());
    let Some(SharedViews { views, lists, places }) = ready_for_all(engine, &laned, slots)? else {
        return Ok(None);
    };
    laned.relabel(&places)?;
    let layout = |slot: &Slot| slot.shared.network.layout().draw(engine, slot.trial.seed);
    let mut parameters = slots[0].shared.network.layout().draw(&laned, lanes[0].seed)?;
    let mut own = Vec::new();
    for (lane, slot) in slots.iter().enumerate() {
        let drawn = layout(slot)?;
        for (from, to) in drawn.values().iter().zip(parameters.values_mut()) {
            laned.put_lane(lane, from, to)?;
        }
        own.push(drawn);
    }
    let configs: Vec<TrainConfig> = slots.iter().map(|slot| slot.config()).collect();
    let targets: Vec<[&Targets; 2]> = lists.iter().map(|of| of.each_ref()).collect();
    let mut watches: Vec<TrialWatch> = slots
        .iter()
        .map(|slot| TrialWatch { trial: &slot.trial, monitor, checkpoints: None })
        .collect();
    let watching = watches.iter_mut().map(|watch| watch as &mut dyn Watch).collect();
    let of_parts = [views[0].as_ref(), views[1].as_ref()];
    let fitted = fit_lanes(&laned, &mut parameters, of_parts, &targets, &configs, watching)?;
    let Some(fitted) = fitted else { return Ok(None) };
    for (lane, own) in own.iter_mut().enumerate() {
        for (from, to) in parameters.values().iter().zip(own.values_mut()) {
            laned.take_lane(lane, from, to)?;
        }
    }
    let one_by_one = || {
        let predict = |(slot, own): (&&Slot, &Parameters)| {
            Ok(slot.shared.network.predict(engine, own, None)?)
        };
        slots.iter().zip(&own).map(predict).collect::<Result<Vec<_>, TrainError>>()
    };
    let tables = match is_one_network(slots) {
        true => match predict_lanes(engine, &laned, &parameters, slots) {
            Err(TrainError::Engine(EngineError::OutOfMemory { .. })) => one_by_one(),
            tables => tables,
        },
        false => one_by_one(),
    }?;
    // The time is shared evenly.
    let seconds = start.elapsed().as_secs_f64() / slots.len() as f64;
    let results = slots.iter().zip(own).zip(fitted).zip(tables);
    let results = results.map(|(((slot, parameters), fitted), table)| {
        let (shared, learnt) = (slot.shared, Learnt { fitted: fitted?, parameters });
        let Slot { trials, trial, .. } = slot;
        trials.measure(engine, *trial, shared, learnt, table, seconds, monitor)
    });
    Ok(Some(results.collect()))
}

/// Views that serve all lanes, and the targets of each or of all.
struct SharedViews {
    views: Views,
    lists: Vec<[Targets; 2]>,
    /// Where draws have other places, those of each or of all.
    places: Vec<Relabelling>,
}

fn is_one_network(slots: &[&Slot]) -> bool {
    slots.iter().all(|slot| std::ptr::eq(slot.shared, slots[0].shared))
}

/// `None` where the engine cannot lay the views of the slots side by side.
fn ready_for_all(
    engine: &Engine,
    laned: &Engine,
    slots: &[&Slot],
) -> Result<Option<SharedViews>, TrainError> {
    let (first, one_network) = (slots[0], is_one_network(slots));
    if let (true, Some(Ready { views, targets, places })) = (one_network, &first.shared.ready) {
        let (views, lists) = (views.clone(), vec![targets.clone()]);
        return Ok(Some(SharedViews { views, lists, places: places.iter().cloned().collect() }));
    }
    if one_network && first.is_whole(engine) {
        let view = first.shared.everyone(engine, first.trials.graph.nodes())?;
        let (mut lists, mut places) = (Vec::new(), Vec::new());
        for slot in slots {
            let targets = slot.split_targets();
            places.extend(first.shared.network.places(&targets[0].nodes));
            lists.push(targets.map(Targets::among_all));
        }
        return Ok(Some(SharedViews { views: [view.clone(), view], lists, places }));
    }
    let views = stacked(engine, laned, slots)?;
    let lists = slots.iter().map(|slot| slot.split_targets()).collect();
    Ok(views.map(|views| SharedViews { views, lists, places: Vec::new() }))
}

/// Training and validation nodes of every lane's network and split, as one view each.
fn stacked(engine: &Engine, laned: &Engine, slots: &[&Slot]) -> Result<Option<Views>, TrainError> {
    let mut parts: Vec<Arc<dyn View>> = Vec::new();
    for part in 0..2 {
        let mut views: Vec<(_, Arc<dyn View>)> = Vec::new();
        for slot in slots {
            if views.iter().any(|(known, _)| *known == slot.place()) {
                continue;
            }
            let view = match &slot.shared.ready {
                Some(ready) => ready.views[part].clone(),
                None => {
                    let nodes = &slot.split_targets()[part].nodes;
                    slot.shared.network.view(engine, nodes)?.into()
                }
            };
            views.push((slot.place(), view));
            // Others would be made in vain.
            if views[0].1.maps().is_none() {
                return Ok(None);
            }
        }
        let maps: Vec<Vec<Arc<Map>>> = views.iter().filter_map(|(_, v)| v.maps()).collect();
        let of_slot = |slot: &&Slot| views.iter().position(|(known, _)| *known == slot.place());
        let places: Vec<usize> = slots.iter().filter_map(of_slot).collect();
        let mut stacked = Vec::new();
        for k in 0..maps[0].len() {
            let lanes: Vec<&Map> =
                places.iter().filter_map(|&at| maps.get(at)?.get(k).map(Arc::as_ref)).collect();
            match laned.stack(&lanes) {
                Some(map) => stacked.push(Arc::new(map?)),
                None => return Ok(None),
            }
        }
        match views[0].1.with_maps(stacked) {
            Some(view) => parts.push(view.into()),
            None => return Ok(None),
        }
    }
    Ok(parts.try_into().ok())
}

/// Log-probabilities of all nodes, lane by lane, from one network.
fn predict_lanes(
    engine: &Engine,
    laned: &Engine,
    parameters: &Parameters,
    slots: &[&Slot],
) -> Result<Vec<Matrix<f32>>, TrainError> {
    let trials = slots[0].trials;
    let (rows, cols) = (trials.graph.nodes(), trials.labels.names.len());
    let view = match slots[0].is_whole(engine) {
        true => slots[0].shared.everyone(engine, rows)?,
        false => {
            let everyone: Vec<u32> = (0..rows as u32).collect();
            slots[0].shared.network.view(engine, &everyone)?.into()
        }
    };
    let mut tape = Tape::new(laned);
    let mut trace = tape.trace(parameters);
    let begun = view.begin(&mut trace);
    let logits = view.logits(&mut trace, begun, Mode::Evaluate);
    let table = trace.log_softmax(logits);
    let table = trace.value(table)?;
    let mut own = engine.zeros(rows * cols)?;
    let mut tables = Vec::new();
    for lane in 0..slots.len() {
        laned.take_lane(lane, table, &mut own)?;
        let mut matrix = Matrix::zeros(rows, cols);
        engine.download(&own, matrix.as_mut_slice())?;
        tables.push(matrix);
    }
    Ok(tables)
}
