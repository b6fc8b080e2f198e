//! Adam, with the two kinds of weight decay.

use super::{Parameters, Schedule};
use magnon_core::compute::{AdamBuffers, AdamStep, Buffer, Done, Engine, EngineError, StepNumbers};
use serde::{Deserialize, Serialize};

/// How weights are kept small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Decay {
    /// λW is added to the gradient, as in the paper.
    #[default]
    L2,
    /// W shrinks by ηλW beside the step, as in AdamW.
    Decoupled,
}

/// Configuration of the optimiser.
///
/// | name | default | purpose | range |
/// |---|---|---|---|
/// | `rate` | 0.01 | step length η | > 0 |
/// | `weight_decay` | 1e-4 | λ | ≥ 0 |
/// | `decay` | `l2` | how λ acts | |
/// | `clip` | none | largest norm of the whole gradient | > 0 |
/// | `schedule` | constant | factor of η by epoch | |
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdamConfig {
    /// Step length η.
    pub rate: f64,
    /// Strength λ of the decay.
    pub weight_decay: f64,
    /// How the decay acts.
    pub decay: Decay,
    /// Largest norm of the whole gradient.
    pub clip: Option<f64>,
    /// Factor of η by epoch.
    pub schedule: Schedule,
}

impl Default for AdamConfig {
    fn default() -> Self {
        Self {
            rate: 0.01,
            weight_decay: 1e-4,
            decay: Decay::L2,
            clip: None,
            schedule: Schedule::Constant,
        }
    }
}

/// Adam after Kingma and Ba, with β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸. The parts of a complex number
/// are numbers of their own.
pub struct Adam {
    config: AdamConfig,
    /// Steps made.
    pub(crate) steps: u64,
    /// First moments.
    pub(crate) first: Vec<Buffer>,
    /// Second moments.
    pub(crate) second: Vec<Buffer>,
    /// What gradients are multiplied with, where they are clipped.
    clip: Option<Buffer>,
}

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl AdamConfig {
    /// The numbers of a step, counted from 1, at an epoch, counted from 0.
    pub(crate) fn numbers(&self, epoch: usize, step: u64) -> StepNumbers {
        let rate = self.rate * self.schedule.factor(epoch);
        let steps = step as f64;
        let [l2, shrink] = match self.decay {
            Decay::L2 => [self.weight_decay, 1.0],
            Decay::Decoupled => [0.0, 1.0 - rate * self.weight_decay],
        };
        [rate / (1.0 - FIRST.powf(steps)), 1.0 / (1.0 - SECOND.powf(steps)).sqrt(), l2, shrink]
    }
}

impl Adam {
    /// An optimiser that has made no step.
    pub fn new(
        engine: &Engine,
        config: AdamConfig,
        parameters: &Parameters,
    ) -> Result<Self, EngineError> {
        let zeros = || parameters.zeros(engine);
        let clip = config.clip.map(|_| engine.zeros(1)).transpose()?;
        Ok(Self { config, steps: 0, first: zeros()?, second: zeros()?, clip })
    }

    /// Does what a step needs before it: the factor of clipped gradients.
    pub(crate) fn clip(&mut self, engine: &Engine, gradients: &[Buffer]) -> Done {
        match (self.config.clip, &mut self.clip) {
            (Some(most), Some(factor)) => engine.clip(gradients, most, factor),
            _ => Ok(()),
        }
    }

    /// One step along `gradients`, at an epoch counted from 0.
    pub fn step(
        &mut self,
        engine: &Engine,
        epoch: usize,
        parameters: &mut Parameters,
        gradients: &[Buffer],
    ) -> Done {
        self.steps += 1;
        self.clip(engine, gradients)?;
        let [rate, second_correction, l2, shrink] = self.config.numbers(epoch, self.steps);
        let step = AdamStep {
            rate,
            first: FIRST,
            second: SECOND,
            second_correction,
            epsilon: EPSILON,
            l2,
            shrink,
            decays: 1.0,
        };
        let all = AdamBuffers {
            clip: self.clip.as_ref(),
            gradients,
            weights: &mut parameters.values,
            first: &mut self.first,
            second: &mut self.second,
        };
        engine.adam_all(step, &parameters.decays, all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use magnon_core::compute::Shape;

    /// The first steps of Adam by hand: with one gradient g the step is η·g/(|g| + ε).
    #[test]
    fn first_step_has_the_length_of_the_rate() {
        let engine = Engine::double();
        let run = |config: AdamConfig, gradient: [f64; 2]| {
            let mut parameters = Parameters::new();
            parameters.add(&engine, "w", Shape::real(1, 2), &[1.0, -2.0]).unwrap();
            let mut adam = Adam::new(&engine, config, &parameters).unwrap();
            adam.step(&engine, 0, &mut parameters, &[Buffer::Double(gradient.to_vec())]).unwrap();
            engine.download_double(&parameters.values()[0]).unwrap()
        };
        let plain = AdamConfig { rate: 0.1, weight_decay: 0.0, ..Default::default() };
        let w = run(plain, [5.0, -0.01]);
        assert!((w[0] - 0.9).abs() < 1e-8 && (w[1] + 1.9).abs() < 1e-6, "{w:?}");
        // L2 turns a gradient of 0 into one of λw; decoupled decay shrinks by ηλ.
        let w = run(AdamConfig { weight_decay: 0.5, ..plain }, [0.0, 0.0]);
        assert!((w[0] - 0.9).abs() < 1e-7 && (w[1] + 1.9).abs() < 1e-7, "{w:?}");
        let decoupled = AdamConfig { weight_decay: 0.5, decay: Decay::Decoupled, ..plain };
        let w = run(decoupled, [0.0, 0.0]);
        assert!((w[0] - 0.95).abs() < 1e-12 && (w[1] + 1.9).abs() < 1e-12, "{w:?}");
    }
}
