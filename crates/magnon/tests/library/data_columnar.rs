//! Parquet and Arrow files: what they say, and what becomes of damaged ones.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, StringArray, types::Int32Type,
};
use magnon::data::{Dataset, LoadConfig, NodeNames, load};
use std::path::Path;
use std::sync::Arc;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn feather(batch: &RecordBatch) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(&mut bytes, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn edges() -> RecordBatch {
    batch(vec![
        ("amount", Arc::new(Float64Array::from(vec![2.5, 1.0, 4.0]))),
        // Ids that double precision would round.
        ("from", Arc::new(Int64Array::from(vec![9_007_199_254_740_993, 7, 9_007_199_254_740_995]))),
        ("to", Arc::new(Int64Array::from(vec![7, 9_007_199_254_740_995, 9_007_199_254_740_993]))),
    ])
}

fn nodes() -> RecordBatch {
    let labels: DictionaryArray<Int32Type> = vec![Some("u"), None, Some("v")].into_iter().collect();
    let ids = ["9007199254740995", "7", "9007199254740993"];
    batch(vec![
        ("age", Arc::new(Float64Array::from(vec![3.5, 1.0, 2.0]))),
        ("id", Arc::new(StringArray::from(ids.to_vec()))),
        ("label", Arc::new(labels)),
    ])
}

fn read(folder: &Path) -> Result<Dataset, String> {
    load(folder, &LoadConfig::default()).map_err(|error| error.to_string())
}

#[test]
fn tables_are_read_and_joined() {
    for (ending, write) in [("parquet", parquet as fn(&RecordBatch) -> _), ("feather", feather)] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(format!("edges.{ending}")), write(&edges())).unwrap();
        std::fs::write(folder.path().join(format!("nodes.{ending}")), write(&nodes())).unwrap();
        let data = read(folder.path()).unwrap();
        let ids = vec![7, 9_007_199_254_740_993, 9_007_199_254_740_995];
        assert_eq!(data.node_names, Some(NodeNames::Numbers(ids)), "{ending}");
        assert_eq!(data.graph.all_targets(), [2, 0, 1]);
        assert_eq!(data.graph.all_weights(), Some(&[1.0, 2.5, 4.0][..]));
        assert_eq!(data.features.unwrap().values(), [1.0, 2.0, 3.5]);
        assert_eq!(data.labels.unwrap().classes, [None, Some(1), Some(0)]);
    }
}

#[test]
fn damaged_files_never_panic() {
    for (ending, bytes) in [("parquet", parquet(&edges())), ("feather", feather(&edges()))] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("edges.{ending}"));
        let mut refused = 0;
        for at in 0..bytes.len() {
            let mut harmed = bytes.clone();
            harmed[at] ^= 1 << (at % 8);
            std::fs::write(&path, &harmed).unwrap();
            refused += usize::from(read(folder.path()).is_err());
            if at % 16 == 0 {
                std::fs::write(&path, &bytes[..at]).unwrap();
                assert!(read(folder.path()).is_err(), "{ending} cut at {at}");
            }
        }
        assert!(refused > 0, "{ending}");
    }
}
