//! Training, in four steps: `fit` has the loop, `trial` trains and measures one model, `select` chooses on validation loss
//! between what is left open, and `repeat` goes over seeds and splits and adds the controls.

mod config;
mod error;
mod fit;
mod repeat;
mod run_config;
mod scores;
mod select;
mod trial;

pub use config::TrainConfig;
pub use error::TrainError;
pub(crate) use fit::checkpoint;
pub use fit::{Best, EpochRecord, Feed, Fitted, History, State, Targets, Watch, fit, fit_lanes};
pub use repeat::{
    CandidateResult, Checkpoints, ChoiceResult, Control, Experiment, Outcome, Seconds, run_together,
};
pub use run_config::{DataConfig, RunConfig, RunsConfig, Vary};
pub use scores::argmax;
pub use scores::{
    ClassScore, Difference, Interval, Metrics, SplitSizes, Spread, Summary, confusion,
    difference_over_nodes, difference_over_splits, holm, over_nodes, over_splits,
};
pub use trial::{Repeat, ResultHook, Trial, TrialResult};
