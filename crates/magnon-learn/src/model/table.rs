//! The table of models, and `ModelConfig`, the configuration of any of them.

use super::{MODELS, ModelConfig, ModelError};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Makes the tagged enum of all configurations and the table of what the models are.
macro_rules! models {
    ($($variant:ident => $config:ty),* $(,)?) => {
        $(pub use $config;)*

        /// The models.
        pub const MODELS: &[ModelInfo] = &[$(<$config as Architecture>::INFO),*];

        /// The configuration of one of the [`MODELS`]; written as the settings of the model with its
        /// `name` beside them.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)] // each variant is documented by its configuration
        #[non_exhaustive]
        pub enum ModelConfig {
            $($variant($config)),*
        }

        impl ModelConfig {
            /// The model of a name, with its own defaults.
            pub fn named(name: &str) -> Result<Self, ModelError> {
                $(if <$config as Architecture>::INFO.name == name {
                    return Ok(Self::$variant(Default::default()));
                })*
                Err(ModelError::Unknown(name.to_owned()))
            }

            /// What the model is.
            pub fn info(&self) -> &'static ModelInfo {
                match self {
                    $(Self::$variant(_) => const { &<$config as Architecture>::INFO }),*
                }
            }

            /// Checks every range.
            pub fn check(&self) -> Result<(), ModelError> {
                match self {
                    $(Self::$variant(config) => config.check()),*
                }
            }

            /// Refuses settings that a network over this field would ignore.
            pub fn suits(&self, field: magnon_core::compute::Field) -> Result<(), ModelError> {
                match self {
                    $(Self::$variant(config) => config.suits(field)),*
                }
            }

            /// The configurations that are tried where this one leaves something open; none where it
            /// does not.
            pub fn alternatives(
                &self,
                graph: &magnon_core::graph::DiGraph,
                features: &magnon_core::matrix::Features,
            ) -> Vec<Self> {
                match self {
                    $(Self::$variant(config) => {
                        config.alternatives(graph, features).into_iter().map(Self::$variant).collect()
                    }),*
                }
            }

            /// How much trained weights take from each of the model's inputs; empty where it does not
            /// weigh them.
            pub fn shares(&self, weights: &[crate::nn::NamedNumbers]) -> Vec<crate::model::InputShare> {
                match self {
                    $(Self::$variant(config) => config.shares(weights)),*
                }
            }

            /// Builds the network on a graph with its features.
            pub fn build<'a>(
                &self,
                engine: &Engine,
                inputs: &Inputs<'a>,
            ) -> Result<Box<dyn Network + 'a>, ModelError> {
                self.check()?;
                match self {
                    $(Self::$variant(config) => config.build(engine, inputs)),*
                }
            }

            fn settings_value(&self) -> Result<serde_json::Value, serde_json::Error> {
                match self {
                    $(Self::$variant(config) => serde_json::to_value(config)),*
                }
            }

            fn with_settings(
                &self,
                settings: serde_json::Value,
            ) -> Result<Self, serde_json::Error> {
                match self {
                    $(Self::$variant(_) => serde_json::from_value(settings).map(Self::$variant)),*
                }
            }
        }
    };
}
pub(super) use models;

impl Default for ModelConfig {
    fn default() -> Self {
        Self::Mgc(Default::default())
    }
}

impl ModelConfig {
    /// The settings by name.
    pub fn settings(&self) -> Map<String, Value> {
        match self.settings_value() {
            Ok(Value::Object(settings)) => settings,
            _ => Map::new(),
        }
    }

    /// Changes one setting; one that is out of its range changes nothing.
    pub fn set(&mut self, key: &str, value: Value) -> Result<(), ModelError> {
        let model = self.info().name;
        let mut settings = self.settings();
        if !settings.contains_key(key) {
            let keys = settings.keys().cloned().collect::<Vec<_>>().join(", ");
            return Err(ModelError::UnknownKey { model, key: key.to_owned(), keys });
        }
        settings.insert(key.to_owned(), value.clone());
        let changed = self.with_settings(Value::Object(settings));
        let changed = changed.map_err(|error| ModelError::BadValue {
            model,
            key: key.to_owned(),
            value: value.to_string(),
            problem: error.to_string(),
        })?;
        changed.check()?;
        *self = changed;
        Ok(())
    }

    /// The rate of its dropouts, where all have one and the same.
    pub(crate) fn only_dropout(&self) -> Option<f64> {
        let settings = self.settings();
        let rates = settings.iter().filter(|(key, _)| key.contains("dropout"));
        match rates.collect::<Vec<_>>()[..] {
            [(key, rate)] if key == "dropout" => rate.as_f64(),
            _ => None,
        }
    }

    /// Whether the model has such a setting.
    pub fn has(&self, key: &str) -> bool {
        self.settings().contains_key(key)
    }
}

impl Serialize for ModelConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = Map::new();
        object.insert("name".to_owned(), self.info().name.into());
        object.extend(self.settings());
        object.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ModelConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object = Map::deserialize(deserializer)?;
        let model = match object.remove("name") {
            Some(Value::String(name)) => Self::named(&name).map_err(D::Error::custom)?,
            Some(other) => return Err(D::Error::custom(format!("a model is not called {other}"))),
            None => Self::default(),
        };
        model.with_settings(Value::Object(object)).map_err(D::Error::custom)
    }
}

/// The names to choose from, with the nearest one first where there is one.
pub(crate) fn names_hint(name: &str) -> String {
    let names: Vec<&str> = MODELS.iter().map(|info| info.name).collect();
    match crate::strict::nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("there are {}", names.join(", ")),
    }
}
