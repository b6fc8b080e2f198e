//! The header of a `.npy` file: element type, order and shape.
//!
//! The header is a Python literal of a fixed form, so a small parser is enough; it neither recurses
//! nor multiplies before it has checked.

use super::dtype::DType;

/// NumPy itself refuses headers longer than this.
pub(super) const LONGEST: usize = 10_000;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The type of the elements.
    pub dtype: DType,
    /// Whether the first index runs fastest.
    pub fortran: bool,
    /// The length of each axis.
    pub shape: Vec<usize>,
}

impl Header {
    /// Number of elements and of payload bytes, if they fit the machine.
    pub(crate) fn size(&self) -> Option<(usize, usize)> {
        let len = self.shape.iter().try_fold(1usize, |len, &axis| len.checked_mul(axis))?;
        Some((len, len.checked_mul(self.dtype.size)?))
    }

    /// Reads the dictionary between the file's magic bytes and its payload.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let mut cursor = Cursor { rest: text };
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        cursor.expect(b'{')?;
        while !cursor.accept(b'}') {
            let key = cursor.string()?;
            cursor.expect(b':')?;
            match key {
                b"descr" if cursor.peek() == Some(b'[') => {
                    return Err("records are not read; save plain arrays".into());
                }
                b"descr" => dtype = Some(DType::parse(cursor.string()?)?),
                b"fortran_order" => fortran = Some(cursor.boolean()?),
                b"shape" => shape = Some(cursor.integers()?),
                _ => return Err(cursor.problem()),
            }
            if !cursor.accept(b',') && cursor.peek() != Some(b'}') {
                return Err(cursor.problem());
            }
        }
        match (dtype, fortran, shape) {
            (Some(dtype), Some(fortran), Some(shape)) => Ok(Self { dtype, fortran, shape }),
            _ => Err("the header lacks descr, fortran_order or shape".into()),
        }
    }
}

/// What is left of the header.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn problem(&self) -> String {
        let near = String::from_utf8_lossy(self.rest.get(..20).unwrap_or(self.rest)).into_owned();
        format!("the header is not NumPy's, near '{near}'")
    }

    /// The next byte that is no blank.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_ascii_start();
        self.rest.first().copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.rest = &self.rest[1..];
        }
        found
    }

    fn expect(&mut self, byte: u8) -> Result<(), String> {
        if self.accept(byte) { Ok(()) } else { Err(self.problem()) }
    }

    /// The bytes up to the first that fails `belongs`.
    fn take_while(&mut self, belongs: impl Fn(&u8) -> bool) -> &'a [u8] {
        let end = self.rest.iter().position(|byte| !belongs(byte)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        let quote = self.peek().filter(|byte| matches!(byte, b'\'' | b'"'));
        let quote = quote.ok_or_else(|| self.problem())?;
        self.expect(quote)?;
        let text = self.take_while(|&byte| byte != quote);
        self.expect(quote)?;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, String> {
        self.peek();
        match self.take_while(u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => Err(self.problem()),
        }
    }

    /// A tuple of lengths; Python 2 writes an `L` after some.
    fn integers(&mut self) -> Result<Vec<usize>, String> {
        self.expect(b'(')?;
        let mut numbers = Vec::new();
        while !self.accept(b')') {
            self.peek();
            let digits = std::str::from_utf8(self.take_while(u8::is_ascii_digit));
            let number = digits.ok().and_then(|digits| digits.parse().ok());
            numbers.push(number.ok_or_else(|| self.problem())?);
            self.accept(b'L');
            if !self.accept(b',') && self.peek() != Some(b')') {
                return Err(self.problem());
            }
        }
        Ok(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read() {
        let header =
            Header::parse(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3L, 4), } \n");
        assert_eq!(header.unwrap().shape, [3, 4]);
        let scalar = Header::parse(b"{'shape': (), 'fortran_order': True, 'descr': '|b1'}");
        assert_eq!(scalar.unwrap().size(), Some((1, 1)));
    }

    #[test]
    fn lies_are_refused() {
        for text in [
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)",
            "{'descr': '<q9', 'fortran_order': False, 'shape': (3,), }",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }",
            "{'descr': '<f4'}",
            "{",
            "",
        ] {
            assert!(Header::parse(text.as_bytes()).is_err(), "{text}");
        }
        let vast = b"{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }";
        assert_eq!(Header::parse(vast).unwrap().size(), None);
    }
}
