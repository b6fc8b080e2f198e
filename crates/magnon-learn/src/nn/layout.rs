//! `Layout`: the parameters that a model declares, before they have numbers.

use super::init::{Init, initialise, initialise_bias};
use super::{ParameterId, Parameters, Trace, Var};
use magnon_core::compute::{Engine, EngineError, Field, Shape};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// So many times is the memory of the weights held in training: weights, gradient, two moments, the best ones, and once
/// more in double precision while they are drawn.
pub(crate) const WEIGHT_COPIES: usize = 7;

/// How the first numbers of a parameter are found.
#[derive(Clone, Debug)]
enum Start {
    Weight(Init),
    /// A bias of a layer with so many inputs.
    Bias(Init, usize),
    Given(Vec<f64>),
}

#[derive(Clone, Debug)]
struct Declared {
    name: String,
    shape: Shape,
    start: Start,
    /// Factor of the weight decay.
    decay: f64,
}

/// Names and shapes of a model's parameters, and how they are drawn. A model declares them once, in
/// order; training draws them, and a saved model is read back by their names.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    declared: Vec<Declared>,
}

/// Name, shape and numbers of a parameter.
pub type NamedNumbers = (String, Shape, Vec<f32>);

impl Layout {
    /// A weight matrix.
    pub fn weight(&mut self, name: &str, shape: Shape, init: Init) -> ParameterId {
        self.declare(name, shape, Start::Weight(init))
    }

    /// A bias row of a layer with `inputs` inputs.
    pub fn bias(&mut self, name: &str, shape: Shape, inputs: usize, init: Init) -> ParameterId {
        self.declare(name, shape, Start::Bias(init, inputs))
    }

    /// A parameter that starts at these numbers.
    ///
    /// # Panics
    /// Where they do not fill the shape.
    pub fn given(&mut self, name: &str, shape: Shape, numbers: Vec<f64>) -> ParameterId {
        assert_eq!(numbers.len(), shape.len(), "the numbers of {name} do not fill its shape");
        self.declare(name, shape, Start::Given(numbers))
    }

    /// A linear layer with a bias: `NAME.weight` and `NAME.bias`.
    pub fn linear(&mut self, name: &str, shape: Shape, init: Init) -> Linear {
        let weight = self.weight(&format!("{name}.weight"), shape, init);
        let row = shape.with_rows(1);
        let bias = self.bias(&format!("{name}.bias"), row, shape.rows(), init);
        Linear { weight, bias: Some(bias), shape }
    }

    /// A linear layer without a bias: `NAME.weight`.
    pub fn linear_without_bias(&mut self, name: &str, shape: Shape, init: Init) -> Linear {
        let weight = self.weight(&format!("{name}.weight"), shape, init);
        Linear { weight, bias: None, shape }
    }

    fn declare(&mut self, name: &str, shape: Shape, start: Start) -> ParameterId {
        self.declared.push(Declared { name: name.to_owned(), shape, start, decay: 1.0 });
        ParameterId(self.declared.len() - 1)
    }

    /// Spares a parameter the weight decay.
    pub fn without_decay(&mut self, id: ParameterId) {
        self.declared[id.0].decay = 0.0;
    }

    /// Multiplies the weight decay of all parameters so far.
    pub fn scale_decay(&mut self, factor: f64) {
        self.declared.iter_mut().for_each(|declared| declared.decay *= factor);
    }

    /// Number of real numbers.
    pub fn count(&self) -> usize {
        self.declared.iter().map(|declared| declared.shape.len()).sum()
    }

    /// Name and shape of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Shape)> {
        self.declared.iter().map(|declared| (declared.name.as_str(), declared.shape))
    }

    /// Whether any parameter is complex.
    pub fn is_complex(&self) -> bool {
        self.declared.iter().any(|declared| declared.shape.field() == Field::Complex)
    }

    /// Draws first numbers: all from one generator, in the order of declaration.
    pub fn draw(&self, engine: &Engine, seed: u64) -> Result<Parameters, EngineError> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        self.fill(engine, |declared| match &declared.start {
            Start::Weight(init) => initialise(*init, declared.shape, &mut rng),
            Start::Bias(init, inputs) => initialise_bias(*init, *inputs, declared.shape, &mut rng),
            Start::Given(numbers) => numbers.iter().map(|&x| (x) as f32).collect(),
        })
    }

    /// Takes the numbers of saved parameters, by name; the error says what does not fit.
    pub fn load(
        &self,
        engine: &Engine,
        saved: &[NamedNumbers],
    ) -> Result<Result<Parameters, EngineError>, String> {
        let mut matched = Vec::new();
        for (name, shape) in self.iter() {
            let found = saved.iter().find(|(saved, ..)| saved == name);
            let Some((_, saved_shape, numbers)) = found else {
                return Err(format!("it lacks {name}"));
            };
            if *saved_shape != shape || numbers.len() != shape.len() {
                let (found, expected) = (words(*saved_shape), words(shape));
                return Err(format!("{name} has {found}, not {expected}"));
            }
            matched.push(numbers.clone());
        }
        if let Some((name, ..)) =
            saved.iter().find(|(name, ..)| !self.iter().any(|(n, _)| n == name))
        {
            return Err(format!("it holds {name}, which its model does not have"));
        }
        let mut matched = matched.into_iter();
        Ok(self.fill(engine, |_| matched.next().unwrap_or_default()))
    }

    fn fill(
        &self,
        engine: &Engine,
        mut numbers: impl FnMut(&Declared) -> Vec<f32>,
    ) -> Result<Parameters, EngineError> {
        let mut parameters = Parameters::new();
        for declared in &self.declared {
            parameters.add(engine, &declared.name, declared.shape, &numbers(declared))?;
        }
        parameters.decays = self.declared.iter().map(|declared| declared.decay).collect();
        Ok(parameters)
    }
}

/// A shape in words.
fn words(shape: Shape) -> String {
    let field = if shape.field() == Field::Complex { "complex" } else { "real" };
    format!("{} × {} {field} numbers", shape.rows(), shape.cols())
}

/// A linear layer of a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// The weights.
    pub weight: ParameterId,
    /// The bias, where there is one.
    pub bias: Option<ParameterId>,
    /// Shape of the weights.
    pub shape: Shape,
}

impl Linear {
    /// X·W + 1·bᵀ.
    pub fn apply(&self, trace: &mut Trace, x: Var) -> Var {
        let weight = trace.parameter(self.weight);
        let product = trace.product(x, weight);
        self.add_bias(trace, product)
    }

    /// Adds the bias to a product that nothing else uses.
    pub fn add_bias(&self, trace: &mut Trace, product: Var) -> Var {
        match self.bias {
            Some(bias) => {
                let bias = trace.parameter(bias);
                trace.bias(product, bias)
            }
            None => product,
        }
    }
}
