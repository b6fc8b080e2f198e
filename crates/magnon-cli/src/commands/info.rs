//! `magnon info`: what a graph looks like.

use crate::args::Common;
use crate::data;
use crate::report::{Clock, Report, grouped};
use clap::Args;
use magnon::data::listing::listed;
use magnon::graph::DegreeStats;
use magnon::settings::DataSettings;
use magnon::workflow::{DataInfo, info};

#[derive(Args)]
pub struct InfoArgs {
    #[command(flatten)]
    pub data: DataSettings,
}

/// Names of classes that are shown.
const SHOWN: usize = 12;

pub fn run(args: &InfoArgs, common: &Common) -> anyhow::Result<()> {
    let mut clock = Clock::default();
    let loaded = data::read(&args.data, common, &mut clock)?;
    let found = clock.phase("measure", || info(&loaded.dataset, loaded.split.as_ref()))?;
    let mut report = Report::default();
    report.put(&found)?;
    describe(&found, &mut report);
    report.print(common, clock)
}

/// What a data set looks like, in lines for people.
pub fn describe(info: &DataInfo, report: &mut Report) {
    let m = &info.measures;
    report.line("graph", &info.name);
    report.line("nodes", format!("{}, {} isolated", grouped(info.nodes), m.isolated));
    let mut notes = vec![if info.weighted { "weighted" } else { "unweighted" }.to_owned()];
    if info.self_loops > 0 {
        let fate = if info.kept_self_loops > 0 { "kept" } else { "dropped" };
        notes.push(format!("{} self loops ({fate})", grouped(info.self_loops)));
    }
    if info.duplicates > 0 {
        notes.push(format!("{} duplicates merged", grouped(info.duplicates)));
    }
    report.line("edges", format!("{}, {}", grouped(info.edges), notes.join(", ")));
    if !info.reading.columns.is_empty() {
        let uses = info.reading.columns.iter().map(|column| match column.name.as_str() {
            name if name == column.role => name.to_owned(),
            name => format!("{name} = {}", column.role),
        });
        report.line("columns", listed(&uses.collect::<Vec<_>>()));
    }
    if let Some(edge) = &info.reading.first_edge {
        let weight = edge
            .weight
            .filter(|_| info.weighted)
            .map_or(String::new(), |weight| format!(", weight {weight}"));
        report.line("first edge", format!("{} → {}{weight}", edge.source, edge.target));
    }
    let shape = match (m.symmetric, m.acyclic) {
        (true, _) => "symmetric: the charge has no effect",
        (false, true) => "acyclic",
        (false, false) => "has directed cycles",
    };
    let both = format!("{:.1} % of edges run both ways", 100.0 * m.reciprocity);
    report.line("direction", format!("{shape}; {both}"));
    report.line(
        "components",
        format!(
            "{} weak, {} strong (largest {} nodes)",
            grouped(m.weak_components),
            grouped(m.strong_components),
            grouped(m.largest_strong_component)
        ),
    );
    let degrees = |d: DegreeStats| {
        format!("{} to {}, mean {:.2}, median {}", d.min, grouped(d.max), d.mean, d.median)
    };
    report.line("out-degree", degrees(m.out_degree));
    report.line("in-degree", degrees(m.in_degree));
    let features = match (info.features, info.features_stored) {
        (None, _) => "none".to_owned(),
        (Some(columns), None) => format!("{} columns, dense", grouped(columns)),
        (Some(columns), Some(stored)) => {
            format!("{} columns, sparse, {} stored", grouped(columns), grouped(stored))
        }
    };
    report.line("features", features);
    describe_labels(info, report);
    if let Some(split) = info.split {
        let count = info.splits.len();
        let note = if count > 1 { format!(" (one of {count})") } else { String::new() };
        let (train, val, test) = (split.train, split.val, split.test);
        report.line("split", format!("{train} train, {val} validation, {test} test{note}"));
    }
}

fn describe_labels(info: &DataInfo, report: &mut Report) {
    let (Some(names), Some(sizes)) = (&info.class_names, &info.class_sizes) else {
        report.line("classes", "none");
        return;
    };
    let mut list: Vec<String> =
        names.iter().zip(sizes).map(|(name, size)| format!("{name}: {size}")).collect();
    if list.len() > SHOWN {
        list.truncate(SHOWN);
        list.push("…".to_owned());
    }
    let none = match info.unlabelled {
        None | Some(0) => String::new(),
        Some(count) => format!("; {} nodes without a label", grouped(count)),
    };
    report.line("classes", format!("{} ({}){none}", names.len(), list.join(", ")));
    let text = |index: Option<f64>| index.map_or("none".to_owned(), |h| format!("{h:.3}"));
    let (node, edge) = (text(info.node_homophily), text(info.edge_homophily));
    report.line("homophily", format!("node {node}, edge {edge}"));
}
