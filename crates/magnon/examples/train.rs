//! Trains a model on the built-in graph, keeps it, and predicts with it.
//!
//! ```sh
//! cargo run --release -p magnon --example train
//! ```

use magnon::compute::Device;
use magnon::model::ModelConfig;
use magnon::train::RunConfig;
use magnon::workflow::{TrainOptions, predict, run_data, train};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut config = RunConfig::of(ModelConfig::named("mgc")?);
    // A folder, a file or a generator, as on the command line.
    config.data.source = "demo".to_owned();
    config.runs.controls = true;

    let folder = std::env::temp_dir().join("magnon-example-run");
    let options =
        TrainOptions { out: Some(folder.clone()), overwrite: true, ..TrainOptions::default() };
    // Whoever looks on while it trains implements `Progress`; `()` is nobody.
    let trained = train(&config, &options, &())?;
    println!("{}", trained.report.verdict);

    let data = run_data(&folder, false)?;
    let predicted = predict(&folder, &data, false, Device::Cpu, &())?;
    for (class, nodes) in predicted.report.classes.iter().zip(&predicted.report.predicted) {
        println!("{class}: {nodes} nodes");
    }
    Ok(())
}
