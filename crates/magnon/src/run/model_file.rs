//! `model.safetensors`: everything that a prediction needs.

use crate::data::FeatureNorm;
use crate::filter::FilterConfig;
use crate::model::{Model, ModelConfig, ModelKind, TwoLayer, mgc, mlp};
use crate::nn::{Cpu, Field, Shape};
use crate::operator::OperatorConfig;
use crate::tensors::{FileError, Tensors};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

const FORMAT: &str = "magnon-model";

/// A trained model with all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// Recipe of the model.
    pub model: ModelConfig,
    /// The operator it was trained with.
    pub operator: OperatorConfig,
    /// The filter it was trained with.
    pub filter: FilterConfig,
    /// Whether the rows of the features were scaled.
    pub feature_norm: FeatureNorm,
    /// Columns of the features.
    pub width: usize,
    /// Whether the first layer is complex.
    pub complex: bool,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Name, shape and numbers of the weights.
    pub weights: Vec<(String, Shape, Vec<f32>)>,
}

impl SavedModel {
    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let mut file = Tensors::default();
        for (name, shape, numbers) in &self.weights {
            file.push_matrix(name, *shape, numbers);
        }
        let words = [
            ("model", json(&self.model)),
            ("operator", json(&self.operator)),
            ("filter", json(&self.filter)),
            ("feature_norm", json(&self.feature_norm)),
            ("width", json(&self.width)),
            ("complex", json(&self.complex)),
            ("classes", json(&self.classes)),
        ];
        for (key, word) in words {
            let word =
                word.map_err(|problem| FileError::Broken { path: path.to_owned(), problem })?;
            file.words.insert(key.to_owned(), word);
        }
        file.write(path, FORMAT)
    }

    /// Reads a file and checks that its weights fit together.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        let file = Tensors::read(path, FORMAT)?;
        Self::parse(&file).map_err(|problem| FileError::Broken { path: path.to_owned(), problem })
    }

    fn parse(file: &Tensors) -> Result<Self, String> {
        let mut saved = Self {
            model: entry(file, "model")?,
            operator: entry(file, "operator")?,
            filter: entry(file, "filter")?,
            feature_norm: entry(file, "feature_norm")?,
            width: entry(file, "width")?,
            complex: entry(file, "complex")?,
            classes: entry(file, "classes")?,
            weights: Vec::new(),
        };
        saved.model.check().map_err(|error| error.to_string())?;
        let field = if saved.complex { Field::Complex } else { Field::Real };
        let (hidden, classes) = (saved.model.hidden, saved.classes.len());
        for (name, shape) in [
            ("layers.0.weight", Shape { rows: saved.width, cols: hidden, field }),
            ("layers.0.bias", Shape { rows: 1, cols: hidden, field }),
            ("layers.1.weight", Shape::real(hidden, classes)),
            ("layers.1.bias", Shape::real(1, classes)),
        ] {
            let numbers = file.numbers(name)?;
            let len = shape.rows.checked_mul(shape.width());
            if len != Some(numbers.len()) {
                return Err(format!(
                    "{name} has {} numbers, not those of {shape:?}",
                    numbers.len()
                ));
            }
            if let Some(bad) = numbers.iter().find(|number| !number.is_finite()) {
                return Err(format!("{name} holds {bad}"));
            }
            saved.weights.push((name.to_owned(), shape, numbers));
        }
        Ok(saved)
    }

    /// The model, ready to use.
    pub fn build(&self, engine: &Cpu<f32>) -> Result<TwoLayer<Cpu<f32>>, crate::model::ModelError> {
        let (width, classes) = (self.width, self.classes.len());
        let field = if self.complex { Field::Complex } else { Field::Real };
        let mut model = match self.model.kind {
            ModelKind::Mgc => mgc(engine, &self.model, field, width, classes, 0)?,
            ModelKind::Mlp => mlp(engine, &self.model, width, classes, 0)?,
        };
        let values = model.parameters_mut().values_mut();
        for (value, (_, _, numbers)) in values.iter_mut().zip(&self.weights) {
            value.clone_from(numbers);
        }
        Ok(model)
    }
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn entry<T: DeserializeOwned>(file: &Tensors, key: &str) -> Result<T, String> {
    let word: String = file.word(key)?;
    serde_json::from_str(&word).map_err(|error| format!("its entry '{key}' is broken: {error}"))
}
