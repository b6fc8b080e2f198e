//! The one place where the sizes that columnar files claim are believed or not.
//!
//! A few bytes can stand for any number of rows: runs, dictionaries, pages and buffers that unpack, columns of nothing.
//! What is made of a file is therefore counted before it is made, against what the bytes on disk allow.

use crate::DataError;
use std::cell::Cell;

/// How much may be made of a file, and how much was.
pub(crate) struct Room {
    file: String,
    limit: u64,
    made: Cell<u64>,
}

impl Room {
    /// Room for `limit` bytes, see [`Store::allowance`](crate::store::Store::allowance).
    pub(crate) fn new(file: String, limit: u64) -> Self {
        Self { file, limit, made: Cell::new(0) }
    }

    /// The file, for errors.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// The most bytes that may be made.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Makes sure that `bytes` bytes may be asked for, for a while.
    pub(crate) fn lend(&self, bytes: u64, what: &str) -> Result<(), DataError> {
        if bytes <= self.limit {
            return Ok(());
        }
        let limit = self.limit;
        let problem = format!(
            "{what} need {bytes} bytes, where the size on disk allows {limit}: refused as a possible \
             decompression bomb; if it can be trusted, write it without compression and dictionary encoding, \
             or as csv"
        );
        Err(DataError::format(&self.file, problem))
    }

    /// Takes `bytes` bytes that are kept.
    pub(crate) fn take(&self, bytes: u64, what: &str) -> Result<(), DataError> {
        let made = self.made.get().saturating_add(bytes);
        self.lend(made, what)?;
        self.made.set(made);
        Ok(())
    }

    /// An error about damage.
    pub(crate) fn damaged(&self, problem: impl std::fmt::Display) -> DataError {
        DataError::format(&self.file, format!("damaged: {problem}; fetch it again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_adds_up() {
        let room = Room::new("f".into(), 100);
        room.lend(100, "pages").unwrap();
        room.take(60, "rows").unwrap();
        room.take(40, "rows").unwrap();
        let error = room.take(1, "rows").unwrap_err().to_string();
        assert!(
            error.starts_with("f: rows need 101 bytes, where the size on disk allows 100"),
            "{error}"
        );
        assert!(room.take(u64::MAX, "rows").is_err());
    }
}
