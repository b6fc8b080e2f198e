//! Adds a filter: a band in the middle of the spectrum, by its response.
//!
//! ```sh
//! cargo run --release --example own_filter
//! ```

use magnon::data::SyntheticConfig;
use magnon::filter::{Filter, Response, propagate};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use std::error::Error;

/// h(λ) = exp(−((λ − centre) / width)²).
struct Band {
    centre: f64,
    width: f64,
}

impl Response for Band {
    fn at(&self, lambda: f64) -> f64 {
        (-((lambda - self.centre) / self.width).powi(2)).exp()
    }

    fn name(&self) -> &'static str {
        "the band"
    }
}

/// Filters the features of the built-in graph.
pub fn main() -> Result<(), Box<dyn Error>> {
    let data = SyntheticConfig::demo().dataset("demo")?;
    let config = OperatorConfig { charge: Charge::fraction(1, 3)?, ..Default::default() };
    let operator = MagneticOperator::new(&data.graph, &config)?;
    let band = Band { centre: 0.2, width: 0.3 };
    let filter = Filter::from_response(band, operator.bounds(), 1e-6)?;
    let features = data.features.as_ref().ok_or("the graph has no features")?;
    propagate(&operator, &filter, features, &())?;
    let products = filter.order().unwrap_or(0);
    println!("{products} products with the operator; h(0.2) = {:.6}", filter.response(0.2));
    Ok(())
}
