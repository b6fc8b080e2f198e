//! Lines of a text file, as bytes.

use memchr::memchr;

/// The text without a byte order mark.
pub(crate) fn without_bom(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// The number, counted from 1, of the line that holds the byte at `offset`.
pub(crate) fn line_of(text: &[u8], offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or(text);
    memchr::memchr_iter(b'\n', before).count() + 1
}

/// The lines that hold anything, with their numbers, without line ends and outer blanks.
pub(crate) struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { rest: without_bom(text), number: 0 }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            self.number += 1;
            let line = match memchr(b'\n', self.rest) {
                Some(end) => {
                    let line = &self.rest[..end];
                    self.rest = &self.rest[end + 1..];
                    line
                }
                None => std::mem::take(&mut self.rest),
            };
            let line = line.trim_ascii();
            if !line.is_empty() {
                return Some((self.number, line));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let text = b"\xef\xbb\xbfa\r\n\n b";
        assert_eq!(Lines::new(text).collect::<Vec<_>>(), [(1, &b"a"[..]), (3, b"b")]);
        assert_eq!(line_of(b"a\nb\nc", 4), 3);
    }
}
