//! Features that stay on disk are filtered as those in memory are, bit for bit, within the memory that was promised,
//! and from where an earlier call was stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counting;

use arrow_array::builder::{FixedSizeListBuilder, Float32Builder};
use arrow_array::{
    ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray, UInt8Array,
};
use counting::{NOW, PEAK};
use magnon::compute::Device;
use magnon::data::write::{Element, write_npy};
use magnon::data::{
    Dataset, FeatureFile, FeatureNorm, Features, LoadConfig, PackConfig, attach_features, load,
    pack,
};
use magnon::filter::{FilterConfig, FilterKind, Propagated, bytes_for};
use magnon::matrix::Matrix;
use magnon::model::{ChargeChoice, MappedRows, OperatorChoice, RowSource};
use magnon::operator::Charge;
use magnon::workflow::{
    BuiltOperator, FileReport, FilteredFile, Precision, Progress, operator, propagate,
    propagate_file,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

const NODES: usize = 9_000;
const COLUMNS: usize = 21;

/// Peaks are of the whole process: tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A packed graph of many entries, some of them weighted.
fn graph(folder: &Path, weighted: bool) -> Dataset {
    let edge = |u: usize, step: usize| {
        let v = (7 * u + 13 * step * step + step) % NODES;
        let weight =
            if weighted { format!(" {}", (u % 5) as f32 / 4.0 + 0.25) } else { String::new() };
        format!("{u} {v}{weight}\n")
    };
    let text: String = (0..NODES).flat_map(|u| (1..9).map(move |step| edge(u, step))).collect();
    let (source, output) = (folder.join("edges.txt"), folder.join("g.magnon"));
    fs::write(&source, text).unwrap();
    pack(&source, &output, &PackConfig::default(), &()).unwrap();
    load(&output, &LoadConfig::default()).unwrap()
}

fn features<T: Element + Copy>(path: &Path, value: impl Fn(usize) -> T) {
    let values = (0..NODES * COLUMNS).map(value).collect();
    write_npy(path, &Matrix::from_vec(NODES, COLUMNS, values).ok().unwrap()).unwrap();
}

fn built(dataset: &Dataset, charge: Charge) -> BuiltOperator {
    let mut choice = OperatorChoice::low_pass();
    choice.charge = ChargeChoice::Fixed(charge);
    operator(dataset, None, &choice, &()).unwrap()
}

fn bytes_of(result: &Propagated) -> Vec<u8> {
    match result {
        Propagated::Real(matrix) => bytemuck_bytes(matrix.as_slice()),
        Propagated::Complex(matrix) => {
            matrix.as_slice().iter().flat_map(|z| [z.re, z.im]).flat_map(f32::to_le_bytes).collect()
        }
    }
}

fn bytemuck_bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

struct Case {
    features: PathBuf,
    dataset: Dataset,
    file: FilteredFile,
    built: BuiltOperator,
    filter: FilterConfig,
    /// The payload of the result in memory.
    expected: Vec<u8>,
}

impl Case {
    fn new(folder: &Path, dataset: &mut Dataset, charge: Charge, norm: FeatureNorm) -> Self {
        let path = folder.join("x.npy");
        let config = LoadConfig { feature_norm: norm, ..Default::default() };
        let graph = dataset.clone();
        attach_features(dataset, &path, &config).unwrap();
        let built = built(dataset, charge);
        let filter =
            FilterConfig { kind: FilterKind::LinearRank, order: Some(4), ..Default::default() };
        let features = dataset.features.take().unwrap();
        let expected = bytes_of(&propagate(&built, &features, &filter, &()).unwrap().features);
        let output = folder.join("out.npy");
        let file = FilteredFile {
            feature_norm: norm,
            output,
            precision: Precision::Single,
            memory: 0,
            device: Device::Cpu,
        };
        Self { features: path, dataset: graph, file, built, filter, expected }
    }

    /// Within the memory for so many columns at a time.
    fn run(
        &mut self,
        columns: usize,
        progress: &dyn Progress,
    ) -> Result<FileReport, magnon::Error> {
        let filter =
            self.filter.build(self.built.operator.bounds(), self.built.operator.config().kind);
        self.file.memory = bytes_for(&self.built.operator, &filter.unwrap(), columns) as u64;
        self.run_as_it_is(progress)
    }

    fn run_as_it_is(&self, progress: &dyn Progress) -> Result<FileReport, magnon::Error> {
        let features = FeatureFile::open(&self.features, &self.dataset, &LoadConfig::default())?;
        propagate_file(&self.built, &features, &self.file, &self.filter, progress)
    }

    fn check(&self) {
        let bytes = fs::read(&self.file.output).unwrap();
        assert!(bytes[128..] == self.expected, "not the same bits");
        assert!(!PathBuf::from(format!("{}.blocks", self.file.output.display())).exists());
    }
}

#[test]
fn blocks_give_the_bits_of_the_whole() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let quarter = Charge::fraction(1, 4).unwrap();
    for (weighted, charge) in [(false, quarter), (true, quarter), (false, Charge::ZERO)] {
        let folder = tempfile::tempdir().unwrap();
        let mut dataset = graph(folder.path(), weighted);
        let norms = [FeatureNorm::None, FeatureNorm::Row, FeatureNorm::Standard, FeatureNorm::Auto];
        for (index, norm) in norms.into_iter().enumerate() {
            let path = folder.path().join("x.npy");
            match index {
                // Counts, doubles, and columns of unlike scale.
                0 => features(&path, |i| (i * 37 % 11) as i32),
                1 => features(&path, |i| (i * 37 % 101) as f64 / 7.0),
                _ => {
                    features(&path, |i| ((i * 37 % 101) as f32 + 1.0) * 10f32.powi((i % 5) as i32))
                }
            }
            let mut case = Case::new(folder.path(), &mut dataset, charge, norm);
            for columns in [COLUMNS, 16, 3] {
                let report = case.run(columns, &()).unwrap();
                assert_eq!(report.blocks, COLUMNS.div_ceil(columns), "{report:?}");
                case.check();
            }
        }
    }
}

/// Stops a call after some steps.
#[derive(Default)]
struct Stop {
    steps: AtomicUsize,
    flag: AtomicBool,
}

impl Progress for Stop {
    fn step(&self, _: usize, _: usize, _: &str) {
        if self.steps.fetch_sub(1, Relaxed) == 1 {
            self.flag.store(true, Relaxed);
        }
    }

    fn stop_flag(&self) -> &AtomicBool {
        &self.flag
    }
}

#[test]
fn a_call_goes_on_from_the_blocks_that_are_done() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = graph(folder.path(), false);
    features(&folder.path().join("x.npy"), |i| (i * 37 % 101) as f32 / 50.0 - 1.0);
    let charge = Charge::fraction(1, 5).unwrap();
    let mut case = Case::new(folder.path(), &mut dataset, charge, FeatureNorm::None);
    let mut known = 0;
    for steps in [1, 6, 7, 0] {
        let stop = Stop { steps: steps.into(), ..Default::default() };
        match case.run(4, &stop) {
            Ok(report) => known = report.known_blocks,
            Err(error) => assert!(matches!(error, magnon::Error::Stopped), "{error}"),
        }
    }
    assert_eq!(known, 3);
    case.check();
    // Other work does not take over these blocks.
    let stop = Stop { steps: 9.into(), ..Default::default() };
    case.run(4, &stop).unwrap_err();
    case.filter.order = Some(5);
    assert_eq!(case.run(4, &()).unwrap().known_blocks, 0);
    // A block that is damaged, cut short or in the place of another is computed again, and files that a kill leaves do
    // no harm.
    let blocks = folder.path().join("out.npy.blocks");
    case.filter.order = Some(4);
    let damages: [fn(&Path); 3] = [
        |blocks| {
            let mut bytes = fs::read(blocks.join("block-0")).unwrap();
            bytes[5] ^= 1;
            fs::write(blocks.join("block-0"), bytes).unwrap();
        },
        |blocks| fs::write(blocks.join("block-0"), b"torn").unwrap(),
        |blocks| {
            for (from, to) in [("block-0", "aside"), ("block-1", "block-0"), ("aside", "block-1")] {
                fs::rename(blocks.join(from), blocks.join(to)).unwrap();
            }
        },
    ];
    for (damage, lost) in damages.into_iter().zip([1, 1, 2]) {
        let stop = Stop { steps: 11.into(), ..Default::default() };
        case.run(4, &stop).unwrap_err();
        let kept = (0..6).filter(|block| blocks.join(format!("block-{block}")).exists()).count();
        assert!(kept >= 2, "{kept}");
        damage(&blocks);
        fs::write(blocks.join(".magnon-abcdefghijkl.tmp"), b"torn").unwrap();
        assert_eq!(case.run(4, &()).unwrap().known_blocks, kept - lost);
        case.check();
    }
}

#[test]
fn memory_stays_within_the_budget() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = graph(folder.path(), true);
    features(&folder.path().join("x.npy"), |i| (i * 37 % 101) as f32 / 50.0 - 1.0);
    let charge = Charge::fraction(1, 5).unwrap();
    let mut case = Case::new(folder.path(), &mut dataset, charge, FeatureNorm::None);
    for columns in [8, COLUMNS] {
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        case.run(columns, &()).unwrap();
        let peak = PEAK.load(Relaxed) - before;
        // Buffers for reading and writing do not grow with the graph.
        let buffers = 14 << 20;
        assert!((peak as u64) < case.file.memory + buffers, "{peak} of {}", case.file.memory);
    }
    case.file.memory = 1000;
    let error = case.run_as_it_is(&()).unwrap_err();
    assert!(error.to_string().contains("larger --memory"), "{error}");
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = graph(folder.path(), false);
    let path = folder.path().join("x.npy");
    features(&path, |i| i as f32);
    let mut case = Case::new(folder.path(), &mut dataset, Charge::ZERO, FeatureNorm::None);
    features(&path, |i| if i == 5 * COLUMNS + 3 { f32::NAN } else { 1.0 });
    let error = case.run(8, &()).unwrap_err().to_string();
    assert!(error.contains("row 5, column 3 is NaN"), "{error}");
    write_npy(&path, &Matrix::<f32>::zeros(NODES - 1, 2)).unwrap();
    let error = case.run(8, &()).unwrap_err().to_string();
    assert!(error.contains("8999 rows, but the graph has 9000 nodes"), "{error}");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 4]).unwrap();
    assert!(case.run(8, &()).unwrap_err().to_string().contains("truncated"));
}

/// The numbers of all kinds of files: exact in half precision, with columns of unlike scale.
fn number(row: usize, column: usize) -> f32 {
    ((row * 37 + column * 11) % 101) as f32 * [0.25, 1.0, 16.0][column % 3]
}

fn safetensors(path: &Path, name: &str, dtype: safetensors::Dtype, bytes: &[u8]) {
    let view = |shape: &[usize], bytes| {
        safetensors::tensor::TensorView::new(dtype, shape.to_vec(), bytes).unwrap()
    };
    let size = dtype.bitsize() / 8;
    let tensors = [
        (name, view(&[NODES, COLUMNS], bytes)),
        ("bias", view(&[COLUMNS], &bytes[..COLUMNS * size])),
    ];
    fs::write(path, safetensors::serialize(tensors, None).unwrap()).unwrap();
}

fn parquet(path: &Path, columns: Vec<(String, ArrayRef)>, rows: usize) {
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_max_row_group_row_count(Some(rows))
        .build();
    let file = fs::File::create(path).unwrap();
    let mut writer =
        parquet::arrow::ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

/// A table whose rows stand in any order and name their nodes: an id last, labels, words, columns of three types and
/// lists.
fn table(path: &Path) {
    let nodes: Vec<usize> = (0..NODES).map(|row| (row * 7919 + 5) % NODES).collect();
    let single = |k: usize| -> Vec<f32> { nodes.iter().map(|&node| number(node, k)).collect() };
    let column = |k: usize| -> ArrayRef {
        match k % 2 {
            0 => Arc::new(Float32Array::from(single(k))),
            _ => Arc::new(Float64Array::from_iter_values(single(k).into_iter().map(f64::from))),
        }
    };
    let lists = 12..COLUMNS - 2;
    let mut list = FixedSizeListBuilder::new(Float32Builder::new(), lists.len() as i32);
    for &node in &nodes {
        lists.clone().for_each(|k| list.values().append_value(number(node, k)));
        list.append(true);
    }
    let words = |word: &str| {
        StringArray::from_iter_values(nodes.iter().map(|n| format!("{word}{}", n % 3)))
    };
    let mut columns: Vec<(String, ArrayRef)> =
        (0..12).map(|k| (format!("a{k}"), column(k))).collect();
    columns.push(("label".to_owned(), Arc::new(words("c"))));
    columns.push(("text".to_owned(), Arc::new(words("t"))));
    columns.push(("embedding".to_owned(), Arc::new(list.finish())));
    columns.extend((COLUMNS - 2..COLUMNS).map(|k| (format!("b{k}"), column(k))));
    let ids = nodes.iter().map(|&node| node as i64);
    columns.push(("node_id".to_owned(), Arc::new(Int64Array::from_iter_values(ids))));
    parquet(path, columns, 2000);
}

#[test]
fn every_kind_of_file_gives_the_bits_of_the_array() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut dataset = graph(root, false);
    let numbers: Vec<f32> =
        (0..NODES * COLUMNS).map(|i| number(i / COLUMNS, i % COLUMNS)).collect();
    features(&root.join("x.npy"), |i| numbers[i]);
    let bytes =
        |of: &dyn Fn(f32) -> Vec<u8>| numbers.iter().flat_map(|&x| of(x)).collect::<Vec<u8>>();
    use safetensors::Dtype;
    let halves = bytes(&|x| half::f16::from_f32(x).to_le_bytes().to_vec());
    safetensors(&root.join("f16.safetensors"), "x", Dtype::F16, &halves);
    let brains = bytes(&|x| half::bf16::from_f32(x).to_le_bytes().to_vec());
    safetensors(&root.join("bf16.safetensors"), "features", Dtype::BF16, &brains);
    safetensors(
        &root.join("f32.safetensors"),
        "w",
        Dtype::F32,
        &bytes(&|x| x.to_le_bytes().to_vec()),
    );
    let doubles = bytes(&|x| f64::from(x).to_le_bytes().to_vec());
    safetensors(&root.join("f64.safetensors"), "x", Dtype::F64, &doubles);
    table(&root.join("table.parquet"));
    let header = "{'descr': '<f2', 'fortran_order': True, 'shape': (9000, 21), }            \n";
    let mut array = [&b"\x93NUMPY\x01\x00"[..], &(header.len() as u16).to_le_bytes()].concat();
    array.extend(header.bytes());
    for column in 0..COLUMNS {
        array.extend(
            (0..NODES).flat_map(|row| half::f16::from_f32(number(row, column)).to_le_bytes()),
        );
    }
    fs::write(root.join("half.npy"), array).unwrap();
    let quarter = Charge::fraction(1, 4).unwrap();
    for norm in [FeatureNorm::None, FeatureNorm::Row, FeatureNorm::Standard] {
        let mut case = Case::new(root, &mut dataset, quarter, norm);
        let load = LoadConfig { feature_norm: norm, ..Default::default() };
        let names = ["f16.safetensors", "bf16.safetensors", "f32.safetensors", "f64.safetensors"];
        for name in names.into_iter().chain(["table.parquet", "half.npy"]) {
            case.features = root.join(name);
            attach_features(&mut dataset, &case.features, &load).unwrap();
            let whole = dataset.features.take().unwrap();
            let whole = propagate(&case.built, &whole, &case.filter, &()).unwrap().features;
            assert!(bytes_of(&whole) == case.expected, "{name} in memory");
            for columns in [COLUMNS, 4] {
                case.run(columns, &()).unwrap_or_else(|error| panic!("{name}: {error}"));
                case.check();
            }
        }
    }
}

#[test]
fn a_block_is_read_without_the_others() {
    const WIDE: usize = 600;
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let dataset = graph(root, false);
    let numbers: Vec<f32> = (0..NODES * WIDE).map(|i| number(i / WIDE, i % WIDE)).collect();
    let matrix = Matrix::from_vec(NODES, WIDE, numbers).ok().unwrap();
    write_npy(&root.join("x.npy"), &matrix).unwrap();
    let bytes = bytemuck_bytes(matrix.as_slice());
    let shape = vec![NODES, WIDE];
    let view =
        safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape, &bytes).unwrap();
    fs::write(root.join("x.safetensors"), safetensors::serialize([("x", view)], None).unwrap())
        .unwrap();
    drop((matrix, bytes));
    let column = |k: usize| -> ArrayRef {
        Arc::new(Float32Array::from_iter_values((0..NODES).map(|row| number(row, k))))
    };
    parquet(
        &root.join("x.parquet"),
        (0..WIDE).map(|k| (format!("c{k}"), column(k))).collect(),
        5000,
    );
    for name in ["x.npy", "x.safetensors", "x.parquet"] {
        let before = NOW.load(Relaxed);
        PEAK.store(before, Relaxed);
        let file = FeatureFile::open(&root.join(name), &dataset, &LoadConfig::default()).unwrap();
        assert_eq!((file.rows(), file.cols()), (NODES, WIDE));
        let scaling = file.survey(FeatureNorm::Row, 8).unwrap();
        let Features::Dense(part) = file.columns(304..312, &scaling).unwrap() else { panic!() };
        let peak = PEAK.load(Relaxed) - before;
        // The table has 21.6 MB in single precision.
        assert!(peak < 9 << 20, "{name}: {peak}");
        let sum: f64 = (0..WIDE).map(|k| f64::from(number(4321, k))).sum();
        for k in 0..8 {
            let expected = (f64::from(number(4321, 304 + k)) / sum) as f32;
            assert_eq!(part.row(4321)[k], expected, "{name}");
        }
    }
}

/// What is said about a file, as features of the graph of 9,000 nodes.
fn refusal(path: &Path, dataset: &Dataset) -> String {
    match FeatureFile::open(path, dataset, &LoadConfig::default()) {
        Ok(file) => match file.columns(0..file.cols(), &Default::default()) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        },
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_not_clear_is_said() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let dataset = graph(root, false);
    let path = root.join("x.safetensors");
    let bytes = vec![0; NODES * 4];
    let view = || {
        let shape = vec![NODES, 1];
        safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape, &bytes).unwrap()
    };
    fs::write(&path, safetensors::serialize([("a", view()), ("b", view())], None).unwrap())
        .unwrap();
    assert!(refusal(&path, &dataset).contains("a [9000, 1], b [9000, 1]"));
    fs::write(&path, safetensors::serialize([("a", view()), ("x", view())], None).unwrap())
        .unwrap();
    assert_eq!(refusal(&path, &dataset), "");
    let path = root.join("x.parquet");
    let ones: ArrayRef = Arc::new(UInt8Array::from(vec![1; NODES]));
    let ids =
        |first: i64| -> ArrayRef { Arc::new(Int64Array::from_iter(first..first + NODES as i64)) };
    parquet(&path, vec![("id".to_owned(), ids(100)), ("a".to_owned(), ones.clone())], NODES);
    assert!(refusal(&path, &dataset).contains("--extra-ids drop"));
    parquet(&path, vec![("id".to_owned(), ids(1 << 40)), ("a".to_owned(), ones.clone())], NODES);
    assert!(refusal(&path, &dataset).contains("none of its 9000 ids"));
    parquet(&path, vec![("a".to_owned(), ones), ("b".to_owned(), ids(1 << 60))], NODES);
    assert!(refusal(&path, &dataset).contains("beyond 2^53"));
    let path = root.join("x.csv");
    fs::write(&path, "a,b\n").unwrap();
    assert!(refusal(&path, &dataset).contains(".npy, .safetensors, .parquet"));
}

#[test]
fn damaged_files_are_errors() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let dataset = graph(folder.path(), false);
    let parquet = folder.path().join("x.parquet");
    table(&parquet);
    let tensors = folder.path().join("x.safetensors");
    safetensors(&tensors, "x", safetensors::Dtype::U8, &[1; NODES * COLUMNS]);
    for path in [parquet, tensors] {
        let whole = fs::read(&path).unwrap();
        assert_eq!(refusal(&path, &dataset), "");
        for cut in [0, 7, 100, whole.len() / 2, whole.len() - 1] {
            fs::write(&path, &whole[..cut]).unwrap();
            assert_ne!(refusal(&path, &dataset), "", "{cut}");
        }
        // Ends, where what is where is told, and places between: an error or other numbers, but no panic.
        let far = (0..24).map(|k| k * whole.len() / 24);
        for at in (0..80).chain(far).chain(whole.len() - 60..whole.len()) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x55;
            fs::write(&path, damaged).unwrap();
            refusal(&path, &dataset);
        }
    }
}

/// What half precision makes of the numbers of an array in single precision.
fn halved(numbers: &[u8]) -> Vec<u8> {
    let numbers = numbers.as_chunks::<4>().0.iter().map(|&x| f32::from_le_bytes(x));
    numbers.flat_map(|x| half::f16::from_f32(x).to_le_bytes()).collect()
}

#[test]
fn results_in_half_precision_are_rounded_once() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let mut dataset = graph(root, false);
    features(&root.join("x.npy"), |i| (i * 37 % 101) as f32 / 50.0 - 1.0);
    for (charge, shape) in
        [(Charge::ZERO, "(9000, 21)"), (Charge::fraction(1, 5).unwrap(), "(9000, 21, 2)")]
    {
        let mut case = Case::new(root, &mut dataset, charge, FeatureNorm::None);
        let single = std::mem::take(&mut case.expected);
        case.expected = halved(&single);
        // Blocks in single precision are not taken for others.
        case.run(4, &Stop { steps: 9.into(), ..Default::default() }).unwrap_err();
        case.file.precision = Precision::Half;
        for columns in [4, COLUMNS] {
            let report = case.run(columns, &()).unwrap();
            assert_eq!((report.known_blocks, report.dtype.starts_with("float16")), (0, true));
            case.check();
        }
        case.run(4, &Stop { steps: 9.into(), ..Default::default() }).unwrap_err();
        assert!(case.run(4, &()).unwrap().known_blocks > 0);
        case.check();
        let header = fs::read(&case.file.output).unwrap()[..128].to_vec();
        let header = String::from_utf8_lossy(&header).into_owned();
        let expected = format!("'descr': '<f2', 'fortran_order': False, 'shape': {shape}");
        assert!(header.contains(&expected), "{header}");
        // Rows for training are these numbers.
        let rows = MappedRows::open(&case.file.output).unwrap();
        let width = rows.shape().width();
        assert_eq!(rows.shape().rows() * width * 2, case.expected.len());
        let mut row = vec![0.0; width];
        for node in (0..NODES).step_by(7).chain(8990..NODES) {
            rows.copy(node, &mut row);
            let halves = row.iter().flat_map(|&x| half::f16::from_f32(x).to_le_bytes());
            assert!(halves.eq(case.expected[2 * node * width..][..2 * width].iter().copied()));
        }
        rows.check().unwrap();
    }
}

#[test]
fn numbers_beyond_half_precision_are_refused() {
    let _turn = TURN.lock().unwrap_or_else(|turn| turn.into_inner());
    let folder = tempfile::tempdir().unwrap();
    let mut dataset = graph(folder.path(), false);
    features(&folder.path().join("x.npy"), |i| if i % COLUMNS == 17 { 1e6f32 } else { 1.0 });
    let mut case = Case::new(folder.path(), &mut dataset, Charge::ZERO, FeatureNorm::None);
    case.file.precision = Precision::Half;
    for columns in [COLUMNS, 4] {
        let error = case.run(columns, &()).unwrap_err().to_string();
        assert!(error.contains("row 0, column 17") && error.contains("65504"), "{error}");
        assert!(!case.file.output.exists());
    }
}
