//! Steps of the optimiser on the chosen engine.

use super::own::Own;
use super::{AnyBuffer, AnyEngine};
use crate::nn::{AdamStep, Done, Engine, Moved};

impl AnyEngine {
    pub(super) fn clip_all(
        &self,
        gradients: &[AnyBuffer],
        most: f64,
        factor: &mut AnyBuffer,
    ) -> Done {
        match self {
            Self::Cpu(engine) => {
                engine.clip_to(gradients.iter().map(Own::cpu), most, factor.cpu()?)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => {
                engine.clip_factor(gradients.iter().map(Own::cuda), most, factor.cuda()?)
            }
        }
    }

    pub(super) fn step_all(&self, step: AdamStep, decays: &[f64], all: Moved<Self>) -> Done {
        let Moved { clip, gradients, weights, first, second } = all;
        let moments = first.iter_mut().zip(second);
        let each = weights.iter_mut().zip(decays).zip(gradients).zip(moments);
        match self {
            Self::Cpu(engine) => {
                let clip = Own::cpu(clip)?;
                for (((weights, &decays), gradient), (first, second)) in each {
                    let (step, gradient) = (step.for_share(decays), gradient.cpu()?);
                    engine.adam(
                        step,
                        clip,
                        gradient,
                        weights.cpu()?,
                        first.cpu()?,
                        second.cpu()?,
                    )?;
                }
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(engine) => {
                let mut updates = Vec::new();
                for (((weights, &decays), gradient), (first, second)) in each {
                    let own = [weights.cuda()?, first.cuda()?, second.cuda()?];
                    updates.push((step.for_share(decays), gradient.cuda()?, own));
                }
                engine.adam_of(Own::cuda(clip)?, &mut updates)
            }
        }
    }
}
