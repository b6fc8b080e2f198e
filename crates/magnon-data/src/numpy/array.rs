//! An array whose payload is still to be read, and the ways to read it.

use super::decode;
use super::dtype::Kind;
use super::header::{Header, LONGEST};
use crate::DataError;
use crate::allocate::{collect, reserve, zeroed};
use crate::store::Store;
use magnon_core::matrix::Matrix;
use num_complex::Complex64;
use std::io::Read;

/// A header and the source of its payload. Payloads are decoded as they are read, so that a large
/// array is in memory once.
pub struct Array<R> {
    file: String,
    header: Header,
    len: usize,
    source: R,
}

/// What is wrong with an array.
fn broken(file: &str, problem: impl Into<String>) -> DataError {
    DataError::format(file, problem)
}

/// Row, column and value.
type Entry = (u32, u32, f32);

impl<R: Read> Array<R> {
    /// Reads the header of an `.npy` file of `length` bytes and checks its claims against them.
    pub fn open(file: &str, mut source: R, length: u64) -> Result<Self, DataError> {
        let mut start = [0u8; 12];
        let read = source.read_exact(&mut start[..10]);
        read.map_err(|_| broken(file, "not a NumPy array: it ends before its header"))?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(broken(file, "not a NumPy array: it does not start with \\x93NUMPY"));
        }
        let (before, size) = match start[6] {
            1 => (10, usize::from(u16::from_le_bytes([start[8], start[9]]))),
            2 | 3 => {
                let read = source.read_exact(&mut start[10..]);
                read.map_err(|_| broken(file, "not a NumPy array: it ends before its header"))?;
                let size = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
                (12, size as usize)
            }
            version => return Err(broken(file, format!("NumPy format {version} is not read"))),
        };
        if size > LONGEST {
            return Err(broken(file, format!("its header claims {size} bytes, too many")));
        }
        let mut text = vec![0; size];
        let read = source.read_exact(&mut text);
        read.map_err(|_| broken(file, "truncated: it ends within its header"))?;
        let header = Header::parse(&text).map_err(|problem| broken(file, problem))?;
        Self::new(file, header, source, length.saturating_sub((before + size) as u64))
    }

    /// An array whose payload of `length` bytes starts here.
    pub(crate) fn new(
        file: &str,
        header: Header,
        source: R,
        length: u64,
    ) -> Result<Self, DataError> {
        let claimed = header.size().filter(|&(len, bytes)| {
            // Elements without bytes and rows without columns would cost nothing to claim.
            let honest = header.shape.iter().all(|&axis| axis <= len.max(1 << 22));
            honest && (len == 0 || bytes > 0)
        });
        match claimed {
            Some((len, bytes)) if bytes as u64 <= length => {
                Ok(Self { file: file.to_owned(), header, len, source })
            }
            _ => {
                let shape = &header.shape;
                let problem = format!(
                    "truncated: its header claims the shape {shape:?}, \
                     but only {length} bytes follow"
                );
                Err(broken(file, problem))
            }
        }
    }

    /// What the header says.
    pub fn into_header(self) -> Header {
        self.header
    }

    /// The length of each axis.
    pub(crate) fn shape(&self) -> &[usize] {
        &self.header.shape
    }

    /// Whether the elements are text.
    pub(crate) fn is_text(&self) -> bool {
        matches!(self.header.dtype.kind, Kind::Bytes | Kind::Unicode)
    }

    /// Whether the elements are whole numbers.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.header.dtype.kind, Kind::Int | Kind::Uint)
    }

    /// Rows and columns; a vector is one column.
    pub(crate) fn table(&self) -> Result<(usize, usize), DataError> {
        match self.header.shape[..] {
            [rows] => Ok((rows, 1)),
            [rows, cols] => Ok((rows, cols)),
            _ => {
                let axes = self.header.shape.len();
                Err(broken(&self.file, format!("a table is needed, but the array has {axes} axes")))
            }
        }
    }

    /// Where the k-th stored element goes in C order.
    fn placement(&self) -> Result<impl Fn(usize) -> usize + use<R>, DataError> {
        let fortran = self.header.fortran && self.header.shape.len() > 1;
        let (rows, cols) = if fortran { self.table()? } else { (1, 1) };
        Ok(move |k: usize| if fortran { (k % rows) * cols + k / rows } else { k })
    }

    /// All elements in C order as `f32`.
    pub(crate) fn floats(self) -> Result<Vec<f32>, DataError> {
        Ok(self.rounded_floats()?.0)
    }

    /// The same, and whether that has changed one.
    pub(crate) fn rounded_floats(mut self) -> Result<(Vec<f32>, bool), DataError> {
        let mut values = zeroed::<f32>(self.len, &self.file)?;
        if decode::is_native_f32(self.header.dtype) && !self.header.fortran {
            let read = self.source.read_exact(bytemuck::cast_slice_mut(&mut values));
            read.map_err(|error| decode::short(&self.file, error))?;
            return Ok((values, false));
        }
        let place = self.placement()?;
        let (file, dtype) = (&self.file, self.header.dtype);
        let rounded = decode::floats(file, dtype, self.len, self.source, |k, value| {
            values[place(k)] = value;
            Ok(())
        })?;
        Ok((values, rounded))
    }

    /// A table of `f32`.
    pub(crate) fn matrix(self) -> Result<Matrix<f32>, DataError> {
        let (rows, cols) = self.table()?;
        let file = self.file.clone();
        Matrix::from_vec(rows, cols, self.floats()?)
            .map_err(|_| broken(&file, "the array does not fill its shape"))
    }

    /// A table of complex numbers in double precision; real ones have no imaginary part.
    pub(crate) fn complex_matrix(self) -> Result<Matrix<Complex64>, DataError> {
        let (rows, cols) = self.table()?;
        let place = self.placement()?;
        let mut values = zeroed::<Complex64>(self.len, &self.file)?;
        decode::complex(&self.file, self.header.dtype, self.len, self.source, |k, value| {
            values[place(k)] = value;
        })?;
        Matrix::from_vec(rows, cols, values)
            .map_err(|_| broken(&self.file, "the array does not fill its shape"))
    }

    /// The entries of a table that are not zero, and whether single precision has changed one.
    pub(crate) fn nonzeros(self) -> Result<(Vec<Entry>, bool), DataError> {
        let (_, cols) = self.table()?;
        let place = self.placement()?;
        let mut entries = Vec::new();
        let (file, dtype) = (&self.file, self.header.dtype);
        let rounded = decode::floats(file, dtype, self.len, self.source, |k, value| {
            if value != 0.0 {
                let at = place(k);
                reserve(&mut entries, 1, &self.file)?;
                entries.push(((at / cols) as u32, (at % cols) as u32, value));
            }
            Ok(())
        })?;
        Ok((entries, rounded))
    }

    /// All elements in C order as whole numbers.
    pub(crate) fn integers(self) -> Result<Vec<i64>, DataError> {
        let mut values = zeroed::<i64>(self.len, &self.file)?;
        let place = self.placement()?;
        decode::integers(&self.file, self.header.dtype, self.len, self.source, |k, value| {
            values[place(k)] = value;
            Ok(())
        })?;
        Ok(values)
    }

    /// All elements in C order as node numbers.
    pub(crate) fn indices(self) -> Result<Vec<u32>, DataError> {
        let mut values = zeroed::<u32>(self.len, &self.file)?;
        let place = self.placement()?;
        decode::integers(&self.file, self.header.dtype, self.len, self.source, |k, value| {
            values[place(k)] = u32::try_from(value).map_err(|_| {
                let problem = if value < 0 { "is negative" } else { "needs more than 32 bits" };
                format!("the index {value} at position {k} {problem}")
            })?;
            Ok(())
        })?;
        Ok(values)
    }

    /// Rows of booleans; a vector is one row.
    pub(crate) fn masks(self) -> Result<Vec<Vec<bool>>, DataError> {
        let (rows, cols) = match self.header.shape[..] {
            [cols] => (1, cols),
            _ => self.table()?,
        };
        // One byte per node, not the eight of a number: there may be a mask for each of many splits.
        let mut set = zeroed::<u8>(self.len, &self.file)?;
        let place = self.placement()?;
        decode::integers(&self.file, self.header.dtype, self.len, self.source, |k, value| {
            set[place(k)] = u8::from(value != 0);
            Ok(())
        })?;
        let row =
            |row: usize| collect(set[row * cols..][..cols].iter().map(|&v| v != 0), &self.file);
        (0..rows).map(row).collect()
    }

    /// The elements as text.
    pub(crate) fn strings(self) -> Result<Vec<String>, DataError> {
        if !self.is_text() {
            return Ok(self.integers()?.iter().map(i64::to_string).collect());
        }
        decode::strings(&self.file, self.header.dtype, self.len, self.source)
    }
}

impl Array<Box<dyn Read>> {
    /// An `.npy` file of a store. A plain file on disk is read as it is decoded.
    pub(crate) fn from_store(store: &Store, name: &str) -> Result<Self, DataError> {
        let (source, length) = store.open_seek(name)?;
        let source: Box<dyn Read> = Box::new(source);
        Self::open(&store.label(name), source, length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{bytes_of, npy};

    fn open(bytes: &[u8]) -> Result<Array<&[u8]>, DataError> {
        Array::open("a.npy", bytes, bytes.len() as u64)
    }

    #[test]
    fn complex_tables_are_read() {
        let payloads: [(&str, Vec<u8>); 3] = [
            ("<c8", bytes_of(&[1f32, -2.0, 0.5, 0.0])),
            (">c16", [1f64, -2.0, 0.5, 0.0].iter().flat_map(|v| v.to_be_bytes()).collect()),
            ("<f8", bytes_of(&[1f64, 0.5])),
        ];
        for (descr, payload) in payloads {
            let table = open(&npy(descr, "(2,)", &payload)).unwrap().complex_matrix().unwrap();
            let im = if descr == "<f8" { 0.0 } else { -2.0 };
            let expected = [Complex64::new(1.0, im), Complex64::from(0.5)];
            assert_eq!((table.rows(), table.as_slice()), (2, &expected[..]));
        }
        let bytes = npy("<c8", "(1,)", &bytes_of(&[1f32, 0.0]));
        let error = open(&bytes).unwrap().matrix().unwrap_err().to_string();
        assert!(error.contains("real ones are needed"), "{error}");
    }

    #[test]
    fn every_element_type_is_read() {
        let expected = [0.0, 1.0, 3.0];
        let halves: Vec<u8> =
            expected.iter().flat_map(|&v| half::f16::from_f32(v).to_be_bytes()).collect();
        let payloads: [(&str, Vec<u8>); 8] = [
            ("|u1", vec![0, 1, 3]),
            ("|i1", vec![0, 1, 3]),
            ("<i2", bytes_of(&[0i16, 1, 3])),
            (">u4", vec![0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3]),
            ("<i8", bytes_of(&[0i64, 1, 3])),
            (">f2", halves),
            ("<f4", bytes_of(&[0f32, 1.0, 3.0])),
            ("<f8", bytes_of(&[0f64, 1.0, 3.0])),
        ];
        for (descr, payload) in payloads {
            let file = npy(descr, "(3,)", &payload);
            assert_eq!(open(&file).unwrap().floats().unwrap(), expected, "{descr}");
            assert_eq!(open(&file).unwrap().indices().unwrap(), [0, 1, 3], "{descr}");
        }
    }

    #[test]
    fn fortran_order_is_turned() {
        let mut file = npy("<f4", "(2, 3)", &bytes_of(&[1f32, 4.0, 2.0, 5.0, 3.0, 6.0]));
        let at = file.windows(5).position(|w| w == b"False").unwrap();
        file.splice(at..at + 5, *b"True ");
        let matrix = open(&file).unwrap().matrix().unwrap();
        assert_eq!(matrix.as_slice(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }

    #[test]
    fn text_is_read() {
        let file = npy("|S3", "(2,)", b"csrab\0");
        assert_eq!(open(&file).unwrap().strings().unwrap(), ["csr", "ab"]);
        let file = npy("<U2", "(2,)", &bytes_of(&[0x41u32, 0xe9, 0x42, 0]));
        assert_eq!(open(&file).unwrap().strings().unwrap(), ["Aé", "B"]);
    }

    #[test]
    fn bad_values_name_their_place() {
        let file = npy("<i8", "(2,)", &bytes_of(&[4i64, -1]));
        let error = open(&file).unwrap().indices().unwrap_err().to_string();
        assert_eq!(error, "a.npy: the index -1 at position 1 is negative");
        let file = npy("<f8", "(2,)", &bytes_of(&[4f64, 1.5]));
        assert!(open(&file).unwrap().indices().unwrap_err().to_string().contains("position 1"));
    }

    #[test]
    fn claims_are_checked_against_the_bytes() {
        let file = npy("<f4", "(1152921504606846976,)", &[0; 8]);
        assert!(open(&file).err().unwrap().to_string().contains("truncated"));
        for (descr, shape) in [
            ("<f4", "(4294967296, 4294967296)"),
            ("<f4", "(1152921504606846976, 0)"),
            ("|S0", "(1152921504606846976,)"),
        ] {
            let file = npy(descr, shape, &[0; 8]);
            assert!(open(&file).err().unwrap().to_string().contains("truncated"), "{shape}");
        }
    }
}
