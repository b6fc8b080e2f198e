//! The nodes of Geom-GCN: `id <tab> features <tab> label` a line.

use crate::allocate::{collect, reserve};
use crate::text::Lines;
use crate::{DataError, Features, Labels};
use magnon_core::matrix::SparseMatrix;

/// What the file holds, in node order.
pub(super) struct Nodes {
    pub(super) count: usize,
    pub(super) features: Features,
    pub(super) labels: Labels,
}

/// One line: where its values lie in the list of all values.
struct Row {
    line: usize,
    start: usize,
    end: usize,
    label: i64,
}

impl Nodes {
    /// Reads the file. Rows of equal length hold one value a column. Rows of different lengths hold
    /// the numbers of the columns that are 1, unless all values are 0 or 1: such a file is ragged
    /// by mistake.
    pub(super) fn parse(text: &[u8], file: &str) -> Result<Self, DataError> {
        let (values, rows) = scan(text, file)?;
        let count = rows.len();
        let width = rows.first().map_or(0, |row| row.end - row.start);
        let ragged = rows.iter().find(|row| row.end - row.start != width);
        let (width, columns) = match ragged {
            None => (width, false),
            Some(row) if values.iter().all(|&value| value <= 1) => {
                let found = row.end - row.start;
                let problem = format!("ragged: {found} features, but the first row has {width}");
                return Err(DataError::line(file, row.line, problem));
            }
            Some(_) => (values.iter().max().map_or(0, |&top| top as usize + 1), true),
        };
        let mut entries = Vec::new();
        for (node, row) in rows.iter().enumerate() {
            reserve(&mut entries, row.end - row.start, file)?;
            for (column, &value) in values.get(row.start..row.end).unwrap_or(&[]).iter().enumerate()
            {
                match columns {
                    true => entries.push((node, value, 1.0)),
                    false if value != 0 => entries.push((node, column as u32, value as f32)),
                    false => {}
                }
            }
        }
        if columns {
            // A column named twice is still 1.
            entries.sort_unstable_by_key(|entry: &(usize, u32, f32)| (entry.0, entry.1));
            entries.dedup();
        }
        let features = SparseMatrix::from_triplets(count, width, entries.iter().copied())
            .map_err(|error| DataError::format(file, error.to_string()))?;
        let labels = collect(rows.iter().map(|row| Some(row.label)), file)?;
        let labels = Labels::from_numbers(&labels, file)?;
        Ok(Self { count, features: Features::Sparse(features), labels })
    }
}

/// All values, and the rows in the order of the nodes.
fn scan(text: &[u8], file: &str) -> Result<(Vec<u32>, Vec<Row>), DataError> {
    fn number<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
        std::str::from_utf8(field).ok()?.trim().parse().ok()
    }
    let mut values = Vec::new();
    let mut rows: Vec<(usize, Row)> = Vec::new();
    for (line, content) in Lines::new(text) {
        let mut fields = content.split(|&byte| byte == b'\t');
        let row = (fields.next(), fields.next(), fields.next(), fields.next());
        let (Some(id), Some(features), Some(label), None) = row else {
            let problem = "a line must hold id, features and label, parted by tabs";
            return Err(DataError::line(file, line, problem));
        };
        let (Some(id), Some(label)) = (number(id), number(label)) else {
            if rows.is_empty() && line == 1 {
                continue; // the header
            }
            return Err(DataError::line(file, line, "id and label must be whole numbers"));
        };
        let start = values.len();
        // A feature takes a digit and a comma.
        reserve(&mut values, features.len() / 2 + 1, file)?;
        for (k, field) in features.split(|&byte| byte == b',').enumerate() {
            values.push(match field {
                b"0" => 0,
                b"1" => 1,
                _ => number(field).ok_or_else(|| {
                    let problem = format!("feature {} is not a whole number from 0", k + 1);
                    DataError::line(file, line, problem)
                })?,
            });
        }
        reserve(&mut rows, 1, file)?;
        rows.push((id, Row { line, start, end: values.len(), label }));
    }
    rows.sort_unstable_by_key(|(id, row)| (*id, row.line));
    if let Some((node, (id, row))) = rows.iter().enumerate().find(|(node, (id, _))| node != id) {
        let problem = format!("node ids must be 0, 1, 2… once each, but {id} is met for {node}");
        return Err(DataError::line(file, row.line, problem));
    }
    Ok((values, rows.into_iter().map(|(_, row)| row).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_columns_and_rows_of_values() {
        let nodes = Nodes::parse(b"0\t3,1\t5\n1\t0\t4\n", "f").unwrap();
        assert_eq!((nodes.count, nodes.features.cols()), (2, 4));
        assert_eq!(nodes.features.values(), [1.0; 3]);
        assert_eq!(nodes.labels.names, ["4", "5"]);
        let nodes = Nodes::parse(b"0\t0,1\t5\n1\t2,0\t4\n", "f").unwrap();
        assert_eq!((nodes.features.cols(), nodes.features.values()), (2, &[1.0, 2.0][..]));
    }

    #[test]
    fn bad_lines_are_named() {
        let error = |text: &str| Nodes::parse(text.as_bytes(), "f").err().unwrap().to_string();
        assert!(error("0\t0,1\t5\n1\t0\t4\n").starts_with("f, line 2: ragged"));
        assert!(error("0\t0,1\t5\n3\t0,0\t4\n").starts_with("f, line 2: node ids"));
        assert!(error("0\t0,-1\t5\n").starts_with("f, line 1: feature 2"));
        assert!(error("0\t0,1\n").starts_with("f, line 1: a line must hold"));
    }
}
