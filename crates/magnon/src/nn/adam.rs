//! Adam, with the two kinds of weight decay.

use super::{AdamStep, Done, Engine, EngineError, Parameters, Schedule};
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
pub struct Adam<E: Engine> {
    config: AdamConfig,
    /// Steps made.
    pub(crate) steps: u64,
    /// First moments.
    pub(crate) first: Vec<E::Buffer>,
    /// Second moments.
    pub(crate) second: Vec<E::Buffer>,
}

const FIRST: f64 = 0.9;
const SECOND: f64 = 0.999;
const EPSILON: f64 = 1e-8;

impl<E: Engine> Adam<E> {
    /// An optimiser that has made no step.
    pub fn new(
        engine: &E,
        config: AdamConfig,
        parameters: &Parameters<E>,
    ) -> Result<Self, EngineError> {
        let zeros = || parameters.zeros(engine);
        Ok(Self { config, steps: 0, first: zeros()?, second: zeros()? })
    }

    /// Step length and correction of the second moment of a step that is `ahead` of those made, 1 for
    /// the next, as a replay takes them.
    pub(crate) fn rates(&self, epoch: usize, ahead: u64) -> [f32; 2] {
        let (rate, correction) = self.corrected(epoch, (self.steps + ahead) as f64);
        [rate as f32, correction as f32]
    }

    fn corrected(&self, epoch: usize, steps: f64) -> (f64, f64) {
        let rate = self.config.rate * self.config.schedule.factor(epoch);
        (rate / (1.0 - FIRST.powf(steps)), 1.0 / (1.0 - SECOND.powf(steps)).sqrt())
    }

    /// One step along `gradients`, at an epoch counted from 0.
    pub fn step(
        &mut self,
        engine: &E,
        epoch: usize,
        parameters: &mut Parameters<E>,
        gradients: &[E::Buffer],
    ) -> Done {
        self.steps += 1;
        let AdamConfig { weight_decay, decay, .. } = self.config;
        let rate = self.config.rate * self.config.schedule.factor(epoch);
        let clip = match self.config.clip {
            Some(most) => {
                let squares = gradients.iter().map(|gradient| engine.square_norm(gradient));
                let norm = squares.sum::<Result<f64, _>>()?.sqrt();
                (most / norm.max(most)).min(1.0)
            }
            None => 1.0,
        };
        let (corrected, second_correction) = self.corrected(epoch, self.steps as f64);
        let step = AdamStep {
            rate: corrected,
            first: FIRST,
            second: SECOND,
            second_correction,
            epsilon: EPSILON,
            l2: if decay == Decay::L2 { weight_decay } else { 0.0 },
            shrink: if decay == Decay::L2 { 1.0 } else { 1.0 - rate * weight_decay },
            clip,
        };
        let moments = self.first.iter_mut().zip(&mut self.second);
        let decays = parameters.decays.iter();
        for (((weights, decays), gradient), (first, second)) in
            parameters.values.iter_mut().zip(decays).zip(gradients).zip(moments)
        {
            // Products with 1 change nothing, and with 0 spare the parameter.
            let (l2, shrink) = (decays * step.l2, 1.0 - decays * (1.0 - step.shrink));
            let step =
                AdamStep { l2, shrink: if *decays == 1.0 { step.shrink } else { shrink }, ..step };
            engine.adam(step, gradient, weights, first, second)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::{Cpu, Shape};

    /// The first steps of Adam by hand: with one gradient g the step is η·g/(|g| + ε).
    #[test]
    fn first_step_has_the_length_of_the_rate() {
        let engine = Cpu::<f64>::sequential();
        let run = |config: AdamConfig, gradient: [f64; 2]| {
            let mut parameters = Parameters::new();
            parameters.add(&engine, "w", Shape::real(1, 2), &[1.0, -2.0]).unwrap();
            let mut adam = Adam::new(&engine, config, &parameters).unwrap();
            adam.step(&engine, 0, &mut parameters, &[gradient.to_vec()]).unwrap();
            parameters.values()[0].clone()
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
