//! Features that stay on disk are filtered as those in memory are, bit for bit, within the memory that was promised,
//! and from where an earlier call was stopped.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod counting;

use counting::{NOW, PEAK};
use magnon::data::write::{Element, write_npy};
use magnon::data::{Dataset, FeatureNorm, LoadConfig, PackConfig, attach_features, load, pack};
use magnon::filter::{FilterConfig, FilterKind, Propagated, bytes_for};
use magnon::matrix::Matrix;
use magnon::model::{ChargeChoice, OperatorChoice};
use magnon::nn::Device;
use magnon::operator::Charge;
use magnon::workflow::{
    BuiltOperator, FileReport, FilteredFile, Progress, operator, propagate, propagate_file,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

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
    pack(&source, &output, &PackConfig::default(), &|_, _, _| true).unwrap();
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
        attach_features(dataset, &path, &config).unwrap();
        let built = built(dataset, charge);
        let filter =
            FilterConfig { kind: FilterKind::LinearRank, order: Some(4), ..Default::default() };
        let features = dataset.features.take().unwrap();
        let expected = bytes_of(&propagate(&built, &features, &filter, &()).unwrap().features);
        let output = folder.join("out.npy");
        let file = FilteredFile {
            features: path,
            feature_norm: norm,
            output,
            memory: 0,
            device: Device::Cpu,
        };
        Self { file, built, filter, expected }
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
        propagate_file(&self.built, &self.file, &self.filter, progress)
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
    // What a kill leaves under another name does no harm.
    let blocks = folder.path().join("out.npy.blocks");
    fs::create_dir(&blocks).unwrap();
    fs::write(blocks.join("block-0"), b"torn").unwrap();
    fs::write(blocks.join(".magnon-abcdefghijkl.tmp"), b"torn").unwrap();
    case.filter.order = Some(4);
    case.run(4, &()).unwrap();
    case.check();
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
    let error = propagate_file(&case.built, &case.file, &case.filter, &()).unwrap_err();
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
