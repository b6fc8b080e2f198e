//! Text made safe for SVG, HTML and JSON inside a page.

use serde::Serialize;
use std::fmt::{self, Display, Write};

/// Text in an element or in an attribute.
pub(crate) struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\t' | '\n' | '\r' => out.write_char(letter)?,
                // XML knows none of these; overrides of direction would turn the text around them.
                letter if letter.is_control() || is_override(letter) => {
                    out.write_char('\u{fffd}')?;
                }
                '\u{fffe}' | '\u{ffff}' => out.write_char('\u{fffd}')?,
                letter => out.write_char(letter)?,
            }
        }
        Ok(())
    }
}

fn is_override(letter: char) -> bool {
    matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON that may stand in a `script` element: nothing in it can end the element.
///
/// `<`, `>` and `&` occur in JSON inside strings only, where an escape means the same.
pub(crate) fn json(value: &impl Serialize) -> String {
    // Plain structs of strings and finite numbers always serialise.
    let text = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
    let text: String = text.chars().map(|c| if is_override(c) { '\u{fffd}' } else { c }).collect();
    text.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let text = Escaped("<b a=\"1\" b='2'>&\u{1}\u{202e}").to_string();
        assert_eq!(text, "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;\u{fffd}\u{fffd}");
    }

    #[test]
    fn json_cannot_end_its_element() {
        let text = json(&["</script><!--", "a\u{2028}b"]);
        assert!(!text.contains('<') && !text.contains('\u{2028}'));
        let back: Vec<String> = serde_json::from_str(&text).unwrap();
        assert_eq!(back, ["</script><!--", "a\u{2028}b"]);
    }
}
