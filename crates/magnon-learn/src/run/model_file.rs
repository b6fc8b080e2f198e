//! `model.safetensors`: everything that a prediction needs.

use crate::model::ModelConfig;
use crate::nn::NamedNumbers;
use crate::tensors::{Encoded, FileError, Tensors, bytes_of};
use magnon_core::compute::Field;
use magnon_core::filter::FilterConfig;
use magnon_core::operator::OperatorConfig;
use magnon_data::Scaling;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::Path;

const FORMAT: &str = "magnon-model";

/// A trained model with all that belongs to it. Parameters are kept by their names, so that a file
/// knows nothing of what a model is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedModel {
    /// Configuration of the model.
    pub model: ModelConfig,
    /// The operator it was trained with, where it takes one.
    pub operator: Option<OperatorConfig>,
    /// The filter it was trained with, where it takes one.
    pub filter: Option<FilterConfig>,
    /// What was done to the features it was trained on, and is done to others.
    pub scaling: Scaling,
    /// Columns of the features.
    pub width: usize,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Name, shape and numbers of the weights.
    pub weights: Vec<NamedNumbers>,
}

impl SavedModel {
    /// Whether some weights are complex.
    pub fn is_complex(&self) -> bool {
        self.weights.iter().any(|(_, shape, _)| shape.field() == Field::Complex)
    }

    /// Number of real numbers among the weights.
    pub fn count(&self) -> usize {
        self.weights.iter().map(|(_, shape, _)| shape.len()).sum()
    }

    /// Writes the file.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        self.encode(path)?.write(path)
    }

    /// The file that is to be written to a path.
    pub(super) fn encode(&self, path: &Path) -> Result<Encoded, FileError> {
        let mut file = Tensors::default();
        for (name, shape, numbers) in &self.weights {
            file.push_matrix(name, *shape, numbers);
        }
        let words = [
            ("model", json(&self.model)),
            ("operator", json(&self.operator)),
            ("filter", json(&self.filter)),
            ("scaling", json(&self.scaling)),
            ("width", json(&self.width)),
            ("classes", json(&self.classes)),
        ];
        for (key, word) in words {
            let word =
                word.map_err(|problem| FileError::Broken { path: path.to_owned(), problem })?;
            file.words.insert(key.to_owned(), word);
        }
        file.encode(path, FORMAT)
    }

    /// Reads a file and checks its numbers.
    pub fn read(path: &Path) -> Result<Self, FileError> {
        Self::parse(path, &bytes_of(path)?)
    }

    /// The same of the bytes of the file.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FileError> {
        let file = Tensors::parse(path, bytes, FORMAT)?;
        Self::of(&file).map_err(|problem| FileError::Broken { path: path.to_owned(), problem })
    }

    fn of(file: &Tensors) -> Result<Self, String> {
        let saved = Self {
            model: entry(file, "model")?,
            operator: entry(file, "operator")?,
            filter: entry(file, "filter")?,
            scaling: entry(file, "scaling")?,
            width: entry(file, "width")?,
            classes: entry(file, "classes")?,
            weights: file.matrices()?,
        };
        saved.model.check().map_err(|error| error.to_string())?;
        saved.check_operator()?;
        let bad = saved.weights.iter().find_map(|(name, _, numbers)| {
            let bad = numbers.iter().find(|number| !number.is_finite())?;
            Some(format!("{name} holds {bad}"))
        });
        bad.map_or(Ok(saved), Err)
    }
}

impl SavedModel {
    /// Refuses an operator that no model of this kind is defined with: its weights would not fit.
    fn check_operator(&self) -> Result<(), String> {
        let info = self.model.info();
        match info.operator.zip(self.operator).and_then(|(need, own)| need.conflict(&own)) {
            Some(setting) => Err(format!("its model, {}, has no such {setting}", info.name)),
            None => Ok(()),
        }
    }
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn entry<T: DeserializeOwned>(file: &Tensors, key: &str) -> Result<T, String> {
    let word: String = file.word(key)?;
    serde_json::from_str(&word).map_err(|error| format!("its entry '{key}' is broken: {error}"))
}
