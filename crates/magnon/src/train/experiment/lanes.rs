//! Several seeds at once, on engines that work in lanes.

use super::variant::{Learnt, Shared, TrialWatch};
use super::{Experiment, Observer, Trial, TrialResult};
use crate::matrix::Matrix;
use crate::model::Mode;
use crate::nn::{Engine, EngineError, Parameters, Tape};
use crate::train::{TrainConfig, TrainError, Watch, fit_lanes};
use std::time::Instant;

impl Experiment<'_> {
    /// All trials at once, or as many at a time as there is memory for; `None` where the engine has no
    /// lanes or the trials differ in more than their seeds.
    pub(super) fn laned<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        trials: &[Trial],
        shared: &Shared<E>,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<TrialResult>>, TrainError> {
        let several = trials.len() > 1 && trials.iter().all(|trial| trial.split == trials[0].split);
        if !several || shared.views.is_none() || self.checkpoints.is_some() {
            return Ok(None);
        }
        let mut results = Vec::new();
        let mut size = trials.len();
        while results.len() < trials.len() {
            let rest = &trials[results.len()..];
            let some = &rest[..size.min(rest.len())];
            match self.side_by_side(engine, some, shared, observer) {
                Ok(Some(more)) => results.extend(more),
                Ok(None) => return Ok(None),
                // Half as many need half as much.
                Err(TrainError::Engine(EngineError::OutOfMemory { .. })) if some.len() > 1 => {
                    size = some.len() / 2;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Some(results))
    }

    fn side_by_side<E: Engine<Real = f32>>(
        &self,
        engine: &E,
        trials: &[Trial],
        shared: &Shared<E>,
        observer: &dyn Observer,
    ) -> Result<Option<Vec<TrialResult>>, TrainError> {
        let Some([train_view, val_view]) = &shared.views else { return Ok(None) };
        let seeds: Vec<u64> = trials.iter().map(|trial| trial.seed).collect();
        let Some(laned) = engine.lanes(&seeds) else { return Ok(None) };
        let (laned, start) = (laned?, Instant::now());
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
        let [train, val] = &self.targets(&self.splits[trials[0].split]);
        let mut watches: Vec<TrialWatch> =
            trials.iter().map(|trial| TrialWatch { trial, observer, checkpoints: None }).collect();
        let watching = watches.iter_mut().map(|watch| watch as &mut dyn Watch).collect();
        let views = [train_view.as_ref(), val_view.as_ref()];
        let fitted = fit_lanes(&laned, &mut parameters, views, [train, val], &config, watching)?;
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
