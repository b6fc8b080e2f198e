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
    /// Start and length of the header, where there is one.
    pub(super) header: Option<(usize, usize)>,
    /// Where the first edge starts.
    pub(super) start: usize,
}

/// Words that the header of a column of ids starts with.
const HEADERS: [&str; 23] = [
    "source",
    "src",
    "from",
    "start",
    "origin",
    "head",
    "citing",
    "citer",
    "u",
    "i",
    "node",
    "id",
    "vertex",
    "target",
    "tgt",
    "to",
    "end",
    "dst",
    "dest",
    "destination",
    "tail",
    "cited",
    "v",
];

/// What may follow such a word without a gap.
const ENDS: [&str; 8] = ["", "id", "node", "nodeid", "name", "index", "idx", "1"];

/// Whether a field is a whole number, of either sign.
pub(super) fn looks_whole(field: &[u8]) -> bool {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

/// Whether a field starts like the header of a column of ids: `from_id`, `SourceNode`, `id1`. Names
/// such as `node_7` do not.
fn heads_ids(field: &[u8]) -> bool {
    let field = String::from_utf8_lossy(field).to_lowercase();
    let mut words = field.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    let fits = |header: &str| {
        let end = first.strip_prefix(header).filter(|end| ENDS.contains(end));
        // One letter and a number is a name.
        end.is_some_and(|end| end != "1" || header.len() > 1)
    };
    HEADERS.iter().any(|header| fits(header))
        && words.all(|word| word == "1" || !word.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether the first line is a header, where ids may be words. A title of many words, such as _To
/// the Lighthouse_, is one only together with its neighbour; what the `next` line names again is a
/// node.
fn is_header(fields: &[&[u8]], next: &[&[u8]]) -> bool {
    let heads = |k: usize| fields.get(k).is_some_and(|field| heads_ids(field));
    let blanks = fields.first().is_some_and(|field| field.iter().any(u8::is_ascii_whitespace));
    let again = fields.iter().take(2).any(|field| next.iter().take(2).any(|node| node == field));
    heads(0) && (!blanks || heads(1)) && !again
}

/// The position of a part of `text`.
fn offset(text: &[u8], part: &[u8]) -> usize {
    (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize)
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
        let (mut data, mut header) = (first, None);
        if let Some(second) = second.filter(|_| none_numeric) {
            delimiter.split(second.1, &mut next);
            if numeric(&next) || is_header(&fields, &next) {
                header = Some((offset(text, first.1), first.1.len()));
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
            header,
            start: offset(text, data.1),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_from_names() {
        for header in [
            "from_id,to_id",
            "FromNodeId\tToNodeId",
            "source page,target page",
            "node_1,node_2",
            "id1,id2",
            "citing-paper;cited-paper",
            "u v",
            "Source.Name Target.Name",
        ] {
            let text = format!("{header}\nanna,ben\n").replace(',', &sign(header));
            let layout = Layout::detect(text.as_bytes(), "f").unwrap().unwrap();
            assert_eq!(layout.header, Some((0, header.len())), "{header}");
        }
        for names in
            ["node_7,node_9", "To the Lighthouse,Orlando", "victor,ida", "u1,u2", "from,anna"]
        {
            let text = format!("{names}\nanna,ben\n");
            let layout = Layout::detect(text.as_bytes(), "f").unwrap().unwrap();
            assert_eq!(layout.header, None, "{names}");
        }
    }

    fn sign(header: &str) -> String {
        let found = header.chars().find(|c| matches!(c, ',' | '\t' | ';'));
        found.unwrap_or(' ').to_string()
    }
}
