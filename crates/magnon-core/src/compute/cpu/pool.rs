//! Blocks of memory that are kept for the next time.

use super::super::Scalar;
use std::sync::{Mutex, PoisonError};

/// Blocks that nobody works in now.
#[derive(Debug)]
pub struct Pool<T>(Mutex<Vec<Vec<T>>>);

impl<T: Scalar> Pool<T> {
    pub fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// A block of `len` numbers of any value, a kept one where there is one.
    pub fn take(&self, len: usize) -> Vec<T> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = blocks.iter().position(|block| block.len() == len);
        found.map_or_else(|| vec![T::ZERO; len], |at| blocks.swap_remove(at))
    }

    /// Keeps a block.
    pub fn give(&self, block: Vec<T>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(block);
    }

    /// The lengths of the kept blocks.
    pub fn lengths(&self) -> Vec<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(Vec::len).collect()
    }
}
