//! How to fetch, and what is told on the way.

use crate::File;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How data sets are fetched.
///
/// | field | default | purpose |
/// |---|---|---|
/// | `cache` | [`cache_folder`](crate::cache_folder) | where the folders of data sets lie |
/// | `allow_unverified` | `false` | take files of which no checksum is known |
/// | `connect_timeout` | 15 s | for name resolution, and again for the connection |
/// | `read_timeout` | 30 s | without a byte received |
/// | `slowest` | 1024 | bytes a second that an answer must bring, on average over a `read_timeout` |
/// | `retries` | 4 | further attempts after one that brought nothing |
/// | `first_wait` | 0.5 s | before the first of these; doubled each time, up to 30 s |
/// | `max_bytes` | 8 GiB | limit on a file whose size is not known |
/// | `address` | as it is | from the address of a file to the one that is asked, for mirrors |
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the folders of data sets lie.
    pub cache: Option<PathBuf>,
    /// Whether files are taken of which no checksum is known.
    pub allow_unverified: bool,
    /// Longest wait for the resolution of a name, and again for a connection.
    pub connect_timeout: Duration,
    /// Longest wait for the next bytes.
    pub read_timeout: Duration,
    /// Fewest bytes a second, on average over a `read_timeout`. A server that sends less would keep a process for days.
    pub slowest: u64,
    /// Further attempts after a failure that may pass. What was received is kept, and an attempt
    /// that brought a good part of the file does not count.
    pub retries: u32,
    /// The wait before the first of them.
    pub first_wait: Duration,
    /// The limit on a file whose size is not known.
    pub max_bytes: u64,
    /// Turns the address of a file into the one that is asked.
    pub address: Rewrite,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache: None,
            allow_unverified: false,
            connect_timeout: Duration::from_secs(15),
            read_timeout: Duration::from_secs(30),
            slowest: 1 << 10,
            retries: 4,
            first_wait: Duration::from_millis(500),
            max_bytes: 8 << 30,
            address: Rewrite::default(),
        }
    }
}

/// A map from the addresses of the table to those that are asked. By default they are the same.
#[derive(Clone)]
pub struct Rewrite(Arc<dyn Fn(&str) -> String + Send + Sync>);

impl Rewrite {
    /// A map that is given as a function.
    pub fn new(map: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(map))
    }

    /// The address to ask.
    pub fn apply(&self, address: &str) -> String {
        (self.0)(address)
    }
}

impl Default for Rewrite {
    fn default() -> Self {
        Self::new(str::to_owned)
    }
}

impl fmt::Debug for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rewrite(..)")
    }
}

/// What happens while a data set is fetched. The receiver says whether to go on.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A file is asked for.
    Started {
        /// The file.
        file: &'a File,
        /// Its place among the files, from 0.
        index: usize,
        /// The number of files.
        count: usize,
    },
    /// Bytes have come.
    Received {
        /// The file.
        file: &'a File,
        /// The bytes of it that are there, with those of earlier attempts.
        bytes: u64,
        /// All its bytes, where that is known.
        total: Option<u64>,
    },
    /// Something failed that may pass; another attempt follows.
    Waiting {
        /// The file.
        file: &'a File,
        /// What failed.
        problem: &'a str,
        /// The wait until the next attempt.
        wait: Duration,
    },
    /// A file was taken of which no checksum is known.
    Unverified {
        /// The file.
        file: &'a File,
        /// The sha256 that it was found to have.
        sha256: &'a str,
    },
    /// A file is in its place.
    Done {
        /// The file.
        file: &'a File,
    },
}
