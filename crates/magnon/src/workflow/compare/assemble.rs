//! From the jobs that were done to the result.

use super::entrant::{Entrant, Variation, leader};
use super::hits::{Hits, mean};
use super::job::Setting;
use super::result::{ChargeCount, Comparison, FromReference, ModelRow};
use super::verdict::{self, Verdict};
use super::{SplitInfo, answers, controls};
use crate::model::ChargeChoice;
use crate::train::{Difference, Summary, holm};
use crate::workflow::Phases;

/// Puts the result together.
pub(super) fn assemble(setting: &Setting, info: SplitInfo, entrants: &[Entrant]) -> Comparison {
    let whole = |entrant: &Entrant| -> Option<Hits> {
        entrant.is_whole().then(|| Hits::of(setting, &[&entrant.jobs])).flatten()
    };
    let is = |variation: Variation| move |entrant: &&Entrant| entrant.variation == variation;
    let itself = || entrants.iter().filter(is(Variation::Itself));
    let reference = leader(itself());
    let reference_hits = reference.and_then(whole);
    let undirected_of = |name: &str| {
        let of = entrants.iter().filter(is(Variation::Undirected));
        of.filter(|entrant| entrant.name == name).find_map(whole)
    };
    let mut models: Vec<ModelRow> = itself()
        .map(|entrant| {
            let hits = whole(entrant);
            let pair = hits.as_ref().zip(reference_hits.as_ref());
            let own = reference.is_some_and(|reference| reference.name == entrant.name);
            let difference = pair.filter(|_| !own).and_then(|(own, of)| own.difference(of, &info));
            let over_undirected = hits
                .as_ref()
                .and_then(|hits| hits.difference(&undirected_of(&entrant.name)?, &info));
            row(entrant, hits.and_then(|hits| hits.summary(&info)), difference, over_undirected)
        })
        .collect();
    let raised = holm(&models.iter().filter_map(|row| Some(row.difference?.p)).collect::<Vec<_>>());
    let differences = models.iter_mut().filter_map(|row| row.difference.as_mut());
    differences.zip(raised).for_each(|(difference, p)| difference.p_holm = p);
    let accuracy = |row: &ModelRow| row.test_accuracy.map_or(-1.0, |of| of.mean);
    models.sort_by(|a, b| accuracy(b).total_cmp(&accuracy(a)));

    let majority = Hits::of_majority(setting);
    let controls = controls::rows(setting, &info, entrants, majority.as_ref());
    let graph = answers::graph(&info, entrants, majority.as_ref(), &whole);
    let direction = answers::direction(setting, &info, entrants, &whole);
    let name = reference.map(|entrant| entrant.name.clone());
    let alike = verdict::alike(&models, name.as_deref());
    let dataset = setting.dataset;
    let mut comparison = Comparison {
        dataset: dataset.name.clone(),
        nodes: dataset.graph.nodes(),
        edges: dataset.graph.edges(),
        symmetric: setting.symmetric,
        intervals: intervals(&info),
        splits: info,
        runs: setting.config.runs,
        tuned: setting.config.tune,
        models,
        controls,
        reference: name,
        verdict: Verdict { graph, direction, alike: alike.clone(), text: String::new() },
        seconds: Phases::default(),
    };
    comparison.verdict.text = verdict::text(&comparison, &alike);
    comparison
}

fn intervals(info: &SplitInfo) -> String {
    match info.count {
        1 => "95 %, from the test nodes of one split or from the seeds, whichever is wider; p-values from \
              differences on the same nodes"
            .to_owned(),
        _ => "95 %, from the means of the splits with the variance of overlapping splits (Nadeau and \
              Bengio); p-values from paired differences, Holm over the models"
            .to_owned(),
    }
}

fn row(
    entrant: &Entrant,
    test_accuracy: Option<Summary>,
    difference: Option<Difference>,
    over_undirected: Option<Difference>,
) -> ModelRow {
    let jobs = &entrant.jobs;
    // A sum over nothing is −0.
    let train_seconds = jobs.iter().map(|job| job.seconds).sum::<f64>() + 0.0;
    let filter_seconds = mean(&jobs.iter().map(|job| job.build_seconds).collect::<Vec<_>>()) + 0.0;
    let mut charges: Vec<ChargeCount> = Vec::new();
    for charge in jobs.iter().filter_map(|job| job.charge.as_ref().map(ChargeChoice::to_string)) {
        match charges.iter_mut().find(|count| count.charge == charge) {
            Some(count) => count.runs += 1,
            None => charges.push(ChargeCount { charge, runs: 1 }),
        }
    }
    charges.sort_by_key(|count| std::cmp::Reverse(count.runs));
    let from =
        |of: Difference| FromReference { mean: of.mean, ci95: of.ci95, p: of.p, p_holm: of.p };
    ModelRow {
        model: entrant.name.clone(),
        title: entrant.info().title.to_owned(),
        directed: entrant.is_directed(),
        test_accuracy,
        val_accuracy: entrant
            .is_whole()
            .then(|| mean(&jobs.iter().map(|job| job.val_accuracy).collect::<Vec<_>>())),
        error: entrant.error.clone(),
        seconds: train_seconds + filter_seconds,
        train_seconds,
        filter_seconds,
        parameters: jobs.iter().map(|job| job.parameters).max(),
        training_bytes: jobs.iter().map(|job| job.bytes).max(),
        epochs: entrant
            .is_whole()
            .then(|| mean(&jobs.iter().map(|job| job.epochs as f64).collect::<Vec<_>>())),
        charges,
        difference: difference.map(from),
        over_undirected,
    }
}
