//! PyTorch files: a `Data` of PyTorch Geometric, or a dictionary of tensors or arrays.
//!
//! Nothing of a file is run: it is a zip with a pickle, which is read as data, and the numbers of the
//! tensors beside it.

use crate::numpy::{Array, DType, Header};
use crate::pickle::{self, Id, Pickle, Value};
use crate::raw_dataset::{Raw, check_count};
use crate::store::{Store, open_member, open_zip};
use crate::{DataError, Features, Labels, Split};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{Cursor, Read};

/// Endings of PyTorch's files and of pickles.
const ENDINGS: [&str; 3] = [".pt", ".pth", ".pkl"];

/// Files by their ending. In a folder, pickles are features and the like.
pub(crate) fn finds(store: &Store) -> Vec<String> {
    let named = store.only().is_some();
    let fits = |name: &&str| {
        let pickled = name.ends_with(".pkl");
        ENDINGS.iter().any(|end| name.ends_with(end)) && (named || !pickled)
    };
    store.candidates().filter(fits).map(str::to_owned).collect()
}

/// A tensor or an array, with its numbers.
type Tensor<'p> = Array<Cursor<Cow<'p, [u8]>>>;

/// The numbers of tensors, by key.
type Storages = HashMap<String, Vec<u8>>;

/// Reads the graph.
pub(crate) fn read(store: &Store, name: &str) -> Result<Raw, DataError> {
    let file = store.label(name);
    let bytes = store.read(name)?;
    if !bytes.starts_with(b"PK") {
        if bytes.starts_with(b"\x80\x02\x8a\x0a\x6c\xfc\x9c") {
            let problem =
                "this is PyTorch's format from before version 1.6; load it and save it again";
            return Err(DataError::format(file, problem));
        }
        return graph(&pickle::parse(&bytes, &file)?, &Storages::new(), &file);
    }
    let length = bytes.len() as u64;
    let mut archive = open_zip(Cursor::new(&bytes[..]), length, &file)?;
    let names: Vec<String> =
        archive.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let (mut code, mut storages) = (None, Storages::new());
    for (index, member) in names.iter().enumerate() {
        let number = member.rsplit_once("/data/").map(|(_, key)| key.to_owned());
        if number.is_none() && !member.ends_with("data.pkl") {
            continue;
        }
        let label = format!("{file} ({member})");
        let (part, size) = open_member(&mut archive, index, length.saturating_mul(4), &label)?;
        let mut content = Vec::new();
        part.take(size)
            .read_to_end(&mut content)
            .map_err(|error| DataError::format(&label, format!("cannot be unpacked: {error}")))?;
        match number {
            Some(key) => {
                storages.insert(key, content);
            }
            None => code = Some(content),
        }
    }
    let code =
        code.ok_or_else(|| DataError::format(&file, "it has no data.pkl: not a PyTorch file"))?;
    graph(&pickle::parse(&code, &file)?, &storages, &file)
}

/// The graph of the fields of a pickle.
fn graph(pickle: &Pickle, storages: &Storages, file: &str) -> Result<Raw, DataError> {
    let fields = Fields { pickle, storages, file };
    let Some(fields_at) = fields.find(pickle.root(), DEEPEST) else {
        let found = pickle.describe(pickle.root());
        let problem = format!(
            "a Data of PyTorch Geometric or a dictionary with edge_index is needed, not {found}"
        );
        return Err(DataError::format(file, problem));
    };
    let get = |name: &str| fields.array(fields_at, name);
    let edges = get("edge_index")?
        .ok_or_else(|| DataError::format(file, "edge_index is missing or is no tensor"))?;
    if !matches!(edges.shape(), [2, _]) || !edges.is_whole() {
        let problem =
            format!("edge_index must be integers of shape [2, m], not {:?}", edges.shape());
        return Err(DataError::format(file, problem));
    }
    let numbers = edges.indices()?;
    let (sources, targets) = numbers.split_at(numbers.len() / 2);
    let edges: Vec<(u32, u32)> = sources.iter().copied().zip(targets.iter().copied()).collect();
    let mut raw = Raw { file: file.to_owned(), edges, ..Raw::default() };
    let features = get("x")?.map(Array::matrix).transpose()?;
    let top = numbers.iter().map(|&node| u64::from(node) + 1).max().unwrap_or(0);
    let said = pickle.field(fields_at, "num_nodes").and_then(|id| pickle.integer(id));
    let said = said.and_then(|count| u64::try_from(count).ok());
    let rows = features.as_ref().map(|matrix| matrix.rows() as u64);
    let labels = get("y")?;
    let labelled = labels.as_ref().and_then(|labels| labels.shape().first().map(|&n| n as u64));
    let nodes = rows.or(said).or(labelled).unwrap_or(top).max(top);
    let known = (numbers.len() as u64).max(rows.unwrap_or(0)).max(labelled.unwrap_or(0));
    raw.nodes = check_count(file, "nodes", nodes, known.saturating_mul(8))?;
    raw.features = features.map(Features::Dense);
    if let Some(weights) = get("edge_weight")? {
        let (weights, rounded) = weights.rounded_floats()?;
        if weights.len() != raw.edges.len() {
            return Err(DataError::format(file, "edge_weight does not have one number per edge"));
        }
        (raw.weights, raw.rounded) = (Some(weights), rounded);
    } else if pickle.field(fields_at, "edge_attr").is_some_and(|id| *pickle.get(id) != Value::None)
    {
        raw.remarks.push("edge_attr was not used; weights are read from edge_weight".into());
    }
    if let Some(labels) = labels {
        if !matches!(labels.shape(), [_] | [_, 1]) || !labels.is_whole() {
            let shape = labels.shape();
            let problem =
                format!("y is of shape {shape:?}; one integer per node is needed as label");
            raw.remarks.push(format!("labels were left out: {problem}"));
        } else {
            let numbers: Vec<Option<i64>> = labels.integers()?.into_iter().map(Some).collect();
            raw.labels = Some(Labels::from_numbers(&numbers, file)?);
        }
    }
    let mask = |name: &str| get(name)?.map(Array::masks).transpose();
    if let (Some(train), Some(val), Some(test)) =
        (mask("train_mask")?, mask("val_mask")?, mask("test_mask")?)
    {
        let parts = train.iter().zip(&val).zip(test.iter().cycle());
        raw.splits.extend(parts.map(|((train, val), test)| Split::from_masks(train, val, test)));
    }
    Ok(raw)
}

/// How deep a dictionary may lie in what was pickled.
const DEEPEST: usize = 6;

/// Fields of a pickled object.
struct Fields<'p> {
    pickle: &'p Pickle<'p>,
    storages: &'p Storages,
    file: &'p str,
}

impl<'p> Fields<'p> {
    /// The dictionary that has `edge_index`: the value itself, the state of an object, what PyTorch
    /// Geometric keeps inside of it, or the first of a tuple.
    fn find(&self, id: Id, depth: usize) -> Option<Id> {
        if depth == 0 {
            return None;
        }
        if self.pickle.pairs(id).is_some() {
            if self.pickle.field(id, "edge_index").is_some() {
                return Some(id);
            }
            let inner = ["_store", "_mapping", "_data"].into_iter();
            return inner
                .filter_map(|name| self.pickle.field(id, name))
                .find_map(|id| self.find(id, depth - 1));
        }
        match self.pickle.get(id) {
            Value::Object { state: Some(state), .. } => self.find(*state, depth - 1),
            Value::Tuple(items) | Value::List(items) => {
                items.iter().take(2).find_map(|&item| self.find(item, depth - 1))
            }
            _ => None,
        }
    }

    /// A tensor or an array by the name of its field; `None` where there is none.
    fn array(&self, fields: Id, name: &str) -> Result<Option<Tensor<'p>>, DataError> {
        let Some(id) = self.pickle.field(fields, name) else { return Ok(None) };
        let label = format!("{} ({name})", self.file);
        match self.tensor(id, &label)? {
            Some(tensor) => Ok(Some(tensor)),
            None => self.pickle.array(id, &label),
        }
    }

    /// A tensor: where its numbers lie, its shape and its strides.
    fn tensor(&self, id: Id, label: &str) -> Result<Option<Tensor<'p>>, DataError> {
        let pickle = self.pickle;
        let Value::Object { class, args, .. } = pickle.get(id) else { return Ok(None) };
        let function = pickle.global(*class).unwrap_or_default();
        let args = pickle.items(*args).unwrap_or_default();
        let bad = |problem: &str| DataError::format(label, format!("a tensor {problem}"));
        match function.as_str() {
            "torch._utils._rebuild_tensor_v2" | "torch._utils._rebuild_tensor" => {}
            "torch._utils._rebuild_parameter" => {
                return match args.first() {
                    Some(&inner) => self.tensor(inner, label),
                    None => Err(bad("lacks its parts")),
                };
            }
            "torch._utils._rebuild_sparse_tensor" => {
                return Err(bad("is sparse, which is not read; store it dense"));
            }
            _ => return Ok(None),
        }
        let &[storage, offset, size, stride, ..] = args else {
            return Err(bad("lacks its parts"));
        };
        let numbers = |id: Id| -> Option<Vec<usize>> {
            let items = pickle.items(id)?;
            items.iter().map(|&n| usize::try_from(pickle.integer(n)?).ok()).collect()
        };
        let parts = (numbers(size), numbers(stride), pickle.integer(offset));
        let (Some(shape), Some(strides), Some(offset)) = parts else {
            return Err(bad("has no usable shape"));
        };
        let Value::Persistent(storage) = pickle.get(storage) else {
            return Err(bad("has no storage"));
        };
        let Some(&[_, kind, key, ..]) = pickle.items(*storage) else {
            return Err(bad("has no usable storage"));
        };
        let kind = pickle.global(kind).unwrap_or_default();
        let dtype =
            element(&kind).ok_or_else(|| bad(&format!("holds {kind}, which is not read")))?;
        let key = pickle.bytes(key).map(|key| String::from_utf8_lossy(key).into_owned());
        let storage = key.and_then(|key| self.storages.get(&key));
        let storage = storage.ok_or_else(|| bad("lacks its numbers"))?;
        let offset = usize::try_from(offset).map_err(|_| bad("starts before its storage"))?;
        let payload = gather(storage, dtype.size, offset, &shape, &strides)
            .ok_or_else(|| bad("reaches beyond its storage"))?;
        let length = payload.len() as u64;
        let header = Header { dtype, fortran: false, shape };
        Array::new(label, header, Cursor::new(Cow::Owned(payload)), length).map(Some)
    }
}

/// The element type of a storage.
fn element(kind: &str) -> Option<DType> {
    let name: &[u8] = match kind.strip_prefix("torch.")? {
        "FloatStorage" => b"<f4",
        "DoubleStorage" => b"<f8",
        "HalfStorage" => b"<f2",
        "LongStorage" => b"<i8",
        "IntStorage" => b"<i4",
        "ShortStorage" => b"<i2",
        "CharStorage" => b"|i1",
        "ByteStorage" => b"|u1",
        "BoolStorage" => b"|b1",
        _ => return None,
    };
    DType::parse(name).ok()
}

/// The elements of a strided view, row after row; `None` where they reach beyond the storage.
fn gather(
    storage: &[u8],
    size: usize,
    offset: usize,
    shape: &[usize],
    strides: &[usize],
) -> Option<Vec<u8>> {
    if shape.len() != strides.len() || shape.len() > 8 {
        return None;
    }
    let count = shape.iter().try_fold(1usize, |count, &axis| count.checked_mul(axis))?;
    if count == 0 {
        return Some(Vec::new());
    }
    // A stride of 0 repeats numbers: more than the storage holds are a lie, or a bomb.
    if count.checked_mul(size)? > storage.len() {
        return None;
    }
    let mut payload = Vec::with_capacity(count * size);
    let mut place = vec![0usize; shape.len()];
    for _ in 0..count {
        let mut steps = place.iter().zip(strides);
        let at = steps.try_fold(offset, |at, (&k, &step)| at.checked_add(k.checked_mul(step)?))?;
        let start = at.checked_mul(size)?;
        payload.extend_from_slice(storage.get(start..start.checked_add(size)?)?);
        for (k, axis) in place.iter_mut().zip(shape).rev() {
            *k += 1;
            if *k < *axis {
                break;
            }
            *k = 0;
        }
    }
    Some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_are_gathered() {
        let storage: Vec<u8> = (0..6).collect();
        assert_eq!(gather(&storage, 1, 0, &[2, 3], &[3, 1]).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(gather(&storage, 1, 0, &[3, 2], &[1, 3]).unwrap(), [0, 3, 1, 4, 2, 5]);
        assert_eq!(gather(&storage, 2, 1, &[2], &[1]).unwrap(), [2, 3, 4, 5]);
        assert_eq!(gather(&storage, 1, 0, &[7], &[0]), None);
        assert_eq!(gather(&storage, 1, 4, &[3], &[1]), None);
        assert_eq!(gather(&storage, 1, usize::MAX, &[2], &[1]), None);
        assert_eq!(gather(&storage, 1, 0, &[0, 9], &[1, 1]).unwrap(), b"");
    }
}
