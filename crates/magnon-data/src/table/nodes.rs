//! Tables of nodes: which column names the node, which one its class, and which are features.

use super::{Cells, Column, Holds, Meaning, NAMED, Table, find_column, meaning};
use crate::allocate::{collect, reserve, zeroed};
use crate::listing::listed;
use crate::weights::not_single;
use crate::{DataError, TableColumns};
use magnon_core::matrix::Matrix;
use std::sync::Arc;

/// What a table beside a graph is for, by the name of its file or the flag that named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableKind {
    /// Features, and maybe labels.
    Features,
    /// Labels alone.
    Labels,
    /// All that is known about nodes.
    Nodes,
}

/// A table of nodes, taken apart.
#[derive(Debug)]
pub(crate) struct NodeTable {
    pub(crate) file: String,
    pub(crate) rows: usize,
    /// The node of each row, by name; `None` where rows stand in the order of the nodes.
    pub(crate) ids: Option<Vec<Arc<str>>>,
    pub(crate) features: Option<Matrix<f32>>,
    pub(crate) labels: Option<Vec<Option<Arc<str>>>>,
    /// The part of the split that each row belongs to.
    pub(crate) parts: Option<Vec<Option<Arc<str>>>>,
    pub(crate) remarks: Vec<String>,
}

/// Which columns are what.
pub(crate) struct Roles {
    pub(crate) id: Option<usize>,
    pub(crate) label: Option<usize>,
    pub(crate) part: Option<usize>,
    /// All others.
    pub(crate) rest: Vec<usize>,
}

/// Says that a column of a table of features is none.
pub(crate) fn label_remark(name: &str) -> String {
    format!("the column '{name}' holds labels and is not a feature")
}

/// Which columns of a table with a header are needed to take it apart as a table of nodes.
pub(crate) fn node_needs(
    kind: TableKind,
    columns: &TableColumns,
    names: &[&str],
    holds: &[Holds],
) -> Vec<bool> {
    // A column that is not found may be a place of a list.
    let is =
        |wanted: &str, k: usize| find_column(names, true, wanted).map_or(true, |found| found == k);
    let numbered = |wanted: &Option<String>| {
        wanted.as_ref().is_some_and(|wanted| wanted.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let lists = holds.contains(&Holds::Lists);
    if kind == TableKind::Labels && names.len() <= 2
        || lists && (numbered(&columns.id) || numbered(&columns.label))
    {
        return vec![true; names.len()];
    }
    let label = columns.label.as_deref().filter(|_| kind != TableKind::Features);
    let need = |(k, holds): (usize, &Holds)| {
        let name = names.get(k).copied().unwrap_or_default();
        let means = meaning(name);
        let id = match columns.id.as_deref() {
            Some("none") => false,
            Some(wanted) => is(wanted, k),
            // Numbers in front of others are ids where they have no name.
            None => {
                k == 0 && (name.is_empty() || *holds != Holds::Numbers)
                    || means == Some(Meaning::Id)
            }
        };
        let labels = match label {
            Some(wanted) => is(wanted, k),
            None => means == Some(Meaning::Label) || name.eq_ignore_ascii_case("target"),
        };
        let feature = kind != TableKind::Labels && matches!(holds, Holds::Numbers | Holds::Lists);
        id || labels || feature || means == Some(Meaning::Part)
    };
    holds.iter().enumerate().map(need).collect()
}

impl Table {
    /// Takes a table of nodes apart. `is_node` says whether the graph has a node of that name.
    pub(crate) fn into_nodes(
        self,
        kind: TableKind,
        columns: &TableColumns,
        is_node: &dyn Fn(&str) -> bool,
    ) -> Result<NodeTable, DataError> {
        let Roles { id, label, part, rest } = self.roles(kind, columns, is_node)?;
        let mut remarks = Vec::new();
        let ids = id.map(|k| self.ids(k)).transpose()?;
        let texts = |k: usize| {
            self.check(k, "labels")?;
            collect((0..self.rows).map(|row| self.columns[k].cells.shared(row)), &self.file)
        };
        let features = match kind {
            TableKind::Labels => {
                if !rest.is_empty() {
                    remarks.push(format!("the columns {} were not used", self.listed(&rest)));
                }
                None
            }
            TableKind::Features | TableKind::Nodes => self.features(&rest, &mut remarks)?,
        };
        if let (Some(k), TableKind::Features) = (label, kind) {
            remarks.push(label_remark(&self.columns[k].name));
        }
        Ok(NodeTable {
            rows: self.rows,
            ids,
            features,
            labels: label.map(texts).transpose()?,
            parts: part.map(texts).transpose()?,
            remarks,
            file: self.file,
        })
    }

    /// Which columns are what. Of cells, those of columns that could be ids are asked for, and whether others are numbers.
    pub(crate) fn roles(
        &self,
        kind: TableKind,
        columns: &TableColumns,
        is_node: &dyn Fn(&str) -> bool,
    ) -> Result<Roles, DataError> {
        let id = self.id_column(kind, columns, is_node)?;
        let mut rest: Vec<usize> = (0..self.columns.len()).filter(|&k| Some(k) != id).collect();
        let label = self.label_column(kind, columns, &rest)?;
        rest.retain(|&k| Some(k) != label);
        let of = |k: &usize| meaning(&self.columns[*k].name);
        let part = rest.iter().copied().find(|k| {
            self.named
                && of(k) == Some(Meaning::Part)
                && matches!(self.columns[*k].cells, Cells::Words(_))
        });
        rest.retain(|&k| Some(k) != part);
        Ok(Roles { id, label, part, rest })
    }

    /// The ids in a column.
    pub(crate) fn ids(&self, column: usize) -> Result<Vec<Arc<str>>, DataError> {
        self.check(column, "ids")?;
        let Column { name, cells, .. } = &self.columns[column];
        let mut ids = Vec::new();
        reserve(&mut ids, self.rows, &self.file)?;
        for row in 0..self.rows {
            ids.push(cells.shared(row).ok_or_else(|| {
                let problem = format!("row {} has no id in '{name}'", row + 1);
                DataError::format(&self.file, problem)
            })?);
        }
        Ok(ids)
    }

    /// An error where a column cannot be used as `role`.
    fn check(&self, column: usize, role: &str) -> Result<(), DataError> {
        self.columns[column].check(role).map_err(|problem| DataError::format(&self.file, problem))
    }

    /// Says that columns are left out.
    pub(crate) fn words_remark(&self, columns: &[usize]) -> String {
        let (others, words): (Vec<usize>, Vec<usize>) =
            columns.iter().partition(|&&k| self.columns[k].kind.is_some());
        let first = |columns: &[usize]| columns.get(..NAMED * 4).map_or(columns.len(), <[_]>::len);
        let mut remarks = Vec::new();
        if !words.is_empty() {
            let shown = self.listed(&words[..first(&words)]);
            remarks.push(format!("columns of words are no features and were left out: {shown}"));
        }
        if !others.is_empty() {
            let shown = others[..first(&others)].iter().map(|&k| {
                let Column { name, kind, .. } = &self.columns[k];
                format!("{name} holds {}", kind.as_deref().unwrap_or_default())
            });
            let shown = shown.collect::<Vec<_>>().join(", ");
            remarks
                .push(format!("columns of other types are no features and were left out: {shown}"));
        }
        remarks.join("; ")
    }

    fn listed(&self, columns: &[usize]) -> String {
        let names: Vec<&str> = columns.iter().map(|&k| self.columns[k].name.as_str()).collect();
        listed(&names)
    }

    /// The column of ids.
    fn id_column(
        &self,
        kind: TableKind,
        columns: &TableColumns,
        is_node: &dyn Fn(&str) -> bool,
    ) -> Result<Option<usize>, DataError> {
        match columns.id.as_deref() {
            Some("none") => return Ok(None),
            Some(wanted) => return self.find(wanted).map(Some),
            None => {}
        }
        if self.columns.len() < 2 {
            return Ok(None);
        }
        let known = |k: usize| {
            let cells = &self.columns[k].cells;
            (0..self.rows).filter(|&row| cells.text(row).is_some_and(|id| is_node(&id))).count()
        };
        if self.named {
            let names = |&k: &usize| {
                let name = &self.columns[k].name;
                let index = k == 0 && name.is_empty();
                index || meaning(name) == Some(Meaning::Id)
            };
            // Ids are distinct. What names nodes and is not, is refused when it is joined.
            let mut named = Vec::new();
            for k in (0..self.columns.len()).filter(names) {
                if self.columns[k].cells.are_distinct(&self.file)? || known(k) * 2 > self.rows {
                    named.push(k);
                }
            }
            // Of an id and a name, the one that the edges use; the first, where they use none.
            let best = named.iter().copied().rev().max_by_key(|&k| known(k));
            if best.is_some() {
                return Ok(best);
            }
            // Ids that cannot be read are not passed over: rows would be taken for nodes in their order.
            for k in (0..self.columns.len()).filter(names) {
                self.columns[k].check("ids").map_err(|problem| {
                    let problem =
                        format!("{problem}, or say with --id-column which column is, or none");
                    DataError::format(&self.file, problem)
                })?;
            }
        }
        let first = &self.columns[0].cells;
        if !first.are_distinct(&self.file)? {
            return Ok(None);
        }
        match first {
            Cells::Words(_) => Ok(Some(0)),
            Cells::Other => Ok(None),
            Cells::Numbers(_) if self.named || !first.are_counts() => Ok(None),
            Cells::Numbers(_) if known(0) * 10 < self.rows * 9 => Ok(None),
            Cells::Numbers(_) if kind == TableKind::Labels && self.columns.len() == 2 => {
                Ok(Some(0))
            }
            Cells::Numbers(_) => Err(DataError::format(
                &self.file,
                "its first column could be the ids of the nodes or a feature; say which with \
                 --id-column 1 or --id-column none, or give the table a header",
            )),
        }
    }

    /// The column of labels among `rest`.
    fn label_column(
        &self,
        kind: TableKind,
        columns: &TableColumns,
        rest: &[usize],
    ) -> Result<Option<usize>, DataError> {
        if let Some(wanted) = columns.label.as_deref().filter(|_| kind != TableKind::Features) {
            return self.find(wanted).map(Some);
        }
        if let (TableKind::Labels, &[label]) = (kind, rest) {
            return Ok(Some(label));
        }
        // Beside an x, y is a coordinate.
        let is = |k: usize, letter: &str| self.columns[k].name.eq_ignore_ascii_case(letter);
        let place = rest.iter().any(|&k| is(k, "x"));
        let labels = |k: &&usize| {
            if place && is(**k, "y") {
                return false;
            }
            let name = &self.columns[**k].name;
            let target = name.eq_ignore_ascii_case("target");
            self.named && (target || meaning(name) == Some(Meaning::Label))
        };
        let found: Vec<usize> = rest.iter().filter(labels).copied().collect();
        match (kind, &found[..]) {
            (_, &[label]) => Ok(Some(label)),
            (TableKind::Labels, []) if rest.is_empty() => {
                Err(DataError::format(&self.file, "there is no column of labels in it"))
            }
            (TableKind::Labels, _) | (_, [_, _, ..]) => {
                let could = if found.is_empty() { rest } else { &found[..] };
                let problem = format!(
                    "it is not clear which of the columns {} holds the labels; name it with \
                     --label-column COLUMN",
                    self.listed(could)
                );
                Err(DataError::format(&self.file, problem))
            }
            (_, []) => Ok(None),
        }
    }

    /// The features: all columns of numbers. Words are no features, and that is said.
    fn features(
        &self,
        rest: &[usize],
        remarks: &mut Vec<String>,
    ) -> Result<Option<Matrix<f32>>, DataError> {
        let mut numbers: Vec<&[f64]> = Vec::new();
        let mut words = Vec::new();
        for &k in rest {
            let column = &self.columns[k];
            match (&column.cells, &column.stray) {
                (Cells::Numbers(cells), _) => {
                    let name = &column.name;
                    let bad = cells.iter().position(|&cell| !(cell as f32).is_finite());
                    let problem = match bad.and_then(|row| cells.get(row)) {
                        Some(cell) if cell.is_finite() => {
                            format!("{name}: the number {cell:e} {}", not_single(Some(*cell)))
                        }
                        _ => {
                            format!(
                                "{name}: a finite number is needed here; fill in what is missing"
                            )
                        }
                    };
                    match (bad, column.gap) {
                        (None, _) => {}
                        (Some(_), Some(line)) => {
                            return Err(DataError::line(&self.file, line, problem));
                        }
                        (Some(row), None) => {
                            let problem = format!("row {}: {problem}", row + 1);
                            return Err(DataError::format(&self.file, problem));
                        }
                    }
                    numbers.push(cells);
                }
                (Cells::Words(_), Some((line, word))) => {
                    let name = &column.name;
                    let problem = format!("the feature '{name}' is '{word}', which is no number");
                    return Err(DataError::line(&self.file, *line, problem));
                }
                (Cells::Words(_), None) | (Cells::Other, _) => words.push(k),
            }
        }
        if !words.is_empty() {
            remarks.push(self.words_remark(&words));
        }
        if numbers.is_empty() {
            return Ok(None);
        }
        let width = numbers.len();
        let mut values: Vec<f32> = zeroed(self.rows.saturating_mul(width), &self.file)?;
        for (k, cells) in numbers.iter().enumerate() {
            values.iter_mut().skip(k).step_by(width).zip(*cells).for_each(|(v, &c)| *v = c as f32);
        }
        let matrix = Matrix::from_vec(self.rows, width, values);
        let matrix = matrix
            .map_err(|_| DataError::format(&self.file, "the table does not fill its shape"))?;
        Ok(Some(matrix))
    }
}
