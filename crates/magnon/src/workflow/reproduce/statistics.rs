//! Nodes, edges, features and classes.

use super::{Cell, Row, Table, Work, paper};
use crate::Error;

pub(super) fn make(work: &mut Work) -> Result<Vec<Table>, Error> {
    let rows = work.data.found.iter().map(|found| {
        let dataset = &found.dataset;
        let [nodes, edges, features, classes] = paper::STATISTICS[found.at];
        let columns = dataset.features.as_ref().map(|features| features.cols());
        let names = dataset.labels.as_ref().map(|labels| labels.names.len());
        let pairs = dataset.graph.symmetrised().edges() / 2;
        Row {
            name: found.title().to_owned(),
            cells: vec![
                Cell::count(Some(dataset.graph.nodes()), nodes),
                Cell::count(Some(dataset.graph.edges()), edges),
                Cell::count(Some(pairs), edges),
                Cell::count(columns, features),
                Cell::count(names, classes),
            ],
            seconds: None,
        }
    });
    let columns = ["nodes", "stored edges", "undirected pairs", "features", "classes"];
    let mut notes = work.data.notes();
    notes.push(
        "the paper's edge counts are those of undirected pairs for CoRAR and CiteSeerR; for the others no \
         simple count of the published files gives them"
            .to_owned(),
    );
    Ok(vec![Table {
        part: "dataset-statistics",
        title: "Statistics of the data sets".to_owned(),
        setting: "counted in the files that the authors publish, self loops left out".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes,
    }])
}
