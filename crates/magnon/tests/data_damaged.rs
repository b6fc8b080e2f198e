//! Small files with damage to them: an answer always comes back, and little memory is asked for.

// A helper that fails is a test that fails.
#![allow(clippy::unwrap_used, clippy::panic)]

mod counting;
mod data_fixtures;

use counting::{NOW, PEAK};
use data_fixtures::{Files, adjacency, f4, fixtures, i4, npy, pickle, read, write, zip};
use magnon::data::{DataError, Dataset, LoadConfig, load};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

/// The most bytes that reading a small file may ask for.
const MOST: usize = 300 << 20;

/// One file is read at a time, so that what is counted is its own.
static TURN: Mutex<()> = Mutex::new(());

fn read_within_bounds(data: &str, files: &Files) -> Result<Dataset, DataError> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), files);
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let answer = load(&folder.path().join(data), &LoadConfig::default());
    let used = PEAK.load(Relaxed).saturating_sub(before);
    drop(turn);
    assert!(used < MOST, "{used} bytes for {data:?}");
    answer
}

#[test]
fn fixtures_are_valid() {
    for (data, files) in fixtures() {
        let names: Vec<_> = files.iter().map(|file| file.0).collect();
        read(data, &files).unwrap_or_else(|error| panic!("{names:?}: {error}"));
    }
}

/// One way to do harm to bytes.
#[derive(Clone, Debug)]
enum Harm {
    Cut(prop::sample::Index),
    Change(prop::sample::Index, u8),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let tokens = prop::sample::select(vec![
        b"-1".to_vec(),
        b"nan".to_vec(),
        b"1e999".to_vec(),
        b"99999999999999999999999".to_vec(),
        b"4294967295".to_vec(),
        b"\n".to_vec(),
        b"\"".to_vec(),
        b"\xff\xfe".to_vec(),
        b",".to_vec(),
        vec![0; 9],
    ]);
    prop_oneof![
        any::<prop::sample::Index>().prop_map(Harm::Cut),
        (any::<prop::sample::Index>(), any::<u8>()).prop_map(|(at, byte)| Harm::Change(at, byte)),
        (any::<prop::sample::Index>(), tokens).prop_map(|(at, token)| Harm::Insert(at, token)),
        (any::<prop::sample::Index>(), 1..40usize).prop_map(|(at, count)| Harm::Repeat(at, count)),
    ]
}

fn apply(harm: &Harm, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    match harm {
        Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Harm::Change(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Harm::Insert(at, token) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, token.iter().copied());
        }
        Harm::Repeat(at, count) => {
            let at = at.index(bytes.len());
            let end = (at + count).min(bytes.len());
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 1500,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(20),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn damaged_files_never_panic(
        which in any::<prop::sample::Index>(),
        file in any::<prop::sample::Index>(),
        harms in prop::collection::vec(harm(), 1..4),
    ) {
        let fixtures = fixtures();
        let (data, mut files) = fixtures[which.index(fixtures.len())].clone();
        let file = file.index(files.len());
        for harm in &harms {
            apply(harm, &mut files[file].1);
        }
        // Text that is changed may still be a graph; what counts is that an answer comes back.
        if let Ok(dataset) = read_within_bounds(data, &files) {
            prop_assert!(dataset.graph.nodes() > 0);
        }
    }

    #[test]
    fn damaged_members_never_panic(
        member in 0..5usize,
        harms in prop::collection::vec(harm(), 1..4),
    ) {
        let names = ["indices", "indptr", "format", "shape", "data"];
        let mut members = vec![
            ("indices.npy", i4(&[1, 2, 0])),
            ("indptr.npy", i4(&[0, 1, 2, 3])),
            ("format.npy", npy("|S3", "()", b"csr")),
            ("shape.npy", i4(&[3, 3])),
            ("data.npy", f4(&[1.0, 2.0, 1.0], "(3,)")),
        ];
        prop_assert!(members[member].0.starts_with(names[member]));
        for harm in &harms {
            apply(harm, &mut members[member].1);
        }
        let _ = read_within_bounds("g.npz", &vec![("g.npz", zip(&members))]);
    }

    #[test]
    fn damaged_pickles_never_panic(harms in prop::collection::vec(harm(), 1..5)) {
        let mut bytes = pickle();
        for harm in &harms {
            apply(harm, &mut bytes);
        }
        let files = vec![("adj.npz", adjacency([1, 2, 0])), ("features.pkl", bytes)];
        let _ = read_within_bounds("", &files);
    }
}
