//! Fields of a line: what parts them, comments and quotes.

use memchr::memchr;

/// Whether a line is a comment.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'#' | b'%', ..] | [b'/', b'/', ..])
}

/// What parts the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// Any run of blanks and tabs.
    Blank,
    /// One byte, with blanks around it allowed.
    Byte(u8),
}

impl Delimiter {
    /// The delimiter that a line uses.
    pub(crate) fn guess(line: &[u8]) -> Self {
        let found = [b'\t', b',', b';'].into_iter().find(|&byte| memchr(byte, line).is_some());
        found.map_or(Self::Blank, Self::Byte)
    }

    /// Parts a line into `fields`, each without outer blanks and quotes.
    pub(crate) fn split<'a>(self, line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
        fields.clear();
        match self {
            Self::Blank => fields.extend(
                line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).map(unquote),
            ),
            Self::Byte(byte) => {
                let mut rest = line;
                while let Some(end) = field_end(rest, byte) {
                    fields.push(unquote(rest[..end].trim_ascii()));
                    rest = &rest[end + 1..];
                }
                fields.push(unquote(rest.trim_ascii()));
            }
        }
    }
}

/// Where the next delimiter outside of quotes stands.
fn field_end(text: &[u8], delimiter: u8) -> Option<usize> {
    if text.trim_ascii_start().first() != Some(&b'"') {
        return memchr(delimiter, text);
    }
    let mut quoted = false;
    text.iter().position(|&byte| {
        quoted ^= byte == b'"';
        byte == delimiter && !quoted
    })
}

fn unquote(field: &[u8]) -> &[u8] {
    let inner = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\""));
    inner.unwrap_or(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        let mut fields = Vec::new();
        Delimiter::guess(line.as_bytes()).split(line.as_bytes(), &mut fields);
        fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }

    #[test]
    fn fields_are_parted() {
        assert_eq!(split("a, \"b,c\" ,d"), ["a", "b,c", "d"]);
        assert_eq!(split("a  b   c"), ["a", "b", "c"]);
        assert_eq!(split("a b\tc"), ["a b", "c"]);
        assert_eq!(split("1;2;"), ["1", "2", ""]);
        assert_eq!(split("\"open"), ["\"open"]);
    }
}
