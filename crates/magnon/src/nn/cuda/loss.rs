//! The loss, and the step of the optimiser.

use super::abi::{Address, Step};
use super::apply::THREADS;
use super::{Buffer, CardTargets, Cuda};
use crate::nn::engine::{AdamStep, Done};
use crate::nn::{EngineError, Shape};
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

    pub(super) fn sum_of_squares(&self, x: &Buffer) -> Result<f64, EngineError> {
        let (parts, blocks) = self.dot_parts(x, x)?;
        let mut found = vec![0f32; 2 * blocks];
        self.get(&parts.slice, &mut found)?;
        self.give(parts);
        let doubles: &[f64] = bytemuck::try_cast_slice(&found).unwrap_or_default();
        match doubles.len() == blocks {
            true => Ok(doubles.iter().sum()),
            // Where the list is not aligned for numbers of double precision.
            false => Ok(found
                .as_chunks::<2>()
                .0
                .iter()
                .map(|&[low, high]| {
                    f64::from_bits(u64::from(high.to_bits()) << 32 | u64::from(low.to_bits()))
                })
                .sum()),
        }
    }

    pub(super) fn adam_step(
        &self,
        step: AdamStep,
        gradient: &Buffer,
        weights: &mut Buffer,
        [first, second]: [&mut Buffer; 2],
    ) -> Done {
        let n = weights.len;
        let (schedule, clock, base, room) = self
            .under()
            .as_ref()
            .map_or((0, 0, 0, 1), |under| (under.schedule, under.clock, under.base, under.room));
        let numbers = Step {
            rate: step.rate as f32,
            correction: step.second_correction as f32,
            first: step.first as f32,
            other_first: (1.0 - step.first) as f32,
            second: step.second as f32,
            other_second: (1.0 - step.second) as f32,
            epsilon: step.epsilon as f32,
            l2: step.l2 as f32,
            shrink: step.shrink as f32,
            clip: step.clip as f32,
        };
        self.launch(
            "adam",
            self.grid(n)?,
            THREADS,
            &[
                &numbers,
                &schedule,
                &clock,
                &base,
                &room,
                &self.matrix(gradient, n)?,
                &self.matrix_mut(weights, n)?,
                &self.matrix_mut(first, n)?,
                &self.matrix_mut(second, n)?,
                &(n as i64),
            ],
        )
    }
}
