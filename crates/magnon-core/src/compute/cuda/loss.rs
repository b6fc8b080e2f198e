//! The loss, and the step of the optimiser.

use super::abi::{AT_A_TIME, Address, AllTrained, Matrix, Step, Trained};
use super::apply::THREADS;
use super::{Buffer, CardTargets, Cuda, flag};
use crate::compute::AdamStep;
use crate::compute::Done;
use crate::compute::{EngineError, Shape};
use cudarc::driver::CudaSlice;
use std::sync::atomic::Ordering;

impl Cuda {
    pub(super) fn loss(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
    ) -> Result<(f64, usize), EngineError> {
        let launch = |scores: Address,
                      clock: Address,
                      slot: usize,
                      (slots, base, room): (usize, u32, u32)| {
            self.launch(
                "nll_loss",
                (1, 1, self.lanes as u32),
                1024,
                &[
                    &self.matrix(y.0, y.1.len())?,
                    &targets.inside(self, y.1)?,
                    &(y.1.cols() as i64),
                    &scores,
                    &clock,
                    &(slot as i64),
                    &(slots as i64),
                    &base,
                    &room,
                ],
            )
        };
        if let Some(under) = self.under().as_mut() {
            let slot = under.losses;
            under.losses += 1;
            launch(under.scores, under.clock, slot, (under.slots, under.base, under.room))?;
            return Ok((f64::NAN, 0)); // known when the step is replayed
        }
        let scores: CudaSlice<u64> = self.zeroed(2 * self.lanes)?;
        launch(self.address(&scores), 0, 0, (1, 0, 1))?;
        let mut found = [0u64; 2];
        self.get(&scores, &mut found)?;
        // A recording leaves the loss on the card.
        self.crossings.fetch_sub(1, Ordering::Relaxed);
        Ok((f64::from_bits(found[0]), found[1] as usize))
    }

    pub(super) fn loss_gradient(
        &self,
        y: (&Buffer, Shape),
        targets: &CardTargets,
        dx: &mut Buffer,
    ) -> Done {
        let n = targets.len() * y.1.cols();
        self.launch(
            "nll_loss_gradient",
            self.grid(n)?,
            THREADS,
            &[
                &self.matrix(y.0, y.1.len())?,
                &targets.inside(self, y.1)?,
                &(y.1.cols().max(1) as i64),
                &self.matrix_mut(dx, y.1.len())?,
            ],
        )
    }

    /// What gradients are multiplied with so that their norm is `most` at most, lane by lane.
    pub fn clip<'a>(
        &self,
        gradients: impl Iterator<Item = Result<&'a Buffer, EngineError>>,
        most: f64,
        factor: &mut Buffer,
    ) -> Done {
        // Sums of double precision in pairs of single ones.
        let total = self.take(2)?;
        for (k, gradient) in gradients.enumerate() {
            let gradient = gradient?;
            let (parts, blocks) = self.dot_parts(gradient, gradient)?;
            self.launch(
                "add_squares",
                (1, 1, self.lanes as u32),
                32,
                &[
                    &self.address(&parts.slice),
                    &(blocks as i64),
                    &flag(k > 0),
                    &self.address(&total.slice),
                ],
            )?;
            self.give(parts);
        }
        self.launch(
            "clip_factor",
            (1, 1, self.lanes as u32),
            32,
            &[&self.address(&total.slice), &most, &self.matrix_mut(factor, 1)?],
        )?;
        self.give(total);
        Ok(())
    }

    /// One step of the optimiser on some matrices: step, gradient, weights and both moments of each.
    pub fn adam(
        &self,
        clip: Option<&Buffer>,
        updates: &mut [(AdamStep, &Buffer, [&mut Buffer; 3])],
    ) -> Done {
        let (schedule, clock, base, room) = self
            .under()
            .as_ref()
            .map_or((0, 0, 0, 1), |under| (under.schedule, under.clock, under.base, under.room));
        let clip = match clip {
            Some(clip) => self.matrix(clip, 1)?,
            None => Matrix::default(),
        };
        for updates in updates.chunks_mut(AT_A_TIME) {
            let Some((step, ..)) = updates.first() else { continue };
            let numbers = Step {
                rate: step.rate as f32,
                correction: step.second_correction as f32,
                first: step.first as f32,
                other_first: (1.0 - step.first) as f32,
                second: step.second as f32,
                other_second: (1.0 - step.second) as f32,
                epsilon: step.epsilon as f32,
            };
            let mut all = AllTrained::default();
            let mut blocks = 0;
            for (step, gradient, [weights, first, second]) in updates {
                let n = weights.len;
                let one = Trained {
                    gradient: self.matrix(gradient, n)?,
                    weights: self.matrix_mut(weights, n)?,
                    first: self.matrix_mut(first, n)?,
                    second: self.matrix_mut(second, n)?,
                    n: n as i64,
                    blocks: 0,
                    decays: step.decays,
                    l2: step.l2 as f32,
                    shrink: step.shrink as f32,
                };
                blocks = all.add(one, blocks)?;
            }
            let grid = (blocks.max(1), 1, self.lanes as u32);
            let given: [&dyn super::abi::Argument; 7] =
                [&numbers, &schedule, &clock, &base, &room, &clip, &all];
            self.launch("adam", grid, THREADS, &given)?;
        }
        Ok(())
    }
}

/// Numbers of a thread; as in the kernels.
const EACH: usize = 4;

impl AllTrained {
    /// One more, behind so many blocks; how many there are with it.
    pub(super) fn add(&mut self, one: Trained, blocks: u32) -> Result<u32, EngineError> {
        let own = super::ceil(one.n as usize, EACH * THREADS as usize)?;
        if let Some(place) = self.of.get_mut(self.count as usize) {
            *place = Trained { blocks: i64::from(blocks), ..one };
            self.count += 1;
        }
        Ok(blocks + own)
    }
}
