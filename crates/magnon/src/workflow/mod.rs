//! What every skin calls: find the data, advise a charge, train, predict, compare models, tune one, reproduce
//! the paper.
//!
//! A call takes plain configurations and gives one serialisable struct. What a command prints, its JSON,
//! its csv, the page and what another language's package returns are views of that struct. Calls that
//! take long have a [`Progress`], which is told how far they are and may stop them.

mod charge;
pub mod compare;
mod dataset;
mod info;
mod journal;
mod phases;
mod predict;
mod presets;
mod progress;
pub mod reproduce;
mod train;
pub mod tune;

pub use charge::{ChargeRow, CycleFindings, CyclesReport, cycles, find_cycles};
pub use dataset::{generator, read_dataset};
pub use info::{DataInfo, SplitSize, info};
pub use journal::{Job, Journal};
pub use phases::Phases;
pub use predict::{PredictReport, Predicted, predict, run_data};
pub use presets::{PRESETS, preset};
pub use progress::Progress;
use progress::Stopper;
pub use train::{
    CandidateRow, ControlRow, Figures, KeptRun, Parts, RunFigures, RunRow, TrainOptions,
    TrainReport, Trained, kept_run, train,
};
