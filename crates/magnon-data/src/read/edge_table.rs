//! Tables of edges in columns: Parquet, Arrow and Feather.

use super::edge_names::Numbering;
use crate::allocate::reserve;
use crate::companions::is_table_of_nodes;
use crate::raw_dataset::Raw;
use crate::store::Store;
use crate::table::{Cells, EdgeColumns, Holds, Table, edge_columns};
use crate::weights::{Weight, Weights};
use crate::{ColumnUse, DataError, LoadConfig};

const ENDINGS: [&str; 5] = [".parquet", ".pq", ".feather", ".arrow", ".ipc"];

/// Tables that are not about nodes.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some();
    let fits = |name: &&str| {
        ENDINGS.iter().any(|end| name.ends_with(end)) && (named || !is_table_of_nodes(name))
    };
    store.candidates().filter(fits).map(str::to_owned).collect()
}

/// Reads the edges.
pub(crate) fn read(store: &Store, name: &str, config: &LoadConfig) -> Result<Raw, DataError> {
    if cfg!(not(feature = "columnar")) {
        let problem = "this build reads no Parquet or Arrow files; it lacks the feature `columnar`";
        return Err(DataError::format(store.label(name), problem));
    }
    let table = Table::read(store, name, &|names, holds| needs(names, holds, config))?;
    let columns = choose(&table, config)?;
    for (column, role) in
        [(columns.source, "the ends of edges"), (columns.target, "the ends of edges")]
            .into_iter()
            .chain(columns.weight.map(|column| (column, "weights")))
    {
        let checked = table.columns[column].check(role);
        checked.map_err(|problem| DataError::format(&table.file, problem))?;
    }
    let mut numbering = Numbering::default();
    let mut raw = Raw { file: table.file.clone(), ..Raw::default() };
    let end = |column: usize, row: usize| {
        let column = &table.columns[column];
        column.cells.text(row).ok_or_else(|| {
            let problem = format!("row {}: '{}' names no node", row + 1, column.name);
            DataError::format(&table.file, problem)
        })
    };
    for row in 0..table.rows {
        reserve(&mut raw.edges, 1, &table.file)?;
        let (source, target) = (end(columns.source, row)?, end(columns.target, row)?);
        raw.edges
            .push((numbering.number(source, &table.file)?, numbering.number(target, &table.file)?));
    }
    if let Some(column) = columns.weight {
        let column = &table.columns[column];
        let Cells::Numbers(weights) = &column.cells else {
            let kind = column.kind.as_deref().unwrap_or("words");
            let problem = format!("the weight '{}' is a column of {kind}", column.name);
            return Err(DataError::format(&table.file, problem));
        };
        let mut kept = Weights::default();
        for (row, &weight) in weights.iter().enumerate() {
            let weight = Weight::of(weight).ok_or_else(|| {
                let problem = format!("row {}: the weight is not a finite number", row + 1);
                DataError::format(&table.file, problem)
            })?;
            kept.push(weight, &table.file)?;
        }
        raw.set_weights(kept);
    }
    raw.reading.columns = columns.uses(table.columns.iter().map(|column| column.name.clone()));
    let unused = ColumnUse::unused(&raw.reading.columns, columns.weight.is_some());
    raw.remarks.extend(unused);
    numbering.settle(&mut raw)?;
    Ok(raw)
}

/// Which columns are source, target and weight, before the table is read.
fn needs(names: &[&str], holds: &[Holds], config: &LoadConfig) -> Result<Vec<bool>, String> {
    // A list becomes many columns, which are counted by flags.
    if holds.contains(&Holds::Lists) {
        return Ok(vec![true; names.len()]);
    }
    let EdgeColumns { source, target, weight } = edge_columns(names, true, config)?;
    Ok((0..names.len()).map(|k| k == source || k == target || weight == Some(k)).collect())
}

/// Source, target and weight: those that the user named, or else by the names of the columns.
fn choose(table: &Table, config: &LoadConfig) -> Result<EdgeColumns, DataError> {
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    edge_columns(&names, true, config).map_err(|problem| DataError::format(&table.file, problem))
}
