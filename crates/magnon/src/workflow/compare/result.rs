//! The result of a comparison: one struct, which all views show.

use super::entrant::{Entrant, Variation, leader};
use super::job::{JobResult, Setting};
use super::verdict::{self, Against, Answer, Finding, Verdict};
use super::{SplitInfo, TuneBudget};
use crate::model::{ChargeChoice, Direction};
use crate::train::{
    Difference, Summary, Targets, difference_over_nodes, difference_over_splits, holm, over_nodes,
    over_splits,
};
use serde::Serialize;

/// What came of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The data set.
    pub dataset: String,
    /// Its nodes.
    pub nodes: usize,
    /// Its edges.
    pub edges: usize,
    /// Whether every edge has a reverse.
    pub symmetric: bool,
    /// The splits.
    pub splits: SplitInfo,
    /// Seeds on each split.
    pub runs: usize,
    /// How long settings were searched before.
    pub tuned: Option<TuneBudget>,
    /// How intervals and p-values were made, in words.
    pub intervals: String,
    /// The models, the best on test nodes first.
    pub models: Vec<ModelRow>,
    /// What they are held against.
    pub controls: Vec<ControlRow>,
    /// The model with the best accuracy on validation nodes; differences are from it.
    pub reference: Option<String>,
    /// What all this says.
    pub verdict: Verdict,
}

/// A model's difference from the reference.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FromReference {
    /// Mean difference of the test accuracies.
    pub mean: f64,
    /// Half the width of its 95 % confidence interval.
    pub ci95: Option<f64>,
    /// Two-sided p-value of no difference.
    pub p: f64,
    /// The p-value with Holm's correction over the models.
    pub p_holm: f64,
}

/// A charge, and how many runs took it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChargeCount {
    /// The charge as a fraction or a number.
    pub charge: String,
    /// Runs.
    pub runs: usize,
}

/// One model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelRow {
    /// What its row is called.
    pub model: String,
    /// The model's name as its paper has it.
    pub title: String,
    /// Whether it makes something of direction.
    pub directed: bool,
    /// Accuracy on test nodes; `None` where it failed.
    pub test_accuracy: Option<Summary>,
    /// Mean accuracy on validation nodes.
    pub val_accuracy: Option<f64>,
    /// Why it failed.
    pub error: Option<String>,
    /// Seconds of training and filtering, over all runs, each on one thread.
    pub seconds: f64,
    /// Seconds of training, over all runs.
    pub train_seconds: f64,
    /// Seconds of building its operator and filtering features, once.
    pub filter_seconds: f64,
    /// Real numbers that are trained.
    pub parameters: Option<usize>,
    /// Bytes that training one run holds beside the model and its input.
    pub training_bytes: Option<usize>,
    /// Mean number of epochs.
    pub epochs: Option<f64>,
    /// The charges that its runs took.
    pub charges: Vec<ChargeCount>,
    /// Test accuracy minus that of the reference.
    pub difference: Option<FromReference>,
    /// Test accuracy minus that of the same model without direction.
    pub over_undirected: Option<Difference>,
}

/// A control.
#[derive(Clone, Debug, Serialize)]
pub struct ControlRow {
    /// `majority`, `mlp`, `undirected` or `coin`.
    pub control: &'static str,
    /// The model that it is a control of; `None` where it is one for all.
    pub model: Option<String>,
    /// What it is.
    pub text: String,
    /// Accuracy on test nodes; `None` where it failed.
    pub test_accuracy: Option<Summary>,
    /// Why it failed.
    pub error: Option<String>,
}

/// Hits of one entrant: for each split, for each run, for each test node; as shares, where several draws
/// of a control are taken together.
struct Hits {
    by_split: Vec<Vec<Vec<f64>>>,
}

impl Hits {
    fn of(setting: &Setting, jobs: &[&[JobResult]]) -> Option<Self> {
        let labels = setting.dataset.labels.as_ref()?;
        let runs = setting.config.runs;
        if jobs.is_empty() || jobs.iter().any(|of| of.len() != setting.splits.len() * runs) {
            return None;
        }
        let by_split = setting.splits.iter().enumerate().map(|(split, nodes)| {
            let test = Targets::of(&nodes.test, labels).len();
            let run = |run: usize| {
                let mut shares = vec![0.0; test];
                for of in jobs {
                    let hits = of[split * runs + run].hits(test);
                    let share = 1.0 / jobs.len() as f64;
                    shares
                        .iter_mut()
                        .zip(hits)
                        .for_each(|(sum, hit)| *sum += share * f64::from(hit));
                }
                shares
            };
            (0..runs).map(run).collect()
        });
        Some(Self { by_split: by_split.collect() })
    }

    /// The class that is most frequent among the training nodes of each split, for all its test nodes.
    fn of_majority(setting: &Setting) -> Option<Self> {
        let labels = setting.dataset.labels.as_ref()?;
        let by_split = setting.splits.iter().map(|split| {
            let mut counts = vec![0usize; labels.names.len()];
            let train = Targets::of(&split.train, labels).pairs;
            train.iter().for_each(|&(_, class)| counts[class as usize] += 1);
            let most = (0..counts.len()).rev().max_by_key(|&class| counts[class]).unwrap_or(0);
            let pairs = Targets::of(&split.test, labels).pairs;
            let hits = pairs.iter().map(|&(_, class)| f64::from(class as usize == most)).collect();
            vec![hits; setting.config.runs]
        });
        Some(Self { by_split: by_split.collect() })
    }

    fn minus(&self, other: &Self) -> Self {
        let by_node =
            |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| a - b).collect();
        let by_run =
            |(a, b): (&Vec<Vec<f64>>, &Vec<Vec<f64>>)| a.iter().zip(b).map(by_node).collect();
        Self { by_split: self.by_split.iter().zip(&other.by_split).map(by_run).collect() }
    }

    /// The means of the splits.
    fn split_means(&self) -> Vec<f64> {
        self.by_split
            .iter()
            .map(|runs| mean(&runs.iter().map(|run| mean(run)).collect::<Vec<_>>()))
            .collect()
    }

    /// The means over runs of each test node, and over nodes of each run, of the only split.
    fn of_one_split(&self) -> Option<(Vec<f64>, Vec<f64>)> {
        let [runs] = &self.by_split[..] else { return None };
        let nodes = runs.first().map_or(0, Vec::len);
        let node = |k: usize| mean(&runs.iter().map(|run| run[k]).collect::<Vec<_>>());
        Some(((0..nodes).map(node).collect(), runs.iter().map(|run| mean(run)).collect()))
    }

    fn summary(&self, info: &SplitInfo) -> Option<Summary> {
        let runs: usize = self.by_split.iter().map(Vec::len).sum();
        let summary = match self.of_one_split() {
            Some((nodes, runs)) => over_nodes(&nodes, &runs)?,
            None => over_splits(&self.split_means(), info.sizes())?,
        };
        Some(Summary { n: runs, ..summary })
    }

    fn difference(&self, other: &Self, info: &SplitInfo) -> Option<Difference> {
        let difference = self.minus(other);
        match difference.of_one_split() {
            Some((nodes, runs)) => difference_over_nodes(&nodes, &runs),
            None => difference_over_splits(&difference.split_means(), info.sizes()),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

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
    let controls = controls(setting, &info, entrants, majority.as_ref());
    let graph = graph_answer(&info, entrants, majority.as_ref(), &whole);
    let direction = direction_answer(setting, &info, entrants, &whole);
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
    let train_seconds = jobs.iter().map(|job| job.seconds).sum::<f64>();
    let filter_seconds = mean(&jobs.iter().map(|job| job.build_seconds).collect::<Vec<_>>());
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

fn controls(
    setting: &Setting,
    info: &SplitInfo,
    entrants: &[Entrant],
    majority: Option<&Hits>,
) -> Vec<ControlRow> {
    let accuracy = |entrant: &Entrant| {
        entrant.is_whole().then(|| Hits::of(setting, &[&entrant.jobs])).flatten()?.summary(info)
    };
    let mut rows = vec![ControlRow {
        control: "majority",
        model: None,
        text: "the most frequent class of the training nodes".to_owned(),
        test_accuracy: majority.and_then(|hits| hits.summary(info)),
        error: None,
    }];
    for entrant in entrants {
        let name = &entrant.name;
        let (control, model, text) = match entrant.variation {
            Variation::NoGraph => ("mlp", None, "a network that does not see the graph".to_owned()),
            Variation::Undirected => {
                ("undirected", Some(name.clone()), format!("{name} without direction"))
            }
            Variation::Itself | Variation::Coin(_) => continue,
        };
        let (test_accuracy, error) = (accuracy(entrant), entrant.error.clone());
        rows.push(ControlRow { control, model, text, test_accuracy, error });
    }
    if let Some((first, hits)) = coins(setting, entrants) {
        let name = &first.name;
        rows.push(ControlRow {
            control: "coin",
            model: Some(name.clone()),
            text: format!("{name} with every one-way edge turned by a coin"),
            test_accuracy: hits.as_ref().and_then(|hits| hits.summary(info)),
            error: entrants
                .iter()
                .filter(|entrant| matches!(entrant.variation, Variation::Coin(_)))
                .find_map(|entrant| entrant.error.clone()),
        });
    }
    rows
}

/// The controls on coins, all draws together.
fn coins<'a>(setting: &Setting, entrants: &'a [Entrant]) -> Option<(&'a Entrant, Option<Hits>)> {
    let coins =
        || entrants.iter().filter(|entrant| matches!(entrant.variation, Variation::Coin(_)));
    let first = coins().next()?;
    let whole = coins().all(Entrant::is_whole);
    let jobs: Vec<&[JobResult]> = coins().map(|entrant| &entrant.jobs[..]).collect();
    Some((first, whole.then(|| Hits::of(setting, &jobs)).flatten()))
}

/// Does the graph help? The best model that sees it against the network that does not and the majority.
fn graph_answer(
    info: &SplitInfo,
    entrants: &[Entrant],
    majority: Option<&Hits>,
    whole: &dyn Fn(&Entrant) -> Option<Hits>,
) -> Answer {
    let sees = |entrant: &&Entrant| {
        entrant.variation == Variation::Itself && entrant.info().direction != Direction::NoGraph
    };
    let Some(model) = leader(entrants.iter().filter(sees)) else {
        let text = "whether the graph helps was not tested: no model that sees it was trained";
        return Answer { answer: Finding::Untested, model: None, text: text.to_owned() };
    };
    let plain = entrants.iter().find(|e| e.info().direction == Direction::NoGraph);
    let own = whole(model);
    let against = |control: &'static str, other: Option<&Hits>| Against {
        control,
        difference: own.as_ref().zip(other).and_then(|(own, other)| own.difference(other, info)),
    };
    let plain = plain.and_then(whole);
    let controls =
        [against("an MLP without it", plain.as_ref()), against("the majority class", majority)];
    verdict::answer("the graph", &model.name, &controls)
}

/// Does direction help? The best model that makes something of it against itself without direction and
/// against itself on directions by coin.
fn direction_answer(
    setting: &Setting,
    info: &SplitInfo,
    entrants: &[Entrant],
    whole: &dyn Fn(&Entrant) -> Option<Hits>,
) -> Answer {
    let plain = |answer, text: &str| Answer { answer, model: None, text: text.to_owned() };
    if setting.symmetric {
        let text = "direction cannot help: the graph is symmetric, every edge runs both ways";
        return plain(Finding::Cannot, text);
    }
    let Some(model) = leader(entrants.iter().filter(|entrant| entrant.is_directed())) else {
        let text = "whether direction helps was not tested: no model that looks at it was trained";
        return plain(Finding::Untested, text);
    };
    let undirected = entrants
        .iter()
        .find(|e| e.variation == Variation::Undirected && e.name == model.name)
        .and_then(whole);
    let coins = coins(setting, entrants).and_then(|(_, hits)| hits);
    let own = whole(model);
    let against = |control, other: Option<&Hits>| Against {
        control,
        difference: own.as_ref().zip(other).and_then(|(own, other)| own.difference(other, info)),
    };
    let controls = [
        against("itself without direction", undirected.as_ref()),
        against("itself on directions by coin", coins.as_ref()),
    ];
    verdict::answer("direction", &model.name, &controls)
}
