//! Tables in text: what parts the columns, whether there is a header, and the cells.

use super::{Cells, Column, Table, is_missing, meaning};
use crate::DataError;
use crate::allocate::reserve;
use crate::store::{Store, allowance};
use crate::text::{Delimiter, Lines, MOST_FIELDS, is_comment, too_many_fields, without_bom};

/// Bytes that a column takes, its cells aside, until the table is used.
const COLUMN: u64 = 512;

/// Lines that are looked at to tell how a table is laid out.
const SAMPLE: usize = 50;

/// How a table starts.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    pub(crate) delimiter: Delimiter,
    /// The cells of the header, where there is one.
    pub(crate) header: Option<Vec<&'a [u8]>>,
    /// The header's line as it stands.
    pub(crate) header_line: &'a [u8],
    /// Where the first row starts, and its line.
    pub(crate) start: usize,
    pub(crate) line: usize,
    /// The cells of the first rows.
    pub(crate) rows: Vec<Vec<&'a [u8]>>,
}

/// A field as a number; a comma is a point where it does not part columns.
pub(crate) fn number(field: &[u8], delimiter: Delimiter) -> Option<f64> {
    let text = std::str::from_utf8(field).ok()?;
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let comma = delimiter != Delimiter::Byte(b',') && text.matches(',').count() == 1;
    if comma && !text.contains('.') { text.replace(',', ".").parse().ok() } else { None }
}

/// Looks at the first lines of a table; `None` where no line has content. `forced` says whether there
/// is a header, where a user has said so.
pub(crate) fn head<'a>(
    text: &'a [u8],
    forced: Option<bool>,
    file: &str,
) -> Result<Option<Head<'a>>, DataError> {
    let content = Lines::new(text).filter(|(_, line)| !is_comment(line));
    let lines: Vec<(usize, &[u8])> = content.take(SAMPLE + 1).collect();
    let Some((first, rest)) = lines.split_first() else { return Ok(None) };
    let sample: Vec<&[u8]> = rest.iter().map(|(_, line)| *line).collect();
    // A header may be parted in another way than the rows.
    let delimiter = match &sample[..] {
        [] => Delimiter::detect(&[first.1]),
        sample => Delimiter::detect(sample),
    };
    let cells = |delimiter: Delimiter, line| {
        let mut fields = Vec::new();
        delimiter.split(line, &mut fields);
        fields
    };
    let mut top = cells(delimiter, first.1);
    let mut rows: Vec<Vec<&[u8]>> = sample.iter().map(|line| cells(delimiter, line)).collect();
    let wide = [&top].into_iter().chain(&rows).zip(&lines).find(|(row, _)| row.len() > MOST_FIELDS);
    if let Some((_, (line, _))) = wide {
        return Err(DataError::line(file, *line, too_many_fields()));
    }
    let columns = rows.first().map_or(0, Vec::len);
    if columns > 0 && top.len() != columns {
        let other = cells(Delimiter::detect(&[first.1]), first.1);
        // R leaves out the name of the column of row names.
        let words = top.iter().all(|field| number(field, delimiter).is_none());
        if other.len() == columns {
            top = other;
        } else if top.len() + 1 == columns && words {
            top.insert(0, b"");
        }
    }
    let found = forced.unwrap_or_else(|| is_header(&top, &rows, delimiter));
    let start = |line: &[u8]| (line.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    if found {
        let (line, start) =
            rest.first().map_or((first.0 + 1, text.len()), |(number, line)| (*number, start(line)));
        return Ok(Some(Head {
            delimiter,
            header: Some(top),
            header_line: first.1,
            start,
            line,
            rows,
        }));
    }
    rows.insert(0, cells(delimiter, first.1));
    Ok(Some(Head {
        delimiter,
        header: None,
        header_line: b"",
        start: start(first.1),
        line: first.0,
        rows,
    }))
}

/// Whether the cells of the first line are a header: words over numbers, or words that name columns
/// and that no row has again.
fn is_header(top: &[&[u8]], rows: &[Vec<&[u8]>], delimiter: Delimiter) -> bool {
    let numeric = |field: &[u8]| number(field, delimiter).is_some();
    let speaks = |field: &&[u8]| meaning(&String::from_utf8_lossy(field)).is_some();
    if rows.is_empty() {
        return top.len() > 1 && top.iter().all(speaks);
    }
    if top.first().is_some_and(|field| numeric(field)) {
        return false;
    }
    // An index without a name, as pandas writes it.
    if top.len() > 1 && top[0].is_empty() && top[1..].iter().all(|field| !field.is_empty()) {
        return true;
    }
    let over_numbers = |(k, field): (usize, &&[u8])| {
        let mut below = rows.iter().filter_map(|row| row.get(k)).filter(|cell| !is_missing(cell));
        !is_missing(field) && !numeric(field) && {
            let mut any = false;
            below.all(|cell| {
                any = true;
                numeric(cell)
            }) && any
        }
    };
    // Numbers as names of columns are believed beside an `id`.
    let numbers = top.iter().any(|field| numeric(field));
    if (!numbers || speaks(&top[0])) && top.iter().enumerate().any(over_numbers) {
        return true;
    }
    // All columns hold words. A title of many words, such as _To the Lighthouse_, is a header only
    // together with its neighbour.
    let again =
        rows.iter().any(|row| row.iter().take(2).any(|cell| top.iter().take(2).any(|t| t == cell)));
    let blanks = top[0].iter().any(u8::is_ascii_whitespace);
    speaks(&top[0]) && (!blanks || top.get(1).is_some_and(speaks)) && !again
}

/// Reads a table from text.
pub(super) fn read(store: &Store, name: &str) -> Result<Table, DataError> {
    let text = store.read_text(name)?;
    parse(without_bom(&text), &store.label(name))
}

/// Reads a table from text.
pub(super) fn parse(text: &[u8], file: &str) -> Result<Table, DataError> {
    let Some(head) = head(text, None, file)? else {
        return Err(DataError::format(file, "there is no row in it"));
    };
    let width = head.rows.first().map_or(0, Vec::len).max(head.header.as_ref().map_or(0, Vec::len));
    // Columns without cells would take far more memory than the file has bytes.
    if (width as u64).saturating_mul(COLUMN) > allowance(text.len() as u64) {
        let problem = format!("{width} columns, which is too many for so few bytes");
        return Err(DataError::line(file, head.line, problem));
    }
    let mut columns: Vec<Column> = (0..width)
        .map(|k| {
            let given = head.header.as_ref().and_then(|header| header.get(k));
            let name = match given {
                Some(name) => String::from_utf8_lossy(name).into_owned(),
                None => format!("column {}", k + 1),
            };
            Column::new(name, Cells::Numbers(Vec::new()))
        })
        .collect();
    let rows = fill(text, file, &head, &mut columns)?;
    // A column of numbers that turned out to hold words is read again as words.
    for column in columns.iter_mut().filter(|column| column.stray.is_some()) {
        column.cells = Cells::Words(Vec::new());
    }
    if columns.iter().any(|column| column.stray.is_some()) {
        fill(text, file, &head, &mut columns)?;
    }
    // A word in the first row makes it a column of words from the start.
    let first = head.line;
    for column in &mut columns {
        column.stray = column.stray.take().filter(|(line, _)| *line > first);
    }
    Ok(Table { file: file.to_owned(), named: head.header.is_some(), columns, rows })
}

/// Whether double precision holds a whole number of so many digits.
fn fits(field: &[u8]) -> bool {
    field.len() <= 15 || !field.iter().all(u8::is_ascii_digit)
}

/// Reads the cells of the columns that are still empty; gives back the number of rows.
fn fill(text: &[u8], file: &str, head: &Head, columns: &mut [Column]) -> Result<usize, DataError> {
    let body = text.get(head.start..).unwrap_or_default();
    let (mut fields, mut rows) = (Vec::new(), 0);
    let open: Vec<bool> = columns
        .iter()
        .map(|column| match &column.cells {
            Cells::Numbers(numbers) => numbers.is_empty(),
            Cells::Words(words) => words.is_empty(),
            Cells::Other => false,
        })
        .collect();
    for (number_of_line, line) in Lines::new(body).filter(|(_, line)| !is_comment(line)) {
        let line_number = head.line + number_of_line - 1;
        head.delimiter.split(line, &mut fields);
        if fields.len() != columns.len() {
            let (found, width) = (fields.len(), columns.len());
            let problem = format!("ragged: {found} column(s), but the table has {width}");
            return Err(DataError::line(file, line_number, problem));
        }
        rows += 1;
        for ((column, field), _) in columns.iter_mut().zip(&fields).zip(&open).filter(|(_, o)| **o)
        {
            match &mut column.cells {
                Cells::Words(words) => {
                    reserve(words, 1, file)?;
                    let word = String::from_utf8_lossy(field);
                    words.push((!is_missing(field)).then(|| word.into()));
                }
                Cells::Numbers(_) if column.stray.is_some() => {}
                Cells::Other => {}
                Cells::Numbers(numbers) => {
                    let found = number(field, head.delimiter).filter(|_| fits(field));
                    let found = found.or_else(|| is_missing(field).then_some(f64::NAN));
                    match found {
                        Some(found) => {
                            reserve(numbers, 1, file)?;
                            numbers.push(found);
                            if !(found as f32).is_finite() {
                                column.gap.get_or_insert(line_number);
                            }
                        }
                        None => {
                            let word = String::from_utf8_lossy(field.get(..40).unwrap_or(field));
                            column.stray = Some((line_number, word.into_owned()));
                        }
                    }
                }
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Table {
        parse(text.as_bytes(), "f").unwrap()
    }

    fn names(text: &str) -> Vec<String> {
        table(text).columns.into_iter().map(|column| column.name).collect()
    }

    #[test]
    fn headers_are_told_from_rows() {
        for text in [
            "id,age\n7,1.5\n8,2\n",
            "id,age\nanna,1.5\nben,2\n",
            "id,age\n7,1.5\n",
            "# c\nid;age\n7;1,5\n",
            "id\tage\nanna\tx\nben\ty\n",
        ] {
            assert_eq!(names(text), ["id", "age"], "{text:?}");
        }
        assert_eq!(names(",0,1\nanna,1,2\n"), ["", "0", "1"]);
        assert_eq!(names("a b\nx 1 2\ny 3 4\n"), ["", "a", "b"], "R's row names");
        for text in
            ["7,1.5\n8,2\n", "anna,1.5\nben,2\n", "anna,NA\nben,2\n", "anna,ben\ncarl,dora\n"]
        {
            assert_eq!(names(text), ["column 1", "column 2"], "{text:?}");
        }
    }

    #[test]
    fn columns_hold_numbers_or_words() {
        let table = table("id,a,b\nx,1,?\ny,2,7\nz,NA,word\n");
        assert_eq!(table.rows, 3);
        let cells: Vec<&Cells> = table.columns.iter().map(|column| &column.cells).collect();
        let words = |words: &[Option<&str>]| {
            Cells::Words(words.iter().map(|word| word.map(Into::into)).collect())
        };
        assert_eq!(*cells[0], words(&[Some("x"), Some("y"), Some("z")]));
        assert!(matches!(cells[1], Cells::Numbers(n) if n[..2] == [1.0, 2.0] && n[2].is_nan()));
        assert_eq!(*cells[2], words(&[None, Some("7"), Some("word")]));
        assert_eq!(table.columns[0].stray, None);
        assert_eq!(table.columns[2].stray, Some((4, "word".to_owned())));
    }

    #[test]
    fn long_numbers_stay_whole() {
        let table = table("id,x\n123456789012345678,1\n123456789012345679,2\n");
        assert!(table.columns[0].cells.are_distinct("f").unwrap());
        assert_eq!(table.columns[0].cells.text(1).unwrap(), "123456789012345679");
    }

    #[test]
    fn ragged_rows_name_their_line() {
        let error = parse(b"# c\nid,x\n1,2\n\n3\n", "f").unwrap_err().to_string();
        assert!(error.starts_with("f, line 5: ragged: 1 column(s)"), "{error}");
    }
}
