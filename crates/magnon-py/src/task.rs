//! Long calls: they run in a thread of their own without the interpreter's lock, while the thread that called
//! listens for interrupts and shows how far they are.

use crate::errors::Failure;
use magnon::progress::{Epoch, Progress};
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Time between two looks at interrupts.
const TICK: Duration = Duration::from_millis(20);
/// How long an interrupted call may take to end by itself. After that its thread is left to come to its end
/// alone: a single step, such as the eigenvalues of a dense matrix, may take longer than a person waits.
const GRACE: Duration = Duration::from_millis(40);
/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// What the caller of a long call wants besides its result.
#[derive(Default)]
pub struct Call {
    /// Threads; all where none are named.
    pub threads: Option<usize>,
    /// Called with steps done, steps in all and words.
    pub watch: Option<Py<PyAny>>,
}

/// Looks on from the thread that works; the thread that called reads it.
#[derive(Default)]
pub struct Watch {
    stop: AtomicBool,
    step: Mutex<Option<(usize, usize, String)>>,
    remarks: Mutex<Vec<String>>,
}

impl Progress for Watch {
    fn step(&self, done: usize, total: usize, message: &str) {
        if let Ok(mut step) = self.step.lock() {
            *step = Some((done, total, message.to_owned()));
        }
    }
    fn remark(&self, text: &str) {
        if let Ok(mut remarks) = self.remarks.lock() {
            remarks.push(text.to_owned());
        }
    }
    fn epoch(&self, epoch: &Epoch) {
        let Epoch { trial, epoch: number, done, trials, best_val_accuracy, .. } = epoch;
        let percent = 100.0 * best_val_accuracy;
        let words = format!("{trial}, epoch {number}, validation accuracy {percent:.1} %");
        self.step(*done, *trials, &words);
    }
    fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }
}

type Done<T> = Result<Result<T, Failure>, Box<dyn Any + Send>>;

impl Call {
    /// Does `work` in a thread of its own, and waits for it without the interpreter's lock.
    pub fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&Watch) -> Result<T, Failure> + Send + 'static,
    ) -> PyResult<T> {
        let watch = Arc::new(Watch::default());
        let (sender, receiver) = mpsc::channel::<Done<T>>();
        let receiver = Mutex::new(receiver);
        let (seen, threads) = (watch.clone(), self.threads);
        let work = move || {
            let done = catch_unwind(AssertUnwindSafe(|| pooled(threads, || work(&seen))));
            // Nobody listens to what was interrupted.
            let _ = sender.send(done);
        };
        std::thread::Builder::new().name("magnon".to_owned()).stack_size(STACK).spawn(work)?;
        loop {
            match py.detach(|| receive(&receiver, TICK)) {
                Ok(done) => {
                    watch.tell(py)?;
                    return result(py, done);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(broken("its thread ended").exception(py));
                }
                Err(RecvTimeoutError::Timeout) => (),
            }
            if let Err(interrupt) = py.check_signals().and_then(|()| self.show(py, &watch)) {
                watch.stop.store(true, Relaxed);
                let _ = py.detach(|| receive(&receiver, GRACE));
                return Err(interrupt);
            }
        }
    }

    fn show(&self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        let Some(shown) = &self.watch else { return Ok(()) };
        let step = watch.step.lock().ok().and_then(|mut step| step.take());
        let Some((done, total, words)) = step else { return Ok(()) };
        shown.call1(py, (done, total, words)).map(drop)
    }
}

impl Watch {
    /// Hands remarks to the package's logger.
    fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let remarks = self.remarks.lock().map(|mut all| std::mem::take(&mut *all));
        let Some(remarks) = remarks.ok().filter(|remarks| !remarks.is_empty()) else {
            return Ok(());
        };
        let remark = py.import("magnon._progress")?.getattr("remark")?;
        remarks.iter().try_for_each(|text| remark.call1((text,)).map(drop))
    }
}

fn receive<T>(receiver: &Mutex<Receiver<T>>, wait: Duration) -> Result<T, RecvTimeoutError> {
    let receiver = receiver.lock().map_err(|_| RecvTimeoutError::Disconnected)?;
    receiver.recv_timeout(wait)
}

fn result<T>(py: Python<'_>, done: Done<T>) -> PyResult<T> {
    match done {
        Ok(outcome) => outcome.map_err(|failure| failure.exception(py)),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().cloned();
            let words = words.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
            Err(broken(&words.unwrap_or_default()).exception(py))
        }
    }
}

fn broken(words: &str) -> Failure {
    Failure::Named("MagnonError", format!("internal error, please report it: {words}"))
}

/// The process that the shared pool of threads belongs to.
static OWNER: OnceLock<u32> = OnceLock::new();

/// Works with so many threads. The shared pool does not survive a fork, so that a forked process makes one for
/// each call.
fn pooled<T: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> Result<T, Failure> {
    let own = std::process::id();
    let forked = *OWNER.get_or_init(|| own) != own;
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let Some(threads) = threads.or_else(|| forked.then(all)) else { return work() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
    pool.map_err(Failure::argument)?.install(work)
}
