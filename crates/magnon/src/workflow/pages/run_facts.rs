//! What stands at the head of a run's page.

use super::fact;
use crate::graph::{homophily, measure};
use crate::train::RunConfig;
use crate::workflow::{KeptRun, TrainReport, fingerprint, grouped};
use magnon_report::Fact;

/// Model, data and training in short.
pub(super) fn facts(run: &KeptRun) -> Vec<Fact> {
    let KeptRun { config, dataset, report, .. } = run;
    let measures = measure(&dataset.graph);
    let mut facts = vec![fact("Model", config.model.info().summary.to_owned())];
    facts.extend(chosen(config, report));
    facts.extend([
        fact("Nodes", grouped(dataset.graph.nodes())),
        fact("Edges", grouped(dataset.graph.edges())),
        fact("Reciprocity", format!("{:.3}", measures.reciprocity)),
    ]);
    if let Some(features) = &dataset.features {
        facts.push(fact("Feature columns", grouped(features.cols())));
    }
    if let Some(labels) = &dataset.labels {
        facts.push(fact("Classes", labels.names.len().to_string()));
        let homophily = homophily(&dataset.graph, &labels.classes);
        if let Some(node) = homophily.node {
            facts.push(fact("Node homophily", format!("{node:.3}")));
        }
    }
    let parts = [&report.parts.train, &report.parts.val, &report.parts.test];
    let sizes = parts.map(|part| grouped(part.confusion.iter().flatten().sum()));
    facts.push(fact("Training / validation / test nodes", sizes.join(" / ")));
    let settings = config.model.settings();
    if let Some(hidden) = settings.get("hidden") {
        facts.push(fact("Hidden units", hidden.to_string()));
    }
    facts.push(fact("Parameters", grouped(report.parameters)));
    let kept = &report.kept.figures;
    facts.push(fact("Epochs", format!("{}, best {}", kept.epochs, kept.best_epoch)));
    facts.push(fact("Fingerprint of the data", fingerprint(dataset)));
    facts
}

/// What was chosen for the model.
fn chosen(config: &RunConfig, report: &TrainReport) -> Vec<Fact> {
    let mut facts = Vec::new();
    if let Some(charge) = &report.charge_text {
        let how = if report.charge_candidates.len() > 1 { ", chosen" } else { "" };
        facts.push(fact("Charge", format!("q = {charge}{how}")));
    }
    if let Some(filter) = &config.filter {
        let order = filter.effective_order().map(|k| format!(" of order {k}"));
        facts.push(fact("Filter", format!("{}{}", filter.kind.name(), order.unwrap_or_default())));
    }
    facts.extend(report.pass.as_ref().map(|pass| fact("Pass", pass.clone())));
    facts
}
