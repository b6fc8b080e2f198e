//! XML, one event at a time.

use super::ends_early;
use crate::DataError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// What is met on the way through a document.
pub(super) enum Step {
    /// An element starts: its name and its attributes, without prefixes.
    Start(String, Vec<(String, String)>),
    /// Text between elements.
    Text(String),
    /// An element ends.
    End(String),
}

/// Walks through a document and hands every step to `visit`.
pub(super) fn walk(
    bytes: &[u8],
    file: &str,
    mut visit: impl FnMut(Step) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut reader = Reader::from_reader(bytes);
    let config = reader.config_mut();
    config.trim_text(true);
    config.expand_empty_elements = true;
    let (mut open, mut ended) = (0usize, false);
    loop {
        let at = reader.buffer_position() as usize;
        let broken = |problem: String| {
            let line = crate::text::line_of(bytes, at);
            DataError::line(file, line, format!("broken XML: {problem}"))
        };
        match reader.read_event().map_err(|error| broken(error.to_string()))? {
            Event::Eof if open > 0 => {
                return Err(ends_early(bytes, file, "an element is not closed"));
            }
            Event::Eof => return Ok(()),
            Event::Start(_) | Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if ended => {
                return Err(broken("there is more behind the end of the root element".to_owned()));
            }
            Event::Start(start) => {
                open += 1;
                let attributes = attributes(&start).map_err(broken)?;
                visit(Step::Start(local(start.name().as_ref()), attributes))?;
            }
            Event::End(end) => {
                open = open.saturating_sub(1);
                ended = open == 0;
                visit(Step::End(local(end.name().as_ref())))?;
            }
            Event::Text(text) => {
                let text = text.decode().map_err(|error| broken(error.to_string()))?;
                visit(Step::Text(text.into_owned()))?;
            }
            Event::CData(data) => {
                visit(Step::Text(String::from_utf8_lossy(&data).into_owned()))?;
            }
            // `&amp;` and its like stand on their own.
            Event::GeneralRef(reference) => {
                let name = reference.decode().map_err(|error| broken(error.to_string()))?;
                let code = reference.resolve_char_ref().ok().flatten();
                let text = code.map(String::from).or_else(|| {
                    quick_xml::escape::resolve_predefined_entity(&name).map(str::to_owned)
                });
                visit(Step::Text(text.unwrap_or_default()))?;
            }
            _ => {}
        }
    }
}

/// A name without its prefix.
fn local(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    name.rsplit(':').next().unwrap_or_default().to_owned()
}

fn attributes(start: &BytesStart) -> Result<Vec<(String, String)>, String> {
    start
        .attributes()
        .map(|attribute| {
            let attribute = attribute.map_err(|error| error.to_string())?;
            let value = attribute
                .normalized_value(XmlVersion::Explicit1_0)
                .map_err(|error| error.to_string())?;
            Ok((local(attribute.key.as_ref()), value.into_owned()))
        })
        .collect()
}

/// The value of an attribute.
pub(super) fn value<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
