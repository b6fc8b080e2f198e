//! Names of models, and settings of one model, as callers write them.

use serde_json::Value;
use std::str::FromStr;

/// A setting of a model, which is written KEY=VALUE.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
}

impl Setting {
    /// Text is read: numbers and truth values are themselves, and anything else is a word.
    fn new(key: &str, value: Value) -> Self {
        let value = match value {
            Value::String(text) => serde_json::from_str(&text).unwrap_or_else(|_| text.into()),
            value => value,
        };
        Self { key: key.trim().replace('-', "_"), value }
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| format!("'{text}' is no setting; write KEY=VALUE, as in heads=4"))?;
        Ok(Self::new(key, value.into()))
    }
}

/// Settings as an object with a key for each.
pub(super) mod as_map {
    use super::Setting;
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::{Map, Value};

    pub fn serialize<S: Serializer>(settings: &[Setting], to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(settings.iter().map(|setting| (&setting.key, &setting.value)))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Setting>, D::Error> {
        let given = Option::<Map<String, Value>>::deserialize(from)?.unwrap_or_default();
        Ok(given.into_iter().map(|(key, value)| Setting::new(&key, value)).collect())
    }
}

/// The parser of a model's name; the help lists all models with their sentence.
#[cfg(feature = "clap")]
#[derive(Clone)]
pub struct ModelNames;

#[cfg(feature = "clap")]
mod names {
    use super::ModelNames;
    use crate::model::{MODELS, ModelInfo};
    use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
    use clap::{Arg, Command, Error};
    use std::ffi::OsStr;

    impl TypedValueParser for ModelNames {
        type Value = String;

        fn parse_ref(
            &self,
            command: &Command,
            argument: Option<&Arg>,
            value: &OsStr,
        ) -> Result<String, Error> {
            let names = MODELS.iter().map(|info| info.name).collect::<Vec<_>>();
            PossibleValuesParser::new(names).parse_ref(command, argument, value)
        }

        fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
            let value = |info: &ModelInfo| PossibleValue::new(info.name).help(info.summary);
            Some(Box::new(MODELS.iter().map(value)))
        }
    }
}
