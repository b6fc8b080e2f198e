//! Small Parquet, Arrow and zstd files that claim, nest or unpack to far more than they hold: cost follows what lies
//! on disk, whether the file is read whole, in an archive, or a block of columns at a time.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

mod columnar_bombs;
mod counting;
mod data_fixtures;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Int8Array, Int32Array, Int64Array, NullArray, RecordBatch, RunArray,
    StringArray, new_empty_array,
};
use arrow_schema::{DataType, Field};
use columnar_bombs::{
    Page, chunk, count, feather, group, leaf, missing, nested, one_page, parquet,
};
use counting::{NOW, PEAK};
use data_fixtures::{Files, write, zip, zst};
use flate2::{Compression, write::GzEncoder};
use magnon::data::{Dataset, FeatureFile, FeatureNorm, LoadConfig, load};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard};

/// One test at a time makes its files and reads them, so that what is counted is its own.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What comes of files, and the most bytes that were in use on the way to it.
fn measured<T>(
    files: Files,
    read: impl FnOnce(&Path) -> Result<T, magnon::data::DataError>,
) -> (Result<T, String>, usize) {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &files);
    drop(files);
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = read(folder.path()).map_err(|error| error.to_string());
    let used = PEAK.load(Relaxed).saturating_sub(before);
    (answer, used)
}

fn loaded(data: &str, files: Files) -> (Result<Dataset, String>, usize) {
    measured(files, |folder| load(&folder.join(data), &LoadConfig::default()))
}

/// A table is refused with `word`, within `most` bytes: as a graph, in an archive, beside a graph, and left on disk.
fn refused_everywhere(ending: &'static str, bytes: &[u8], word: &str, most: usize) {
    let edges: &'static str = if ending == "parquet" { "e.parquet" } else { "e.feather" };
    let features: &'static str =
        if ending == "parquet" { "features.parquet" } else { "features.feather" };
    let graph = || ("graph.csv", b"0,1\n1,2\n".to_vec());
    let cases: [(&str, Files); 3] = [
        (edges, vec![(edges, bytes.to_vec())]),
        ("a.zip", vec![("a.zip", zip(&[(edges, bytes.to_vec())]))]),
        ("", vec![graph(), (features, bytes.to_vec())]),
    ];
    for (data, files) in cases {
        let (answer, used) = loaded(data, files);
        let error = answer.unwrap_err();
        assert!(error.contains(word), "{data}: {error}");
        assert!(used < most, "{data}: {used} bytes: {error}");
    }
    if ending == "parquet" {
        let (answer, used) = measured(vec![graph(), (features, bytes.to_vec())], |folder| {
            let config = LoadConfig::default();
            let dataset = load(&folder.join("graph.csv"), &config).unwrap();
            FeatureFile::open(&folder.join(features), &dataset, &config)
        });
        let error = answer.unwrap_err();
        assert!(error.contains(word) || error.contains("rows, but the graph has"), "{error}");
        assert!(used < most, "left on disk: {used} bytes: {error}");
    }
}

/// A Parquet file as Arrow's writer makes it, which notes that dictionaries are dictionaries.
fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    written_with(columns, false)
}

fn written_with(columns: Vec<(&str, ArrayRef)>, plain: bool) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_dictionary_page_size_limit(64 << 20)
        .set_compression(parquet::basic::Compression::SNAPPY)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(plain);
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new_with_options(&mut bytes, batch.schema(), options)
            .unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn nested_columns_do_not_end_the_process() {
    let _turn = turn();
    for depth in [100, 2_000, 30_000] {
        refused_everywhere("parquet", &nested(depth), "nested more than 64 levels", 64 << 20);
    }
    // The same in an Arrow file, and in the schema that Arrow's writer puts beside that of Parquet.
    let item = |kind| DataType::List(Arc::new(Field::new("item", kind, true)));
    let kind = (0..100).fold(DataType::Int32, |kind, _| item(kind));
    let bytes = feather(vec![("source", new_empty_array(&kind))], false);
    refused_everywhere("feather", &bytes, "not an Arrow file", 16 << 20);
    let bytes = written(vec![("source", new_empty_array(&kind))]);
    refused_everywhere("parquet", &bytes, "nested more than 64 levels", 16 << 20);
}

#[test]
fn groups_that_claim_columns_cost_nothing() {
    let _turn = turn();
    // 46 bytes whose schema claims 2^31 - 1 columns.
    let schema = [group("schema", i64::from(i32::MAX)), leaf("a", 2)];
    let bytes = parquet(b"", &schema, 0, &[]);
    refused_everywhere("parquet", &bytes, "claims more columns than there are", 1 << 20);
    // A path of long names, for each of many columns.
    let mut schema = vec![group("schema", 1), group(&"a".repeat(100_000), 5_000)];
    schema.extend((0..5_000).map(|_| leaf("b", 2)));
    let bytes = parquet(b"", &schema, 0, &[]);
    refused_everywhere("parquet", &bytes, "the names of its columns need", 16 << 20);
}

#[test]
fn rows_that_are_not_there_cost_nothing() {
    let _turn = turn();
    let billion = 1_000_000_000;
    // A footer and its group of rows that do not agree.
    let bytes = one_page(&missing(billion), 0, 10, billion);
    refused_everywhere("parquet", &bytes, "claims 10 rows", 1 << 20);
    // A billion missing cells, in a run of five bytes: a graph, and features of a column.
    let bytes = one_page(&missing(billion), 0, billion, billion);
    assert!(bytes.len() < 200);
    for name in ["e.parquet", "e.pq"] {
        let both = [group("schema", 2), leaf("source", 2), leaf("target", 2)];
        let page = bytes[4..bytes.len() - 8].to_vec();
        let size = page.len() as i64 / 2;
        let columns = vec![chunk(2, 0, billion, size, 4), chunk(2, 0, billion, size, 4 + size)];
        let bytes = parquet(&page, &both, billion, &[(billion, columns)]);
        let (answer, used) = loaded(name, vec![(name, bytes)]);
        assert!(answer.is_err());
        assert!(used < 1 << 20, "{used} bytes");
    }
    let (answer, used) =
        loaded("", vec![("g.csv", b"0,1\n".to_vec()), ("features.parquet", bytes)]);
    let error = answer.unwrap_err();
    assert!(
        error.contains("its rows need 8000000000 bytes") && error.contains("as csv"),
        "{error}"
    );
    assert!(used < 1 << 20, "{used} bytes");
    // Pages that have other numbers of values than their column.
    let page = missing(5);
    let mut lying = missing(5);
    lying.values = billion;
    for (page, rows) in [(page, 4), (lying, 5)] {
        let schema = [group("schema", 1), leaf("a", 2)];
        let body = one_page(&page, 0, 1, 1);
        let body = &body[4..];
        let columns = vec![chunk(2, 0, rows, 30, 4)];
        let bytes = parquet(body, &schema, rows, &[(rows, columns)]);
        let files = vec![("g.csv", b"0,1\n".to_vec()), ("features.parquet", bytes)];
        let (answer, used) = loaded("", files);
        assert!(answer.unwrap_err().contains("damaged"));
        assert!(used < 1 << 20, "{used} bytes");
    }
}

#[test]
fn arrow_columns_without_bytes_cost_nothing() {
    let _turn = turn();
    let rows = 1_000_000_000;
    let runs: RunArray<Int32Type> =
        RunArray::try_new(&Int32Array::from(vec![rows]), &Int64Array::from(vec![7])).unwrap();
    let runs: ArrayRef = Arc::new(runs);
    let nothing: ArrayRef = Arc::new(NullArray::new(rows as usize));
    for column in [runs, nothing] {
        let columns = vec![("source", column.clone()), ("target", column)];
        let bytes = feather(columns, false);
        assert!(bytes.len() < 2000);
        refused_everywhere("feather", &bytes, "its rows need", 1 << 20);
    }
    // A few rows of such types are named for what they are.
    let columns = || -> Vec<(&str, ArrayRef)> {
        vec![("source", Arc::new(NullArray::new(3))), ("target", Arc::new(NullArray::new(3)))]
    };
    let (answer, _) = loaded("e.feather", vec![("e.feather", feather(columns(), false))]);
    let error = answer.unwrap_err();
    assert!(
        error.contains("the column 'source' holds nothing (type null), which cannot"),
        "{error}"
    );
}

#[test]
fn buffers_that_claim_to_unpack_cost_nothing() {
    let _turn = turn();
    let column = || -> ArrayRef { Arc::new(Int64Array::from(vec![1; 1000])) };
    let honest = feather(vec![("source", column()), ("target", column())], true);
    let size = 8000i64.to_le_bytes();
    for claimed in [1 << 40, 8_000_001] {
        let mut bytes = honest.clone();
        let at: Vec<usize> = (0..bytes.len() - 8).filter(|&at| bytes[at..at + 8] == size).collect();
        assert!(!at.is_empty());
        for at in at {
            bytes[at..at + 8].copy_from_slice(&i64::to_le_bytes(claimed));
        }
        let (answer, used) = loaded("e.feather", vec![("e.feather", bytes)]);
        let error = answer.unwrap_err();
        assert!(claimed < 1 << 30 || error.contains("buffers of a batch of rows need"), "{error}");
        assert!(used < 20 << 20, "{used} bytes");
    }
    // Honest zeros, which are as much a bomb as others.
    let zeros: ArrayRef = Arc::new(Int8Array::from(vec![0; 70 << 20]));
    let bytes = feather(vec![("source", zeros.clone()), ("target", zeros)], true);
    assert!(bytes.len() < 100_000, "{}", bytes.len());
    refused_everywhere("feather", &bytes, "the size on disk allows", 1 << 20);
}

#[test]
fn pages_unpack_within_what_the_file_allows() {
    let _turn = turn();
    let zeros = vec![0; 16 << 20];
    // Gzip: 400 MiB, which the header of the page does not tell, or does.
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&zeros).unwrap();
    let packed = packer.finish().unwrap().repeat(25);
    for unpacked in [8_000, 400 << 20] {
        let page = Page { values: 1000, unpacked, bytes: packed.clone() };
        let bytes = one_page(&page, 2, 1000, 1000);
        let allowed = (64 << 20) + 200 * bytes.len();
        assert!(allowed < 300 << 20, "{allowed}");
        let files = vec![("g.csv", b"0,1\n".to_vec()), ("features.parquet", bytes)];
        let (answer, used) = loaded("", files);
        let error = answer.unwrap_err();
        assert!(
            error.contains("unpacks to more than the 8000") || error.contains("pages"),
            "{error}"
        );
        assert!(used < 4 << 20, "{used} bytes");
    }
    // Zstd: the same, in a few kilobytes.
    let packed = zst(&zeros);
    for unpacked in [8_000, 16 << 20, i64::from(i32::MAX)] {
        let page = Page { values: 1000, unpacked, bytes: packed.clone() };
        let bytes = one_page(&page, 6, 1000, 1000);
        let files = vec![("g.csv", b"0,1\n".to_vec()), ("features.parquet", bytes)];
        let (answer, used) = loaded("", files);
        assert!(answer.is_err());
        assert!(used < 40 << 20, "{used} bytes for {unpacked}");
    }
}

#[test]
fn zstd_files_unpack_within_what_the_file_allows() {
    let _turn = turn();
    // Blocks of 128 KiB that repeat one byte, in a frame with the widest window: 512 MiB in 16 KiB.
    let block = |last: u32| (last | 1 << 1 | (128 << 10) << 3).to_le_bytes()[..3].to_vec();
    for window in [0x38, 0x80, 0xa0, 0xf8] {
        let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, window];
        for k in 0..4096 {
            bytes.extend([block(u32::from(k == 4095)), b"1".to_vec()].concat());
        }
        for name in ["e.csv.zst", "e.parquet.zst", "features.npy.zst"] {
            let files = vec![(name, bytes.clone())];
            let (answer, used) = loaded(name, files);
            assert!(answer.is_err());
            assert!(used < 300 << 20, "{name}: {used} bytes with window {window:x}");
        }
    }
}

#[test]
fn columns_do_not_share_their_pages() {
    let _turn = turn();
    let page = [0u8; 1000];
    let mut schema = vec![group("schema", 20_000)];
    schema.extend((0..20_000).map(|k| leaf(&format!("c{k}"), 2)));
    let columns = (0..20_000).map(|_| chunk(2, 0, 1000, 1000, 4)).collect();
    let bytes = parquet(&page, &schema, 1000, &[(1000, columns)]);
    let most = 40 * bytes.len();
    refused_everywhere("parquet", &bytes, "lie in the same place", most);
}

#[test]
fn words_are_kept_once() {
    let _turn = turn();
    let word = "a".repeat(1 << 20);
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5_000));
    let keys = Int32Array::from_iter_values((0..5_000).map(|k| k % 2));
    let words = Arc::new(StringArray::from(vec![&word[..], "b"]));
    let words: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::try_new(keys, words).unwrap());
    let edges: String = (0..5_000).map(|k| format!("{k},{}\n", (k + 1) % 5_000)).collect();
    let graph = ("graph.csv", edges.into_bytes());
    for name in ["label", "comment"] {
        let columns = vec![("id", ids.clone()), ("x", ids.clone()), (name, words.clone())];
        let files = vec![graph.clone(), ("nodes.feather", feather(columns, false))];
        let (answer, used) = loaded("", files);
        let dataset = answer.unwrap();
        assert_eq!(dataset.labels.is_some(), name == "label");
        assert!(used < 20 << 20, "{name}: {used} bytes");
    }
    // Parquet's decoder copies the word for each row, where nothing says that there is a dictionary. It is not asked
    // to for a column that is not used.
    let keys = Int32Array::from_iter_values((0..5_000).map(|k| k % 2));
    let short = "a".repeat(100_000);
    let words = Arc::new(StringArray::from(vec![&short[..], "b"]));
    let words: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::try_new(keys, words).unwrap());
    let table = |name| vec![("id", ids.clone()), ("x", ids.clone()), (name, words.clone())];
    for (name, plain) in [("comment", true), ("label", false)] {
        let files = vec![graph.clone(), ("nodes.parquet", written_with(table(name), plain))];
        let (answer, used) = loaded("", files);
        assert_eq!(answer.unwrap().features.unwrap().cols(), 1);
        assert!(used < 8 << 20, "{name}: {used} bytes");
    }
    let files = vec![graph, ("nodes.parquet", written_with(table("label"), true))];
    let (answer, used) = loaded("", files);
    let error = answer.map(|_| ()).unwrap_err();
    assert!(error.contains("its texts need"), "{error}");
    assert!(used < 300 << 20, "{used} bytes");
}

#[test]
fn dictionaries_and_deltas_claim_no_more_words_than_they_hold() {
    let _turn = turn();
    // Texts whose lengths are differences: a header in the page claims a billion of them.
    let numbers = |count_of: u64| [count(128), count(4), count(count_of), count(0)].concat();
    for (encoding, bytes) in [(6, numbers(1 << 30)), (7, [numbers(1), numbers(1 << 30)].concat())] {
        let data = columnar_bombs::texts_page(encoding, 3, &bytes);
        let schema =
            [group("schema", 2), columnar_bombs::words("source"), columnar_bombs::words("target")];
        let size = data.len() as i64;
        let columns = vec![chunk(6, 0, 3, size, 4), chunk(6, 0, 3, size, 4 + size)];
        let bytes = parquet(&[&data[..], &data].concat(), &schema, 3, &[(3, columns)]);
        let (answer, used) = loaded("e.parquet", vec![("e.parquet", bytes)]);
        let error = answer.unwrap_err();
        assert!(error.contains("a page of texts does not hold together"), "{error}");
        assert!(used < 1 << 20, "{used} bytes");
    }
    let data = columnar_bombs::dictionary_page(i64::from(i32::MAX), b"abcd");
    let schema = [group("schema", 2), leaf("source", 2), leaf("target", 2)];
    let size = data.len() as i64;
    let columns = vec![chunk(2, 0, 3, size, 4), chunk(2, 0, 3, size, 4 + size)];
    let bytes = parquet(&[&data[..], &data].concat(), &schema, 3, &[(3, columns)]);
    let (answer, used) = loaded("e.parquet", vec![("e.parquet", bytes)]);
    let error = answer.unwrap_err();
    assert!(error.contains("a dictionary claims 2147483647 words in 4 bytes"), "{error}");
    assert!(used < 1 << 20, "{used} bytes");
}

#[test]
fn a_constant_column_of_many_rows_stays_on_disk() {
    let _turn = turn();
    // Runs are an honest way to write a column. Read whole, it is bounded; a block at a time, it is not in memory.
    let column: ArrayRef = Arc::new(Int64Array::from(vec![1; 9 << 20]));
    let bytes = written(vec![("a", column)]);
    let files = vec![("g.csv", b"0,1\n".to_vec()), ("features.parquet", bytes)];
    let (answer, _) = loaded("", files.clone());
    assert!(answer.unwrap_err().contains("write it without compression and dictionary encoding"));
    let (answer, used) = measured(files, |folder| {
        let config = LoadConfig { nodes: Some(9 << 20), ..LoadConfig::default() };
        let dataset = load(&folder.join("g.csv"), &config)?;
        let file = FeatureFile::open(&folder.join("features.parquet"), &dataset, &config)?;
        file.survey(FeatureNorm::None, 1)?;
        Ok(file.cols())
    });
    assert_eq!(answer, Ok(1));
    assert!(used < 400 << 20, "{used} bytes");
}
