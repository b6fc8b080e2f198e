//! What a caller may give: one struct per group of parameters, and one per call, which holds the groups that it takes.
//!
//! A field is a parameter of the command, as a flag, and of other languages' packages, as a keyword; its documentation is
//! the help of both. A field that was not given leaves what a configuration has, or stands at its default. The structs
//! are read from JSON by [`from_json`], and with the feature `clap` from a command line. Their methods give the
//! configurations that [`workflow`](crate::workflow) takes, and refuse parameters that cannot be meant, by name.

mod compare;
mod config;
mod cycles;
mod data;
mod denoise;
mod eigenmap;
mod filter;
mod generate;
mod json;
mod model;
mod operator;
#[cfg(feature = "clap")]
mod parameters;
mod predict;
mod propagate;
mod response;
mod runs;
mod setting;
mod solver;
mod spectrum;
mod train;
mod training;
mod tune;
mod value;

pub use compare::CompareSettings;
pub use config::ConfigSettings;
pub use cycles::CyclesSettings;
pub use data::DataSettings;
pub use denoise::DenoiseSettings;
pub use eigenmap::EigenmapSettings;
pub use filter::FilterSettings;
pub use generate::GenerateSettings;
pub use json::from_json;
pub use model::ModelSettings;
pub use operator::OperatorSettings;
#[cfg(feature = "clap")]
pub use parameters::{Kind, Parameter, parameters, parameters_of};
pub use predict::PredictSettings;
pub use propagate::PropagateSettings;
pub use response::ResponseSettings;
pub use runs::RunsSettings;
#[cfg(feature = "clap")]
pub use setting::ModelNames;
pub use setting::Setting;
pub use solver::SolverSettings;
pub use spectrum::{End, SpectrumSettings};
pub use train::TrainSettings;
pub use training::TrainingSettings;
pub use tune::TuneSettings;
pub use value::{finite, size};

use crate::Error;

/// An error of a value that was given.
fn refused(error: impl ToString) -> Error {
    Error::Argument(error.to_string())
}

/// A parameter, and whether it was given.
type Given = (&'static str, bool);

/// Refuses a parameter without another that it needs.
fn requires((name, given): Given, (other, there): Given) -> Result<(), Error> {
    match given && !there {
        true => Err(Error::parameter(name, format!("is of no use without {other}"))),
        false => Ok(()),
    }
}

/// Refuses a parameter beside others that it has no meaning with.
fn excludes((name, given): Given, others: &[Given]) -> Result<(), Error> {
    match others.iter().find(|(_, there)| given && *there) {
        Some((other, _)) => Err(Error::parameter(name, format!("cannot be used with {other}"))),
        None => Ok(()),
    }
}
