//! Fields of a line: what parts them, comments and quotes.

use memchr::memchr;

/// Whether a line is a comment.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    matches!(line, [b'#' | b'%', ..] | [b'/', b'/', ..])
}

/// More fields than a line of a table has. A file of one endless line is refused before memory is asked for each
/// of its fields.
pub(crate) const MOST_FIELDS: usize = 1_000_000;

/// What is wrong with a line that has more.
pub(crate) fn too_many_fields() -> String {
    format!("more than {MOST_FIELDS} columns; each row stands on a line of its own")
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
    /// The delimiter of a table, told from its first lines: the one that parts all of them into the
    /// same number of fields, two or more. Where commas are regular too, as in `a;b;1,5`, they are taken
    /// for decimal ones between digits only. Where none is regular, the first line decides.
    pub(crate) fn detect(lines: &[&[u8]]) -> Self {
        const BYTES: [u8; 4] = [b'\t', b';', b',', b'|'];
        let mut fields = Vec::new();
        let mut count = |byte: u8, line| {
            Self::Byte(byte).split(line, &mut fields);
            fields.len()
        };
        let mut regular = |&byte: &u8| {
            let mut counts = lines.iter().map(|line| count(byte, line));
            let first = counts.next().unwrap_or(0);
            first >= 2 && counts.all(|count| count == first)
        };
        let present = |byte: &u8| lines.first().is_some_and(|line| memchr(*byte, line).is_some());
        let found = BYTES.into_iter().find(|byte| match byte {
            b';' => {
                regular(byte)
                    && (!regular(&b',') || lines.iter().all(|line| has_decimal_commas(line)))
            }
            _ => regular(byte),
        });
        found.or_else(|| BYTES.into_iter().find(present)).map_or(Self::Blank, Self::Byte)
    }

    /// Parts a line into `fields`, each without outer blanks and quotes. Of a line of more than [`MOST_FIELDS`] there
    /// is one more than that.
    pub(crate) fn split<'a>(self, line: &'a [u8], fields: &mut Vec<&'a [u8]>) {
        fields.clear();
        match self {
            Self::Blank => fields.extend(
                line.split(u8::is_ascii_whitespace)
                    .filter(|field| !field.is_empty())
                    .take(MOST_FIELDS + 1)
                    .map(unquote),
            ),
            Self::Byte(byte) => {
                let mut rest = line;
                while let Some(end) = field_end(rest, byte) {
                    fields.push(unquote(rest[..end].trim_ascii()));
                    rest = &rest[end + 1..];
                    if fields.len() == MOST_FIELDS {
                        break;
                    }
                }
                fields.push(unquote(rest.trim_ascii()));
            }
        }
    }
}

/// Whether every comma of a line stands between digits.
fn has_decimal_commas(line: &[u8]) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| line.get(at)).is_some_and(u8::is_ascii_digit);
    memchr::memchr_iter(b',', line).all(|at| digit(at.checked_sub(1)) && digit(Some(at + 1)))
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
        Delimiter::detect(&[line.as_bytes()]).split(line.as_bytes(), &mut fields);
        fields.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect()
    }

    #[test]
    fn fields_are_parted() {
        assert_eq!(split("a, \"b,c\" ,d"), ["a", "b,c", "d"]);
        assert_eq!(split("a  b   c"), ["a", "b", "c"]);
        assert_eq!(split("a b\tc"), ["a b", "c"]);
        assert_eq!(split("1;2;"), ["1", "2", ""]);
        assert_eq!(split("\"open"), ["\"open"]);
        for line in ["1,".repeat(MOST_FIELDS), "1 ".repeat(MOST_FIELDS + 5)] {
            assert_eq!(split(&line).len(), MOST_FIELDS + 1);
        }
    }

    #[test]
    fn the_regular_delimiter_is_found() {
        let detect =
            |text: &str| Delimiter::detect(&text.lines().map(str::as_bytes).collect::<Vec<_>>());
        assert_eq!(detect("a;b;1,5\nb;c;2,25"), Delimiter::Byte(b';'));
        assert_eq!(detect("a,b,x;y\nb,c,z"), Delimiter::Byte(b','));
        assert_eq!(detect("a,\"b;c\"\nb,\"c;d\""), Delimiter::Byte(b','));
        assert_eq!(detect("a|b\nb|c"), Delimiter::Byte(b'|'));
        assert_eq!(detect("a b\nb c"), Delimiter::Blank);
        // No delimiter is regular: the first line has commas.
        assert_eq!(detect("a,b\nb,c,d"), Delimiter::Byte(b','));
    }
}
