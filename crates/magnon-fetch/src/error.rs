//! Why a data set could not be fetched.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a data set could not be fetched. The words say all of it: what is wrong, the address, and
/// what to do; there is no further source behind it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// No data set has this name.
    #[error("there is no data set '{name}'; {hint}")]
    Unknown {
        /// The name that was asked for.
        name: String,
        /// The nearest name, or where to find them all.
        hint: String,
    },
    /// No checksum of a file is known, and such files were not allowed.
    #[error(
        "no checksum of {address} is known, so it would be taken on trust; allow unverified files \
         to fetch it all the same, and its sha256 will be shown"
    )]
    Unverified {
        /// Where the file comes from.
        address: String,
    },
    /// The server could not be reached.
    #[error(
        "cannot reach {address}: {problem}; check the network and the proxy variables, or \
         download it by other means and put it at {path}, where it is checked and taken",
        path = path.display()
    )]
    NoNetwork {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// What the network said.
        problem: String,
    },
    /// The server answered, but not in time.
    #[error(
        "{address} sent nothing for {:.1} s; try again later, which goes on from what was \
         received, or download it by other means and put it at {path}",
        waited.as_secs_f64(),
        path = path.display()
    )]
    TimedOut {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// The limit that passed.
        waited: Duration,
    },
    /// The server sent too little.
    #[error(
        "{address} sent less than {slowest} bytes per second; try again later, which resumes from what was received, or \
         download it by other means and put it at {path}",
        path = path.display()
    )]
    TooSlow {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// The limit, in bytes a second.
        slowest: u64,
    },
    /// The connection broke again and again.
    #[error(
        "{address} broke off after {received} bytes: {problem}; try again, which goes on from \
         there, or download it by other means and put it at {path}",
        path = path.display()
    )]
    BrokenOff {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// The bytes that are kept.
        received: u64,
        /// What the network said.
        problem: String,
    },
    /// The server refused, or does not have the file.
    #[error(
        "{address} answers with status {status}{meaning}; look for the file elsewhere and put it \
         at {path}, where it is checked and taken",
        meaning = meaning(*status),
        path = path.display()
    )]
    Status {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// The status of HTTP.
        status: u16,
    },
    /// The server's answer cannot be used: a redirect without encryption, say.
    #[error(
        "the answer of {address} cannot be used: {problem}; download the file by other means and \
         put it at {path}, where it is checked and taken",
        path = path.display()
    )]
    Answer {
        /// The address that was asked.
        address: String,
        /// Where the file may be put by hand.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The certificates to trust cannot be read.
    #[error(
        "{path}, which SSL_CERT_FILE names, cannot be used: {problem}; correct the variable, or \
         unset it to trust the certificates that come with the program",
        path = path.display()
    )]
    Certificates {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file that came is not the one that is known.
    #[error(
        "{address} sent another file: its checksum is {found}, not {expected}; nothing was kept. \
         If the file was changed on purpose, this version of the table does not know it"
    )]
    Checksum {
        /// The address that was asked.
        address: String,
        /// The checksum that is known.
        expected: String,
        /// The checksum that was found.
        found: String,
    },
    /// A file was in place that is not the one that is known, and could not be replaced.
    #[error(
        "{path} is not the file of {address}: its checksum is {found}, not {expected}; it could \
         not be replaced: {problem}",
        path = path.display()
    )]
    WrongFile {
        /// The file in place.
        path: PathBuf,
        /// Where the right one comes from.
        address: String,
        /// The checksum that is known.
        expected: String,
        /// The checksum that was found.
        found: String,
        /// Why the right one could not be fetched.
        problem: Box<FetchError>,
    },
    /// More bytes came, or were announced, than there may be.
    #[error("{address} is larger than {limit} bytes, {reason}; nothing was kept")]
    TooLarge {
        /// The address that was asked.
        address: String,
        /// The limit.
        limit: u64,
        /// Where the limit comes from, and what to do.
        reason: &'static str,
    },
    /// The receiver of the progress said to stop.
    #[error("stopped while fetching {address}; fetch again to go on from what was received")]
    Cancelled {
        /// The address that was asked.
        address: String,
    },
    /// Another process fetches the same file.
    #[error("{path} is being fetched by another process; wait until it is done", path = path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The file system said no.
    #[error(
        "{path}: cannot {action}: {reason}; see that there is room and that you may write there, \
         or set MAGNON_CACHE to another folder",
        path = path.display()
    )]
    Disk {
        /// The file or folder at fault.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// The system's words.
        reason: io::Error,
    },
}

impl FetchError {
    /// For `map_err` on what the file system answers.
    pub(crate) fn disk(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |reason| Self::Disk { path: path.to_owned(), action, reason }
    }
}

fn meaning(status: u16) -> &'static str {
    match status {
        401 | 403 => " (no entry)",
        404 | 410 => " (it is not there any more)",
        429 => " (too many requests)",
        500.. => " (the server has a fault)",
        _ => "",
    }
}
