//! Features that stay on disk, filtered on a card.

use super::card;
use crate::training_common::{charge, dataset};
use magnon::compute::Device;
use magnon::data::write::write_npy;
use magnon::data::{FeatureFile, FeatureNorm, Features, LoadConfig};
use magnon::filter::{FilterConfig, FilterKind, Propagated, bytes_for};
use magnon::model::{ChargeChoice, OperatorChoice};
use magnon::operator::Charge;
use magnon::workflow::{FilteredFile, Progress, operator, propagate_file, propagate_on};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Stops a call after some steps.
struct Stop(AtomicUsize, AtomicBool);

impl Progress for Stop {
    fn step(&self, _: usize, _: usize, _: &str) {
        if self.0.fetch_sub(1, Relaxed) == 1 {
            self.1.store(true, Relaxed);
        }
    }

    fn stop_flag(&self) -> &AtomicBool {
        &self.1
    }
}

/// Blocks of a file are filtered to the bits that all columns have in memory, also by a call that goes on from
/// where another was stopped.
#[test]
fn features_on_disk() {
    if card().is_none() {
        return;
    }
    let (nodes, cols) = (4000, 21);
    let folder = tempfile::tempdir().unwrap();
    let data = dataset(nodes, cols, 3);
    let features = data.features.clone().unwrap();
    let Features::Dense(matrix) = &features else { panic!("dense features") };
    let path = folder.path().join("x.npy");
    write_npy(&path, matrix).unwrap();
    let on_disk = FeatureFile::open(&path, &data, &LoadConfig::default()).unwrap();
    for q in [charge(4), Charge::ZERO] {
        let mut choice = OperatorChoice::low_pass();
        choice.charge = ChargeChoice::Fixed(q);
        let built = operator(&data, None, &choice, &()).unwrap();
        let config =
            FilterConfig { kind: FilterKind::LinearRank, order: Some(4), ..Default::default() };
        let whole = propagate_on(Device::Cuda(0), &built, &features, &config, &()).unwrap();
        let expected: Vec<u8> = match whole.features {
            Propagated::Real(x) => bytemuck::cast_slice(x.as_slice()).to_vec(),
            Propagated::Complex(x) => bytemuck::cast_slice(x.as_slice()).to_vec(),
        };
        let filter = config.build(built.operator.bounds(), built.operator.config().kind).unwrap();
        for columns in [cols, 4] {
            let file = FilteredFile {
                feature_norm: FeatureNorm::None,
                output: folder.path().join("out.npy"),
                precision: Default::default(),
                memory: bytes_for(&built.operator, &filter, columns) as u64,
                device: Device::Cuda(0),
            };
            let stop = Stop(AtomicUsize::new(3), AtomicBool::new(false));
            let stopped = propagate_file(&built, &on_disk, &file, &config, &stop);
            let report = propagate_file(&built, &on_disk, &file, &config, &()).unwrap();
            if columns < cols {
                assert!(stopped.is_err(), "{q}");
                assert!(report.known_blocks > 0 && report.blocks > 4, "{report:?}");
            }
            let bytes = std::fs::read(&file.output).unwrap();
            assert!(bytes[bytes.len() - expected.len()..] == expected, "{q}, {columns} columns");
        }
    }
}
