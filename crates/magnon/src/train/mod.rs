//! Training: the loop, early stopping, checkpoints, repeated runs and their statistics.

mod checkpoint;
mod config;
mod error;
mod experiment;
mod history;
mod inputs;
mod memory;
mod metrics;
mod outcome;
mod prepare;
mod project;
mod recipe;
mod rows;
mod select;
mod state;
mod statistics;
mod trainer;
mod trial;

pub use config::TrainConfig;
pub use error::TrainError;
pub use experiment::Experiment;
pub(crate) use experiment::largest;
use experiment::timed;
pub use history::{EpochRecord, History};
pub use inputs::{Inputs, Plan, Targets};
pub use memory::memory;
pub use metrics::{ClassScore, Metrics, confusion};
pub use outcome::{CandidateResult, Checkpoints, Control, Observer, Outcome, Seconds};
pub use project::{Block, classify, multiply, project};
pub use recipe::{DataConfig, RunConfig, RunsConfig, Vary};
pub use rows::{MappedRows, RowSource};
pub use select::{ChargeChoice, KindChoice, OperatorChoice, PassChoice, PassEvidence, choose_pass};
pub use state::{Best, State};
pub use statistics::Summary;
pub use trainer::{Feed, Fitted, Watch, fit};
pub use trial::{Trial, TrialResult};
