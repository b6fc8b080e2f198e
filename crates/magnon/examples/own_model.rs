//! Adds a model: S·X·W + b. Run it with `cargo run --release --example own_model`.

use magnon::compute::{Engine, MapSource, Shape};
use magnon::data::SyntheticConfig;
use magnon::model::*;
use magnon::nn::{Init, Layout, Linear, Trace, Var};
use magnon::operator::{EdgeMatrix, MagneticOperator, Neighbourhood};
use magnon::train::{Experiment, RunConfig};
use serde::{Deserialize, Serialize};
use std::{error::Error, sync::Arc};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Average {}

impl Architecture for Average {
    const INFO: ModelInfo = ModelInfo {
        operator: Some(OperatorNeed::UNDIRECTED),
        ..ModelInfo::new("average", "Average", "averages over the neighbours, and transforms")
    };

    fn build<'a>(&self, _: &Engine, of: &Inputs<'a>) -> Result<Box<dyn Network + 'a>, ModelError> {
        let mut layout = Layout::default();
        let shape = Shape::real(of.features.cols(), of.classes);
        let layer = layout.linear("layer", shape, Init::Glorot);
        let model = Layer { operator: operator(of, "average")?, layer };
        Ok(Box::new(GraphNetwork::new(layout, model, of)))
    }
}

struct Layer {
    operator: MagneticOperator,
    layer: Linear,
}

impl GraphModel for Layer {
    fn steps(&self) -> Option<usize> {
        Some(1)
    }
    fn maps(&self, seen: &Arc<Neighbourhood>) -> Vec<MapSource> {
        vec![MapSource::Edges(EdgeMatrix::operator(&self.operator, seen))]
    }
    fn logits(&self, trace: &mut Trace, view: &GraphView, mode: Mode) -> Var {
        let weight = trace.parameter(self.layer.weight);
        let transformed = mode.masked(trace, &view.features, 0.5, 0).times(trace, weight);
        let averaged = trace.map_head(&view.maps[0], transformed, view.size(0));
        self.layer.add_bias(trace, averaged)
    }
}

/// Trains the model by its name.
pub fn main() -> Result<(), Box<dyn Error>> {
    register::<Average>()?;
    let data = SyntheticConfig::demo().dataset("demo")?;
    let config = RunConfig::of(ModelConfig::named("average")?);
    let outcome = Experiment::new(&data, &config)?.run(None, &())?;
    let best = outcome.best().ok_or("nothing was trained")?;
    println!("test accuracy {:.1} %", 100.0 * best.metrics[2].accuracy);
    Ok(())
}
