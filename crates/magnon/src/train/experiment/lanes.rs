//! Several seeds and splits at once, on engines that work in lanes.

use super::variant::{Learnt, Shared, TrialWatch, Views};
use super::{Experiment, Observer, Trial, TrialResult};
use crate::matrix::Matrix;
use crate::model::{Mode, View};
use crate::nn::{Engine, EngineError, Parameters, Tape};
use crate::train::{Targets, TrainConfig, TrainError, Watch, fit_lanes};
use rayon::prelude::*;
use std::sync::Arc;
use std::time::Instant;

impl Experiment<'_> {
    /// All trials at once that have as many targets, or as many at a time as there is memory for; `None`
    /// where the engine has no lanes or the trials cannot lie side by side.
    pub(super) fn laned<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        trials: &[Trial],
        shared: &Shared<E>,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<TrialResult>>, TrainError> {
        if trials.len() < 2 || self.config.train.batch.is_some() || self.checkpoints.is_some() {
            return Ok(None);
        }
        let mut results: Vec<(usize, TrialResult)> = Vec::new();
        for group in self.alike(trials) {
            let mut left = &group[..];
            let mut size = left.len();
            while !left.is_empty() {
                let (some, rest) = left.split_at(size.min(left.len()));
                let chosen: Vec<Trial> = some.iter().map(|&at| trials[at]).collect();
                let found = match self.side_by_side(engine, &chosen, shared, observer) {
                    Ok(Some(found)) => found,
                    Ok(None) if results.is_empty() => return Ok(None),
                    Ok(None) => self.one_by_one(engine, &chosen, shared, observer)?,
                    // Half as many need half as much.
                    Err(TrainError::Engine(EngineError::OutOfMemory { .. })) if some.len() > 1 => {
                        size = some.len() / 2;
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                results.extend(some.iter().copied().zip(found));
                left = rest;
            }
        }
        results.sort_by_key(|(at, _)| *at);
        Ok(Some(results.into_iter().map(|(_, result)| result).collect()))
    }

    /// Trials by themselves, each on a thread.
    pub(super) fn one_by_one<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        trials: &[Trial],
        shared: &Shared<E>,
        observer: &dyn Observer,
    ) -> Result<Vec<TrialResult>, TrainError> {
        let one = |&trial: &Trial| self.trial(&engine.sequential(), trial, shared, observer);
        trials.par_iter().map(one).collect()
    }

    /// The places of trials, together where their splits have as many targets.
    fn alike(&self, trials: &[Trial]) -> Vec<Vec<usize>> {
        let mut groups: Vec<([usize; 2], Vec<usize>)> = Vec::new();
        for (at, trial) in trials.iter().enumerate() {
            let sizes = self.targets(&self.splits[trial.split]).map(|targets| targets.len());
            match groups.iter_mut().find(|(known, _)| *known == sizes) {
                Some((_, group)) => group.push(at),
                None => groups.push((sizes, vec![at])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    fn side_by_side<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        trials: &[Trial],
        shared: &Shared<E>,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<TrialResult>>, TrainError> {
        let seeds: Vec<u64> = trials.iter().map(|trial| trial.seed).collect();
        let Some(laned) = engine.lanes(&seeds) else { return Ok(None) };
        let (laned, start) = (laned?, Instant::now());
        let splits: Vec<usize> = trials.iter().map(|trial| trial.split).collect();
        let stacked = match &shared.views {
            Some(_) => None,
            None => match self.stacked(engine, &laned, &splits, shared)? {
                Some(stacked) => Some(stacked),
                None => return Ok(None),
            },
        };
        let Some(views) = stacked.as_ref().or(shared.views.as_ref()) else { return Ok(None) };
        let layout = shared.network.layout();
        let mut parameters = layout.draw(&laned, seeds[0])?;
        let mut own = Vec::new();
        for (lane, &seed) in seeds.iter().enumerate() {
            let drawn = layout.draw(engine, seed)?;
            for (from, to) in drawn.values().iter().zip(parameters.values_mut()) {
                laned.put_lane(lane, from, to)?;
            }
            own.push(drawn);
        }
        let config = TrainConfig { seed: seeds[0], ..self.config.train };
        let one_split = stacked.is_none();
        let lists: Vec<[Targets; 2]> = splits[..if one_split { 1 } else { splits.len() }]
            .iter()
            .map(|&split| self.targets(&self.splits[split]))
            .collect();
        let targets: Vec<[&Targets; 2]> = lists.iter().map(|of| of.each_ref()).collect();
        let mut watches: Vec<TrialWatch> =
            trials.iter().map(|trial| TrialWatch { trial, observer, checkpoints: None }).collect();
        let watching = watches.iter_mut().map(|watch| watch as &mut dyn Watch).collect();
        let views = [views[0].as_ref(), views[1].as_ref()];
        let fitted = fit_lanes(&laned, &mut parameters, views, &targets, &config, watching)?;
        let Some(fitted) = fitted else { return Ok(None) };
        for (lane, own) in own.iter_mut().enumerate() {
            for (from, to) in parameters.values().iter().zip(own.values_mut()) {
                laned.take_lane(lane, from, to)?;
            }
        }
        let tables = match self.predict_lanes(engine, &laned, &parameters, shared, trials.len()) {
            Err(TrainError::Engine(EngineError::OutOfMemory { .. })) => {
                let predict = |own| Ok(shared.network.predict(engine, own, None)?);
                own.iter().map(predict).collect::<Result<_, TrainError>>()
            }
            tables => tables,
        }?;
        // The time is shared evenly.
        let seconds = start.elapsed().as_secs_f64() / trials.len() as f64;
        let learnt = own.into_iter().zip(fitted);
        let learnt = learnt.map(|(parameters, fitted)| Learnt { fitted, parameters });
        let all = trials.iter().zip(learnt).zip(tables);
        let results = all.map(|((&trial, learnt), table)| {
            self.measure(engine, trial, shared, learnt, table, seconds, observer)
        });
        results.collect::<Result<_, _>>().map(Some)
    }

    /// Training and validation nodes of every lane's split, as one view each; `None` where the engine cannot
    /// lay them side by side.
    fn stacked<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        laned: &E,
        splits: &[usize],
        shared: &Shared<E>,
    ) -> Result<Option<Views<E>>, TrainError> {
        let mut parts = Vec::new();
        for part in 0..2 {
            let mut views: Vec<(usize, Box<dyn View<E>>)> = Vec::new();
            for &split in splits {
                if views.iter().all(|(known, _)| *known != split) {
                    let nodes = &self.targets(&self.splits[split])[part].nodes;
                    views.push((split, shared.network.view(engine, nodes)?));
                    // Views of other splits would be made in vain.
                    if views[0].1.maps().is_none() {
                        return Ok(None);
                    }
                }
            }
            let place = |split: &usize| views.iter().position(|(known, _)| known == split);
            let places: Vec<usize> = splits.iter().filter_map(place).collect();
            let maps: Vec<Vec<Arc<E::Map>>> = views.iter().filter_map(|(_, v)| v.maps()).collect();
            let mut stacked = Vec::new();
            for k in 0..maps[0].len() {
                let lanes: Vec<&E::Map> =
                    places.iter().filter_map(|&at| maps[at].get(k).map(Arc::as_ref)).collect();
                match laned.stack(&lanes) {
                    Some(map) => stacked.push(Arc::new(map?)),
                    None => return Ok(None),
                }
            }
            match views[0].1.with_maps(stacked) {
                Some(view) => parts.push(view),
                None => return Ok(None),
            }
        }
        Ok(parts.try_into().ok())
    }

    /// Log-probabilities of all nodes, lane by lane.
    fn predict_lanes<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        laned: &E,
        parameters: &Parameters<E>,
        shared: &Shared<E>,
        lanes: usize,
    ) -> Result<Vec<Matrix<f32>>, TrainError> {
        let (rows, cols) = (self.graph.nodes(), self.labels.names.len());
        let everyone: Vec<u32> = (0..rows as u32).collect();
        let view = shared.network.view(engine, &everyone)?;
        let mut tape = Tape::new(laned);
        let mut trace = tape.trace(parameters);
        let begun = view.begin(&mut trace);
        let logits = view.logits(&mut trace, begun, Mode::Evaluate);
        let table = trace.log_softmax(logits);
        let table = trace.value(table)?;
        let mut own = engine.zeros(rows * cols)?;
        let mut tables = Vec::new();
        for lane in 0..lanes {
            laned.take_lane(lane, table, &mut own)?;
            let mut matrix = Matrix::zeros(rows, cols);
            engine.download(&own, matrix.as_mut_slice())?;
            tables.push(matrix);
        }
        Ok(tables)
    }
}
