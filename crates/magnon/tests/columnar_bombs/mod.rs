//! Parquet and Arrow files made by hand, which claim what they do not hold.
#![allow(dead_code)] // each file looks at a part

use arrow_array::{ArrayRef, RecordBatch};

/// A whole number of variable length.
pub fn count(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n > 127 {
        bytes.push(n as u8 | 128);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

/// A field of Thrift's compact protocol with a whole number, so many after the field before it.
pub fn whole(delta: u8, n: i64) -> Vec<u8> {
    [vec![delta << 4 | 6], count((n << 1 ^ n >> 63) as u64)].concat()
}

pub fn text(delta: u8, text: &str) -> Vec<u8> {
    [vec![delta << 4 | 8], count(text.len() as u64), text.as_bytes().to_vec()].concat()
}

fn list(delta: u8, items: &[Vec<u8>]) -> Vec<u8> {
    [vec![delta << 4 | 9, 0xfc], count(items.len() as u64), items.concat()].concat()
}

/// A group of the schema.
pub fn group(name: &str, members: i64) -> Vec<u8> {
    [whole(3, 0), text(1, name), whole(1, members), vec![0]].concat()
}

/// A column of the schema: 1 for 32 bits, 2 for 64 bits.
pub fn leaf(name: &str, kind: i64) -> Vec<u8> {
    [whole(1, kind), whole(2, 1), text(1, name), vec![0]].concat()
}

/// A page of a column.
pub struct Page {
    pub values: i64,
    pub unpacked: i64,
    pub bytes: Vec<u8>,
}

/// A page of so many missing values, in a few bytes.
pub fn missing(values: i64) -> Page {
    let levels = [count(values as u64 * 2), vec![0]].concat();
    let bytes = [(levels.len() as u32).to_le_bytes().to_vec(), levels].concat();
    Page { values, unpacked: bytes.len() as i64, bytes }
}

impl Page {
    fn encode(&self) -> Vec<u8> {
        let data = [whole(1, self.values), whole(1, 0), whole(1, 3), whole(1, 3), vec![0]].concat();
        let sizes = [whole(1, 0), whole(1, self.unpacked), whole(1, self.bytes.len() as i64)];
        [sizes.concat(), vec![0x2c], data, vec![0], self.bytes.clone()].concat()
    }
}

/// A column of texts.
pub fn words(name: &str) -> Vec<u8> {
    [whole(1, 6), whole(2, 0), text(1, name), whole(2, 0), vec![0]].concat()
}

/// A page of texts in an encoding, without missing ones.
pub fn texts_page(encoding: i64, values: i64, bytes: &[u8]) -> Vec<u8> {
    let data = [whole(1, values), whole(1, encoding), whole(1, 3), whole(1, 3), vec![0]].concat();
    let size = bytes.len() as i64;
    [whole(1, 0), whole(1, size), whole(1, size), vec![0x2c], data, vec![0], bytes.to_vec()]
        .concat()
}

/// A page of the words of a dictionary.
pub fn dictionary_page(words: i64, bytes: &[u8]) -> Vec<u8> {
    let data = [whole(1, words), whole(1, 0), vec![0]].concat();
    let size = bytes.len() as i64;
    [whole(1, 2), whole(1, size), whole(1, size), vec![0x4c], data, vec![0], bytes.to_vec()]
        .concat()
}

/// Where a column of a group of rows lies.
pub fn chunk(kind: i64, codec: i64, values: i64, size: i64, start: i64) -> Vec<u8> {
    let encodings = vec![0x19, 0x15, 0];
    let meta = [whole(1, kind), encodings, list(1, &[]), whole(1, codec), whole(1, values)];
    let sizes = [whole(1, size), whole(1, size), whole(2, start), vec![0]];
    [whole(2, start), vec![0x1c], meta.concat(), sizes.concat(), vec![0]].concat()
}

/// A Parquet file: its body, its schema, how many rows it claims, and the columns of its groups of rows.
pub fn parquet(
    body: &[u8],
    schema: &[Vec<u8>],
    rows: i64,
    groups: &[(i64, Vec<Vec<u8>>)],
) -> Vec<u8> {
    let group = |(rows, chunks): &(i64, Vec<Vec<u8>>)| {
        [list(1, chunks), whole(1, 1), whole(1, *rows), vec![0]].concat()
    };
    let groups: Vec<Vec<u8>> = groups.iter().map(group).collect();
    let footer = [whole(1, 2), list(1, schema), whole(1, rows), list(1, &groups), vec![0]].concat();
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", body, &footer, &length, b"PAR1"].concat()
}

/// A Parquet file of one column with one page. `codec` is 0 for none, 2 for gzip, 6 for zstd.
pub fn one_page(page: &Page, codec: i64, claimed: i64, grouped: i64) -> Vec<u8> {
    let body = page.encode();
    let chunk = chunk(2, codec, page.values, body.len() as i64, 4);
    parquet(&body, &[group("schema", 1), leaf("a", 2)], claimed, &[(grouped, vec![chunk])])
}

/// Groups within each other.
pub fn nested(depth: usize) -> Vec<u8> {
    let mut schema = vec![group("schema", 1); depth];
    schema.push(leaf("leaf", 2));
    parquet(b"", &schema, 0, &[])
}

pub fn feather(columns: Vec<(&str, ArrayRef)>, packed: bool) -> Vec<u8> {
    use arrow_ipc::{CompressionType, writer::FileWriter, writer::IpcWriteOptions};
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let kind = packed.then_some(CompressionType::ZSTD);
    let options = IpcWriteOptions::default().try_with_compression(kind).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}
