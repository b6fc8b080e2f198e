//! NumPy's element types.

/// What an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Int,
    Uint,
    Float,
    /// The upper half of a single precision number, which NumPy has no name for.
    Brain,
    /// Two floats of half the size.
    Complex,
    /// Bytes, padded with zeros.
    Bytes,
    /// UTF-32, padded with zeros.
    Unicode,
}

/// An element type: kind, bytes and byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DType {
    pub kind: Kind,
    /// Bytes of one element.
    pub size: usize,
    pub big_endian: bool,
}

impl DType {
    /// Reads a description such as `<f4` or `|S3`.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let shown = String::from_utf8_lossy(text);
        let unknown = || format!("elements of type '{shown}' are not read");
        let (order, rest) = match text.split_first() {
            Some((order @ (b'<' | b'>' | b'|' | b'='), rest)) => (*order, rest),
            _ => (b'|', text),
        };
        let (kind, digits) = rest.split_first().ok_or_else(unknown)?;
        if *kind == b'O' {
            return Err("pickled objects are not read; save a plain array instead".into());
        }
        let size: usize = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(unknown)?;
        let (kind, size) = match (kind, size) {
            (b'b', 1) => (Kind::Bool, 1),
            (b'i', 1 | 2 | 4 | 8) => (Kind::Int, size),
            (b'u', 1 | 2 | 4 | 8) => (Kind::Uint, size),
            (b'f', 2 | 4 | 8) => (Kind::Float, size),
            (b'c', 8 | 16) => (Kind::Complex, size),
            (b'S' | b'a', _) => (Kind::Bytes, size),
            (b'U', _) => (Kind::Unicode, size.checked_mul(4).ok_or_else(unknown)?),
            _ => return Err(unknown()),
        };
        Ok(Self { kind, size, big_endian: order == b'>' })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_apart() {
        let float = DType { kind: Kind::Float, size: 4, big_endian: true };
        assert_eq!(DType::parse(b">f4"), Ok(float));
        assert_eq!(DType::parse(b"<U7").unwrap().size, 28);
        assert!(DType::parse(b"|O").unwrap_err().contains("pickled objects are not read"));
        assert_eq!(DType::parse(b"<c8").unwrap().kind, Kind::Complex);
        assert!(DType::parse(b"<c7").is_err());
        assert!(DType::parse(b"<f").is_err());
        assert!(DType::parse(b"").is_err());
    }
}
