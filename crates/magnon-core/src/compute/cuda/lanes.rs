//! Lanes: what each has of its own, and copies from and to buffers of one lane.

use super::abi::{Address, Key};
use super::card::failure;
use super::{Buffer, Cuda};
use crate::compute::kernels::Kernels;
use crate::compute::{Done, DrawKey};
use crate::compute::{EngineError, Shape};
use crate::compute::{LaneConfig, Relabelling};
use cudarc::driver::CudaSlice;
use std::sync::PoisonError;

/// The places that nodes and stored features have in draws: those of each lane, or of all.
pub(super) struct Places {
    nodes: CudaSlice<u32>,
    entries: Option<CudaSlice<u32>>,
    /// Nodes and stored features of a lane.
    sizes: [usize; 2],
    lanes: usize,
}

impl Places {
    /// Numbers from one lane to the next.
    fn apart(&self, list: usize) -> i64 {
        if self.lanes > 1 { self.sizes[list] as i64 } else { 0 }
    }
}

impl Cuda {
    /// Puts the places of each lane, or of all, on the card.
    pub(super) fn put_places(&self, lanes: &[Relabelling]) -> Done {
        let mut held = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        *held = None;
        let Some(first) = lanes.first() else { return Ok(()) };
        let sizes = |of: &Relabelling| [of.nodes.len(), of.entries.len()];
        let alike = lanes.iter().all(|of| sizes(of) == sizes(first));
        if !alike || (lanes.len() != 1 && lanes.len() != self.lanes) {
            let problem = format!("{} lists of places for {} lanes", lanes.len(), self.lanes);
            return Err(EngineError::Unsupported(problem));
        }
        let flat = |of: fn(&Relabelling) -> &[u32]| -> Vec<u32> {
            lanes.iter().flat_map(|lane| of(lane).iter().copied()).collect()
        };
        let entries = match first.entries.is_empty() {
            true => None,
            false => Some(self.list(&flat(|of| &of.entries))?),
        };
        let nodes = self.list(&flat(|of| &of.nodes))?;
        *held = Some(Places { nodes, entries, sizes: sizes(first), lanes: lanes.len() });
        Ok(())
    }

    /// Those of nodes, and numbers from one lane to the next; nothing where rows are drawn as they lie.
    pub(super) fn places_of_nodes(&self) -> (Address, i64) {
        let held = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map_or((0, 0), |places| (self.address(&places.nodes), places.apart(0)))
    }

    /// The key of a matrix's draws, and the entries of one of its rows. A matrix with a row for each node and
    /// one row of all stored features have places of their own.
    pub(super) fn key_of(&self, key: DrawKey, shape: Shape) -> Result<(Key, usize), EngineError> {
        let key = self.key(key);
        let held = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(places) = held.as_ref() else { return Ok((key, shape.cols().max(1))) };
        let [nodes, stored] = places.sizes;
        let entries = shape.rows() * shape.cols();
        match (&places.entries, shape.rows()) {
            (Some(list), 1) if entries == stored => {
                let (places, places_lane) = (self.address(list), places.apart(1));
                Ok((Key { places, places_lane, ..key }, 1))
            }
            _ if nodes > 0 && entries.is_multiple_of(nodes) => Ok((key, entries / nodes)),
            _ => Err(EngineError::Unsupported(format!("draws of {shape:?} for {nodes} nodes"))),
        }
    }

    /// An engine with lanes on a stream of its own.
    pub(super) fn with_lanes(&self, lanes: &[LaneConfig]) -> Result<Self, EngineError> {
        let seeds: Vec<u64> = lanes.iter().map(|lane| lane.seed).collect();
        let own: Option<Vec<f64>> = lanes.iter().map(|lane| lane.dropout).collect();
        if own.is_none() && lanes.iter().any(|lane| lane.dropout.is_some()) {
            let problem = "either all lanes have a rate of dropout or none has";
            return Err(EngineError::Unsupported(problem.to_owned()));
        }
        let rates = match own {
            Some(rates) => {
                // As the kernels have them: two thresholds, the factor of what is kept, nothing.
                let words = rates.iter().flat_map(|&rate| {
                    let [threshold, short] = thresholds(rate);
                    [threshold, short, kept(rate).to_bits(), 0]
                });
                Some(self.list(&words.collect::<Vec<u32>>())?)
            }
            None => None,
        };
        let seeds = Some(self.list(&seeds)?);
        Ok(Self { lanes: lanes.len(), seeds, rates, ..self.sequential() })
    }

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

/// Words of 32 and of 16 bits below these are dropped at a rate.
pub(super) fn thresholds(rate: f64) -> [u32; 2] {
    [(rate * 4_294_967_296.0) as u32, (rate * 65_536.0) as u32]
}

/// What the others are multiplied with.
pub(super) fn kept(rate: f64) -> f32 {
    (1.0 / (1.0 - rate)) as f32
}
