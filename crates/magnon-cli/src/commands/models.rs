//! `magnon models`: what can be trained, and the settings of each model.

use crate::args::{Common, ModelName};
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::model::{Direction, MODELS, ModelConfig, ModelInfo};
use magnon::train::RunConfig;
use serde_json::{Value, json};

#[derive(Args)]
pub struct ModelsArgs {
    /// The model whose settings are listed [default: all models, a line each]
    #[arg(value_name = "NAME", hide_possible_values = true)]
    pub model: Option<ModelName>,
}

pub fn run(args: &ModelsArgs, common: &Common) -> anyhow::Result<()> {
    let mut report = Report::default();
    match &args.model {
        None => {
            MODELS.iter().for_each(|info| report.line(info.name, info.summary));
            report.key("models", MODELS.iter().map(key).collect::<Vec<_>>());
        }
        Some(ModelName(name)) => one(name, &mut report)?,
    }
    report.print(common, Clock::default())
}

fn key(info: &ModelInfo) -> Value {
    json!({
        "name": info.name,
        "title": info.title,
        "summary": info.summary,
        "source": info.source,
        "direction": direction(info.direction),
        "operator": info.operator.is_some(),
        "filter": info.filter.map(|need| need.kind.name()),
    })
}

fn one(name: &str, report: &mut Report) -> anyhow::Result<()> {
    let model = ModelConfig::named(name).map_err(usage)?;
    let info = model.info();
    let config = RunConfig::of(model.clone());
    report.line("model", format!("{}: {}", info.title, info.summary));
    report.line("source", info.source);
    report.line("direction", direction(info.direction));
    if let Some(need) = info.operator {
        let words = match need.open {
            [] => "part of its definition".to_owned(),
            open => format!("{} may be chosen", open.join(", ")),
        };
        report.line("operator", words);
    }
    if let Some(filter) = &config.filter {
        let order = filter.effective_order().map(|k| format!(", order {k}"));
        report.line("filter", format!("{}{}", filter.kind.name(), order.unwrap_or_default()));
    }
    for (i, (name, value)) in model.settings().iter().enumerate() {
        report.line(if i == 0 { "settings" } else { "" }, format!("{name} = {value}"));
    }
    let optimiser = &config.train.optimiser;
    report.line(
        "training",
        format!(
            "rate {}, weight decay {}, at most {} epochs, patience {}",
            optimiser.rate, optimiser.weight_decay, config.train.epochs, config.train.patience
        ),
    );
    if let Value::Object(keys) = key(info) {
        keys.into_iter().for_each(|(name, value)| report.key(&name, value));
    }
    report.key("config", serde_json::to_value(&config)?);
    Ok(())
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::NoGraph => "does not look at the graph",
        Direction::Ignored => "symmetrises the graph",
        Direction::Charge => "kept as the phase of the operator; the charge 0 ignores it",
        Direction::InAndOut => "edges are read forwards and backwards",
    }
}
