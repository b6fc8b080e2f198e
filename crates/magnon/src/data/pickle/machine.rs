//! The stack machine of pickles, protocols 0 to 5.

use super::value::{Id, Pickle, Value};
use memchr::memchr;
use std::borrow::Cow;
use std::collections::HashMap;

/// Runs the opcodes to the final value.
pub(super) fn run(bytes: &[u8]) -> Result<Pickle<'_>, String> {
    let mut machine = Machine { input: bytes, ..Machine::default() };
    loop {
        let code = machine.byte()?;
        if code == b'.' {
            let root = machine.pop()?;
            return Ok(Pickle { values: machine.values, root });
        }
        machine.step(code)?;
    }
}

#[derive(Default)]
struct Machine<'a> {
    input: &'a [u8],
    at: usize,
    values: Vec<Value<'a>>,
    stack: Vec<Id>,
    /// Heights of the stack that opcodes up to a mark go back to.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
}

const SHORT: &str = "the pickle is truncated";
const BROKEN: &str = "the pickle is damaged: an opcode finds the wrong operands";

impl<'a> Machine<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let bytes = end.and_then(|end| self.input.get(self.at..end)).ok_or(SHORT)?;
        self.at += bytes.len();
        Ok(bytes)
    }

    fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// An unsigned little-endian number of up to 8 bytes.
    fn number(&mut self, bytes: u64) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    fn line(&mut self) -> Result<&'a [u8], String> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let end = memchr(b'\n', rest).ok_or(SHORT)?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn line_text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.line()?).map_err(|_| BROKEN.to_owned())
    }

    fn push(&mut self, value: Value<'a>) -> Result<(), String> {
        self.stack.push(Id(self.values.len()));
        self.values.push(value);
        Ok(())
    }

    /// Takes the top of the stack, which must lie above the last mark.
    fn pop(&mut self) -> Result<Id, String> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(BROKEN.into());
        }
        self.stack.pop().ok_or_else(|| BROKEN.into())
    }

    fn top(&self) -> Result<Id, String> {
        self.stack.last().copied().ok_or_else(|| BROKEN.into())
    }

    /// Takes all above the last mark.
    fn pop_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or(BROKEN)?;
        if mark > self.stack.len() {
            return Err(BROKEN.into());
        }
        Ok(self.stack.split_off(mark))
    }

    fn text(&mut self, count: u64) -> Result<(), String> {
        let bytes = self.take(count)?;
        self.push(Value::Text(Cow::Borrowed(bytes)))
    }

    fn bytes(&mut self, count: u64) -> Result<(), String> {
        let bytes = self.take(count)?;
        self.push(Value::Bytes(Cow::Borrowed(bytes)))
    }

    fn tuple(&mut self, count: usize) -> Result<(), String> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        self.push(Value::Tuple(items))
    }

    fn remember(&mut self, key: u64) -> Result<(), String> {
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, key: u64) -> Result<(), String> {
        let id = *self.memo.get(&key).ok_or(BROKEN)?;
        self.stack.push(id);
        Ok(())
    }

    fn append(&mut self, items: Vec<Id>) -> Result<(), String> {
        let list = self.top()?;
        match self.values.get_mut(list.0) {
            Some(Value::List(list)) => list.extend(items),
            _ => return Err(BROKEN.into()),
        }
        Ok(())
    }

    /// Puts pairs into the dictionary, or the object that acts as one, on top of the stack.
    fn set_items(&mut self, items: Vec<Id>) -> Result<(), String> {
        let pairs = items.chunks_exact(2).map(|pair| (pair[0], pair[1]));
        let top = self.top()?;
        let target = match self.values.get(top.0) {
            Some(Value::Object { state: Some(state), .. }) => *state,
            Some(Value::Object { .. }) => {
                let state = Id(self.values.len());
                self.values.push(Value::Dict(Vec::new()));
                if let Some(Value::Object { state: slot, .. }) = self.values.get_mut(top.0) {
                    *slot = Some(state);
                }
                state
            }
            _ => top,
        };
        match self.values.get_mut(target.0) {
            Some(Value::Dict(dict)) => dict.extend(pairs),
            _ => return Err(BROKEN.into()),
        }
        Ok(())
    }

    fn object(&mut self, class: Id, args: Id) -> Result<(), String> {
        self.push(Value::Object { class, args, state: None })
    }

    fn build(&mut self) -> Result<(), String> {
        let given = self.pop()?;
        let top = self.top()?;
        match self.values.get_mut(top.0) {
            Some(Value::Object { state, .. }) => *state = Some(given),
            _ => return Err(BROKEN.into()),
        }
        Ok(())
    }

    /// A whole number of any length in little-endian two's complement.
    fn long(&mut self, count: u64) -> Result<(), String> {
        let bytes = self.take(count)?;
        let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let fill = if negative { 0xff } else { 0 };
        let mut eight = [fill; 8];
        for (k, &byte) in bytes.iter().enumerate() {
            match eight.get_mut(k) {
                Some(place) => *place = byte,
                None if byte == fill => {}
                None => return Err("a number in the pickle needs more than 64 bits".into()),
            }
        }
        self.push(Value::Int(i64::from_le_bytes(eight)))
    }

    fn step(&mut self, code: u8) -> Result<(), String> {
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
                let text = unescape(self.line()?)?;
                self.push(Value::Bytes(text))?;
            }
            b'V' => {
                let text = self.line()?;
                self.push(Value::Text(Cow::Borrowed(text)))?;
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
                self.push(Value::Global(Cow::Borrowed(module), Cow::Borrowed(name)))?;
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
            b'P' | b'Q' | 0x82..=0x84 | b'i' | b'o' | 0x97 | 0x98 => {
                return Err(format!("the pickle uses opcode 0x{code:02x}, which is not read"));
            }
            _ => return Err(format!("not a pickle, or damaged: opcode 0x{code:02x} is unknown")),
        }
        Ok(())
    }

    fn stack_global(&mut self) -> Result<(), String> {
        let (name, module) = (self.pop()?, self.pop()?);
        let text = |id: Id| match self.values.get(id.0) {
            Some(Value::Text(text) | Value::Bytes(text)) => Ok(text.clone()),
            _ => Err(BROKEN.to_owned()),
        };
        let global = Value::Global(text(module)?, text(name)?);
        self.push(global)
    }
}

/// A quoted text of protocol 0, with the escapes that Python 2 writes.
fn unescape(line: &[u8]) -> Result<Cow<'_, [u8]>, String> {
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
