//! Directed cycles: which lengths exist, and one after the other.

use crate::dataset::{Dataset, json};
use crate::flags::{Flags, flags_of};
use magnon::cycles::{Cycles, LengthsConfig};
use magnon::workflow::{self, Phases, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Which lengths of cycles exist, and the charges that they suggest, as JSON.
#[pyfunction]
#[pyo3(signature = (dataset, flags, watch=None))]
pub fn cycles(
    py: Python<'_>,
    dataset: &Dataset,
    flags: Vec<String>,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let flags = Flags::parse(py, "cycles", flags, watch)?;
    let args = flags_of!(flags, Cycles);
    let max_length = args.max_length.unwrap_or(LengthsConfig::default().max_length);
    if !(2..=63).contains(&max_length) {
        return Err(PyValueError::new_err("max_length must be from 2 to 63"));
    }
    let config = LengthsConfig { max_length, budget: args.budget };
    let (data, count) = (dataset.inner.clone(), args.enumerate);
    let limit = args.max_length;
    let found = flags.call.run(py, move |watch| {
        let mut seconds = Phases::default();
        let found = workflow::cycles(&data, &config, &mut seconds, watch);
        let found = match count {
            true => {
                let stop = watch.stop_flag();
                found.with_counts(&magnon::cycles::count_cycles(&data.graph, limit, stop))
            }
            false => found,
        };
        Ok((found, seconds))
    })?;
    let mut value =
        serde_json::to_value(&found.0).map_err(|error| PyValueError::new_err(error.to_string()))?;
    value["seconds"] = serde_json::to_value(&found.1).unwrap_or_default();
    json(&value)
}

/// Most cycles that are handed over at once.
const BATCH: usize = 4096;
/// Time between two looks at interrupts.
const TICK: Duration = Duration::from_millis(20);

/// Gives cycles in the order of their smallest node, found by a thread that is a little ahead.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct CycleIterator {
    receiver: Mutex<Receiver<Vec<Vec<u32>>>>,
    waiting: Mutex<std::vec::IntoIter<Vec<u32>>>,
    stop: Arc<AtomicBool>,
}

#[pymethods]
impl CycleIterator {
    #[new]
    #[pyo3(signature = (dataset, max_length=None))]
    fn new(dataset: &Dataset, max_length: Option<usize>) -> PyResult<Self> {
        let (sender, receiver) = sync_channel(2);
        let (data, stop) = (dataset.inner.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let search = move || {
            let found = Cycles::until(&data.graph, max_length, &stopped);
            hand_over(found, &sender);
        };
        std::thread::Builder::new().name("magnon cycles".to_owned()).spawn(search)?;
        let (receiver, waiting) = (Mutex::new(receiver), Mutex::new(Vec::new().into_iter()));
        Ok(Self { receiver, waiting, stop })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<u32>>> {
        let broken = |_| PyValueError::new_err("another thread left this iterator broken");
        loop {
            if let Some(cycle) = self.waiting.lock().map_err(broken)?.next() {
                return Ok(Some(cycle));
            }
            // A loop in C, such as that of list(), looks at interrupts nowhere else.
            py.check_signals()?;
            let batch = py.detach(|| match self.receiver.lock() {
                Ok(receiver) => receiver.recv_timeout(TICK),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match batch {
                Ok(batch) => *self.waiting.lock().map_err(broken)? = batch.into_iter(),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => (),
            }
        }
    }
}

impl Drop for CycleIterator {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

/// Sends batches that grow, and soon, so that the first cycle comes at once and the many at little cost each.
fn hand_over(mut cycles: impl Iterator<Item = Vec<u32>>, sender: &SyncSender<Vec<Vec<u32>>>) {
    let mut size = 1;
    loop {
        let (start, mut batch, mut last) = (Instant::now(), Vec::new(), false);
        while batch.len() < size && start.elapsed() < TICK && !last {
            match cycles.next() {
                Some(cycle) => batch.push(cycle),
                None => last = true,
            }
        }
        if (!batch.is_empty() && sender.send(batch).is_err()) || last {
            return;
        }
        size = (2 * size).min(BATCH);
    }
}
