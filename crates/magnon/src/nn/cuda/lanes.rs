//! Lanes: copies from and to buffers of one lane.

use super::card::failure;
use super::{Buffer, Cuda};
use crate::nn::EngineError;
use crate::nn::engine::Done;

impl Cuda {
    pub(super) fn copy_to_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        let fits = from.lanes == 1 && from.len == to.len && lane < to.lanes;
        let range = lane * to.len..(lane + 1) * to.len;
        match to.slice.try_slice_mut(range) {
            Some(mut to) if fits => {
                from.slice.stream().synchronize().map_err(failure)?;
                self.stream.memcpy_dtod(&from.slice.slice(..from.len), &mut to).map_err(failure)?;
                self.wait()
            }
            _ => Err(EngineError::Unsupported(format!("no lane {lane} of that size"))),
        }
    }

    pub(super) fn copy_from_lane(&self, lane: usize, from: &Buffer, to: &mut Buffer) -> Done {
        let fits = to.lanes == 1 && from.len == to.len && lane < from.lanes;
        let range = lane * from.len..(lane + 1) * from.len;
        match from.slice.try_slice(range) {
            Some(from) if fits => {
                to.slice.stream().synchronize().map_err(failure)?;
                let mut to = to.slice.slice_mut(..to.len);
                self.stream.memcpy_dtod(&from, &mut to).map_err(failure)?;
                self.wait()
            }
            _ => Err(EngineError::Unsupported(format!("no lane {lane} of that size"))),
        }
    }
}
