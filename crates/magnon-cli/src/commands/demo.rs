//! `magnon` alone: what it does, on the built-in graph.

use crate::args::Common;
use crate::data::Loaded;
use crate::report::{Clock, Report};
use anyhow::Context;
use magnon::data::{Dataset, Features, Split, SyntheticConfig};
use magnon::filter::{Filter, Propagated, propagate};
use magnon::operator::{Charge, MagneticOperator, OperatorConfig};
use serde_json::json;

/// Order of the LinearRank filter that is shown.
const ORDER: usize = 16;

pub fn run(common: &Common) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let config = SyntheticConfig { seed: common.seed, ..SyntheticConfig::demo() };
    let dataset = clock.phase("load", || config.dataset("demo"))?;
    let split = dataset.splits.first().cloned().context("the demonstration graph has a split")?;
    let loaded = Loaded { dataset, split: Some(split.clone()) };
    let features = loaded.dataset.features.as_ref();
    let features = features.context("the demonstration graph has features")?;
    let mut report = Report::default();
    clock.phase("measure", || super::info::describe(&loaded, &mut report));
    let dataset = &loaded.dataset;

    // One pattern serves both charges.
    let third = Charge::fraction(1, 3)?;
    let directed = OperatorConfig { charge: third, ..Default::default() };
    let magnetic = clock.phase("operator", || MagneticOperator::new(&dataset.graph, &directed))?;
    let undirected =
        MagneticOperator::from_pattern(magnetic.pattern().clone(), &OperatorConfig::default())?;
    let filter = Filter::linear_rank(ORDER)?;
    let mut filtered = |operator: &MagneticOperator| {
        clock.phase("propagate", || propagate(operator, &filter, features, &|_, _| ()))
    };
    let plain = rows(&filtered(&undirected)?);
    let turned = rows(&filtered(&magnetic)?);
    let raw = raw_rows(features);

    let score = |rows: &[Vec<f64>]| nearest_mean(rows, dataset, &split);
    let accuracy = [score(&raw), score(&plain), score(&turned)];
    report.line("filter", format!("linear-rank, order {ORDER}, on 16 noisy columns"));
    let percent = |a: f64| format!("{:.1} %", 100.0 * a);
    report.line("accuracy", "nearest class mean of the training nodes, on the test nodes");
    report.line("", format!("{:>7}  features as they are", percent(accuracy[0])));
    report.line("", format!("{:>7}  filtered without direction, q = 0", percent(accuracy[1])));
    report.line("", format!("{:>7}  filtered with direction, q = 1/3", percent(accuracy[2])));
    report.key("filter", "linear-rank");
    report.key("order", ORDER);
    report.key("charge", third.value());
    report.key(
        "test_accuracy",
        json!({ "raw": accuracy[0], "undirected": accuracy[1], "magnetic": accuracy[2] }),
    );
    report.print(common, clock)
}

fn raw_rows(features: &Features) -> Vec<Vec<f64>> {
    let row = |u: usize| match features {
        Features::Dense(x) => x.row(u).iter().map(|&x| f64::from(x)).collect(),
        Features::Sparse(x) => x.row(u).1.iter().map(|&x| f64::from(x)).collect(),
    };
    (0..features.rows()).map(row).collect()
}

/// Real rows; a complex number is its two parts.
fn rows(filtered: &Propagated) -> Vec<Vec<f64>> {
    match filtered {
        Propagated::Real(x) => {
            (0..x.rows()).map(|u| x.row(u).iter().map(|&x| f64::from(x)).collect()).collect()
        }
        Propagated::Complex(x) => (0..x.rows())
            .map(|u| x.row(u).iter().flat_map(|z| [f64::from(z.re), f64::from(z.im)]).collect())
            .collect(),
    }
}

/// Share of test nodes that lie nearest to the mean of their own class's training nodes.
fn nearest_mean(rows: &[Vec<f64>], dataset: &Dataset, split: &Split) -> f64 {
    let Some(labels) = &dataset.labels else { return 0.0 };
    let width = rows.first().map_or(0, Vec::len);
    let mut means = vec![vec![0.0; width]; labels.names.len()];
    let mut counts = vec![0.0; labels.names.len()];
    let class = |u: u32| labels.classes[u as usize].map_or(0, |class| class as usize);
    for &u in &split.train {
        counts[class(u)] += 1.0;
        means[class(u)].iter_mut().zip(&rows[u as usize]).for_each(|(m, x)| *m += x);
    }
    for (mean, count) in means.iter_mut().zip(&counts) {
        mean.iter_mut().for_each(|m| *m /= count);
    }
    let distance = |row: &[f64], mean: &[f64]| -> f64 {
        row.iter().zip(mean).map(|(x, m)| (x - m).powi(2)).sum()
    };
    let nearest = |u: u32| {
        let row = &rows[u as usize];
        let by_distance =
            |a: &usize, b: &usize| distance(row, &means[*a]).total_cmp(&distance(row, &means[*b]));
        (0..means.len()).min_by(by_distance)
    };
    let right = split.test.iter().filter(|&&u| nearest(u) == Some(class(u))).count();
    right as f64 / split.test.len().max(1) as f64
}
