//! One command per file.

pub mod compare;
pub mod completions;
pub mod cycles;
pub mod demo;
pub mod denoise;
pub mod eigenmap;
pub mod fetch;
pub mod generate;
pub mod info;
pub mod man;
pub mod models;
pub mod operator;
pub mod pack;
pub mod predict;
pub mod propagate;
pub mod report;
pub mod reproduce;
pub mod response;
mod response_curves;
pub mod spectrum;
pub mod train;
pub mod tune;
