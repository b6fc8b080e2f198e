//! NumPy arrays and scipy matrices inside of pickles.

use super::value::{Id, Pickle, Value};
use crate::DataError;
use crate::numpy::{Array, Axis, DType, Header, Sparse};
use std::borrow::Cow;
use std::io::Cursor;

/// The payload of a pickled array.
type Payload<'p> = Cursor<Cow<'p, [u8]>>;

/// No array has more axes, no number has more bytes, and no element type a longer name.
const MOST_AXES: usize = 64;
const WIDEST: usize = 16;

impl Pickle<'_> {
    /// The array that a value stands for; `None` where it is something else.
    pub(crate) fn array(
        &self,
        id: Id,
        file: &str,
    ) -> Result<Option<Array<Payload<'_>>>, DataError> {
        let Value::Object { class, args, state } = self.get(id) else { return Ok(None) };
        let function = self.global(*class).unwrap_or_default();
        let bad = |problem: &str| DataError::format(file, format!("a pickled array {problem}"));
        let args = self.items(*args).unwrap_or_default();
        let (shape, dtype, fortran, payload) = match function.rsplit_once('.').unwrap_or_default() {
            (module, "_reconstruct") if module.starts_with("numpy.") => {
                let state = state.and_then(|state| self.items(state)).unwrap_or_default();
                let &[_, shape, dtype, order, payload] = state else {
                    return Err(bad("lacks its state"));
                };
                (
                    shape,
                    dtype,
                    matches!(self.get(order), Value::Bool(true) | Value::Int(1)),
                    payload,
                )
            }
            (module, "_frombuffer") if module.starts_with("numpy.") => {
                let &[payload, dtype, shape, order] = args else {
                    return Err(bad("lacks its parts"));
                };
                (shape, dtype, self.bytes(order) == Some(b"F"), payload)
            }
            _ => return Ok(None),
        };
        let shape = self.items(shape).unwrap_or_default();
        if shape.len() > MOST_AXES {
            return Err(bad(&format!("has {} axes, too many", shape.len())));
        }
        let shape: Option<Vec<usize>> =
            shape.iter().map(|&axis| usize::try_from(self.integer(axis)?).ok()).collect();
        let shape = shape.ok_or_else(|| bad("has no usable shape"))?;
        let dtype =
            self.dtype(dtype).map_err(|problem| bad(&format!("cannot be read: {problem}")))?;
        let payload =
            self.payload(payload, usize::MAX).ok_or_else(|| bad("holds Python objects"))?;
        let length = payload.len() as u64;
        let header = Header { dtype, fortran, shape };
        Array::new(file, header, Cursor::new(payload), length).map(Some)
    }

    /// The scipy matrix that a value stands for; `None` where it is something else.
    pub(crate) fn sparse(&self, id: Id, file: &str) -> Result<Option<Sparse>, DataError> {
        let Value::Object { class, args, state: Some(state) } = self.get(id) else {
            return Ok(None);
        };
        // Python 2 names the class as the first argument of a helper.
        let first = self.items(*args).and_then(|args| args.first());
        let named = first.and_then(|&first| self.global(first)).filter(|n| n.starts_with("scipy."));
        let name = named.or_else(|| self.global(*class)).unwrap_or_default();
        if !name.starts_with("scipy.sparse") {
            return Ok(None);
        }
        let kind = name.rsplit('.').next().unwrap_or_default();
        let field = |name: &str| -> Result<Array<Payload<'_>>, DataError> {
            let lacking = || DataError::format(file, format!("a pickled matrix lacks '{name}'"));
            let id = self.field(*state, name).ok_or_else(lacking)?;
            self.array(id, file)?.ok_or_else(lacking)
        };
        let shape = self.field(*state, "_shape").and_then(|shape| self.items(shape));
        let shape = shape.unwrap_or_default().iter();
        let shape: Option<Vec<u32>> =
            shape.map(|&axis| u32::try_from(self.integer(axis)?).ok()).collect();
        let shape = shape.unwrap_or_default();
        let axis = match kind {
            "csr_matrix" | "csr_array" => Axis::Rows,
            "csc_matrix" | "csc_array" => Axis::Columns,
            _ => {
                let problem = format!("pickled matrices of {kind} are not read; use csr or csc");
                return Err(DataError::format(file, problem));
            }
        };
        let (pointers, indices) = (field("indptr")?.indices()?, field("indices")?.indices()?);
        let (values, rounded) = field("data")?.rounded_floats()?;
        let mut matrix = Sparse::compressed(file, axis, &shape, &pointers, indices, values)?;
        matrix.rounded = rounded;
        Ok(Some(matrix))
    }

    /// A whole number, maybe as a scalar of NumPy.
    pub(crate) fn integer(&self, id: Id) -> Option<i64> {
        match self.get(id) {
            Value::Int(value) => Some(*value),
            Value::Object { class, args, .. } => {
                if !self.global(*class)?.ends_with("multiarray.scalar") {
                    return None;
                }
                let &[dtype, payload] = self.items(*args)? else { return None };
                let header =
                    Header { dtype: self.dtype(dtype).ok()?, fortran: false, shape: Vec::new() };
                let payload = self.payload(payload, WIDEST)?;
                let length = payload.len() as u64;
                let array = Array::new("", header, Cursor::new(payload), length).ok()?;
                array.integers().ok()?.first().copied()
            }
            _ => None,
        }
    }

    /// The element type: `dtype('f8', …)` with the byte order in its state.
    fn dtype(&self, id: Id) -> Result<DType, String> {
        let Value::Object { class, args, state } = self.get(id) else {
            return Err("it has no element type".into());
        };
        let name = self.items(*args).and_then(|args| args.first());
        let name = name.and_then(|&name| self.bytes(name));
        let state = state.and_then(|state| self.items(state)).unwrap_or_default();
        let order = state.get(1).and_then(|&order| self.bytes(order)).unwrap_or(b"|");
        let name = name.filter(|name| name.len() <= WIDEST && order.len() == 1);
        let (Some("numpy.dtype"), Some(name)) = (self.global(*class).as_deref(), name) else {
            return Err("its element type is unknown".into());
        };
        DType::parse(&[order, name].concat())
    }

    /// Bytes as they are, or as a text of which each character is a byte. A text that stands for
    /// more than `most` bytes is not turned into them.
    fn payload(&self, id: Id, most: usize) -> Option<Cow<'_, [u8]>> {
        match self.get(id) {
            Value::Bytes(bytes) => Some(Cow::Borrowed(bytes)),
            Value::Object { class, args, .. } => {
                let function = self.global(*class)?;
                let args = self.items(*args)?;
                match (function.as_str(), args) {
                    // How Python 3 writes bytes for Python 2.
                    ("_codecs.encode", &[text, _]) => {
                        let text = self.bytes(text)?;
                        if text.len() > most.saturating_mul(2) {
                            return None;
                        }
                        let text = std::str::from_utf8(text).ok()?;
                        let bytes = text.chars().map(|c| u8::try_from(u32::from(c)).ok());
                        bytes.collect::<Option<Vec<u8>>>().map(Cow::Owned)
                    }
                    ("builtins.bytearray" | "__builtin__.bytearray", &[inner]) => {
                        self.bytes(inner).map(Cow::Borrowed)
                    }
                    ("__builtin__.bytes" | "builtins.bytes", &[]) => Some(Cow::Borrowed(b"")),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
