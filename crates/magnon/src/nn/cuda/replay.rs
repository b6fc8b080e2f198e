//! Steps as CUDA graphs.

use super::abi::Address;
use super::apply::THREADS;
use super::card::failure;
use super::{Buffer, Cuda, ceil};
use crate::nn::replay::{Replay, ReplayConfig, ReplayScore};
use crate::nn::{Done, EngineError};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, CudaSlice};
use std::sync::atomic::Ordering;

/// Losses of a step: training and validation.
const SLOTS: usize = 2;

/// Two recorded halves of a step, and what they read and write besides matrices.
pub struct Recording {
    there: Option<CudaGraph>,
    back: Option<CudaGraph>,
    /// The epoch.
    clock: CudaSlice<u32>,
    /// Losses of the last epochs, in a ring: slot by slot, lane by lane.
    scores: CudaSlice<u64>,
    /// Rates of the coming epochs, in the same ring.
    schedule: CudaSlice<f32>,
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
            schedule: engine.zeroed(2 * room)?,
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
            for (weights, best) in weights.iter().zip(best) {
                let n = weights.len;
                engine.launch(
                    "keep_best",
                    engine.grid(n)?,
                    THREADS,
                    &[
                        &engine.address(&self.verdicts),
                        &engine.matrix(weights, n)?,
                        &engine.matrix_mut(best, n)?,
                        &(n as i64),
                    ],
                )?;
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

impl Replay<Cuda> for Recording {
    fn rehearse(
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

    fn record_there(
        &mut self,
        engine: &Cuda,
        weights: &[Buffer],
        best: &mut [Buffer],
        there: impl FnOnce() -> Done,
    ) -> Done {
        let weights: Vec<&Buffer> = weights.iter().collect();
        self.record(engine, &weights, best.iter_mut().collect(), there)
    }

    fn record_back(&mut self, engine: &Cuda, back: impl FnOnce() -> Done) -> Done {
        let graph = self.capture(engine, || {
            back()?;
            engine.launch("advance", (1, 1, 1), 1, &[&engine.address(&self.clock)])
        })?;
        self.back = Some(graph);
        Ok(())
    }

    fn begin(&mut self, engine: &Cuda) -> Result<Vec<[ReplayScore; 2]>, EngineError> {
        Self::launch(&self.there)?;
        Ok(self.read(engine, 0..1)?.pop().unwrap_or_default())
    }

    fn run(
        &mut self,
        engine: &Cuda,
        rates: &[[f32; 2]],
    ) -> Result<Vec<Vec<[ReplayScore; 2]>>, EngineError> {
        if rates.len() > self.config.most {
            let problem = format!("{} epochs at a time, not {}", self.config.most, rates.len());
            return Err(EngineError::Unsupported(problem));
        }
        let mut ring = vec![0f32; 2 * self.room];
        for (k, pair) in rates.iter().enumerate() {
            let at = 2 * ((self.made + k) % self.room);
            ring[at..at + 2].copy_from_slice(pair);
        }
        engine.put(&ring, &mut self.schedule)?;
        for _ in rates {
            Self::launch(&self.back)?;
            Self::launch(&self.there)?;
        }
        let first = self.made + 1;
        self.made += rates.len();
        self.read(engine, first..self.made + 1)
    }
}
