//! Filters with the parts of a packed graph, and says what went between the workers.
//!
//! ```sh
//! magnon pack edges.txt -o G.magnon --parts 4
//! cargo run --release --example parts -- G.magnon 4
//! ```

use magnon::data::{Features, LoadConfig, load};
use magnon::filter::{FilterConfig, FilterKind, propagate};
use magnon::matrix::Matrix;
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use magnon::workflow::propagate_parts;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let (Some(graph), Some(parts)) = (words.next(), words.next()) else {
        return Err("name a packed graph and the number of its parts".into());
    };
    let (graph, parts) = (PathBuf::from(graph), parts.parse::<usize>()?);
    let files: Vec<PathBuf> =
        (0..parts).map(|part| graph.with_extension(format!("{part}.magnon"))).collect();
    let whole = load(&graph, &LoadConfig::default())?.graph;
    let (nodes, columns) = (whole.nodes(), 8);
    let numbers = (0..nodes * columns).map(|i| (i * 37 % 101) as f32 / 50.0 - 1.0).collect();
    let features =
        Features::Dense(Matrix::from_vec(nodes, columns, numbers).map_err(|_| "a row is short")?);
    // The charge is fixed on the whole graph, before it is cut.
    let config = OperatorConfig { charge: Charge::fraction(1, 3)?, ..Default::default() };
    let filter =
        FilterConfig { kind: FilterKind::LinearRank, order: Some(9), ..Default::default() };
    let (found, report) = propagate_parts(&files, &features, &config, &filter)?;
    let operator = MagneticOperator::new(&whole, &config)?;
    let built = filter.build(operator.bounds(), config.kind)?;
    let products = built.order().unwrap_or(0);
    let same = found == propagate(&operator, &built, &features, &())?;
    println!("{parts} parts of {nodes} nodes, nodes outside of each: {:?}", report.halos);
    println!("{products} products of {columns} complex columns: {} bytes", report.bytes);
    println!("before the first: {} bytes", report.setup_bytes);
    println!("{}", if same { "the bits of the whole graph" } else { "OTHER NUMBERS" });
    Ok(())
}
