//! Tables of numbers, columns of labels and lists of node numbers.

use super::{Delimiter, Lines, MOST_FIELDS, is_comment, too_many_fields};
use crate::allocate::{collect, reserve};
use crate::table::is_missing;
use crate::weights::not_single;
use crate::{DataError, Labels};
use magnon_core::matrix::Matrix;

/// A field as a number.
fn number(field: &[u8]) -> Option<f32> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

fn shown(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(field.get(..40).unwrap_or(field)).into_owned();
    format!("'{text}'")
}

/// Data lines of a table: no comments, and no header where the first line is one.
fn rows(text: &[u8], is_data: impl Fn(&[u8]) -> bool) -> impl Iterator<Item = (usize, &[u8])> {
    let mut lines = Lines::new(text).filter(|(_, line)| !is_comment(line)).peekable();
    lines.next_if(|(_, line)| !is_data(line));
    lines
}

/// A dense table of finite numbers, one node a line; a first line without any number is a header.
pub(crate) fn matrix(text: &[u8], file: &str) -> Result<Matrix<f32>, DataError> {
    let mut fields = Vec::new();
    let is_data = |line: &[u8]| {
        let mut fields = Vec::new();
        Delimiter::detect(&[line]).split(line, &mut fields);
        fields.iter().any(|field| number(field).is_some())
    };
    let mut values = Vec::new();
    let (mut rows_read, mut shape) = (0, None);
    for (line_number, line) in rows(text, is_data) {
        let (delimiter, cols) = match shape {
            Some(shape) => shape,
            None => {
                let delimiter = Delimiter::detect(&[line]);
                delimiter.split(line, &mut fields);
                if fields.len() > MOST_FIELDS {
                    return Err(DataError::line(file, line_number, too_many_fields()));
                }
                *shape.insert((delimiter, fields.len()))
            }
        };
        delimiter.split(line, &mut fields);
        if fields.len() != cols {
            let problem =
                format!("ragged table: {} values, but the lines before have {cols}", fields.len());
            return Err(DataError::line(file, line_number, problem));
        }
        reserve(&mut values, cols, file)?;
        for (column, field) in fields.iter().enumerate() {
            let value = number(field).filter(|value| value.is_finite()).ok_or_else(|| {
                let wide = std::str::from_utf8(field).ok().and_then(|text| text.parse().ok());
                let (field, column) = (shown(field), column + 1);
                let why = not_single(wide);
                let problem = format!("column {column}: {field} {why}");
                DataError::line(file, line_number, problem)
            })?;
            values.push(value);
        }
        rows_read += 1;
    }
    let cols = shape.map_or(0, |shape| shape.1);
    Matrix::from_vec(rows_read, cols, values)
        .map_err(|_| DataError::format(file, "the table does not fill its shape"))
}

/// Whether a field is a whole number, maybe written as `3.0`.
fn whole(field: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(field).ok()?;
    let text = text.strip_suffix(".0").unwrap_or(text);
    text.parse().ok()
}

/// The words at the head of a label column.
const LABEL_HEADERS: [&[u8]; 6] = [b"label", b"labels", b"class", b"classes", b"y", b"target"];

/// One label a line, numbers or words.
pub(crate) fn labels(text: &[u8], file: &str) -> Result<Labels, DataError> {
    let is_data = |line: &[u8]| !LABEL_HEADERS.contains(&line.to_ascii_lowercase().as_slice());
    let mut words = Vec::new();
    let mut fields = Vec::new();
    for (line_number, line) in rows(text, is_data) {
        // A class name may hold blanks; a comma or a tab parts columns.
        Delimiter::Byte(if line.contains(&b'\t') { b'\t' } else { b',' }).split(line, &mut fields);
        let &[field] = &fields[..] else {
            let problem = format!("one label a line is needed, but there are {}", fields.len());
            return Err(DataError::line(file, line_number, problem));
        };
        reserve(&mut words, 1, file)?;
        words.push((!is_missing(field)).then_some(field));
    }
    let text = |word: &[u8]| String::from_utf8_lossy(word).into_owned();
    let words = collect(words.iter().map(|word| word.map(text)), file)?;
    Labels::from_texts(&words, file)
}

/// One node number per line; a first line that is no number is a header.
pub(crate) fn indices(text: &[u8], file: &str) -> Result<Vec<u32>, DataError> {
    let is_data = |line: &[u8]| whole(line).is_some();
    let mut indices = Vec::new();
    for (line_number, line) in rows(text, is_data) {
        let index = whole(line).and_then(|index| u32::try_from(index).ok()).ok_or_else(|| {
            let problem = format!("{} is not a node number, counted from 0", shown(line));
            DataError::line(file, line_number, problem)
        })?;
        reserve(&mut indices, 1, file)?;
        indices.push(index);
    }
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let table = matrix(b"a,b\n1,2.5\r\n-3e-1,4\n", "f").unwrap();
        assert_eq!((table.rows(), table.cols()), (2, 2));
        assert_eq!(table.as_slice(), [1.0, 2.5, -0.3, 4.0]);
        assert_eq!(matrix(b"1 2\n3 4", "f").unwrap().as_slice(), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn bad_cells_are_named() {
        let error = |text: &[u8]| matrix(text, "f").unwrap_err().to_string();
        assert!(error(b"1,2\n3\n").starts_with("f, line 2: ragged"));
        assert_eq!(error(b"1,2\n3,nan\n"), "f, line 2: column 2: 'nan' is not a finite number");
        assert!(
            error(b"1,2\n3,1e99\n")
                .contains("column 2: '1e99' is larger than any number of single")
        );
    }

    #[test]
    fn labels_are_numbers_or_words() {
        let numbers = labels(b"label\n2\n0\n2\nnan\n", "f").unwrap();
        assert_eq!(numbers.classes, [Some(1), Some(0), Some(1), None]);
        let words = labels(b"staff\ncourse page\nstaff\n", "f").unwrap();
        assert_eq!(words.names, ["course page", "staff"]);
        assert!(labels(b"1,2\n", "f").is_err());
    }

    #[test]
    fn index_lists_are_checked() {
        assert_eq!(indices(b"idx\n3\n5\n", "f").unwrap(), [3, 5]);
        assert!(indices(b"3\n-5\n", "f").unwrap_err().to_string().starts_with("f, line 2"));
        assert!(indices(b"3\nx\n", "f").is_err());
    }
}
