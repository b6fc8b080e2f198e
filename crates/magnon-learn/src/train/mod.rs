//! Training: configurations, the fit of one model, experiments of many, and their scores.

mod config;
mod error;
mod experiment;
mod fit;
mod run_config;
mod scores;

pub use config::TrainConfig;
pub use error::TrainError;
pub use experiment::run_together;
pub use experiment::{
    CandidateResult, Checkpoints, ChoiceResult, Control, Experiment, Observer, Outcome, Repeat,
    Seconds, Trial, TrialResult,
};
pub(crate) use fit::checkpoint;
pub use fit::{Best, EpochRecord, Feed, Fitted, History, State, Targets, Watch, fit, fit_lanes};
pub use run_config::{DataConfig, RunConfig, RunsConfig, Vary};
pub use scores::argmax;
pub use scores::{
    ClassScore, Difference, Interval, Metrics, SplitSizes, Spread, Summary, confusion,
    difference_over_nodes, difference_over_splits, holm, over_nodes, over_splits,
};
