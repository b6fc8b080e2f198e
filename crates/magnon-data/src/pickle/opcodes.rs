//! The opcodes of pickles.

use super::machine::{BROKEN, Machine};
use super::value::Value;
use memchr::memchr;
use std::borrow::Cow;

impl Machine<'_> {
    /// Carries out one opcode.
    pub(super) fn step(&mut self, code: u8) -> Result<(), String> {
        match code {
            b'(' => self.marks.push(self.stack.len()),
            b'0' => {
                self.pop()?;
            }
            b'1' => {
                self.pop_mark()?;
            }
            b'2' => self.stack.push(self.top()?),
            b'N' => self.push(Value::None)?,
            0x88 => self.push(Value::Bool(true))?,
            0x89 => self.push(Value::Bool(false))?,
            b'I' => match self.line_text()?.trim() {
                "00" => self.push(Value::Bool(false))?,
                "01" => self.push(Value::Bool(true))?,
                text => self.push(Value::Int(text.parse().map_err(|_| BROKEN)?))?,
            },
            b'L' => {
                let text = self.line_text()?.trim().trim_end_matches('L');
                self.push(Value::Int(text.parse().map_err(|_| BROKEN)?))?;
            }
            b'J' => {
                let value = self.number(4)? as u32 as i32;
                self.push(Value::Int(i64::from(value)))?;
            }
            b'K' => {
                let value = self.number(1)?;
                self.push(Value::Int(value as i64))?;
            }
            b'M' => {
                let value = self.number(2)?;
                self.push(Value::Int(value as i64))?;
            }
            0x8a => {
                let count = self.number(1)?;
                self.long(count)?;
            }
            0x8b => {
                let count = self.number(4)?;
                self.long(count)?;
            }
            b'F' => {
                let value = self.line_text()?.trim().parse().map_err(|_| BROKEN)?;
                self.push(Value::Float(value))?;
            }
            b'G' => {
                let bits = self.number(8)?.swap_bytes();
                self.push(Value::Float(f64::from_bits(bits)))?;
            }
            b'S' => {
                let text = unquote(self.line()?)?;
                self.push(Value::Bytes(text))?;
            }
            b'V' => {
                let text = unescape(self.line()?)?;
                self.push(Value::Text(text))?;
            }
            b'U' | b'C' => {
                let count = self.number(1)?;
                self.bytes(count)?;
            }
            b'T' | b'B' => {
                let count = self.number(4)?;
                self.bytes(count)?;
            }
            0x8e | 0x96 => {
                let count = self.number(8)?;
                self.bytes(count)?;
            }
            0x8c => {
                let count = self.number(1)?;
                self.text(count)?;
            }
            b'X' => {
                let count = self.number(4)?;
                self.text(count)?;
            }
            0x8d => {
                let count = self.number(8)?;
                self.text(count)?;
            }
            b']' => self.push(Value::List(Vec::new()))?,
            b'}' => self.push(Value::Dict(Vec::new()))?,
            b')' => self.push(Value::Tuple(Vec::new()))?,
            0x8f => self.push(Value::List(Vec::new()))?,
            0x85..=0x87 => self.tuple(usize::from(code - 0x84))?,
            b't' | 0x91 => {
                let items = self.pop_mark()?;
                self.push(Value::Tuple(items))?;
            }
            b'l' => {
                let items = self.pop_mark()?;
                self.push(Value::List(items))?;
            }
            b'd' => {
                let items = self.pop_mark()?;
                self.push(Value::Dict(Vec::new()))?;
                self.set_items(items)?;
            }
            b'a' => {
                let item = self.pop()?;
                self.append(vec![item])?;
            }
            b'e' | 0x90 => {
                let items = self.pop_mark()?;
                self.append(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set_items(vec![key, value])?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set_items(items)?;
            }
            b'p' => {
                let key = self.line_text()?.trim().parse().map_err(|_| BROKEN)?;
                self.remember(key)?;
            }
            b'q' => {
                let key = self.number(1)?;
                self.remember(key)?;
            }
            b'r' => {
                let key = self.number(4)?;
                self.remember(key)?;
            }
            0x94 => self.remember(self.memo.len() as u64)?,
            b'g' => {
                let key = self.line_text()?.trim().parse().map_err(|_| BROKEN)?;
                self.recall(key)?;
            }
            b'h' => {
                let key = self.number(1)?;
                self.recall(key)?;
            }
            b'j' => {
                let key = self.number(4)?;
                self.recall(key)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.global(Cow::Borrowed(module), Cow::Borrowed(name))?;
            }
            0x93 => self.stack_global()?,
            b'R' | 0x81 => {
                let (args, class) = (self.pop()?, self.pop()?);
                self.object(class, args)?;
            }
            0x92 => {
                let (_, args, class) = (self.pop()?, self.pop()?, self.pop()?);
                self.object(class, args)?;
            }
            b'b' => self.build()?,
            0x80 => match self.number(1)? {
                0..=5 => {}
                version => return Err(format!("pickle protocol {version} is not read")),
            },
            0x95 => {
                self.number(8)?;
            }
            b'Q' => {
                let name = self.pop()?;
                self.push(Value::Persistent(name))?;
            }
            b'P' | 0x82..=0x84 | b'i' | b'o' | 0x97 | 0x98 => {
                return Err(format!("the pickle uses opcode 0x{code:02x}, which is not read"));
            }
            _ => return Err(format!("not a pickle, or damaged: opcode 0x{code:02x} is unknown")),
        }
        Ok(())
    }
}

/// A quoted text of protocol 0, with the escapes that Python 2 writes.
fn unquote(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    let line = line.trim_ascii();
    let (quote, rest) = line.split_first().ok_or(BROKEN)?;
    let inner = rest.strip_suffix(&[*quote]).ok_or(BROKEN)?;
    if memchr(b'\\', inner).is_none() {
        return Ok(Cow::Borrowed(inner));
    }
    let mut text = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        match bytes.next().ok_or(BROKEN)? {
            b'n' => text.push(b'\n'),
            b'r' => text.push(b'\r'),
            b't' => text.push(b'\t'),
            b'x' => {
                let digits = [bytes.next().ok_or(BROKEN)?, bytes.next().ok_or(BROKEN)?];
                let digits = std::str::from_utf8(&digits).map_err(|_| BROKEN)?;
                text.push(u8::from_str_radix(digits, 16).map_err(|_| BROKEN)?);
            }
            other => text.push(other),
        }
    }
    Ok(Cow::Owned(text))
}

/// A text of protocol 0: one byte per character, with `\\uXXXX` for those beyond.
fn unescape(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if line.is_ascii() && memchr(b'\\', line).is_none() {
        return Ok(Cow::Borrowed(line));
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = match after.split_first() {
            Some((b'u', digits)) if byte == b'\\' => digits.get(..4),
            Some((b'U', digits)) if byte == b'\\' => digits.get(..8),
            _ => None,
        };
        let Some(digits) = digits else {
            text.push(char::from(byte));
            rest = after;
            continue;
        };
        let code = std::str::from_utf8(digits).ok();
        let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).ok_or(BROKEN)?;
        text.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        rest = &after[1 + digits.len()..];
    }
    Ok(Cow::Owned(text.into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_protocol_0() {
        assert_eq!(*unquote(b"'a\\x00\\n\\'b'").unwrap(), *b"a\0\n'b");
        assert_eq!(*unescape(b"a\xe9\\u0041\\x").unwrap(), *"a\u{e9}A\\x".as_bytes());
        assert!(unquote(b"'open").is_err());
        assert!(unescape(b"\\uzzzz").is_err());
    }
}
