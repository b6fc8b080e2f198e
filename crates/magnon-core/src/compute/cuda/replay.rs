//! Steps as CUDA graphs.

use super::abi::{AT_A_TIME, Address, AllTrained, Trained};
use super::apply::THREADS;
use super::card::failure;
use super::{Buffer, Cuda, ceil};
use crate::compute::{Done, EngineError};
use crate::compute::{ReplayConfig, ReplayScore, StepNumbers};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, CudaSlice, CudaStream};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// Losses of a step: training and validation.
const SLOTS: usize = 2;
/// Numbers of a coming step; as in the kernel.
const NUMBERS: usize = 4;

/// Two recorded halves of a step, and what they read and write besides matrices.
pub struct Recording {
    there: Option<CudaGraph>,
    back: Option<CudaGraph>,
    /// The epoch.
    clock: CudaSlice<u32>,
    /// Losses of the last epochs, in a ring: slot by slot, lane by lane.
    scores: CudaSlice<u64>,
    /// Numbers of the optimiser's coming steps, in the same ring: lane by lane.
    schedule: CudaSlice<f64>,
    verdicts: CudaSlice<u64>,
    config: ReplayConfig,
    room: usize,
    /// Epochs made since the beginning.
    made: usize,
}

// SAFETY: a graph is launched through `&mut self` alone, by one thread at a time. Tested by `the_same_bits`.
unsafe impl Send for Recording {}

/// Where the numbers of a step lie while it is recorded.
pub(super) struct Under {
    pub clock: Address,
    pub scores: Address,
    pub schedule: Address,
    pub slots: usize,
    /// Losses so far.
    pub losses: usize,
    pub base: u32,
    /// Places of the ring.
    pub room: u32,
}

impl Cuda {
    /// The stream of operations: another one for those aside, while a step is recorded.
    pub(super) fn current(&self) -> Arc<CudaStream> {
        let side = match self.aside.load(Ordering::Relaxed) {
            true => self.side.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            false => None,
        };
        side.unwrap_or_else(|| self.stream.clone())
    }

    /// A branch of what is recorded begins here.
    pub(super) fn fork_stream(&self) -> Done {
        if self.under().is_some() {
            let side = self.stream.context().new_stream().map_err(failure)?;
            side.join(&self.stream).map_err(failure)?;
            *self.side.lock().unwrap_or_else(PoisonError::into_inner) = Some(side);
        }
        Ok(())
    }

    /// The branch ends here.
    pub(super) fn join_stream(&self) -> Done {
        let side = self.side.lock().unwrap_or_else(PoisonError::into_inner).take();
        side.map_or(Ok(()), |side| self.stream.join(&side).map_err(failure))
    }
}

impl Recording {
    pub(super) fn new(engine: &Cuda, config: &ReplayConfig) -> Result<Self, EngineError> {
        let room = config.most + 1;
        let base = config.epoch as u32;
        let (loss, epoch) = config.best.unwrap_or((f64::INFINITY, config.epoch));
        // As the kernel has them: the loss, epoch and flag, two more flags.
        let verdict = [loss.to_bits(), epoch as u64, 0];
        Ok(Self {
            there: None,
            back: None,
            clock: engine.list(&[base])?,
            scores: engine.zeroed(2 * SLOTS * room * engine.lanes)?,
            schedule: engine.zeroed(NUMBERS * room * engine.lanes)?,
            verdicts: engine.list(&verdict.repeat(engine.lanes))?,
            config: *config,
            room,
            made: 0,
        })
    }

    fn under(&self, engine: &Cuda) -> Under {
        Under {
            clock: engine.address(&self.clock),
            scores: engine.address(&self.scores),
            schedule: engine.address(&self.schedule),
            slots: SLOTS,
            losses: 0,
            base: self.config.epoch as u32,
            room: self.room as u32,
        }
    }

    /// Records what `work` launches.
    fn capture(
        &self,
        engine: &Cuda,
        work: impl FnOnce() -> Done,
    ) -> Result<CudaGraph, EngineError> {
        engine.wait()?;
        *engine.under() = Some(self.under(engine));
        // Other threads may go on allocating: this stream's work alone is recorded.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let begun = engine.stream.begin_capture(mode).map_err(failure);
        let done = begun.and_then(|()| {
            let done = work();
            // The capture has to end in any case.
            let graph = engine.stream.end_capture(CUgraphInstantiate_flags(0)).map_err(failure);
            done.and(graph)
        });
        *engine.under() = None;
        // After a failure, a branch may be left.
        engine.side.lock().unwrap_or_else(PoisonError::into_inner).take();
        done?.ok_or_else(|| EngineError::Device("the driver recorded nothing".to_owned()))
    }

    /// The way there, then the judgement on it.
    pub(crate) fn record(
        &mut self,
        engine: &Cuda,
        weights: &[&Buffer],
        best: Vec<&mut Buffer>,
        there: impl FnOnce() -> Done,
    ) -> Done {
        let graph = self.capture(engine, || {
            there()?;
            let lanes = engine.lanes;
            engine.launch(
                "judge",
                (ceil(lanes, 32)?, 1, 1),
                32,
                &[
                    &engine.address(&self.scores),
                    &engine.address(&self.clock),
                    &1i64,
                    &(SLOTS as i64),
                    &(self.config.epoch as u32),
                    &(self.room as u32),
                    &(self.config.patience.min(u32::MAX as usize) as u32),
                    &engine.address(&self.verdicts),
                    &(lanes as i64),
                ],
            )?;
            let mut pairs: Vec<(&&Buffer, &mut Buffer)> = weights.iter().zip(best).collect();
            for pairs in pairs.chunks_mut(AT_A_TIME) {
                let (mut all, mut blocks) = (AllTrained::default(), 0);
                for (weights, best) in pairs {
                    let n = weights.len;
                    let one = Trained {
                        gradient: engine.matrix(weights, n)?,
                        weights: engine.matrix_mut(best, n)?,
                        n: n as i64,
                        ..Trained::default()
                    };
                    blocks = all.add(one, blocks)?;
                }
                let grid = (blocks.max(1), 1, lanes as u32);
                let verdicts = engine.address(&self.verdicts);
                engine.launch("keep_best", grid, THREADS, &[&verdicts, &all])?;
            }
            Ok(())
        })?;
        self.there = Some(graph);
        Ok(())
    }

    /// The losses of some epochs since the beginning.
    fn read(
        &self,
        engine: &Cuda,
        epochs: std::ops::Range<usize>,
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        let lanes = engine.lanes;
        let mut all = vec![0u64; 2 * SLOTS * self.room * lanes];
        engine.get(&self.scores, &mut all)?;
        let score = |epoch: usize, slot: usize, lane: usize| {
            let at = 2 * ((epoch % self.room * SLOTS + slot) * lanes + lane);
            ReplayScore { loss: f64::from_bits(all[at]), right: all[at + 1] as usize }
        };
        let lane = |epoch, lane| [score(epoch, 0, lane), score(epoch, 1, lane)];
        Ok(epochs.map(|epoch| (0..lanes).map(|k| lane(epoch, k)).collect()).collect())
    }

    fn launch(graph: &Option<CudaGraph>) -> Done {
        match graph {
            Some(graph) => graph.launch().map_err(failure),
            None => Err(EngineError::Unsupported("nothing was recorded".to_owned())),
        }
    }
}

impl Recording {
    pub(crate) fn rehearse(
        &mut self,
        engine: &Cuda,
        step: impl FnOnce() -> Done,
    ) -> Result<bool, EngineError> {
        engine.rehearsal.store(true, Ordering::Relaxed);
        let before = engine.crossings.load(Ordering::Relaxed);
        let done = step();
        engine.rehearsal.store(false, Ordering::Relaxed);
        done?;
        Ok(engine.crossings.load(Ordering::Relaxed) == before)
    }

    pub(crate) fn record_back(&mut self, engine: &Cuda, back: impl FnOnce() -> Done) -> Done {
        let graph = self.capture(engine, || {
            back()?;
            engine.launch("advance", (1, 1, 1), 1, &[&engine.address(&self.clock)])
        })?;
        self.back = Some(graph);
        Ok(())
    }

    pub(crate) fn begin(&mut self, engine: &Cuda) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        Self::launch(&self.there)?;
        Ok(self.read(engine, 0..1)?.pop().unwrap_or_default())
    }

    pub(crate) fn run(
        &mut self,
        engine: &Cuda,
        steps: &[Vec<StepNumbers>],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        let (lanes, most) = (engine.lanes, self.config.most);
        let fits = |step: &Vec<StepNumbers>| step.len() == 1 || step.len() == lanes;
        if steps.len() > most || !steps.iter().all(fits) {
            let problem = format!("{} epochs of {lanes} lanes, not {}", most, steps.len());
            return Err(EngineError::Unsupported(problem));
        }
        let mut ring = vec![[0f64; NUMBERS]; self.room * lanes];
        for (k, numbers) in steps.iter().enumerate() {
            let at = (self.made + k) % self.room * lanes;
            let each = numbers.iter().cycle();
            ring[at..at + lanes].iter_mut().zip(each).for_each(|(to, from)| *to = *from);
        }
        engine.put(ring.as_flattened(), &mut self.schedule)?;
        for _ in steps {
            Self::launch(&self.back)?;
            Self::launch(&self.there)?;
        }
        let first = self.made + 1;
        self.made += steps.len();
        self.read(engine, first..self.made + 1)
    }
}
