//! `magnon models`: what can be trained, and the settings of each model.

use crate::args::Common;
use crate::report::{Clock, Report, usage};
use clap::Args;
use magnon::settings::ModelNames;
use magnon::workflow::{ModelReport, model, models};

#[derive(Args)]
pub struct ModelsArgs {
    /// The model whose settings are listed [default: all models, a line each]
    #[arg(value_name = "NAME", value_parser = ModelNames, hide_possible_values = true)]
    pub model: Option<String>,
}

pub fn run(args: &ModelsArgs, common: &Common) -> anyhow::Result<()> {
    let mut report = Report::default();
    match &args.model {
        None => {
            let list = models();
            list.models.iter().for_each(|model| report.line(model.name, model.summary));
            report.put(&list)?;
        }
        Some(name) => {
            let found = model(name).map_err(usage)?;
            describe(&found, &mut report);
            report.put(&found)?;
        }
    }
    report.print(common, Clock::default())
}

fn describe(found: &ModelReport, report: &mut Report) {
    let ModelReport { model, config } = found;
    report.line("model", format!("{}: {}", model.title, model.summary));
    report.line("source", model.source);
    report.line("direction", model.direction);
    if let Some(need) = config.model.info().operator {
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
    for (i, (name, value)) in config.model.settings().iter().enumerate() {
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
}
