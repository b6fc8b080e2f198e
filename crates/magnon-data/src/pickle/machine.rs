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
            return Ok(Pickle { values: machine.values, root, length: bytes.len() });
        }
        machine.step(code)?;
    }
}

/// The machine: what is left to read, and what was made of it.
#[derive(Default)]
pub(super) struct Machine<'a> {
    input: &'a [u8],
    at: usize,
    values: Vec<Value<'a>>,
    pub(super) stack: Vec<Id>,
    /// Heights of the stack that opcodes up to a mark go back to.
    pub(super) marks: Vec<usize>,
    pub(super) memo: HashMap<u64, Id>,
}

const SHORT: &str = "the pickle is truncated";
pub(super) const BROKEN: &str = "the pickle is damaged: an opcode finds the wrong operands";

/// No module or class has a longer name. Names are looked at each time that they are referred to.
const LONGEST_NAME: usize = 256;

impl<'a> Machine<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let end = usize::try_from(count).ok().and_then(|count| self.at.checked_add(count));
        let bytes = end.and_then(|end| self.input.get(self.at..end)).ok_or(SHORT)?;
        self.at += bytes.len();
        Ok(bytes)
    }

    pub(super) fn byte(&mut self) -> Result<u8, String> {
        self.take(1).map(|bytes| bytes[0])
    }

    /// An unsigned little-endian number of up to 8 bytes.
    pub(super) fn number(&mut self, bytes: u64) -> Result<u64, String> {
        Ok(self.take(bytes)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    pub(super) fn line(&mut self) -> Result<&'a [u8], String> {
        let rest = self.input.get(self.at..).unwrap_or_default();
        let end = memchr(b'\n', rest).ok_or(SHORT)?;
        self.at += end + 1;
        Ok(&rest[..end])
    }

    pub(super) fn line_text(&mut self) -> Result<&'a str, String> {
        std::str::from_utf8(self.line()?).map_err(|_| BROKEN.to_owned())
    }

    pub(super) fn push(&mut self, value: Value<'a>) -> Result<(), String> {
        self.stack.push(Id(self.values.len()));
        self.values.push(value);
        Ok(())
    }

    /// Takes the top of the stack, which must lie above the last mark.
    pub(super) fn pop(&mut self) -> Result<Id, String> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err(BROKEN.into());
        }
        self.stack.pop().ok_or_else(|| BROKEN.into())
    }

    pub(super) fn top(&self) -> Result<Id, String> {
        self.stack.last().copied().ok_or_else(|| BROKEN.into())
    }

    /// Takes all above the last mark.
    pub(super) fn pop_mark(&mut self) -> Result<Vec<Id>, String> {
        let mark = self.marks.pop().ok_or(BROKEN)?;
        if mark > self.stack.len() {
            return Err(BROKEN.into());
        }
        Ok(self.stack.split_off(mark))
    }

    pub(super) fn text(&mut self, count: u64) -> Result<(), String> {
        let bytes = self.take(count)?;
        self.push(Value::Text(Cow::Borrowed(bytes)))
    }

    pub(super) fn bytes(&mut self, count: u64) -> Result<(), String> {
        let bytes = self.take(count)?;
        self.push(Value::Bytes(Cow::Borrowed(bytes)))
    }

    pub(super) fn tuple(&mut self, count: usize) -> Result<(), String> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        self.push(Value::Tuple(items))
    }

    pub(super) fn remember(&mut self, key: u64) -> Result<(), String> {
        let top = self.top()?;
        self.memo.insert(key, top);
        Ok(())
    }

    pub(super) fn recall(&mut self, key: u64) -> Result<(), String> {
        let id = *self.memo.get(&key).ok_or(BROKEN)?;
        self.stack.push(id);
        Ok(())
    }

    pub(super) fn append(&mut self, items: Vec<Id>) -> Result<(), String> {
        let list = self.top()?;
        match self.values.get_mut(list.0) {
            Some(Value::List(list)) => list.extend(items),
            _ => return Err(BROKEN.into()),
        }
        Ok(())
    }

    /// Puts pairs into the dictionary, or the object that acts as one, on top of the stack.
    pub(super) fn set_items(&mut self, items: Vec<Id>) -> Result<(), String> {
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

    pub(super) fn object(&mut self, class: Id, args: Id) -> Result<(), String> {
        self.push(Value::Object { class, args, state: None })
    }

    pub(super) fn build(&mut self) -> Result<(), String> {
        let given = self.pop()?;
        let top = self.top()?;
        match self.values.get_mut(top.0) {
            Some(Value::Object { state, .. }) => *state = Some(given),
            _ => return Err(BROKEN.into()),
        }
        Ok(())
    }

    /// A whole number of any length in little-endian two's complement.
    pub(super) fn long(&mut self, count: u64) -> Result<(), String> {
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

    /// The name of a class or function.
    pub(super) fn global(
        &mut self,
        module: Cow<'a, [u8]>,
        name: Cow<'a, [u8]>,
    ) -> Result<(), String> {
        if module.len().max(name.len()) > LONGEST_NAME {
            return Err(format!(
                "the pickle is damaged: the name of a class has more than {LONGEST_NAME} bytes"
            ));
        }
        self.push(Value::Global(module, name))
    }

    pub(super) fn stack_global(&mut self) -> Result<(), String> {
        let (name, module) = (self.pop()?, self.pop()?);
        let text = |id: Id| match self.values.get(id.0) {
            // A long text would be copied at each reference to it.
            Some(Value::Text(text) | Value::Bytes(text)) if text.len() <= LONGEST_NAME => {
                Ok(text.clone())
            }
            _ => Err(BROKEN.to_owned()),
        };
        let (module, name) = (text(module)?, text(name)?);
        self.global(module, name)
    }
}
