//! The parameters of each call, as the structs have them: for what is made of them, such as another language's keywords.

use super::{
    CompareSettings, CyclesSettings, DataSettings, DenoiseSettings, EigenmapSettings,
    GenerateSettings, OperatorSettings, PredictSettings, PropagateSettings, ResponseSettings,
    SpectrumSettings, TrainSettings, TuneSettings,
};
use clap::{ArgAction, Args, Command};
use std::any::TypeId;

/// A parameter of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The words that it takes, where these are few.
    pub choices: Vec<String>,
    /// What it is.
    pub kind: Kind,
    /// Whether it is a list.
    pub many: bool,
}

/// What a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Truth,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A path.
    Path,
    /// A text, or what is written as one.
    Text,
}

/// The parameters of a group, or of a call.
pub fn parameters_of<T: Args>() -> Vec<Parameter> {
    T::augment_args(Command::new("call")).get_arguments().filter_map(parameter).collect()
}

/// The parameters of a call by its name, which is that of its command; none where there is no such call.
pub fn parameters(call: &str) -> Vec<Parameter> {
    match call {
        "info" => parameters_of::<DataSettings>(),
        "operator" => {
            [parameters_of::<DataSettings>(), parameters_of::<OperatorSettings>()].concat()
        }
        "train" => parameters_of::<TrainSettings>(),
        "tune" => parameters_of::<TuneSettings>(),
        "compare" => parameters_of::<CompareSettings>(),
        "predict" => parameters_of::<PredictSettings>(),
        "propagate" => parameters_of::<PropagateSettings>(),
        "response" => parameters_of::<ResponseSettings>(),
        "spectrum" => parameters_of::<SpectrumSettings>(),
        "eigenmap" => parameters_of::<EigenmapSettings>(),
        "denoise" => parameters_of::<DenoiseSettings>(),
        "cycles" => parameters_of::<CyclesSettings>(),
        "generate" => parameters_of::<GenerateSettings>(),
        _ => Vec::new(),
    }
}

/// Positional arguments are no parameters.
fn parameter(arg: &clap::Arg) -> Option<Parameter> {
    let name = arg.get_long()?.replace('-', "_");
    let takes_value = arg.get_action().takes_values();
    let choices = match takes_value {
        true => arg.get_possible_values().iter().map(|one| one.get_name().to_owned()).collect(),
        false => Vec::new(),
    };
    let parser = arg.get_value_parser().type_id();
    let is = |id: TypeId| parser == id;
    let kind = match () {
        () if !takes_value || is(TypeId::of::<bool>()) => Kind::Truth,
        () if is(TypeId::of::<usize>()) || is(TypeId::of::<u64>()) => Kind::Whole,
        () if is(TypeId::of::<f64>()) => Kind::Number,
        () if is(TypeId::of::<std::path::PathBuf>()) => Kind::Path,
        () => Kind::Text,
    };
    let many = matches!(arg.get_action(), ArgAction::Append);
    Some(Parameter { name, choices, kind, many })
}

#[cfg(test)]
mod tests {
    use super::super::from_json;
    use super::*;
    use clap::FromArgMatches;
    use serde::Serialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Map, Value};

    /// Nothing given is the default, in JSON as on a command line; every word of a command line is one of JSON.
    fn check<T>(call: &str)
    where
        T: Args
            + FromArgMatches
            + Default
            + Serialize
            + DeserializeOwned
            + PartialEq
            + std::fmt::Debug,
    {
        let command = T::augment_args(Command::new("call"));
        let matches = command.try_get_matches_from(["call"]).unwrap();
        assert_eq!(T::from_arg_matches(&matches).unwrap(), T::default(), "{call}");
        assert_eq!(from_json::<T>(Map::new()).unwrap(), T::default(), "{call}");
        let known = serde_json::to_value(T::default()).unwrap();
        for Parameter { name, choices, .. } in parameters(call) {
            assert!(known.get(&name).is_some(), "{call}: {name}");
            for word in choices.iter().filter(|_| name != "header") {
                let given = Map::from_iter([(name.clone(), Value::from(word.as_str()))]);
                from_json::<T>(given)
                    .unwrap_or_else(|error| panic!("{call} {name} {word}: {error}"));
            }
        }
    }

    #[test]
    fn json_has_the_words_of_the_command_line() {
        check::<DataSettings>("info");
        check::<TrainSettings>("train");
        check::<TuneSettings>("tune");
        check::<CompareSettings>("compare");
        check::<PredictSettings>("predict");
        check::<PropagateSettings>("propagate");
        check::<ResponseSettings>("response");
        check::<SpectrumSettings>("spectrum");
        check::<EigenmapSettings>("eigenmap");
        check::<DenoiseSettings>("denoise");
        check::<CyclesSettings>("cycles");
        check::<GenerateSettings>("generate");
        assert_eq!(parameters("other"), []);
    }
}
