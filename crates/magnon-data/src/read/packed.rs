//! Packed graphs: `G.magnon`, as `magnon pack` writes them.

use crate::packed::{Packed, is_packed, open};
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::{DataError, LoadConfig, WeightTransform};
use magnon_core::graph::SelfLoops;

/// Files that end in `.magnon`, or a file that was named and starts like one.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = |name: &str| store.only() == Some(name) && is_packed(&store.start(name));
    let fits = |name: &&str| name.ends_with(".magnon") || named(name);
    store.candidates().filter(fits).map(str::to_owned).collect()
}

/// Maps the graph. What was decided when it was packed cannot be decided otherwise here.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    let file = store.label(name);
    let wrong = |problem: String| Err(DataError::format(&file, problem));
    let Some(path) = store.plain_path(name) else {
        return wrong("a packed graph is mapped as it lies on disk; unpack it first".to_owned());
    };
    let Packed { graph, report, names, keeps_self_loops } = open(path)?;
    if let Some(nodes) = config.nodes.filter(|&nodes| nodes != graph.nodes()) {
        return wrong(format!("it has {} nodes, not {nodes}; pack the graph again", graph.nodes()));
    }
    let (loops, transform) = (config.self_loops, config.weight_transform);
    let other = [
        (
            loops == SelfLoops::Keep && !keeps_self_loops && report.self_loops > 0,
            "--keep-self-loops",
        ),
        (
            loops == SelfLoops::Drop && keeps_self_loops && report.self_loops > 0,
            "without --keep-self-loops",
        ),
        (config.unweighted && graph.is_weighted(), "--unweighted"),
        (transform != WeightTransform::None && graph.is_weighted(), "--weight-transform"),
    ];
    if let Some((_, flag)) = other.iter().find(|(differs, _)| *differs) {
        return wrong(format!("it was packed otherwise; pack the graph again {flag}"));
    }
    let nodes = graph.nodes();
    let mut raw = Raw { file: file.clone(), nodes, node_names: names, ..Raw::default() };
    raw.built = Some(magnon_core::graph::Built { graph, report });
    Ok(raw)
}
