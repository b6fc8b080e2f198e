//! `Journal`: the finished jobs of a long call, kept line by line, so that it can go on.

use crate::Error;
use crate::data::{DataError, Dataset, fingerprint};
use crate::disk;
use crate::run::FileError;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A finished job.
pub trait Job: Clone + Serialize + DeserializeOwned {
    /// The kind of call that it is of.
    const CALL: &'static str;
    /// A name for it, with everything that its result depends on but the data.
    fn key(&self) -> &str;
}

/// The first line: what the jobs are about.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Header {
    magnon: String,
    call: String,
    /// A checksum of the graph, the features and the labels.
    data: String,
}

/// Finished jobs in a file of JSON lines, each with its checksum and written as soon as it is known. A line that a kill
/// has cut short is dropped; a job whose line is damaged is done again.
#[derive(Debug)]
pub struct Journal<J> {
    path: PathBuf,
    file: File,
    jobs: HashMap<String, J>,
    /// Whether the call goes on where a job cannot be kept, and the error after which none was.
    passing: bool,
    fault: Option<DataError>,
}

impl<J: Job> Journal<J> {
    /// Opens the journal of calls on a data set, or begins one. A file about other data, or of
    /// another version, is refused.
    pub fn open(path: &Path, dataset: &Dataset) -> Result<Self, Error> {
        Self::open_about(path, fingerprint(dataset))
    }

    /// Opens the journal of calls about something, or begins one.
    pub(super) fn open_about(path: &Path, data: String) -> Result<Self, Error> {
        let own =
            Header { magnon: env!("CARGO_PKG_VERSION").to_owned(), call: J::CALL.to_owned(), data };
        let failed = |action, reason| DataError::Io { path: path.to_owned(), action, reason };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|reason| failed("make the folder of", reason))?;
        }
        let mut file = disk::open_own(path).map_err(|reason| failed("open", reason))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let problem = "another process is writing to it; wait for its end".to_owned();
            return Err(FileError::Broken { path: path.to_owned(), problem }.into());
        }
        let foreign = || FileError::Foreign { path: path.to_owned() };
        let header = json(path, &own)?;
        let mut jobs = HashMap::new();
        let mut reader = BufReader::new(&file);
        let mut end = 0u64;
        let mut line = Vec::new();
        let mut first = true;
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line);
            let read = read.map_err(|reason| failed("read", reason))?;
            if read == 0 || line.last() != Some(&b'\n') {
                // Without a whole first line it is ours only where a kill has cut ours short.
                if first && !header.as_bytes().starts_with(&line) {
                    return Err(foreign().into());
                }
                break;
            }
            if first {
                if serde_json::from_slice::<Header>(&line).ok().as_ref() != Some(&own) {
                    return Err(foreign().into());
                }
                first = false;
            } else if let Some(job) = unseal::<J>(&line) {
                jobs.insert(job.key().to_owned(), job);
            }
            end += read as u64;
        }
        file.set_len(end).map_err(|reason| failed("write", reason))?;
        file.seek(SeekFrom::End(0)).map_err(|reason| failed("write", reason))?;
        let mut journal = Self { path: path.to_owned(), file, jobs, passing: false, fault: None };
        if first {
            journal.append(&header)?;
        }
        Ok(journal)
    }

    /// The same journal, without which the call can do: where a job cannot be kept, no more are, and it goes on.
    pub fn passing(self) -> Self {
        Self { passing: true, ..self }
    }

    /// Why jobs are not kept any more.
    pub fn fault(&self) -> Option<&DataError> {
        self.fault.as_ref()
    }

    /// A file name for the journal of a data set, which no other data set has.
    pub fn file_name(dataset: &Dataset) -> String {
        format!("{}-{}.jsonl", J::CALL, fingerprint(dataset))
    }

    /// Number of jobs that are known.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// The jobs that are known, in any order.
    pub(super) fn all(&self) -> impl Iterator<Item = &J> {
        self.jobs.values()
    }

    /// A job that is known.
    pub(super) fn get(&self, key: &str) -> Option<&J> {
        self.jobs.get(key)
    }

    /// Keeps a job.
    pub(super) fn keep(&mut self, job: &J) -> Result<(), Error> {
        let record = json(&self.path, job)?;
        if self.fault.is_none() {
            match self.append(&format!("{}{record}}}", prefix(&record))) {
                Err(error) if self.passing => self.fault = Some(error),
                kept => kept?,
            }
        }
        self.jobs.insert(job.key().to_owned(), job.clone());
        Ok(())
    }

    fn append(&mut self, text: &str) -> Result<(), DataError> {
        // One call per line, so that an end in the middle cuts at most the last one.
        let written = self.file.write_all(format!("{text}\n").as_bytes());
        let path = self.path.clone();
        written.map_err(|reason| DataError::Io { path, action: "write", reason })
    }
}

fn json(path: &Path, value: &impl Serialize) -> Result<String, Error> {
    let broken = |error: serde_json::Error| FileError::Broken {
        path: path.to_owned(),
        problem: error.to_string(),
    };
    Ok(serde_json::to_string(value).map_err(broken)?)
}

/// What stands before a record in its line: the checksum of its text.
fn prefix(record: &str) -> String {
    format!("{{\"crc32\":\"{:08x}\",\"record\":", crc32fast::hash(record.as_bytes()))
}

/// The record of a line, where it is as it was written.
fn unseal<J: DeserializeOwned>(line: &[u8]) -> Option<J> {
    let line = std::str::from_utf8(line).ok()?.strip_suffix("}\n")?;
    let record = line.get(prefix("").len()..)?;
    (line.strip_suffix(record)? == prefix(record)).then(|| serde_json::from_str(record).ok())?
}
