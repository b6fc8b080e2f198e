//! What is known of a data set: its name and its files.

/// A data set that can be fetched by name.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What it is called, and the name of its folder.
    pub name: &'static str,
    /// Other names that it is found by.
    pub aliases: &'static [&'static str],
    /// One sentence on what it is.
    pub description: &'static str,
    /// The number of nodes, where it is known.
    pub nodes: Option<u64>,
    /// The number of edges as stored, where it is known: two for a pair in a symmetric matrix.
    pub edges: Option<u64>,
    /// What one should know before using it.
    pub note: Option<&'static str>,
    /// The files of its folder.
    pub files: &'static [File],
}

impl Entry {
    /// The name and the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Whether every file has a checksum to hold it against.
    pub fn is_verified(&self) -> bool {
        self.files.iter().all(File::is_verified)
    }

    /// The number of bytes of all files, where it is known.
    pub fn size(&self) -> Option<u64> {
        self.files.iter().map(|file| file.size).sum()
    }
}

/// One file of a data set.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path inside the folder of the data set, with `/`.
    pub path: &'static str,
    /// Where it comes from.
    pub address: &'static str,
    /// Its size in bytes, where it is known.
    pub size: Option<u64>,
    /// Its sha256 in hexadecimal digits, where it is known.
    pub sha256: Option<&'static str>,
    /// Its id as a blob of git (a sha1), where only that is known.
    pub git_blob: Option<&'static str>,
}

impl File {
    /// A file of known size and sha256.
    pub const fn known(
        path: &'static str,
        address: &'static str,
        size: u64,
        sha256: &'static str,
    ) -> Self {
        Self { path, address, size: Some(size), sha256: Some(sha256), git_blob: None }
    }

    /// A file of which only the id in git is known.
    pub const fn of_blob(path: &'static str, address: &'static str, id: &'static str) -> Self {
        Self { path, address, size: None, sha256: None, git_blob: Some(id) }
    }

    /// A file of which only the address is known.
    pub const fn unknown(path: &'static str, address: &'static str) -> Self {
        Self { path, address, size: None, sha256: None, git_blob: None }
    }

    /// Whether there is a checksum to hold the file against.
    pub const fn is_verified(&self) -> bool {
        self.sha256.is_some() || self.git_blob.is_some()
    }

    /// The checksum to hold the file against, as an error shows it.
    pub(crate) fn checksum(&self) -> String {
        match (self.sha256, self.git_blob) {
            (Some(sha256), _) => format!("sha256 {sha256}"),
            (None, Some(blob)) => format!("git blob {blob}"),
            (None, None) => "unknown".into(),
        }
    }
}
