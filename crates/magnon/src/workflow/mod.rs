//! What every skin calls: find the data, advise a charge, build operators and ask for their spectra, filter and
//! denoise, train, predict, compare models, tune one, reproduce the paper.
//!
//! A call takes plain configurations and gives one serialisable struct. What a command prints, its JSON,
//! its csv, the page and what another language's package returns are views of that struct. Calls that
//! take long have a [`Progress`], which is told how far they are and may stop them. With the feature `report`, results
//! become [`figures`] and [`pages`].

mod blocks;
mod channels;
mod charge;
mod choice;
pub mod compare;
mod cycle_list;
mod dataset;
mod denoise;
mod density;
mod eigenmap;
#[cfg(feature = "report")]
pub mod figures;
mod filter;
mod frequency_response;
mod frustration;
mod generate;
mod grouped;
mod info;
mod journal;
mod make_features;
mod models;
mod open_part;
mod operator;
mod pack;
#[cfg(feature = "report")]
pub mod pages;
mod phases;
mod precision;
mod predict;
mod presets;
mod propagate;
mod propagate_file;
mod propagate_parts;
#[cfg(feature = "fetch")]
mod public_data;
pub mod reproduce;
mod response;
mod run_spectra;
mod spectrum;
mod train;
pub mod tune;

pub use crate::data::fingerprint;
pub use crate::progress::Progress;
pub use channels::{ChannelRow, ChannelsReport, TakeChannel, propagate_channels, write_channels};
pub use charge::{ChargeRow, CycleFindings, CyclesReport, cycles, find_cycles};
pub use cycle_list::{CycleListConfig, cycle_text, list_cycles};
pub use dataset::{
    choose_split, choose_splits, ensure_features, generator, read_dataset, read_training_data,
    settled_source,
};
pub use denoise::{DenoiseReport, DenoisedSignal, Signal, denoise};
pub use density::{DensityReport, density};
pub use eigenmap::{EigenmapReport, MappedNodes, eigenmap};
pub use filter::FilterSummary;
pub use frequency_response::{
    FrequencyConfig, FrequencyCurve, FrequencyReport, FrequencyResponses, frequency_response,
};
pub use frustration::{FrustrationReport, frustration};
pub use generate::{GenerateReport, Generated, generate};
pub use grouped::{grouped, signed};
pub use info::{DataInfo, SplitSize, info};
pub use journal::{Job, Journal};
pub use make_features::make_features;
pub use models::{ModelList, ModelReport, ModelSummary, model, models};
pub use open_part::OpenPart;
pub use operator::{BuiltOperator, OperatorReport, OperatorSummary, operator};
pub use pack::{PackedReport, pack};
pub use phases::Phases;
pub use precision::{Precision, write_filtered};
pub use predict::{PredictReport, Predicted, predict, run_data};
pub use presets::{PRESETS, preset};
pub use propagate::{FilteredFeatures, PropagateReport, propagate, propagate_on};
pub use propagate_file::{FileReport, FilteredFile, propagate_file};
pub use propagate_parts::{PartsReport, propagate_parts};
#[cfg(feature = "fetch")]
pub use public_data::{PublicData, PublicDataList, fetch, locate, public_data};
pub use response::{ResponseConfig, ResponseReport, response};
pub use run_spectra::{ChargeSpectrum, FilterCurve, RunSpectra, run_spectra};
pub use spectrum::{Eigenpairs, SpectrumReport, spectrum};
pub use train::{
    CandidateRow, ChoiceRow, ControlRow, Figures, KeptRun, Parts, RunFigures, RunRow, TrainOptions,
    TrainReport, Trained, kept_run, train, train_on,
};
