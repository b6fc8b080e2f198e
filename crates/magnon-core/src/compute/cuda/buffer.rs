//! `Buffer`: numbers on a card, and other things that lie there.

use super::Cuda;
use super::abi::{Address, Matrix};
use super::card::{failure, memory_failure};
use super::staging::STAGE;
use crate::compute::EngineError;
use bytemuck::{NoUninit, Pod};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut, DeviceRepr, ValidAsZeroBits};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Numbers on a card: so many for each lane of the engine, lane after lane.
pub struct Buffer {
    pub(super) slice: CudaSlice<f32>,
    pub(super) len: usize,
    pub(super) lanes: usize,
}

impl Buffer {
    /// Numbers of one lane.
    #[allow(clippy::len_without_is_empty)] // nobody asks
    pub fn len(&self) -> usize {
        self.len
    }

    pub(super) fn bytes(&self) -> usize {
        self.len * self.lanes * size_of::<f32>()
    }
}

impl Cuda {
    /// `len` numbers for each lane, all zero.
    pub(super) fn buffer(&self, len: usize) -> Result<Buffer, EngineError> {
        let slice = self.zeroed(len * self.lanes)?;
        Ok(Buffer { slice, len, lanes: self.lanes })
    }

    /// `len` zeros of any kind, at least one.
    pub(super) fn zeroed<T: DeviceRepr + ValidAsZeroBits>(
        &self,
        len: usize,
    ) -> Result<CudaSlice<T>, EngineError> {
        let bytes = len * size_of::<T>();
        self.stream.alloc_zeros(len.max(1)).map_err(|error| memory_failure(error, bytes))
    }

    /// A list, put on the card.
    pub(super) fn list<T: DeviceRepr + ValidAsZeroBits + NoUninit>(
        &self,
        list: &[T],
    ) -> Result<CudaSlice<T>, EngineError> {
        let mut slice = self.zeroed(list.len())?;
        self.put(list, &mut slice)?;
        Ok(slice)
    }

    /// Overwrites the beginning of a list on the card.
    pub(super) fn put<T: DeviceRepr + NoUninit>(
        &self,
        list: &[T],
        slice: &mut CudaSlice<T>,
    ) -> Result<(), EngineError> {
        if list.is_empty() {
            return Ok(());
        }
        self.crossings.fetch_add(1, Ordering::Relaxed);
        let mut to = slice.try_slice_mut(..list.len()).ok_or_else(|| self.too_short(list.len()))?;
        if size_of_val(list) > STAGE {
            // SAFETY: the part of the slice is as long as the list.
            return unsafe { self.send_long(list, to.device_ptr_mut(&self.stream).0) };
        }
        self.stream.memcpy_htod(list, &mut to).map_err(failure)?;
        // The list may be gone before the copy is made otherwise.
        self.wait()
    }

    /// Reads the beginning of a list on the card.
    pub(super) fn get<T: DeviceRepr + Pod>(
        &self,
        slice: &CudaSlice<T>,
        list: &mut [T],
    ) -> Result<(), EngineError> {
        if list.is_empty() {
            return Ok(());
        }
        self.crossings.fetch_add(1, Ordering::Relaxed);
        let from = slice.try_slice(..list.len()).ok_or_else(|| self.too_short(list.len()))?;
        if size_of_val(list) > STAGE {
            // SAFETY: the part of the slice is as long as the list.
            return unsafe { self.receive_long(from.device_ptr(&self.stream).0, list) };
        }
        self.stream.memcpy_dtoh(&from, list).map_err(failure)?;
        self.wait()
    }

    /// Numbers from the host, out of those that were kept where they are among them.
    pub(super) fn put_numbers(&self, numbers: &[f32], to: &mut Buffer) -> Result<(), EngineError> {
        /// More is not kept.
        const MOST: usize = 1 << 18;
        let mut constants = self.constants.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, kept)) = constants.iter().find(|(known, _)| known == numbers) {
            return self.axpy(1.0, kept, to, numbers.len(), false);
        }
        if self.rehearsal.load(Ordering::Relaxed) && numbers.len() <= MOST {
            let mut kept =
                Buffer { slice: self.zeroed(numbers.len())?, len: numbers.len(), lanes: 1 };
            self.put(numbers, &mut kept.slice)?;
            constants.push((numbers.to_vec(), kept));
        }
        match to.lanes {
            1 => self.put(numbers, &mut to.slice),
            lanes => self.put(&numbers.repeat(lanes), &mut to.slice),
        }
    }

    /// Waits until all work has been done.
    pub(super) fn wait(&self) -> Result<(), EngineError> {
        self.stream.synchronize().map_err(failure)
    }

    fn too_short(&self, len: usize) -> EngineError {
        EngineError::Unsupported(format!("a list on the card has no room for {len} numbers"))
    }

    /// Where a list lies.
    pub(super) fn address<T>(&self, slice: &CudaSlice<T>) -> Address {
        slice.device_ptr(&self.stream).0
    }

    /// A buffer as a kernel takes it, which reads or writes the first `need` numbers of every lane.
    pub(super) fn matrix(&self, buffer: &Buffer, need: usize) -> Result<Matrix, EngineError> {
        if buffer.len < need || (buffer.lanes != self.lanes && buffer.lanes != 1) {
            return Err(EngineError::Unsupported(format!(
                "a matrix of {} numbers in {} lanes where {need} in {} are needed",
                buffer.len, buffer.lanes, self.lanes
            )));
        }
        // What has one lane is common to all.
        let lane = if buffer.lanes == self.lanes { buffer.len as i64 } else { 0 };
        Ok(Matrix { at: self.address(&buffer.slice), lane })
    }

    /// As [`matrix`](Self::matrix), for a matrix that is written: each lane has its own.
    pub(super) fn matrix_mut(
        &self,
        buffer: &mut Buffer,
        need: usize,
    ) -> Result<Matrix, EngineError> {
        if buffer.lanes != self.lanes {
            let problem = "a matrix that is written needs as many lanes as the engine";
            return Err(EngineError::Unsupported(problem.to_owned()));
        }
        self.matrix(buffer, need)
    }

    /// A block of `len` numbers for each lane, of any value, from the pool where it has one.
    pub(super) fn take(&self, len: usize) -> Result<Buffer, EngineError> {
        let mut pool = self.pool();
        match pool.iter().position(|block| block.len == len && block.lanes == self.lanes) {
            Some(at) => Ok(pool.swap_remove(at)),
            None => self.buffer(len),
        }
    }

    pub(super) fn give(&self, block: Buffer) {
        self.pool().push(block);
    }
}
