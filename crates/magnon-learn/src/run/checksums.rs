//! `checksums.json`: what the files of a run were when it came to its end.

use crate::tensors::FileError;
use magnon_data::disk::{self, checksum, seal, unseal};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// The checksum of each file, by its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Checksums(BTreeMap<String, String>);

impl Checksums {
    /// The file's name.
    pub const NAME: &str = "checksums.json";

    /// Notes a file.
    pub fn add(&mut self, name: &str, parts: &[&[u8]]) {
        self.0.insert(name.to_owned(), checksum(parts));
    }

    /// Whether a file is what it was.
    pub fn knows(&self, name: &str, bytes: &[u8]) -> bool {
        self.0.get(name) == Some(&checksum(&[bytes]))
    }

    /// The file's text.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        seal(&self.0)
    }

    /// Reads the file of a run folder.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(Self::NAME);
        let text = disk::read(&path).map_err(|reason| match reason.kind() {
            ErrorKind::NotFound => FileError::Broken {
                path: path.clone(),
                problem: "it is missing, so that nothing vouches for the run; train again"
                    .to_owned(),
            },
            _ => FileError::Read { path: path.clone(), reason },
        })?;
        let sums = unseal(&text).and_then(|sums| serde_json::from_value(sums).ok());
        sums.map(Self).ok_or(FileError::Changed { path })
    }
}
