//! What a pickle holds: values in one flat list that name each other by position.
//!
//! Sharing, cycles and deep nests then cost nothing: no value owns another. Whoever makes something
//! of a value each time that it is referred to must bound that by the [length](Pickle::length).

use std::borrow::Cow;

/// The position of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Id(pub(super) usize);

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Bytes, or a text of Python 2.
    Bytes(Cow<'a, [u8]>),
    /// A text as UTF-8.
    Text(Cow<'a, [u8]>),
    List(Vec<Id>),
    Tuple(Vec<Id>),
    Dict(Vec<(Id, Id)>),
    /// The name of a class or function, as module and name.
    Global(Cow<'a, [u8]>, Cow<'a, [u8]>),
    /// What a class or function would make of its arguments, and the state it is given.
    Object {
        class: Id,
        args: Id,
        state: Option<Id>,
    },
    /// What the program that wrote the pickle keeps elsewhere, under this name.
    Persistent(Id),
}

/// A pickle that was read.
#[derive(Debug)]
pub(crate) struct Pickle<'a> {
    pub(super) values: Vec<Value<'a>>,
    pub(super) root: Id,
    /// Bytes of the pickle.
    pub(super) length: usize,
}

impl<'a> Pickle<'a> {
    /// The value that was pickled.
    pub(crate) fn root(&self) -> Id {
        self.root
    }

    /// How many bytes the pickle has.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// A value by its position.
    pub(crate) fn get(&self, id: Id) -> &Value<'a> {
        self.values.get(id.0).unwrap_or(&Value::None)
    }

    /// The elements of a list or tuple.
    pub(crate) fn items(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::List(items) | Value::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// The name of a class or function, as `module.name`.
    pub(crate) fn global(&self, id: Id) -> Option<String> {
        match self.get(id) {
            Value::Global(module, name) => {
                let (module, name) =
                    (String::from_utf8_lossy(module), String::from_utf8_lossy(name));
                Some(format!("{module}.{name}"))
            }
            _ => None,
        }
    }

    /// The pairs of a dictionary, also of one with a default such as `collections.defaultdict`.
    pub(crate) fn pairs(&self, id: Id) -> Option<&[(Id, Id)]> {
        match self.get(id) {
            Value::Dict(pairs) => Some(pairs),
            Value::Object { class, state: Some(state), .. }
                if self.global(*class).is_some_and(|name| {
                    matches!(name.as_str(), "collections.defaultdict" | "collections.OrderedDict")
                }) =>
            {
                match self.get(*state) {
                    Value::Dict(pairs) => Some(pairs),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The value under a text in a dictionary.
    pub(crate) fn field(&self, id: Id, name: &str) -> Option<Id> {
        let pairs = self.pairs(id)?;
        // Python keeps the last value of a key.
        pairs.iter().rev().find(|(key, _)| self.bytes(*key) == Some(name.as_bytes())).map(|p| p.1)
    }

    /// The bytes of a text or byte string.
    pub(crate) fn bytes(&self, id: Id) -> Option<&[u8]> {
        match self.get(id) {
            Value::Bytes(bytes) | Value::Text(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// What a value is, in words.
    pub(crate) fn describe(&self, id: Id) -> String {
        match self.get(id) {
            Value::None => "nothing".into(),
            Value::Bool(_) => "a truth value".into(),
            Value::Int(_) | Value::Float(_) => "a number".into(),
            Value::Bytes(_) | Value::Text(_) => "a text".into(),
            Value::List(_) => "a list".into(),
            Value::Tuple(_) => "a tuple".into(),
            Value::Dict(_) => "a dictionary".into(),
            Value::Global(..) => "a class".into(),
            Value::Persistent(_) => "something that is kept elsewhere".into(),
            Value::Object { class, args, .. } => {
                let class = self.global(*class).unwrap_or_else(|| "an unknown class".into());
                let first = self.items(*args).and_then(|args| args.first());
                let inner = first.and_then(|&first| self.global(first));
                format!("an object of {}", inner.unwrap_or(class))
            }
        }
    }
}
