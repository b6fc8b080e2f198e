//! Where the parts of a packed graph lie in its file.
//!
//! The file begins with a page of 4096 bytes: `MAGNONGR`, the version, the number 0x01020304 (all numbers are
//! little-endian), the length of a header and its CRC-32, and the header in JSON. It names the sections that
//! follow, each at a multiple of 4096 bytes with a CRC-32 of its own:
//!
//! | section | numbers | what |
//! |---|---|---|
//! | `offsets` | n + 1 of 64 bits | where the rows of the symmetric pattern begin |
//! | `out_offsets` | n + 1 of 64 bits | where the edges of each node begin |
//! | `degrees` | 2n of 32 bits | edges out of and into each node |
//! | `columns` | stored + 64 of 32 bits | column in 30 bits; above 0 both edges, 1 only u → v, 2 only v → u |
//! | `weights` | 2 (stored + 64) of 32 bits | A(u,v) and A(v,u), where edges have weights |
//! | `targets` | edges of 32 bits | the targets of all edges, node after node |
//! | `out_weights` | edges of 32 bits | their weights, where they have some |
//! | `numbers` | n of 64 bits | the ids of the nodes, where they are numbers other than 0, 1, 2… |
//! | `words` | lengths of 32 bits before UTF-8 | the names of the nodes, where they have names |
//!
//! A part of a graph that was cut has `offsets`, `columns`, maybe `weights`, and `nodes`: n numbers of 64 bits, which nodes of
//! the whole graph its own are.

use crate::DataError;
use serde::{Deserialize, Serialize};
use std::path::Path;

const MAGIC: &[u8; 8] = b"MAGNONGR";
/// The version of the format.
pub(super) const VERSION: u32 = 2;
const ORDER: u32 = 0x0102_0304;
/// Sections begin at multiples of this.
pub(super) const PAGE: u64 = 4096;
/// What stands before the header: magic, version, order, length, checksum.
const BEFORE: usize = 8 + 4 * 4;

/// A section of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Section {
    pub name: String,
    pub start: u64,
    pub bytes: u64,
    pub crc32: u32,
}

/// What the header says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Header {
    pub nodes: u64,
    pub stored: u64,
    pub edges: u64,
    /// Edges of the data, before repeated ones were merged.
    pub given: u64,
    pub self_loops: u64,
    pub keeps_self_loops: bool,
    pub duplicates: u64,
    pub directed: bool,
    pub weighted: bool,
    /// Which part of a graph that was cut this is; `None` for a whole one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOf>,
    pub sections: Vec<Section>,
}

/// Which part of how many of a graph of so many nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartOf {
    pub index: u64,
    pub parts: u64,
    pub nodes: u64,
}

impl Header {
    /// The section of a name.
    pub fn section(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// The first page of the file.
    pub fn encode(&self, file: &Path) -> Result<Vec<u8>, DataError> {
        let wrong = |problem: String| DataError::format(file.display().to_string(), problem);
        let text = serde_json::to_vec(self).map_err(|error| wrong(error.to_string()))?;
        let mut page = MAGIC.to_vec();
        for number in [VERSION, ORDER, text.len() as u32, crc32fast::hash(&text)] {
            page.extend_from_slice(&number.to_le_bytes());
        }
        page.extend_from_slice(&text);
        if page.len() > PAGE as usize {
            return Err(wrong("its header does not fit a page".to_owned()));
        }
        page.resize(PAGE as usize, 0);
        Ok(page)
    }

    /// Reads the first page of a file.
    pub fn decode(page: &[u8], file: &str) -> Result<Self, DataError> {
        let wrong = |problem: String| DataError::format(file, problem);
        if !is_packed(page) {
            return Err(wrong("not a packed graph: it does not start with MAGNONGR".to_owned()));
        }
        let number = |at: usize| {
            let bytes = page.get(8 + 4 * at..12 + 4 * at).and_then(|bytes| bytes.try_into().ok());
            bytes.map(u32::from_le_bytes)
        };
        let (Some(version), Some(order), Some(length), Some(sum)) =
            (number(0), number(1), number(2), number(3))
        else {
            return Err(wrong("truncated: it ends within its header".to_owned()));
        };
        if version != VERSION {
            return Err(wrong(format!(
                "it is of format version {version}, and this magnon reads version {VERSION}; pack the graph again"
            )));
        }
        if order != ORDER {
            return Err(wrong(
                "its numbers are not little-endian; pack the graph again".to_owned(),
            ));
        }
        let text = page.get(BEFORE..).and_then(|rest| rest.get(..length as usize));
        let text = text.ok_or_else(|| wrong("truncated: it ends within its header".to_owned()))?;
        if crc32fast::hash(text) != sum {
            return Err(wrong(
                "the checksum of its header does not match: the file is damaged".to_owned(),
            ));
        }
        serde_json::from_slice(text)
            .map_err(|error| wrong(format!("its header is not ours: {error}")))
    }
}

/// Whether a file begins like a packed graph.
pub(crate) fn is_packed(start: &[u8]) -> bool {
    start.starts_with(MAGIC)
}

/// Where the sections begin whose sizes follow from the number of nodes, and the one after them.
#[derive(Clone, Copy)]
pub(super) struct Places {
    pub offsets: u64,
    pub out_offsets: u64,
    pub degrees: u64,
    pub columns: u64,
}

/// The places in the file of a graph of `nodes` nodes.
pub(super) fn fixed_places(nodes: u64) -> Places {
    let after = |start: u64, bytes: u64| (start + bytes).next_multiple_of(PAGE);
    let offsets = PAGE;
    let out_offsets = after(offsets, 8 * (nodes + 1));
    let degrees = after(out_offsets, 8 * (nodes + 1));
    Places { offsets, out_offsets, degrees, columns: after(degrees, 8 * nodes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_back_and_damage_is_seen() {
        let section = Section { name: "offsets".into(), start: 4096, bytes: 16, crc32: 7 };
        let header = Header { nodes: 1, sections: vec![section], ..Header::default() };
        let page = header.encode(Path::new("f")).unwrap();
        assert_eq!(Header::decode(&page, "f").unwrap(), header);
        for (at, word) in [(0, "MAGNONGR"), (8, "version"), (12, "little-endian"), (30, "checksum")]
        {
            let mut page = page.clone();
            page[at] ^= 1;
            let error = Header::decode(&page, "f").unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
        for length in [0, 9, 20, 40] {
            assert!(Header::decode(&page[..length], "f").is_err());
        }
    }
}
