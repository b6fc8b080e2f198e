//! Words for people. What files are called and hold is shown on a terminal, never obeyed by it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Says something on standard error, in the form of `eprintln!`. Nobody may be listening, or the
/// disk behind it be full; neither is a reason to stop the work.
macro_rules! remark {
    ($($words:tt)*) => { crate::terminal::say(&format!($($words)*)) };
}

/// See [`remark!`].
pub fn say(words: &str) {
    // One write, so that lines of several processes do not mix; what cannot be written is lost.
    let _ = io::stderr().lock().write_all(format!("{}\n", shown(words)).as_bytes());
}

/// Whether a terminal would act on a character instead of showing it: control characters, and those
/// that turn the order of the text around them.
pub fn is_obeyed(c: char) -> bool {
    let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// The text with characters that a terminal would obey spelt out: `\u{1b}` for the escape.
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let spelt = text.chars().flat_map(|c| match is_obeyed(c) {
        true => c.escape_default().collect::<Vec<_>>(),
        false => vec![c],
    });
    Cow::Owned(spelt.collect())
}

/// JSON with such characters as `\u001b`. Control characters up to U+001F are so already.
pub fn shown_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_obeyed) {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match is_obeyed(c) {
            // All of them lie below U+10000, and outside of strings there are none.
            true => drop(write!(text, "\\u{:04x}", u32::from(c))),
            false => text.push(c),
        }
    }
    Cow::Owned(text)
}

/// Lines on their way to a terminal. Each piece that is written must be whole characters.
pub struct Screen<W>(pub W);

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        for (k, line) in String::from_utf8_lossy(piece).split('\n').enumerate() {
            if k > 0 {
                self.0.write_all(b"\n")?;
            }
            self.0.write_all(shown(line).as_bytes())?;
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_spelt_out() {
        assert_eq!(shown("déjà → vu"), "déjà → vu");
        assert_eq!(shown("\x1b[31mred\u{9b}\x07\r\n"), "\\u{1b}[31mred\\u{9b}\\u{7}\\r\\n");
        assert_eq!(shown("a\u{202e}b"), "a\\u{202e}b");
    }

    #[test]
    fn json_stays_json() {
        let names = ["\x1b[31m", "\u{9b}31m", "\x7f", "\u{202e}", "déjà"];
        let text = serde_json::to_string(&names).unwrap();
        let spelt = shown_json(&text);
        assert!(!spelt.contains(is_obeyed) && spelt.contains("\\u009b31m"), "{spelt}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&spelt).unwrap(), names);
    }

    #[test]
    fn tables_keep_their_lines() {
        let mut screen = Screen(Vec::new());
        let (node, label) = ("a\x1b[2J", "ä");
        write!(screen, "node,label\n{node},{label}\n").unwrap();
        assert_eq!(screen.0, "node,label\na\\u{1b}[2J,ä\n".as_bytes());
    }
}
