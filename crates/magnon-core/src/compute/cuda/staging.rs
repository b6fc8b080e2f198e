//! Copies through page-locked memory, which the card reads and writes by itself: while one part is on its
//! way, the threads of the host pack or unpack another.

use super::Cuda;
use super::abi::Address;
use super::card::{failure, words};
use crate::compute::{Done, EngineError};
use bytemuck::{NoUninit, Pod};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, PinnedHostSlice, result};
use rayon::prelude::*;
use std::sync::{Arc, PoisonError};

/// Bytes of a stage.
pub(super) const STAGE: usize = 16 << 20;
/// Stages that one direction uses in turn.
pub(super) const DEPTH: usize = 4;
/// Numbers that one thread copies at a time.
const PIECE: usize = 1 << 15;

/// Page-locked memory, with the end of the copy that uses it.
pub(super) struct Stage {
    memory: PinnedHostSlice<u8>,
    done: CudaEvent,
}

impl Stage {
    fn new(context: &Arc<CudaContext>) -> Result<Self, EngineError> {
        let refused = |error| {
            let reason = words(&error);
            EngineError::Device(format!("no {STAGE} bytes of page-locked memory: {reason}"))
        };
        // SAFETY: all of it is written right away. Tested by `large_copies`.
        let mut memory =
            unsafe { context.alloc_pinned_with_flags::<u8>(STAGE, 0) }.map_err(refused)?;
        memory.as_mut_slice().map_err(refused)?.fill(0);
        Ok(Self { memory, done: context.new_event(None).map_err(refused)? })
    }

    /// The first numbers, once no copy uses them any more.
    pub fn numbers<T: Pod>(&mut self, count: usize) -> Result<&mut [T], EngineError> {
        self.done.synchronize().map_err(failure)?;
        let bytes = self.memory.as_mut_slice().map_err(failure)?;
        let first = bytes.get_mut(..count * size_of::<T>());
        first
            .and_then(|first| bytemuck::try_cast_slice_mut(first).ok())
            .ok_or_else(|| EngineError::Unsupported(format!("{count} numbers in one stage")))
    }

    /// Starts a copy of the first `bytes` to the card.
    ///
    /// # Safety
    /// There is room for them at `to`, which lives and which nothing else uses until the stream is there.
    pub unsafe fn send(&mut self, bytes: usize, to: Address, stream: &CudaStream) -> Done {
        let from = self.numbers::<u8>(bytes)?;
        stream.context().bind_to_thread().map_err(failure)?;
        // SAFETY: by this function's contract; `numbers` gives nothing out before the copy is done, and
        // neither does the end of the stage.
        unsafe { result::memcpy_htod_async(to, from, stream.cu_stream()) }.map_err(failure)?;
        self.done.record(stream).map_err(failure)
    }

    /// Starts a copy of `bytes` from the card.
    ///
    /// # Safety
    /// They lie at `from`, which lives and which nothing else writes until the stream is there.
    pub unsafe fn receive(&mut self, bytes: usize, from: Address, stream: &CudaStream) -> Done {
        let to = self.numbers::<u8>(bytes)?;
        stream.context().bind_to_thread().map_err(failure)?;
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }.map_err(failure)?;
        self.done.record(stream).map_err(failure)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // A card that is lost writes no more.
        let _ = self.done.synchronize();
    }
}

impl Cuda {
    /// Stages for one direction, which other copies may have used.
    pub(super) fn stages(&self) -> Result<Vec<Stage>, EngineError> {
        let mut kept = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        let from = kept.len().saturating_sub(DEPTH);
        let mut stages = kept.split_off(from);
        while stages.len() < DEPTH {
            stages.push(Stage::new(&self.card.context)?);
        }
        Ok(stages)
    }

    pub(super) fn keep_stages(&self, stages: Vec<Stage>) {
        self.stages.lock().unwrap_or_else(PoisonError::into_inner).extend(stages);
    }

    /// Copies a long list to the card.
    ///
    /// # Safety
    /// There is room for it at `to`.
    pub(super) unsafe fn send_long<T: NoUninit>(&self, list: &[T], to: Address) -> Done {
        let mut stages = self.stages()?;
        let parts = bytemuck::cast_slice::<T, u8>(list).chunks(STAGE);
        for (k, part) in parts.enumerate() {
            let stage = &mut stages[k % DEPTH];
            copy(part, stage.numbers(part.len())?);
            // SAFETY: by this function's contract.
            unsafe { stage.send(part.len(), to + (k * STAGE) as Address, &self.stream)? };
        }
        self.keep_stages(stages);
        self.wait()
    }

    /// Copies a long list from the card.
    ///
    /// # Safety
    /// It lies at `from`.
    pub(super) unsafe fn receive_long<T: Pod>(&self, from: Address, list: &mut [T]) -> Done {
        let mut stages = self.stages()?;
        let mut parts: Vec<&mut [u8]> =
            bytemuck::cast_slice_mut::<T, u8>(list).chunks_mut(STAGE).collect();
        for k in 0..parts.len() + DEPTH {
            let stage = &mut stages[k % DEPTH];
            if let Some(part) = k.checked_sub(DEPTH).and_then(|k| parts.get_mut(k)) {
                copy(stage.numbers(part.len())?, part);
            }
            if let Some(part) = parts.get(k) {
                // SAFETY: by this function's contract.
                unsafe { stage.receive(part.len(), from + (k * STAGE) as Address, &self.stream)? };
            }
        }
        self.keep_stages(stages);
        Ok(())
    }
}

/// A copy by all threads.
fn copy(from: &[u8], to: &mut [u8]) {
    let pieces = to.par_chunks_mut(PIECE).zip(from.par_chunks(PIECE));
    pieces.for_each(|(to, from)| to.copy_from_slice(from));
}
