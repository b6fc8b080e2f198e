//! Large copies between host and card.
//!
//! From ordinary memory the driver copies through a room of its own, with one thread. Two larger rooms of
//! page-locked memory, filled or emptied by all threads while the other one is on its way, keep the bus busy.

use super::Cuda;
use super::card::failure;
use crate::nn::{Done, EngineError};
use cudarc::driver::{CudaSlice, PinnedHostSlice};
use rayon::prelude::*;

/// Numbers of a room.
const ROOM: usize = 16 << 20;
/// Numbers from which on rooms are worth while.
pub(super) const LARGE: usize = 4 * ROOM;

impl Cuda {
    fn rooms(&self) -> Result<[PinnedHostSlice<f32>; 2], EngineError> {
        // SAFETY: any bits are numbers, and nothing is read before it was written.
        let room = || unsafe { self.stream.context().alloc_pinned_with_flags(ROOM, 0) };
        Ok([room().map_err(failure)?, room().map_err(failure)?])
    }

    /// Many numbers to the card.
    pub(super) fn put_large(&self, numbers: &[f32], to: &mut CudaSlice<f32>) -> Done {
        let mut rooms = self.rooms()?;
        let (whole, rest) = numbers.split_at(numbers.len() / ROOM * ROOM);
        for (k, numbers) in whole.chunks_exact(ROOM).enumerate() {
            let room = &mut rooms[k % 2];
            // Waits for the copy before the last, which was made from here.
            copy(numbers, room.as_mut_slice().map_err(failure)?);
            let mut part = to.slice_mut(k * ROOM..(k + 1) * ROOM);
            self.stream.memcpy_htod(room, &mut part).map_err(failure)?;
        }
        if !rest.is_empty() {
            let mut part = to.slice_mut(whole.len()..numbers.len());
            self.stream.memcpy_htod(rest, &mut part).map_err(failure)?;
        }
        self.wait()
    }

    /// Many numbers from the card.
    pub(super) fn get_large(&self, from: &CudaSlice<f32>, numbers: &mut [f32]) -> Done {
        let mut rooms = self.rooms()?;
        let all = numbers.len();
        let (whole, rest) = numbers.split_at_mut(all / ROOM * ROOM);
        let count = whole.len() / ROOM;
        for k in 0..=count {
            if k < count {
                let part = from.slice(k * ROOM..(k + 1) * ROOM);
                self.stream.memcpy_dtoh(&part, &mut rooms[k % 2]).map_err(failure)?;
            }
            if let Some(before) = k.checked_sub(1) {
                let room = rooms[before % 2].as_slice().map_err(failure)?;
                copy(room, &mut whole[before * ROOM..(before + 1) * ROOM]);
            }
        }
        if !rest.is_empty() {
            let part = from.slice(all - rest.len()..all);
            self.stream.memcpy_dtoh(&part, rest).map_err(failure)?;
        }
        self.wait()
    }
}

/// Copies with all threads.
fn copy(from: &[f32], to: &mut [f32]) {
    const PART: usize = 1 << 18;
    to.par_chunks_mut(PART)
        .zip(from.par_chunks(PART))
        .for_each(|(to, from)| to.copy_from_slice(from));
}
