//! `Parameters`: the trained matrices of a model, with names.

use magnon_core::compute::{Buffer, Engine, EngineError, Shape};

/// One of the [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParameterId(pub(super) usize);

/// Names, shapes and numbers of what is trained.
pub struct Parameters {
    pub(super) names: Vec<String>,
    pub(super) shapes: Vec<Shape>,
    /// Whether weight decay acts on it.
    pub(super) decays: Vec<f64>,
    pub(super) values: Vec<Buffer>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self::new()
    }
}

impl Parameters {
    /// None yet.
    pub fn new() -> Self {
        let (names, shapes, decays, values) = Default::default();
        Self { names, shapes, decays, values }
    }

    /// Adds a matrix that weight decay acts on.
    ///
    /// # Panics
    /// Where the numbers do not fill the shape.
    pub fn add(
        &mut self,
        engine: &Engine,
        name: &str,
        shape: Shape,
        numbers: &[f32],
    ) -> Result<ParameterId, EngineError> {
        assert_eq!(numbers.len(), shape.len(), "the numbers of {name} do not fill its shape");
        let buffer = engine.buffer(numbers)?;
        self.names.push(name.to_owned());
        self.shapes.push(shape);
        self.decays.push(1.0);
        self.values.push(buffer);
        Ok(ParameterId(self.values.len() - 1))
    }

    /// Name, shape and numbers of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Shape, &Buffer)> {
        let shapes = self.shapes.iter().copied();
        self.names.iter().zip(shapes).zip(&self.values).map(|((n, s), v)| (n.as_str(), s, v))
    }

    /// Number of real numbers.
    pub fn count(&self) -> usize {
        self.shapes.iter().map(|shape| shape.len()).sum()
    }

    /// Zeros in the same shapes, for gradients and moments.
    pub fn zeros(&self, engine: &Engine) -> Result<Vec<Buffer>, EngineError> {
        self.shapes.iter().map(|shape| engine.zeros(shape.len())).collect()
    }

    /// The numbers, for reading.
    pub fn values(&self) -> &[Buffer] {
        &self.values
    }

    /// The numbers, for changing.
    pub fn values_mut(&mut self) -> &mut [Buffer] {
        &mut self.values
    }

    /// Shape of one.
    pub fn shape(&self, id: ParameterId) -> Shape {
        self.shapes[id.0]
    }

    /// All numbers, parameter after parameter.
    pub fn download(&self, engine: &Engine) -> Result<Vec<Vec<f32>>, EngineError> {
        download(engine, &self.values)
    }
}

/// The numbers of some buffers.
pub(crate) fn download(engine: &Engine, buffers: &[Buffer]) -> Result<Vec<Vec<f32>>, EngineError> {
    buffers.iter().map(|buffer| engine.numbers(buffer)).collect()
}
