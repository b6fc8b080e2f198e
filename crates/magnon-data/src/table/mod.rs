//! Tables: named columns of numbers or words, whatever file they came from.

mod column;
#[cfg(feature = "columnar")]
pub(crate) mod columnar;
mod edge_columns;
mod join;
mod meaning;
mod nodes;
mod text;

pub(crate) use column::{Cells, Column, Holds, NAMED, is_missing};
pub(crate) use edge_columns::{EdgeColumns, edge_columns};
pub(crate) use join::{Joined, NodeIndex, join};
pub(crate) use meaning::{Meaning, meaning};
#[cfg(feature = "columnar")]
pub(crate) use nodes::label_remark;
pub(crate) use nodes::{NodeTable, TableKind, node_needs};
pub(crate) use text::{Head, head, number};

use super::DataError;
use super::store::Store;
use crate::listing::listed;

/// A table with columns of equal length.
#[derive(Debug)]
pub(crate) struct Table {
    /// The file, for errors.
    pub(crate) file: String,
    /// Whether the columns have names of their own.
    pub(crate) named: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: usize,
}

/// A kind of file that holds a table.
struct Format {
    /// How its names end.
    endings: &'static [&'static str],
    read: fn(&Store, &str, Needs) -> Result<Table, DataError>,
}

/// Which columns are needed, by their names and what they hold. Cells of others may be left out.
pub(crate) type Needs<'a> = &'a dyn Fn(&[&str], &[Holds]) -> Result<Vec<bool>, String>;

/// The kinds of tables.
const FORMATS: &[Format] = &[
    #[cfg(feature = "columnar")]
    Format { endings: &["parquet", "pq"], read: columnar::parquet },
    #[cfg(feature = "columnar")]
    Format { endings: &["feather", "arrow", "ipc"], read: columnar::arrow },
    Format {
        endings: &["csv", "tsv", "txt", "tab", "dat"],
        read: |store, name, _| text::read(store, name),
    },
];

impl Table {
    /// Whether a file holds a table, by the ending of its name.
    pub(crate) fn is_one(name: &str) -> bool {
        Self::format(name).is_some()
    }

    fn format(name: &str) -> Option<&'static Format> {
        let ending = name.rsplit_once('.')?.1;
        FORMATS.iter().find(|format| format.endings.contains(&ending))
    }

    /// Reads a table, with the cells of those columns that are needed. A file without a known ending is taken for text.
    pub(crate) fn read(store: &Store, name: &str, needs: Needs) -> Result<Self, DataError> {
        match Self::format(name) {
            Some(format) => (format.read)(store, name, needs),
            None => text::read(store, name),
        }
    }

    /// The column that a user named: by its header, in any case, or by its number, counted from 1.
    pub(crate) fn find(&self, wanted: &str) -> Result<usize, DataError> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        find_column(&names, self.named, wanted)
            .map_err(|problem| DataError::format(&self.file, problem))
    }
}

/// The column that a user named: by its header, in any case, or by its number, counted from 1.
pub(crate) fn find_column(names: &[&str], named: bool, wanted: &str) -> Result<usize, String> {
    let exact = names.iter().position(|name| *name == wanted);
    let loose = || names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
    let by_name = if named { exact.or_else(loose) } else { None };
    let number = wanted.parse::<usize>().ok().filter(|number| (1..=names.len()).contains(number));
    by_name.or(number.map(|number| number - 1)).ok_or_else(|| {
        let there = if named {
            format!("its columns are {}", listed(names))
        } else {
            format!("it has no header; its columns are 1 to {}", names.len())
        };
        format!("there is no column '{wanted}'; {there}")
    })
}
