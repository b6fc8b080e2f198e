//! How an edge list is laid out, told from its first lines.

use crate::data::DataError;
use crate::data::text::{Delimiter, Lines, is_comment};

/// The form of an edge list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) delimiter: Delimiter,
    /// Fields of every line.
    pub(super) columns: usize,
    /// Whether the third field is a weight.
    pub(super) weighted: bool,
    /// Whether ids look like numbers.
    pub(super) numeric: bool,
    /// Where the first edge starts.
    pub(super) start: usize,
}

/// Words that head the column of a source.
const HEADERS: [&str; 13] = [
    "source",
    "src",
    "from",
    "fromnodeid",
    "from_node",
    "start",
    "head",
    "u",
    "i",
    "node1",
    "node_1",
    "node_id",
    "id1",
];

/// Whether a field is a whole number, of either sign.
pub(super) fn looks_whole(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl Layout {
    /// Looks at the first lines; `None` where there is no line with content.
    pub(super) fn detect(text: &[u8], file: &str) -> Result<Option<Self>, DataError> {
        let mut lines = Lines::new(text).filter(|(_, line)| !is_comment(line));
        let Some(first) = lines.next() else { return Ok(None) };
        let second = lines.next();
        let delimiter = Delimiter::guess(first.1);
        let (mut fields, mut next) = (Vec::new(), Vec::new());
        delimiter.split(first.1, &mut fields);
        let numeric = |fields: &[&[u8]]| fields.iter().take(2).all(|field| looks_whole(field));
        let none_numeric = !fields.iter().take(2).any(|field| looks_whole(field));
        let mut data = first;
        if let Some(second) = second.filter(|_| none_numeric) {
            delimiter.split(second.1, &mut next);
            let word = fields.first().map(|field| field.to_ascii_lowercase()).unwrap_or_default();
            if numeric(&next) || HEADERS.iter().any(|header| header.as_bytes() == word) {
                data = second;
            }
        }
        // A header may be parted in another way than the edges.
        let delimiter = Delimiter::guess(data.1);
        delimiter.split(data.1, &mut fields);
        if fields.len() < 2 {
            let problem = "there is only one column, but an edge needs a source and a target";
            return Err(DataError::line(file, data.0, problem));
        }
        let number = |field: &&[u8]| std::str::from_utf8(field).ok()?.parse::<f64>().ok();
        Ok(Some(Self {
            delimiter,
            columns: fields.len(),
            weighted: fields.get(2).and_then(number).is_some(),
            numeric: numeric(&fields),
            // Both slices are of the same text.
            start: (data.1.as_ptr() as usize).saturating_sub(text.as_ptr() as usize),
        }))
    }
}
