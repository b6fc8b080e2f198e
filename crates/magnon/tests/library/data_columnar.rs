//! Parquet and Arrow files: what they say, and what becomes of damaged ones.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int64Array,
    RecordBatch, StringArray, StructArray, TimestampMillisecondArray, types::Int32Type,
};
use magnon::data::{
    Dataset, FeatureFile, LoadConfig, NodeNames, TableColumns, attach_features, load,
};
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

/// Dates of three days.
fn days() -> ArrayRef {
    Arc::new(Date32Array::from(vec![18262, 18263, 18264]))
}

fn numbers() -> ArrayRef {
    Arc::new(Float64Array::from(vec![3.5, 1.0, 2.0]))
}

/// Columns of types that are neither numbers nor text, and what they are called.
fn others() -> Vec<(&'static str, ArrayRef)> {
    let inner: ArrayRef = numbers();
    let field = Arc::new(arrow_schema::Field::new("a", inner.data_type().clone(), false));
    vec![
        ("structures", Arc::new(StructArray::from(vec![(field, inner)]))),
        ("bytes (type binary)", Arc::new(BinaryArray::from_vec(vec![b"a", b"b", b"c"]))),
        ("decimal numbers", Arc::new(Decimal128Array::from(vec![1, 2, 3]))),
    ]
}

#[test]
fn dates_are_names_and_labels() {
    for (ending, write) in [("parquet", parquet as fn(&RecordBatch) -> _), ("feather", feather)] {
        let times = TimestampMillisecondArray::from(vec![Some(0), None, Some(1500)]);
        let zoned = times.clone().with_timezone("+02:00");
        let folder = tempfile::tempdir().unwrap();
        let edges = batch(vec![
            ("source", days()),
            ("target", Arc::new(Date32Array::from(vec![18263, 18264, 18262]))),
        ]);
        let path = |name: &str| folder.path().join(format!("{name}.{ending}"));
        std::fs::write(path("edges"), write(&edges)).unwrap();
        for (labels, expected) in
            [(times, "1970-01-01T00:00:01.500"), (zoned, "1970-01-01T00:00:01.500Z")]
        {
            let table = vec![("id", days()), ("x", numbers()), ("label", Arc::new(labels) as _)];
            std::fs::write(path("nodes"), write(&batch(table))).unwrap();
            let data = read(folder.path()).unwrap();
            let names = ["2020-01-01", "2020-01-02", "2020-01-03"].map(str::to_owned).to_vec();
            assert_eq!(data.node_names, Some(NodeNames::Words(names)), "{ending}");
            let labels = data.labels.unwrap();
            assert_eq!((labels.classes[1], labels.names[1].as_str()), (None, expected));
        }
        // As features, they are left out under their own name.
        let table = vec![("id", days()), ("x", numbers()), ("born", days())];
        std::fs::write(path("nodes"), write(&batch(table))).unwrap();
        let said = "columns of other types are no features and were left out: born holds dates";
        let remarks = read(folder.path()).unwrap().remarks;
        assert!(remarks.iter().any(|remark| remark.ends_with(said)), "{remarks:?}");
    }
}

#[test]
fn types_that_cannot_be_used_are_named() {
    for (kind, column) in others() {
        for (ending, write) in [("parquet", parquet as fn(&RecordBatch) -> _), ("feather", feather)]
        {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(format!("{name}.{ending}"));
            let edges = |weight: ArrayRef, source: ArrayRef| {
                let target: ArrayRef = Arc::new(StringArray::from(vec!["b", "c", "a"]));
                batch(vec![("source", source), ("target", target), ("weight", weight)])
            };
            let names = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b", "c"])) };
            let holds = format!("holds {kind}, which cannot be used as");
            std::fs::write(path("edges"), write(&edges(numbers(), column.clone()))).unwrap();
            let error = read(folder.path()).unwrap_err();
            assert!(
                error.contains(&format!("'source' {holds} the ends of edges: convert")),
                "{error}"
            );
            std::fs::write(path("edges"), write(&edges(column.clone(), names()))).unwrap();
            let error = read(folder.path()).unwrap_err();
            assert!(error.contains(&format!("'weight' {holds} weights")), "{error}");
            std::fs::write(path("edges"), write(&edges(numbers(), names()))).unwrap();
            let table =
                |name, ids| batch(vec![("id", ids), ("x", numbers()), (name, column.clone())]);
            std::fs::write(path("nodes"), write(&table("label", names()))).unwrap();
            let error = read(folder.path()).unwrap_err();
            assert!(error.contains(&format!("'label' {holds} labels")), "{error}");
            std::fs::write(path("nodes"), write(&table("other", column.clone()))).unwrap();
            let error = read(folder.path()).unwrap_err();
            assert!(
                error.contains(&format!("'id' {holds} ids")) && error.contains("--id-column"),
                "{error}"
            );
            std::fs::write(path("nodes"), write(&table("other", names()))).unwrap();
            let remarks = read(folder.path()).unwrap().remarks;
            let said = format!("left out: other holds {kind}");
            assert!(remarks.iter().any(|remark| remark.ends_with(&said)), "{remarks:?}");
            if ending == "feather" {
                continue;
            }
            // The same of features that stay on disk.
            let graph = load(&path("edges"), &LoadConfig::default()).unwrap();
            let config = LoadConfig::default();
            let file = FeatureFile::open(&path("nodes"), &graph, &config).unwrap();
            assert!(
                file.remarks().iter().any(|remark| remark.ends_with(&said)),
                "{:?}",
                file.remarks()
            );
            std::fs::write(path("nodes"), write(&table("other", column.clone()))).unwrap();
            let error = FeatureFile::open(&path("nodes"), &graph, &config).unwrap_err().to_string();
            assert!(error.contains(&format!("'id' {holds} ids")), "{error}");
        }
    }
}

#[test]
fn columns_are_found_by_name_and_number_beside_lists() {
    let mut lists = arrow_array::builder::ListBuilder::new(Float64Array::builder(6));
    for row in 0..3 {
        lists.values().append_slice(&[f64::from(row), 1.0]);
        lists.append(true);
    }
    let lists: ArrayRef = Arc::new(lists.finish());
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let folder = tempfile::tempdir().unwrap();
    let (graph, path) = (folder.path().join("edges.csv"), folder.path().join("f.parquet"));
    std::fs::write(&graph, "a,b\nb,c\n").unwrap();
    std::fs::write(&path, parquet(&batch(vec![("emb", lists.clone()), ("who", names)]))).unwrap();
    // The list is two columns, so that the names are the third.
    for id in ["who", "3"] {
        let columns = TableColumns { id: Some(id.to_owned()), ..TableColumns::default() };
        let config = LoadConfig { columns, ..LoadConfig::default() };
        let mut data = load(&graph, &config).unwrap();
        attach_features(&mut data, &path, &config).unwrap();
        assert_eq!(data.features.unwrap().cols(), 2, "{id}");
    }
    let mut words = ListBuilder::new(StringBuilder::new());
    for word in ["a", "b", "c"] {
        words.values().append_value(word);
        words.append(true);
    }
    let words: ArrayRef = Arc::new(words.finish());
    std::fs::write(&path, parquet(&batch(vec![("x", numbers()), ("tags", words)]))).unwrap();
    let mut data = load(&graph, &LoadConfig::default()).unwrap();
    let error = attach_features(&mut data, &path, &LoadConfig::default()).unwrap_err().to_string();
    assert!(
        error.contains("the column 'tags' holds lists of other things than numbers"),
        "{error}"
    );
}
