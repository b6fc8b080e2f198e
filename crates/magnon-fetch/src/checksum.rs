//! Checksums of files.

use crate::File;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::{self, Read, Seek, SeekFrom};

/// What a file was found to be.
pub(crate) struct Found {
    /// The sha256 of its bytes, in hexadecimal digits.
    pub(crate) sha256: String,
    /// Its id in git, where that is what it must be held against.
    blob: Option<String>,
}

impl Found {
    /// Reads all of a file, from its start.
    pub(crate) fn of(mut source: impl Read + Seek, file: &File) -> io::Result<Self> {
        let size = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut sha256 = Sha256::new();
        let mut blob = file.git_blob.filter(|_| file.sha256.is_none()).map(|_| {
            let mut sha1 = Sha1::new();
            sha1.update(format!("blob {size}\0"));
            sha1
        });
        let mut buffer = vec![0; 1 << 16];
        loop {
            let count = match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let bytes = buffer.get(..count).unwrap_or_default();
            sha256.update(bytes);
            if let Some(sha1) = &mut blob {
                sha1.update(bytes);
            }
        }
        let sha256 = hexadecimal(&sha256.finalize());
        Ok(Self { sha256, blob: blob.map(|sha1| hexadecimal(&sha1.finalize())) })
    }

    /// Whether this is the file that it should be. True where nothing is known of the file.
    pub(crate) fn is(&self, file: &File) -> bool {
        match (file.sha256, file.git_blob) {
            (Some(sha256), _) => self.sha256.eq_ignore_ascii_case(sha256),
            (None, Some(id)) => self.blob.as_ref().is_some_and(|b| b.eq_ignore_ascii_case(id)),
            (None, None) => true,
        }
    }

    /// The checksum of the kind that is known of the file, as an error shows it.
    pub(crate) fn shown(&self) -> String {
        match &self.blob {
            Some(blob) => format!("git blob {blob}"),
            None => format!("sha256 {}", self.sha256),
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // a String takes everything
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn sums_are_those_of_sha256sum_and_git() {
        // printf 'hello\n' | sha256sum; printf 'hello\n' | git hash-object --stdin
        let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        let known = File::known("a", "https://a", 6, sha256);
        let blob = File::of_blob("a", "https://a", "ce013625030ba8dba906f756967f9e9ca394464a");
        for file in [known, blob] {
            assert!(Found::of(Cursor::new("hello\n"), &file).unwrap().is(&file));
            assert!(!Found::of(Cursor::new("hello"), &file).unwrap().is(&file));
        }
    }
}
