//! A folder for the files of an input, made once per process: in memory, where `TMPDIR` says so.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder for temporary files"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Writes a file, or removes it.
    pub fn put(&self, name: &str, bytes: Option<&[u8]>) {
        let path = self.0.path().join(name);
        let Some(bytes) = bytes else {
            let _ = fs::remove_file(path); // it may not be there
            return;
        };
        if let Err(error) = fs::write(&path, bytes) {
            // The first time, its folder is missing.
            let folder = path.parent().unwrap_or_else(|| panic!("{error}"));
            fs::create_dir_all(folder).expect("room for temporary files");
            fs::write(&path, bytes).expect("room for temporary files");
        }
    }
}
