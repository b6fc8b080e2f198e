//! Filters the features of a graph with the charge that its cycles suggest.
//!
//! ```sh
//! cargo run --release -p magnon --example filter -- my-graph/ filtered.npy
//! ```

use magnon::data::write::write_npy;
use magnon::data::{LoadConfig, load};
use magnon::filter::{Filter, Propagated, propagate};
use magnon::operator::{MagneticOperator, OperatorConfig, Phase};
use magnon::workflow::find_cycles;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(source), Some(output)) = (words.next(), words.next()) else {
        return Err("usage: filter DATA OUTPUT.npy".into());
    };
    let dataset = load(&source, &LoadConfig::default())?;
    dataset.remarks.iter().for_each(|remark| println!("note: {remark}"));
    let features = dataset.features.as_ref().ok_or("the data have no features to filter")?;

    let advice = find_cycles(&dataset.graph, Phase::default(), &())?.advice;
    println!("q = {}: {}", advice.choice, advice.reason);

    let config = OperatorConfig { charge: advice.choice, ..OperatorConfig::default() };
    let operator = MagneticOperator::new(&dataset.graph, &config)?;
    let filter = Filter::linear_rank(8)?;
    // The last argument is told how far it is, and stops the work where it gives `false`.
    match propagate(&operator, &filter, features, &())? {
        Propagated::Real(matrix) => write_npy(&output, &matrix)?,
        Propagated::Complex(matrix) => write_npy(&output, &matrix)?,
    }
    println!("written: {}", output.display());
    Ok(())
}
