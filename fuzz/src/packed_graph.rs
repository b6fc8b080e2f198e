//! Packed graphs: the header and the sections are changed, and the file is put together again with checksums and places
//! that are right, so that changes reach what is behind.

use crate::fixtures::fixtures;
use crate::reader::check;
use crate::scratch::Scratch;
use crate::{Seeds, Test, bundle};
use magnon::data::{LoadConfig, load};
use serde_json::{Value, json};

const FILE: &str = "g.magnon";
const PAGE: usize = 4096;
/// Magic, version, order of bytes; the length of the header and its checksum come after them.
const START: usize = 16;

/// The fixture's header and sections.
pub fn seeds() -> Seeds {
    let (_, files) = fixtures().into_iter().find(|(data, _)| *data == FILE).expect("the fixture");
    let file = &files[0].1;
    let length = u32::from_le_bytes(file[START..START + 4].try_into().expect("a length"));
    let header = &file[START + 8..][..length as usize];
    let parsed: Value = serde_json::from_slice(header).expect("a header");
    let number = |section: &Value, key: &str| section[key].as_u64().expect("a number") as usize;
    let sections = parsed["sections"].as_array().expect("sections").iter();
    let sections =
        sections.map(|section| &file[number(section, "start")..][..number(section, "bytes")]);
    let parts: Vec<&[u8]> = std::iter::once(header).chain(sections).collect();
    vec![bundle::join(&parts)]
}

pub fn test() -> Test {
    let start = fixtures().into_iter().find(|(data, _)| *data == FILE);
    let start = start.expect("the fixture").1[0].1[..START].to_vec();
    let scratch = Scratch::new();
    Box::new(move |input| {
        let parts = bundle::split(input);
        scratch.put(FILE, Some(&file(&start, &parts)));
        if let Ok(dataset) = load(&scratch.path().join(FILE), &LoadConfig::default()) {
            check(&dataset);
        }
    })
}

/// The file of such a header and such sections.
fn file(start: &[u8], parts: &[Option<&[u8]>]) -> Vec<u8> {
    let header = parts.first().copied().flatten().unwrap_or_default();
    let mut sections = Vec::new();
    let mut header: Value = match serde_json::from_slice(header) {
        Ok(header) => header,
        Err(_) => return page(start, header),
    };
    let listed = header.get_mut("sections").and_then(Value::as_array_mut);
    for (at, section) in listed.into_iter().flatten().enumerate() {
        let bytes = parts.get(at + 1).copied().flatten().unwrap_or_default();
        if let Some(section) = section.as_object_mut() {
            section.insert("start".into(), json!(PAGE + sections.len()));
            section.insert("bytes".into(), json!(bytes.len()));
            section.insert("crc32".into(), json!(crc32fast::hash(bytes)));
        }
        sections.extend_from_slice(bytes);
        // Nothing comes after the last section.
        if parts.get(at + 2).is_some() {
            sections.resize(sections.len().next_multiple_of(PAGE), 0);
        }
    }
    [page(start, header.to_string().as_bytes()), sections].concat()
}

/// The first page of a file.
fn page(start: &[u8], header: &[u8]) -> Vec<u8> {
    let sizes = [header.len() as u32, crc32fast::hash(header)].map(u32::to_le_bytes).concat();
    let mut page = [start, &sizes, header].concat();
    page.resize(page.len().max(PAGE), 0);
    page
}
