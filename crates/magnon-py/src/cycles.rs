//! Directed cycles: which lengths exist, and one after the other.

use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::settings::Asked;
use magnon::cycles::Cycles;
use magnon::settings::CyclesSettings;
use magnon::workflow::{self, Phases};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Which lengths of cycles exist, and the charges that they suggest, as JSON.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, watch=None))]
pub fn cycles(
    py: Python<'_>,
    dataset: &Dataset,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<String> {
    let asked = Asked::<CyclesSettings>::read(py, &keywords, watch)?;
    let config = asked.settings.config().map_err(|error| Failure::from(error).exception(py))?;
    let (data, count) = (dataset.inner.clone(), asked.settings.enumerate);
    let limit = asked.settings.max_length;
    let found = asked.call.run(py, move |watch| {
        let mut seconds = Phases::default();
        let found = workflow::cycles(&data, &config, &mut seconds, watch);
        let found = match count {
            true => found.with_counts(&magnon::cycles::count_cycles(&data.graph, limit, watch)),
            false => found,
        };
        Ok((found, seconds))
    })?;
    let mut value =
        serde_json::to_value(&found.0).map_err(|error| PyValueError::new_err(error.to_string()))?;
    value["seconds"] = serde_json::to_value(&found.1).unwrap_or_default();
    json(&value)
}

/// Most cycles that are handed over at once: fewer new lists than Python's collector lets pass before it looks through them.
const BATCH: usize = 256;
/// Batches that the search may be ahead.
const AHEAD: usize = 16;
/// Time between two looks at interrupts.
const TICK: Duration = Duration::from_millis(20);

/// Some cycles, one after the other.
#[derive(Default)]
struct Batch {
    nodes: Vec<u32>,
    /// Where each cycle ends.
    ends: Vec<usize>,
}

impl Batch {
    /// The cycles by the names of their nodes. A cycle mostly begins as the one before it does: the list `path`
    /// holds that one, what differs is changed, and a slice of it is taken, which copies all names at once.
    fn named<'py>(&self, py: Python<'py>, names: &[Py<PyAny>]) -> PyResult<Bound<'py, PyList>> {
        let (path, mut before): (_, Vec<u32>) = (PyList::empty(py), Vec::new());
        let starts = iter::once(0).chain(self.ends.iter().copied());
        let cycles = starts.zip(&self.ends).map(|(start, &end)| {
            let cycle = &self.nodes[start..end];
            let alike = cycle.iter().zip(&before).take_while(|(a, b)| a == b).count();
            for (at, &node) in cycle.iter().enumerate().skip(alike) {
                let name = names[node as usize].bind(py);
                match before.get_mut(at) {
                    Some(before) => {
                        path.set_item(at, name)?;
                        *before = node;
                    }
                    None => {
                        path.append(name)?;
                        before.push(node);
                    }
                }
            }
            Ok(path.get_slice(0, cycle.len()))
        });
        PyList::new(py, cycles.collect::<PyResult<Vec<_>>>()?)
    }
}

/// Gives lists of cycles in the order of their smallest node, found by a thread that is a little ahead. A whole list is given at
/// once, since a call for each cycle would cost more than the cycle.
#[pyclass(frozen, module = "magnon._magnon")]
pub struct CycleBatches {
    receiver: Mutex<Receiver<Batch>>,
    /// What nodes are called.
    names: Vec<Py<PyAny>>,
    stop: Arc<AtomicBool>,
}

#[pymethods]
impl CycleBatches {
    #[new]
    #[pyo3(signature = (dataset, names, max_length=None))]
    fn new(dataset: &Dataset, names: Vec<Py<PyAny>>, max_length: Option<usize>) -> PyResult<Self> {
        let nodes = dataset.inner.graph.nodes();
        if names.len() != nodes {
            let problem = format!("{} names for {nodes} nodes", names.len());
            return Err(PyValueError::new_err(problem));
        }
        let (sender, receiver) = sync_channel(AHEAD);
        let (data, stop) = (dataset.inner.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let search = move || hand_over(Cycles::until(&data.graph, max_length, &*stopped), &sender);
        std::thread::Builder::new().name("magnon cycles".to_owned()).spawn(search)?;
        Ok(Self { receiver: Mutex::new(receiver), names, stop })
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        loop {
            // A loop in C, such as that of list(), looks at interrupts nowhere else.
            py.check_signals()?;
            let batch = py.detach(|| match self.receiver.lock() {
                Ok(receiver) => receiver.recv_timeout(TICK),
                Err(_) => Err(RecvTimeoutError::Disconnected),
            });
            match batch {
                Ok(batch) => return batch.named(py, &self.names).map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => (),
            }
        }
    }
}

impl Drop for CycleBatches {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
    }
}

/// Cycles between two looks at the clock, where they come fast.
const BETWEEN_LOOKS: usize = 32;

/// Sends batches that grow, and soon, so that the first cycle comes at once and the many at little cost each.
fn hand_over(mut cycles: Cycles, sender: &SyncSender<Batch>) {
    let (mut size, mut between) = (1, 1);
    loop {
        let (start, mut batch, mut last) = (Instant::now(), Batch::default(), false);
        let mut late = false;
        while batch.ends.len() < size && !last && !late {
            last = !cycles.next_into(&mut batch.nodes);
            if !last {
                batch.ends.push(batch.nodes.len());
            }
            late = batch.ends.len() % between == 0 && start.elapsed() > TICK;
        }
        if (!batch.ends.is_empty() && sender.send(batch).is_err()) || last {
            return;
        }
        size = (2 * size).min(BATCH);
        between = if late { 1 } else { BETWEEN_LOOKS };
    }
}
