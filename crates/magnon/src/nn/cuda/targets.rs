//! Targets of a loss on a card.

use super::Cuda;
use super::abi::Address;
use crate::nn::{Done, EngineError, Shape};
use cudarc::driver::CudaSlice;

/// Rows and classes of a loss, on the card and here.
#[derive(Default)]
pub struct CardTargets {
    pairs: Vec<(u32, u32)>,
    list: Option<CudaSlice<u32>>,
}

impl CardTargets {
    pub(super) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Where they lie, after a look at whether all are inside of a matrix.
    pub(super) fn inside(&self, engine: &Cuda, shape: Shape) -> Result<Address, EngineError> {
        let inside = |&(row, class): &(u32, u32)| {
            (row as usize) < shape.rows() && (class as usize) < shape.cols()
        };
        match (&self.list, self.pairs.iter().all(inside)) {
            (Some(list), true) => Ok(engine.address(list)),
            _ => Err(EngineError::Unsupported(format!("targets outside of {shape:?}"))),
        }
    }
}

impl Cuda {
    /// Puts targets on the card, unless they are there: steps of a fit have the same ones.
    pub(super) fn put_targets(&self, pairs: &[(u32, u32)], to: &mut CardTargets) -> Done {
        if to.list.is_some() && to.pairs == pairs {
            return Ok(());
        }
        let flat: Vec<u32> = pairs.iter().flat_map(|&(row, class)| [row, class]).collect();
        match &mut to.list {
            Some(list) if list.len() >= flat.len() => self.put(&flat, list)?,
            list => *list = Some(self.list(&flat)?),
        }
        to.pairs.clear();
        to.pairs.extend_from_slice(pairs);
        Ok(())
    }
}
