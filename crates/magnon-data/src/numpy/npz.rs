//! `.npz`: a zip of `.npy` members.

use super::Array;
use crate::DataError;
use crate::store::{Budget, ReadSeek, Store, open_member, open_zip};
use std::io::Read;
use std::rc::Rc;
use zip::ZipArchive;

/// An open `.npz` file. Members are unpacked when they are asked for.
pub(crate) struct Npz {
    file: String,
    archive: ZipArchive<Box<dyn ReadSeek>>,
    budget: Rc<Budget>,
}

impl Npz {
    /// Opens a file of a store.
    pub(crate) fn open(store: &Store, name: &str) -> Result<Self, DataError> {
        let file = store.label(name);
        let (source, length) = store.open_seek(name)?;
        let archive = open_zip(source, length, &file)?;
        let budget = store.budget();
        if store.plain_path(name).is_some() {
            budget.add(&file, length);
        }
        Ok(Self { file, archive, budget })
    }

    /// How errors call the file.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The names of the members, without `.npy`.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.archive.file_names_raw().map(|name| {
            let name = String::from_utf8_lossy(name);
            name.strip_suffix(".npy").unwrap_or(&name).to_owned()
        });
        names.collect()
    }

    /// Whether there is a member of that name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.archive.index_for_name_raw(format!("{name}.npy").as_bytes()).is_some()
    }

    /// A member, ready to be decoded.
    pub(crate) fn array(&mut self, name: &str) -> Result<Array<impl Read>, DataError> {
        let label = format!("{} ({name})", self.file);
        let index = self.archive.index_for_name_raw(format!("{name}.npy").as_bytes());
        let index = index
            .ok_or_else(|| DataError::format(&self.file, format!("has no member '{name}'")))?;
        let room = self.budget.room(&label);
        let (member, size) = open_member(&mut self.archive, index, room, &label)?;
        self.budget.draw(&label, size);
        Array::open(&label, member.take(size), size)
    }

    /// A member's text, where it is a single one.
    pub(crate) fn word(&mut self, name: &str) -> Result<String, DataError> {
        let words = self.array(name)?.strings()?;
        words.into_iter().next().ok_or_else(|| {
            DataError::format(format!("{} ({name})", self.file), "it should hold one word")
        })
    }
}
