//! `Progress`: watches a long call, and may stop it.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

static NEVER: AtomicBool = AtomicBool::new(false);

/// What filters report.
pub(crate) const FILTERING: &str = "filtering features";

/// Watches a long call, perhaps from several threads at once. Every method has a default that does nothing, so that
/// `&()` is a progress that nobody watches.
///
/// ```
/// use magnon_core::progress::Progress;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// /// Prints the steps, and stops the call after half of them.
/// struct Half(AtomicBool);
///
/// impl Progress for Half {
///     fn step(&self, done: usize, total: usize, what: &str) {
///         println!("{what}: {done} of {total}");
///         self.0.store(2 * done >= total, Ordering::Relaxed);
///     }
///     fn stop_flag(&self) -> &AtomicBool {
///         &self.0
///     }
/// }
///
/// let progress = Half(AtomicBool::new(false));
/// assert!(progress.advance(1, 4, "filtering features"));
/// assert!(!progress.advance(2, 4, "filtering features"));
/// ```
pub trait Progress: Sync {
    /// `done` of `total` steps of about equal cost are made. `total` is 0 where nobody knows it. `what` says what is
    /// computed.
    fn step(&self, _done: usize, _total: usize, _what: &str) {}

    /// An epoch of training is over.
    fn epoch(&self, _epoch: &Epoch) {}

    /// Something that a person should know.
    fn remark(&self, _text: &str) {}

    /// A flag that stops the call once it is set.
    fn stop_flag(&self) -> &AtomicBool {
        &NEVER
    }

    /// Whether the call has to stop.
    fn is_stopped(&self) -> bool {
        self.stop_flag().load(Ordering::Relaxed)
    }

    /// Reports a step, and returns whether the call may go on.
    fn advance(&self, done: usize, total: usize, what: &str) -> bool {
        self.step(done, total, what);
        !self.is_stopped()
    }
}

/// Nobody watches.
impl Progress for () {}

/// A flag stops the call once it is set, and watches nothing.
impl Progress for AtomicBool {
    fn stop_flag(&self) -> &AtomicBool {
        self
    }
}

/// One epoch of training, as a progress hears of it.
#[derive(Clone, Copy)]
pub struct Epoch<'a> {
    /// The name of the trial.
    pub trial: &'a dyn Display,
    /// Trials that are done.
    pub done: usize,
    /// Trials that are known to be trained, those that are done included.
    pub trials: usize,
    /// Number of the epoch, counted from 1.
    pub epoch: usize,
    /// The epoch with the lowest validation loss so far.
    pub best: usize,
    /// Mean loss of the training nodes.
    pub train_loss: f64,
    /// Share of training nodes classified correctly.
    pub train_accuracy: f64,
    /// Mean loss of the validation nodes.
    pub val_loss: f64,
    /// Share of validation nodes classified correctly.
    pub val_accuracy: f64,
    /// Share of validation nodes classified correctly in the best epoch.
    pub best_val_accuracy: f64,
}

/// The progress of one of several equal parts of a call.
pub struct Part<'a> {
    /// What watches the whole call.
    pub whole: &'a dyn Progress,
    /// Number of the part, counted from 0.
    pub part: usize,
    /// Number of parts.
    pub parts: usize,
}

impl Progress for Part<'_> {
    fn step(&self, done: usize, total: usize, what: &str) {
        self.whole.step(self.part * total + done, self.parts * total, what);
    }
    fn epoch(&self, epoch: &Epoch) {
        self.whole.epoch(epoch);
    }
    fn remark(&self, text: &str) {
        self.whole.remark(text);
    }
    fn stop_flag(&self) -> &AtomicBool {
        self.whole.stop_flag()
    }
    fn is_stopped(&self) -> bool {
        self.whole.is_stopped()
    }
}

/// Passes on nothing but the request to stop.
pub struct Quiet<'a>(pub &'a dyn Progress);

impl Progress for Quiet<'_> {
    fn stop_flag(&self) -> &AtomicBool {
        self.0.stop_flag()
    }
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}
