//! Thrift's compact protocol, read without recursion and without asking for memory: a first look at what a decoder
//! would believe.

/// More structures and lists within each other than any Parquet file has.
const DEEPEST: usize = 64;

/// The types of the protocol.
pub(super) mod kind {
    pub(in super::super) const TRUE: u8 = 1;
    pub(in super::super) const FALSE: u8 = 2;
    pub(in super::super) const BYTE: u8 = 3;
    pub(in super::super) const I16: u8 = 4;
    pub(in super::super) const I32: u8 = 5;
    pub(in super::super) const I64: u8 = 6;
    pub(in super::super) const DOUBLE: u8 = 7;
    pub(in super::super) const BINARY: u8 = 8;
    pub(in super::super) const LIST: u8 = 9;
    pub(in super::super) const SET: u8 = 10;
    pub(in super::super) const MAP: u8 = 11;
    pub(in super::super) const STRUCT: u8 = 12;
    pub(in super::super) const UUID: u8 = 13;
}

/// Whether a type is a whole number of variable length.
pub(super) fn is_whole(kind: u8) -> bool {
    matches!(kind, kind::I16 | kind::I32 | kind::I64)
}

/// A value that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Whole(i64),
    Flag(bool),
    /// So many bytes.
    Bytes(usize),
    /// Of another kind.
    Other,
}

/// What is told of a structure while it is read.
pub(super) struct Visitor<'a> {
    /// Whether a field may have this type. A decoder that takes a field for what it expects goes on at another place
    /// than one that believes its type, so the types must be as expected.
    pub(super) fits: &'a dyn Fn(&[i16], u8) -> bool,
    /// Takes the value of a field. Fields of structures in lists are called as if there were no list.
    pub(super) take: &'a mut dyn FnMut(&[i16], Value),
}

/// Bytes and how far they were read.
pub(super) struct Bytes<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// What is being read.
enum Frame {
    Fields { last: i16 },
    Items { left: usize, kind: u8 },
    Pairs { left: usize, kinds: [u8; 2], second: bool },
}

impl<'a> Bytes<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes were read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// A whole number without a sign.
    pub(super) fn count(&mut self) -> Option<u64> {
        let mut count = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                return None;
            }
            count |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(count);
            }
        }
        None
    }

    /// A whole number with a sign.
    fn whole(&mut self) -> Option<i64> {
        let count = self.count()?;
        Some((count >> 1) as i64 ^ -((count & 1) as i64))
    }

    pub(super) fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count).filter(|&at| at <= self.bytes.len())?;
        Some(())
    }

    /// The number and type of a field; `None` inside at the end of a structure.
    #[allow(clippy::option_option)] // no bytes are left, and no fields are left
    pub(super) fn field(&mut self, last: i16) -> Option<Option<(i16, u8)>> {
        let byte = self.byte()?;
        if byte & 0xf == 0 {
            return Some(None);
        }
        let id = match byte >> 4 {
            0 => i16::try_from(self.whole()?).ok()?,
            delta => last.checked_add(i16::from(delta))?,
        };
        Some(Some((id, byte & 0xf)))
    }

    /// The length of a list and the type of its items, each of which takes a byte at least.
    pub(super) fn list(&mut self) -> Option<(usize, u8)> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some((0, kind::BYTE));
        }
        let length = match byte >> 4 {
            15 => usize::try_from(self.count()?).ok()?,
            length => usize::from(length),
        };
        (length <= self.left()).then_some((length, byte & 0xf))
    }

    /// Reads the fields of a structure to its end. `None` where they do not hold together.
    pub(super) fn structure(&mut self, visitor: &mut Visitor) -> Option<()> {
        self.walk(Frame::Fields { last: 0 }, Vec::new(), visitor)
    }

    /// Reads a value of a type, and looks at nothing.
    pub(super) fn pass(&mut self, kind: u8) -> Option<()> {
        let mut visitor = Visitor { fits: &|_, _| true, take: &mut |_, _| {} };
        match self.value(kind)? {
            Ok(_) => Some(()),
            Err(frame) => self.walk(frame, vec![0], &mut visitor),
        }
    }

    fn walk(&mut self, first: Frame, mut path: Vec<i16>, visitor: &mut Visitor) -> Option<()> {
        // Each frame has the length of the path that is its own.
        let mut frames = vec![(first, path.len())];
        while let Some((frame, depth)) = frames.last_mut() {
            path.truncate(*depth);
            let kind = match frame {
                Frame::Fields { last } => match self.field(*last)? {
                    None => {
                        frames.pop();
                        continue;
                    }
                    Some((id, kind)) => {
                        *last = id;
                        path.push(id);
                        if !(visitor.fits)(&path, kind) {
                            return None;
                        }
                        kind
                    }
                },
                Frame::Items { left: 0, .. } | Frame::Pairs { left: 0, .. } => {
                    frames.pop();
                    continue;
                }
                Frame::Items { left, kind } => {
                    *left -= 1;
                    *kind
                }
                Frame::Pairs { left, kinds, second } => {
                    *left -= usize::from(*second);
                    *second = !*second;
                    kinds[usize::from(!*second)]
                }
            };
            match self.value(kind)? {
                Ok(value) => (visitor.take)(&path, value),
                Err(_) if frames.len() >= DEEPEST => return None,
                Err(frame) => frames.push((frame, path.len())),
            }
        }
        Some(())
    }

    /// A value, or the frame of what holds values.
    fn value(&mut self, kind: u8) -> Option<Result<Value, Frame>> {
        Some(Ok(match kind {
            kind::TRUE | kind::FALSE => Value::Flag(kind == kind::TRUE),
            kind::BYTE => Value::Whole(i64::from(self.byte()?)),
            _ if is_whole(kind) => Value::Whole(self.whole()?),
            kind::DOUBLE => {
                self.skip(8)?;
                Value::Other
            }
            kind::BINARY => {
                let length = usize::try_from(self.count()?).ok()?;
                self.skip(length)?;
                Value::Bytes(length)
            }
            kind::UUID => {
                self.skip(16)?;
                Value::Other
            }
            kind::LIST | kind::SET => {
                let (left, kind) = self.list()?;
                // Decoders do not agree on how long these are.
                if matches!(kind, kind::TRUE | kind::FALSE) {
                    return None;
                }
                return Some(Err(Frame::Items { left, kind }));
            }
            kind::MAP => {
                let left = usize::try_from(self.count()?).ok()?;
                let kinds = if left == 0 { 0 } else { self.byte()? };
                let kinds = [kinds >> 4, kinds & 0xf];
                let flags = kinds.iter().any(|kind| matches!(*kind, kind::TRUE | kind::FALSE));
                if left > self.left() || flags {
                    return None;
                }
                return Some(Err(Frame::Pairs { left, kinds, second: false }));
            }
            kind::STRUCT => return Some(Err(Frame::Fields { last: 0 })),
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(bytes: &[u8]) -> Option<Vec<(Vec<i16>, Value)>> {
        let mut found = Vec::new();
        let mut take = |path: &[i16], value| found.push((path.to_vec(), value));
        let mut visitor = Visitor { fits: &|_, _| true, take: &mut take };
        Bytes::new(bytes).structure(&mut visitor)?;
        Some(found)
    }

    #[test]
    fn fields_are_found_wherever_they_are() {
        // {1: 150, 3: [{1: "ab"}, {}], 4: true, 20: {byte: i32 → 7: 1}}
        let bytes = [
            0x15, 0xac, 0x02, 0x29, 0x2c, 0x18, 2, b'a', b'b', 0, 0, 0x11, 0x0b, 40, 1, 0x35, 7, 2,
            0,
        ];
        let found = values(&bytes).unwrap();
        let expected = [
            (vec![1], Value::Whole(150)),
            (vec![3, 1], Value::Bytes(2)),
            (vec![4], Value::Flag(true)),
            (vec![20], Value::Whole(7)),
            (vec![20], Value::Whole(1)),
        ];
        assert_eq!(found, expected);
        for end in 0..bytes.len() {
            assert_eq!(values(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn nests_and_long_lists_are_refused() {
        assert!(values(&[&[0x1c; 60][..], &[0; 61]].concat()).is_some());
        assert!(values(&[&[0x1c; 100_000][..], &[0; 100_001]].concat()).is_none());
        assert!(values(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0, 0]).is_none());
        assert!(
            values(&[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]).is_none()
        );
    }
}
