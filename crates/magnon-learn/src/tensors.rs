//! Files of named tensors with a table of words: safetensors, checked and versioned.

use crate::nn::NamedNumbers;
use magnon_core::compute::{Field, Shape};
use magnon_data::DataError;
use magnon_data::disk;
use magnon_data::write::{write_atomic, write_own};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Why a file of a run cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The file system said no.
    #[error(transparent)]
    Write(#[from] DataError),
    /// A file cannot be read.
    #[error("{path}: cannot read: {reason}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's words.
        reason: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A journal that is not of this work.
    #[error(
        "{path}: it holds results on other data, or of another command or version; choose another folder, or \
         remove it",
        path = path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A folder that holds a run already.
    #[error("{path}: it holds a run already; choose another folder", path = path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
    },
    /// A folder that another process writes in.
    #[error(
        "{path}: another process is training into it; wait for its end, or choose another folder",
        path = path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file that is not what was written.
    #[error(
        "{path}: it has changed since the run wrote it, by an edit or by damage; put it back as it was, or \
         train again; an edited configuration is for a new run",
        path = path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A run that has not come to its end.
    #[error("{path}: the run has not come to its end; go on with it first", path = path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// A file of another format version.
    #[error(
        "{path}: it is of format version {found}, and this magnon reads version {known}; train \
         the model again, or use the magnon that wrote it",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: String,
        /// Ours.
        known: &'static str,
    },
}

/// The format version of all files that are written here.
const VERSION: &str = "2";

/// Longest header that readers of the format take.
const LONGEST_HEADER: usize = 100_000_000;

/// What a file holds: words, and tensors of numbers in the order of their names.
#[derive(Debug, Default)]
pub(crate) struct Tensors {
    /// Words by key.
    pub words: HashMap<String, String>,
    tensors: Vec<Tensor>,
}

/// Name, type, axes and bytes.
type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

impl Tensors {
    /// Adds a matrix; a complex one gets a last axis of real and imaginary part.
    pub fn push_matrix(&mut self, name: &str, shape: Shape, numbers: &[f32]) {
        let mut axes = vec![shape.rows(), shape.cols()];
        if shape.field() == Field::Complex {
            axes.push(2);
        }
        self.push(name, Dtype::F32, axes, bytemuck::cast_slice(numbers));
    }

    /// Adds a row of numbers.
    pub fn push_row(&mut self, name: &str, numbers: &[f32]) {
        self.push(name, Dtype::F32, vec![numbers.len()], bytemuck::cast_slice(numbers));
    }

    /// Adds rows of six double precision numbers.
    pub fn push_table(&mut self, name: &str, rows: &[[f64; 6]]) {
        self.push(name, Dtype::F64, vec![rows.len(), 6], bytemuck::cast_slice(rows));
    }

    /// Adds a tensor.
    pub fn push(&mut self, name: &str, dtype: Dtype, axes: Vec<usize>, bytes: &[u8]) {
        self.tensors.push((name.to_owned(), dtype, axes, bytes.to_owned()));
    }

    /// The file that is to be written to a path.
    pub fn encode(&self, path: &Path, format: &str) -> Result<Encoded, FileError> {
        let broken = |problem: String| FileError::Broken { path: path.to_owned(), problem };
        let words = self.words.iter().map(|(key, word)| (key.as_str(), word.as_str()));
        let mut words: BTreeMap<&str, &str> = words.collect();
        words.extend([("format", format), ("version", VERSION)]);
        let checksum = checksum(&words, &self.tensors);
        words.insert("checksum", &checksum);
        let views: Result<Vec<_>, _> = self
            .tensors
            .iter()
            .map(|(name, dtype, axes, bytes)| {
                let view = TensorView::new(*dtype, axes.clone(), bytes);
                view.map(|view| (name.as_str(), view)).map_err(|e| broken(e.to_string()))
            })
            .collect();
        let bytes = safetensors::serialize(views?, None).map_err(|e| broken(e.to_string()))?;
        let words = serde_json::to_string(&words).map_err(|e| broken(e.to_string()))?;
        let (header, numbers) = with_words(&bytes, &words);
        if header.len() > LONGEST_HEADER {
            let problem = "its words are longer than a safetensors file may have them, 100 MB";
            return Err(broken(problem.to_owned()));
        }
        let from = bytes.len() - numbers.len();
        Ok(Encoded { length: (header.len() as u64).to_le_bytes(), header, bytes, from })
    }

    /// Writes a file of ours: whole, or not at all.
    pub fn write(&self, path: &Path, format: &str) -> Result<(), FileError> {
        let file = self.encode(path, format)?;
        Ok(write_own(path, |out| file.parts().iter().try_for_each(|part| out.write_all(part)))?)
    }

    /// Reads a file of the given format, and refuses other versions.
    pub fn read(path: &Path, format: &str) -> Result<Self, FileError> {
        Self::parse(path, &bytes_of(path)?, format)
    }

    /// The same of the bytes of the file.
    pub fn parse(path: &Path, bytes: &[u8], format: &str) -> Result<Self, FileError> {
        let broken = |problem: String| FileError::Broken { path: path.to_owned(), problem };
        let not_ours = |error| broken(format!("not a safetensors file: {error}"));
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(not_ours)?;
        let words = metadata.metadata().clone().unwrap_or_default();
        if words.get("format").map(String::as_str) != Some(format) {
            return Err(broken(format!("it is not a {format} file that magnon wrote")));
        }
        let version = words.get("version").cloned().unwrap_or_default();
        if version != VERSION {
            let path = path.to_owned();
            return Err(FileError::Version { path, found: version, known: VERSION });
        }
        let file = SafeTensors::deserialize(bytes).map_err(not_ours)?;
        let mut tensors = Vec::new();
        for (name, view) in file.iter() {
            let axes = view.shape().to_vec();
            tensors.push((name.to_owned(), view.dtype(), axes, view.data().to_owned()));
        }
        // The crate hands them out in the order of a hash table, which is another in every process.
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let found = words.get("checksum").cloned().unwrap_or_default();
        let named: BTreeMap<&str, &str> =
            words.iter().map(|(key, word)| (key.as_str(), word.as_str())).collect();
        if checksum(&named, &tensors) != found {
            return Err(broken("its checksum does not match: the file is damaged".to_owned()));
        }
        Ok(Self { words, tensors })
    }

    /// All single precision matrices; a last axis of 2 beyond rows and columns is a complex one.
    pub fn matrices(&self) -> Result<Vec<NamedNumbers>, String> {
        let matrix = |(name, _, axes, _): &Tensor| {
            let shape = match axes[..] {
                [rows, cols] => Shape::checked(rows, cols, Field::Real),
                [rows, cols, 2] => Shape::checked(rows, cols, Field::Complex),
                _ => None,
            };
            let shape = shape.ok_or_else(|| format!("{name} is no matrix"))?;
            Ok((name.clone(), shape, self.numbers(name)?))
        };
        self.tensors.iter().map(matrix).collect()
    }

    /// Axes and bytes of a tensor of this type.
    pub fn get(&self, name: &str, dtype: Dtype) -> Result<(&[usize], &[u8]), String> {
        let found = self.tensors.iter().find(|tensor| tensor.0 == name);
        match found {
            Some((_, found, axes, bytes)) if *found == dtype => Ok((axes, bytes)),
            Some((_, found, ..)) => Err(format!("{name} holds {found:?}, not {dtype:?}")),
            None => Err(format!("it lacks {name}")),
        }
    }

    /// The single precision numbers of a tensor.
    pub fn numbers(&self, name: &str) -> Result<Vec<f32>, String> {
        let (_, bytes) = self.get(name, Dtype::F32)?;
        Ok(bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect())
    }

    /// Rows of six double precision numbers.
    pub fn table(&self, name: &str) -> Result<Vec<[f64; 6]>, String> {
        let (_, bytes) = self.get(name, Dtype::F64)?;
        let numbers: Vec<f64> =
            bytes.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
        Ok(numbers.as_chunks().0.to_vec())
    }

    /// A word, read as whatever it stands for.
    pub fn word<T: std::str::FromStr>(&self, key: &str) -> Result<T, String> {
        let word = self.words.get(key).ok_or_else(|| format!("it lacks the entry '{key}'"))?;
        word.parse().map_err(|_| format!("its entry '{key}' is '{word}'"))
    }
}

/// The bytes of a file.
pub(crate) struct Encoded {
    /// Of the header.
    length: [u8; 8],
    header: String,
    /// The numbers come after another header, which is left out.
    bytes: Vec<u8>,
    from: usize,
}

impl Encoded {
    /// The bytes, piece by piece.
    pub fn parts(&self) -> [&[u8]; 3] {
        [&self.length, self.header.as_bytes(), &self.bytes[self.from..]]
    }

    /// Writes them: whole, or not at all.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let parts = self.parts();
        Ok(write_atomic(path, |out| parts.iter().try_for_each(|part| out.write_all(part)))?)
    }
}

/// The bytes of a file.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, FileError> {
    disk::read(path).map_err(|reason| FileError::Read { path: path.to_owned(), reason })
}

/// A checksum of everything in a file but the checksum itself. A damaged bit would go unseen
/// otherwise: every bit pattern is a number.
fn checksum(words: &BTreeMap<&str, &str>, tensors: &[Tensor]) -> String {
    let mut sum = crc32fast::Hasher::new();
    for (key, word) in words.iter().filter(|(key, _)| **key != "checksum") {
        sum.update(format!("{key}={word}\n").as_bytes());
    }
    // Tensors lie in a file in another order than they were pushed in.
    let mut tensors: Vec<&Tensor> = tensors.iter().collect();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, dtype, axes, bytes) in tensors {
        sum.update(format!("{name}: {dtype:?} {axes:?}\n").as_bytes());
        sum.update(bytes);
    }
    format!("{:08x}", sum.finalize())
}

/// What a file says that it is; `None` where it is no safetensors file that may be read.
pub(crate) fn format_of(path: &Path) -> io::Result<Option<String>> {
    use io::ErrorKind::{IsADirectory, PermissionDenied, UnexpectedEof};
    match header_of(path) {
        Ok(header) => Ok(serde_json::from_slice(&header).ok().and_then(|header: Value| {
            Some(header.get("__metadata__")?.get("format")?.as_str()?.to_owned())
        })),
        Err(e) if matches!(e.kind(), IsADirectory | PermissionDenied | UnexpectedEof) => Ok(None),
        Err(error) => Err(error),
    }
}

fn header_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = disk::open(path)?;
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    let most = file.metadata()?.len();
    let mut header = Vec::new();
    file.take(u64::from_le_bytes(length).min(most)).read_to_end(&mut header)?;
    Ok(header)
}

/// The header of a safetensors file with `words` put into it, and what comes after the header. The
/// crate would write them in the order of a hash table, which is another in every process; equal runs
/// are to have equal files.
fn with_words<'a>(bytes: &'a [u8], words: &str) -> (String, &'a [u8]) {
    let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0; 8], &[]));
    let (header, numbers) = rest.split_at(rest.len().min(u64::from_le_bytes(*length) as usize));
    let header = String::from_utf8_lossy(header);
    let tensors = header.trim_end().trim_start_matches('{');
    let comma = if tensors == "}" { "" } else { "," };
    let mut header = format!("{{\"__metadata__\":{words}{comma}{tensors}");
    // Numbers start at a multiple of eight. A width of `format!` would end at 65,535 characters, which the scaling of a
    // few thousand columns goes beyond.
    let padding = header.len().next_multiple_of(8) - header.len();
    header.extend(std::iter::repeat_n(' ', padding));
    (header, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scaling of a few thousand columns is a word longer than `format!` can pad.
    #[test]
    fn long_words_are_written_and_read() {
        let path = Path::new("model.safetensors");
        for length in 65_400..65_416 {
            let mut tensors = Tensors::default();
            tensors.words.insert("scaling".to_owned(), "é".repeat(length));
            tensors.push_row("row", &[1.0, 2.0]);
            let encoded = tensors.encode(path, "magnon-model").unwrap();
            let bytes = encoded.parts().concat();
            assert_eq!((8 + encoded.header.len()) % 8, 0);
            let read = Tensors::parse(path, &bytes, "magnon-model").unwrap();
            assert_eq!(
                (read.words["scaling"].chars().count(), read.numbers("row")),
                (length, Ok(vec![1.0, 2.0]))
            );
        }
    }
}
