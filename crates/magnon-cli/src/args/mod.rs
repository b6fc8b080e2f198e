//! The command line.

use crate::commands::compare::CompareArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::cycles::CyclesArgs;
use crate::commands::denoise::DenoiseArgs;
use crate::commands::eigenmap::EigenmapArgs;
use crate::commands::fetch::FetchArgs;
use crate::commands::generate::GenerateArgs;
use crate::commands::info::InfoArgs;
use crate::commands::man::ManArgs;
use crate::commands::models::ModelsArgs;
use crate::commands::operator::OperatorCommand;
use crate::commands::pack::PackArgs;
use crate::commands::predict::PredictArgs;
use crate::commands::propagate::PropagateArgs;
use crate::commands::report::ReportArgs;
use crate::commands::reproduce::ReproduceArgs;
use crate::commands::response::ResponseArgs;
use crate::commands::spectrum::SpectrumArgs;
use crate::commands::train::TrainArgs;
use crate::commands::tune::TuneArgs;
use clap::{Args, Parser, Subcommand};

/// Learning on directed graphs through the magnetic Laplacian.
///
/// Magnon keeps the direction of edges as a complex phase and filters node features with it.
/// DATA is a folder or file in any common format, a generator such as `cyclic:nodes=500`, or the name
/// of a public data set (see `magnon fetch --list`); without it the built-in demonstration graph is used. Without a COMMAND, magnon shows what it
/// does on that graph.
#[derive(Parser)]
#[command(name = "magnon", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub common: Common,
}

/// Flags of every command.
#[derive(Args)]
#[command(next_help_heading = "Common")]
pub struct Common {
    /// Number of threads, at most 1024 [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Seed of everything that is drawn at random [default: 0]
    #[arg(long, global = true, value_name = "S")]
    pub seed: Option<u64>,
    /// Print exactly one JSON object on standard output
    #[arg(long, global = true)]
    pub json: bool,
    /// No remarks and no progress bar
    #[arg(long, global = true)]
    pub quiet: bool,
}

impl Common {
    /// The seed that was given, or 0.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

#[derive(Subcommand)]
pub enum Command {
    /// Say what a graph looks like: size, cycles, components, labels, splits
    Info(InfoArgs),
    /// Say which lengths of directed cycles exist, and the charges that they suggest
    Cycles(CyclesArgs),
    /// Build the magnetic operator, and write it as a scipy sparse matrix
    Operator(OperatorCommand),
    /// Filter the features, h(S)X, and write them as a NumPy array
    Propagate(PropagateArgs),
    /// Eigenvalues of the operator: all, a few, their density, or the least one over all charges
    Spectrum(SpectrumArgs),
    /// Frequency response h(λ) of a filter over the operator's spectrum, as csv
    Response(ResponseArgs),
    /// Eigenvectors of the magnetic Laplacian as points of the nodes
    Eigenmap(EigenmapArgs),
    /// Smooth a signal, β(I − αA)⁻¹x = (I + L/μ)⁻¹x, and write it as a NumPy array
    Denoise(DenoiseArgs),
    /// Train a model to classify nodes, and write a run folder
    Train(Box<TrainArgs>),
    /// Classify the nodes of the same or a changed graph with a trained model
    Predict(PredictArgs),
    /// Draw the page of a run again
    Report(ReportArgs),
    /// Compare models over many splits, with controls, intervals and a verdict on direction
    Compare(CompareArgs),
    /// Search for better settings of a model, on validation nodes alone
    Tune(Box<TuneArgs>),
    /// Make the tables and figures of the paper again, beside what it prints
    Reproduce(ReproduceArgs),
    /// List the models that can be trained, or the settings of one
    Models(ModelsArgs),
    /// Download a public data set by name, checked against a known checksum
    Fetch(FetchArgs),
    /// Generate a synthetic directed graph
    Generate(GenerateArgs),
    /// Turn an edge list of any size into a packed graph, which every command takes without loading it
    Pack(PackArgs),
    /// Print what a shell needs to complete commands and flags
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, CommandFactory};
    use std::any::TypeId;

    /// No flag takes what is not finite.
    #[test]
    fn every_flag_of_numbers_takes_finite_ones() {
        fn look(command: &clap::Command, found: &mut usize) {
            let numbers = |arg: &&Arg| arg.get_value_parser().type_id() == TypeId::of::<f64>();
            for arg in command.get_arguments().filter(numbers) {
                let name = arg.get_id().as_str();
                let value = std::ffi::OsStr::new("nan");
                let alone = clap::Command::new("x")
                    .arg(Arg::new("it").value_parser(arg.get_value_parser().clone()));
                let outcome = alone.try_get_matches_from([std::ffi::OsStr::new("x"), value]);
                assert!(outcome.is_err(), "{} --{name}", command.get_name());
                *found += 1;
            }
            command.get_subcommands().for_each(|command| look(command, found));
        }
        let mut found = 0;
        look(&Cli::command(), &mut found);
        assert!(found > 20, "{found} flags");
    }
}
