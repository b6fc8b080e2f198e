//! `magnon info`: what a graph looks like.

use crate::args::{Common, DataArgs};
use crate::data::{self, Loaded};
use crate::report::{Clock, Report, grouped};
use clap::Args;
use magnon::data::{Dataset, Features, Split};
use magnon::graph::{DegreeStats, homophily, try_measure};
use serde_json::json;

#[derive(Args)]
pub struct InfoArgs {
    #[command(flatten)]
    pub data: DataArgs,
}

pub fn run(args: &InfoArgs, common: &Common) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let mut report = Report::default();
    clock.phase("measure", || describe(&loaded, &mut report))?;
    report.print(common, clock)
}

/// Everything about a data set, as lines and keys.
pub fn describe(loaded: &Loaded, report: &mut Report) -> anyhow::Result<()> {
    let dataset = &loaded.dataset;
    describe_graph(dataset, report)?;
    describe_features(dataset, report);
    describe_labels(dataset, report);
    let sizes = |split: &Split| [split.train.len(), split.val.len(), split.test.len()];
    let as_json = |split: &Split| {
        let [train, val, test] = sizes(split);
        json!({ "train": train, "val": val, "test": test })
    };
    report.key("splits", dataset.splits.iter().map(as_json).collect::<Vec<_>>());
    report.key("split", loaded.split.as_ref().map(as_json));
    if let Some(split) = &loaded.split {
        let [train, val, test] = sizes(split);
        let count = dataset.splits.len();
        let note = if count > 1 { format!(" (one of {count})") } else { String::new() };
        report.line("split", format!("{train} train, {val} validation, {test} test{note}"));
    }
    report.key("remarks", dataset.remarks.clone());
    Ok(())
}

fn describe_graph(dataset: &Dataset, report: &mut Report) -> anyhow::Result<()> {
    let graph = &dataset.graph;
    let met = dataset.report;
    // Self loops that were dropped are still edges of the data.
    let kept = (0..graph.nodes()).filter(|&u| graph.has_edge(u, u as u32)).count();
    let edges = graph.edges() + met.self_loops - kept;
    let m = try_measure(graph)?;
    report.key("name", dataset.name.clone());
    report.key("nodes", graph.nodes());
    report.key("edges", edges);
    report.key("self_loops", met.self_loops);
    report.key("duplicates", met.duplicates);
    report.key("weighted", graph.is_weighted());
    report.key("reciprocity", m.reciprocity);
    report.key("two_cycles", m.two_cycles);
    report.key("symmetric", m.symmetric);
    report.key("acyclic", m.acyclic);
    report.key("weak_components", m.weak_components);
    report.key("strong_components", m.strong_components);
    report.key("largest_strong_component", m.largest_strong_component);
    report.key("isolated", m.isolated);
    report.key("out_degree", json!(m.out_degree));
    report.key("in_degree", json!(m.in_degree));

    report.line("graph", &dataset.name);
    report.line("nodes", format!("{}, {} isolated", grouped(graph.nodes()), m.isolated));
    let mut notes = vec![if graph.is_weighted() { "weighted" } else { "unweighted" }.to_owned()];
    if met.self_loops > 0 {
        let fate = if kept > 0 { "kept" } else { "dropped" };
        notes.push(format!("{} self loops ({fate})", grouped(met.self_loops)));
    }
    if met.duplicates > 0 {
        notes.push(format!("{} duplicates merged", grouped(met.duplicates)));
    }
    report.line("edges", format!("{}, {}", grouped(edges), notes.join(", ")));
    let shape = match (m.symmetric, m.acyclic) {
        (true, _) => "symmetric: the charge has no effect",
        (false, true) => "acyclic",
        (false, false) => "has directed cycles",
    };
    let both = format!("{:.1} % of edges run both ways", 100.0 * m.reciprocity);
    report.line("direction", format!("{shape}; {both}"));
    let largest = grouped(m.largest_strong_component);
    report.line(
        "components",
        format!(
            "{} weak, {} strong (largest {largest} nodes)",
            grouped(m.weak_components),
            grouped(m.strong_components)
        ),
    );
    let degrees = |d: DegreeStats| {
        format!("{} to {}, mean {:.2}, median {}", d.min, grouped(d.max), d.mean, d.median)
    };
    report.line("out-degree", degrees(m.out_degree));
    report.line("in-degree", degrees(m.in_degree));
    Ok(())
}

fn describe_features(dataset: &Dataset, report: &mut Report) {
    let features = dataset.features.as_ref();
    report.key("features", features.map(Features::cols));
    let text = match features {
        None => "none".to_owned(),
        Some(Features::Dense(matrix)) => format!("{} columns, dense", grouped(matrix.cols())),
        Some(Features::Sparse(matrix)) => {
            let (cols, stored) = (grouped(matrix.cols()), grouped(matrix.stored()));
            format!("{cols} columns, sparse, {stored} stored")
        }
    };
    report.line("features", text);
}

fn describe_labels(dataset: &Dataset, report: &mut Report) {
    let Some(labels) = &dataset.labels else {
        for key in ["classes", "class_names", "class_sizes", "node_homophily", "edge_homophily"] {
            report.key(key, None::<f64>);
        }
        report.line("classes", "none");
        return;
    };
    let index = homophily(&dataset.graph, &labels.classes);
    report.key("classes", labels.names.len());
    report.key("class_names", labels.names.clone());
    report.key("class_sizes", labels.sizes());
    report.key("unlabelled", labels.classes.iter().filter(|c| c.is_none()).count());
    report.key("node_homophily", index.node);
    report.key("edge_homophily", index.edge);
    let mut sizes: Vec<String> =
        labels.names.iter().zip(labels.sizes()).map(|(n, s)| format!("{n}: {s}")).collect();
    if sizes.len() > 12 {
        sizes.truncate(12);
        sizes.push("…".to_owned());
    }
    report.line("classes", format!("{} ({})", labels.names.len(), sizes.join(", ")));
    let text = |index: Option<f64>| index.map_or("none".to_owned(), |h| format!("{h:.3}"));
    report.line("homophily", format!("node {}, edge {}", text(index.node), text(index.edge)));
}
