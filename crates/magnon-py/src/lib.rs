//! `magnon._magnon`: the compiled part of the Python package. It takes arrays and keywords, makes one call of the
//! library, and gives arrays and JSON; everything that a user sees is in the package around it.

mod arrays;
mod arrow;
mod channels;
mod command;
mod cycles;
mod dataset;
mod denoise;
mod eigenmap;
mod errors;
mod feature_file;
mod fetch;
mod matrices;
mod model;
mod models;
mod operator;
mod page;
mod search;
mod settings;
mod task;

use pyo3::prelude::*;

#[pymodule]
mod _magnon {
    #[pymodule_export]
    use super::arrow::table;
    #[pymodule_export]
    use super::channels::propagate_channels;
    #[pymodule_export]
    use super::command::{call_parameters, run_command};
    #[pymodule_export]
    use super::cycles::{CycleBatches, cycles};
    #[pymodule_export]
    use super::dataset::{Dataset, homophily};
    #[pymodule_export]
    use super::denoise::denoise;
    #[pymodule_export]
    use super::eigenmap::eigenmap;
    #[pymodule_export]
    use super::feature_file::FeatureFile;
    #[pymodule_export]
    use super::fetch::{fetch, fetch_list};
    #[pymodule_export]
    use super::model::{Model, predict, train};
    #[pymodule_export]
    use super::models::models;
    #[pymodule_export]
    use super::operator::Operator;
    #[pymodule_export]
    use super::page::picture;
    #[pymodule_export]
    use super::search::{compare, compare_part, compare_parts, tune, tune_part, tune_parts};

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
