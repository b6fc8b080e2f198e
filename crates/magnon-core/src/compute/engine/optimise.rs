//! Steps of the optimiser on the chosen device.

use super::own::Own;
use super::{Backend, Buffer, Engine};
use crate::compute::{AdamBuffers, AdamStep, Done};

impl Engine {
    /// `factor[0]` becomes what the gradients are multiplied with so that their norm, taken over all of
    /// them, is `most` at most.
    pub fn clip(&self, gradients: &[Buffer], most: f64, factor: &mut Buffer) -> Done {
        match &self.0 {
            Backend::Cpu(engine) => {
                engine.clip(gradients.iter().map(Own::cpu), most, factor.cpu()?)
            }
            Backend::Double(engine) => {
                engine.clip(gradients.iter().map(Own::double), most, factor.double()?)
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(engine) => {
                engine.clip(gradients.iter().map(Own::cuda), most, factor.cuda()?)
            }
        }
    }

    /// One Adam step on all parameters, whose step is that of [`AdamStep::for_share`] each.
    pub fn adam_all(&self, step: AdamStep, decays: &[f64], all: AdamBuffers) -> Done {
        let AdamBuffers { clip, gradients, weights, first, second } = all;
        #[cfg(feature = "cuda")]
        let mut updates = Vec::new();
        let moments = first.iter_mut().zip(second);
        for (((w, &share), g), (m, v)) in weights.iter_mut().zip(decays).zip(gradients).zip(moments)
        {
            let step = step.for_share(share);
            match &self.0 {
                Backend::Cpu(engine) => {
                    let moments = [m.cpu()?, v.cpu()?];
                    engine.adam(step, Own::cpu(clip)?, g.cpu()?, w.cpu()?, moments)?;
                }
                Backend::Double(engine) => {
                    let moments = [m.double()?, v.double()?];
                    engine.adam(step, Own::double(clip)?, g.double()?, w.double()?, moments)?;
                }
                #[cfg(feature = "cuda")]
                Backend::Cuda(_) => {
                    updates.push((step, g.cuda()?, [w.cuda()?, m.cuda()?, v.cuda()?]));
                }
            }
        }
        #[cfg(feature = "cuda")]
        if let Backend::Cuda(engine) = &self.0 {
            return engine.adam(Own::cuda(clip)?, &mut updates);
        }
        Ok(())
    }
}
