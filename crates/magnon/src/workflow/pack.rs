//! `pack`: an edge list of any size becomes a packed graph.

use super::{Phases, Progress};
use crate::Error;
use crate::data::{PackConfig, PackReport, pack as pack_graph};
use serde::Serialize;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// What [`pack`] did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackedReport {
    /// The graph, and how it was packed.
    #[serde(flatten)]
    pub graph: PackReport,
    /// Bytes of text a second, over all stages.
    pub bytes_per_second: f64,
    /// Where the time went.
    pub seconds: Phases,
}

/// Packs the edge list at `source` into the file `output`. The progress counts in mebibytes.
pub fn pack(
    source: &Path,
    output: &Path,
    config: &PackConfig,
    progress: &dyn Progress,
) -> Result<PackedReport, Error> {
    let start = Instant::now();
    let stages = Stages { progress, begun: Mutex::default() };
    let graph = match pack_graph(source, output, config, &stages) {
        Err(_) if progress.is_stopped() => return Err(Error::Stopped),
        packed => packed?,
    };
    let mut seconds = Phases::default();
    let end = Instant::now();
    let stages = stages.begun.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ends = stages.iter().skip(1).map(|next| next.1).chain([end]);
    for ((stage, began), ended) in stages.iter().zip(ends) {
        let spent = ended.duration_since(*began).as_secs_f64();
        match stage.as_str() {
            "read" => seconds.add("read", spent),
            "distribute" => seconds.add("distribute", spent),
            "build" => seconds.add("build", spent),
            _ => seconds.add("check", spent),
        }
    }
    let bytes_per_second = graph.text_bytes as f64 / start.elapsed().as_secs_f64().max(1e-9);
    Ok(PackedReport { graph, bytes_per_second, seconds })
}

/// Notes when each stage begins, and adds the speed to what is reported.
struct Stages<'a> {
    progress: &'a dyn Progress,
    begun: Mutex<Vec<(String, Instant)>>,
}

impl Progress for Stages<'_> {
    fn step(&self, done: usize, total: usize, stage: &str) {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.last().is_none_or(|last| last.0 != stage) {
            begun.push((stage.to_owned(), Instant::now()));
        }
        let spent = begun.last().map_or(0.0, |last| last.1.elapsed().as_secs_f64());
        let pace = done as f64 / spent.max(1e-3) / f64::from(1 << 20);
        let mebibytes = |bytes: usize| bytes >> 20;
        let message = format!("{stage}, {} MiB, {pace:.0} MiB/s", mebibytes(done));
        self.progress.step(mebibytes(done), mebibytes(total), &message);
    }

    fn stop_flag(&self) -> &AtomicBool {
        self.progress.stop_flag()
    }

    fn is_stopped(&self) -> bool {
        self.progress.is_stopped()
    }
}
