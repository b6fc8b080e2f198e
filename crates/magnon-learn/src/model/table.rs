//! The table of models, and `ModelConfig`, the configuration of any of them.

use super::{Architecture, InputShare, Inputs, MODELS, ModelError, ModelInfo, Network, TABLE};
use crate::nn::NamedNumbers;
use magnon_core::compute::{Engine, Field};
use magnon_core::graph::DiGraph;
use magnon_core::matrix::Features;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::any::Any;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

/// Makes the table of models.
macro_rules! models {
    ($($config:ty),* $(,)?) => {
        $(pub use $config;)*

        /// What the models of this crate are.
        pub const MODELS: &[ModelInfo] = &[$(<$config as Architecture>::INFO),*];

        const TABLE: &[table::Entry] = &[$(table::Entry::of::<$config>()),*];
    };
}
pub(super) use models;

/// A model of the table.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    info: &'static ModelInfo,
    default: fn() -> ModelConfig,
}

impl Entry {
    pub const fn of<A: Architecture>() -> Self {
        Self { info: const { &A::INFO }, default: || A::default().into() }
    }
}

/// Models of other crates.
static REGISTERED: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// Adds a model of another crate, so that configurations and run folders may name it. A name that is taken is refused.
///
/// A configuration of the model can be trained without this, too; only reading it back takes its name.
pub fn register<A: Architecture>() -> Result<(), ModelError> {
    let entry = Entry::of::<A>();
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let mut taken = TABLE.iter().chain(registered.iter());
    if taken.any(|other| other.info.name == entry.info.name) {
        return Err(ModelError::Taken(entry.info.name));
    }
    registered.push(entry);
    Ok(())
}

/// An [`Architecture`] whose type is not known.
trait AnyModel: fmt::Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn info(&self) -> &'static ModelInfo;
    fn check(&self) -> Result<(), ModelError>;
    fn suits(&self, field: Field) -> Result<(), ModelError>;
    fn alternatives(&self, graph: &DiGraph, features: &Features) -> Vec<ModelConfig>;
    fn shares(&self, weights: &[NamedNumbers]) -> Vec<InputShare>;
    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError>;
    fn settings(&self) -> Result<Value, serde_json::Error>;
    fn with_settings(&self, settings: Value) -> Result<ModelConfig, serde_json::Error>;
    fn is(&self, other: &dyn AnyModel) -> bool;
}

impl<A: Architecture> AnyModel for A {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn info(&self) -> &'static ModelInfo {
        const { &A::INFO }
    }
    fn check(&self) -> Result<(), ModelError> {
        Architecture::check(self)
    }
    fn suits(&self, field: Field) -> Result<(), ModelError> {
        Architecture::suits(self, field)
    }
    fn alternatives(&self, graph: &DiGraph, features: &Features) -> Vec<ModelConfig> {
        let all = Architecture::alternatives(self, graph, features);
        all.into_iter().map(ModelConfig::from).collect()
    }
    fn shares(&self, weights: &[NamedNumbers]) -> Vec<InputShare> {
        Architecture::shares(self, weights)
    }
    fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        Architecture::build(self, engine, inputs)
    }
    fn settings(&self) -> Result<Value, serde_json::Error> {
        serde_json::to_value(self)
    }
    fn with_settings(&self, settings: Value) -> Result<ModelConfig, serde_json::Error> {
        serde_json::from_value::<A>(settings).map(ModelConfig::from)
    }
    fn is(&self, other: &dyn AnyModel) -> bool {
        other.as_any().downcast_ref::<A>() == Some(self)
    }
}

/// The configuration of a model; written as the settings of the model with its `name` beside them.
#[derive(Clone)]
pub struct ModelConfig(Arc<dyn AnyModel>);

impl<A: Architecture> From<A> for ModelConfig {
    fn from(config: A) -> Self {
        Self(Arc::new(config))
    }
}

/// MGC.
impl Default for ModelConfig {
    fn default() -> Self {
        super::MgcConfig::default().into()
    }
}

impl fmt::Debug for ModelConfig {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for ModelConfig {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(other.0.as_ref())
    }
}

impl ModelConfig {
    /// The model of a name, with its own defaults.
    pub fn named(name: &str) -> Result<Self, ModelError> {
        let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
        let found = TABLE.iter().chain(registered.iter()).find(|entry| entry.info.name == name);
        found.map(|entry| (entry.default)()).ok_or_else(|| ModelError::Unknown(name.to_owned()))
    }

    /// The configuration, where it is one of this type.
    pub fn get<A: Architecture>(&self) -> Option<&A> {
        self.0.as_any().downcast_ref()
    }

    /// The plain network on the features: what a model is compared with to see whether the graph helps. It takes the
    /// settings that both have.
    pub fn without_graph(&self) -> Self {
        let mut plain = Self::from(super::MlpConfig::default());
        for (key, value) in self.settings() {
            if plain.has(&key) && plain.set(&key, value).is_err() {
                continue; // its own default serves
            }
        }
        plain
    }

    /// What the model is.
    pub fn info(&self) -> &'static ModelInfo {
        self.0.info()
    }

    /// Checks every range.
    pub fn check(&self) -> Result<(), ModelError> {
        self.0.check()
    }

    /// Refuses settings that a network over this field would ignore.
    pub fn suits(&self, field: Field) -> Result<(), ModelError> {
        self.0.suits(field)
    }

    /// The configurations that are tried where this one leaves something open; none where it does not.
    pub fn alternatives(&self, graph: &DiGraph, features: &Features) -> Vec<Self> {
        self.0.alternatives(graph, features)
    }

    /// How much trained weights take from each of the model's inputs; empty where it does not weigh them.
    pub fn shares(&self, weights: &[NamedNumbers]) -> Vec<InputShare> {
        self.0.shares(weights)
    }

    /// Builds the network on a graph with its features.
    pub fn build<'a>(
        &self,
        engine: &Engine,
        inputs: &Inputs<'a>,
    ) -> Result<Box<dyn Network + 'a>, ModelError> {
        self.check()?;
        self.0.build(engine, inputs)
    }

    /// The settings by name.
    pub fn settings(&self) -> Map<String, Value> {
        match self.0.settings() {
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
        let changed = self.0.with_settings(Value::Object(settings));
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
        model.0.with_settings(Value::Object(object)).map_err(D::Error::custom)
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
