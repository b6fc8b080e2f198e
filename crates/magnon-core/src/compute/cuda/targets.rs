//! Targets of a loss on a card.

use super::{Cuda, abi};
use crate::compute::{Done, EngineError, Shape};
use cudarc::driver::CudaSlice;

/// Rows and classes of a loss, on the card and here: one list for all lanes, or one for each, all as long.
#[derive(Default)]
pub struct CardTargets {
    lanes: Vec<Vec<(u32, u32)>>,
    list: Option<CudaSlice<u32>>,
}

impl CardTargets {
    /// Targets of a lane.
    pub(super) fn len(&self) -> usize {
        self.lanes.first().map_or(0, Vec::len)
    }

    /// Where they lie, after a look at whether all are inside of a matrix.
    pub(super) fn inside(&self, engine: &Cuda, shape: Shape) -> Result<abi::Targets, EngineError> {
        let inside = |&(row, class): &(u32, u32)| {
            (row as usize) < shape.rows() && (class as usize) < shape.cols()
        };
        match (&self.list, self.lanes.iter().flatten().all(inside)) {
            (Some(list), true) => Ok(abi::Targets {
                at: engine.address(list),
                lane: if self.lanes.len() > 1 { self.len() as i64 } else { 0 },
                count: self.len() as i64,
            }),
            _ => Err(EngineError::Unsupported(format!("targets outside of {shape:?}"))),
        }
    }
}

impl Cuda {
    /// Puts targets on the card, unless they are there: steps of a fit have the same ones.
    pub(super) fn put_targets(&self, lanes: &[&[(u32, u32)]], to: &mut CardTargets) -> Done {
        if to.list.is_some() && to.lanes == lanes {
            return Ok(());
        }
        let alike = lanes.iter().all(|pairs| pairs.len() == lanes[0].len());
        if !alike || (lanes.len() != 1 && lanes.len() != self.lanes) {
            let problem = format!("{} lists of targets for {} lanes", lanes.len(), self.lanes);
            return Err(EngineError::Unsupported(problem));
        }
        let pairs = lanes.iter().copied().flatten();
        let flat: Vec<u32> = pairs.flat_map(|&(row, class)| [row, class]).collect();
        match &mut to.list {
            Some(list) if list.len() >= flat.len() => self.put(&flat, list)?,
            list => *list = Some(self.list(&flat)?),
        }
        to.lanes = lanes.iter().map(|pairs| pairs.to_vec()).collect();
        Ok(())
    }
}
