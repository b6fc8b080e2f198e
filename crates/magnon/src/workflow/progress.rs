//! `Progress`: looks on while a long call works, and may stop it.

use crate::train::Observer;
use std::sync::atomic::{AtomicBool, Ordering};

static NEVER: AtomicBool = AtomicBool::new(false);

/// Looks on while a long call works, perhaps from several threads at once.
pub trait Progress: Sync {
    /// So many steps of about equal cost are done, of so many; `message` says what is under way.
    fn step(&self, _done: usize, _total: usize, _message: &str) {}
    /// Something that a person should know.
    fn remark(&self, _text: &str) {}
    /// Hears of single epochs and trials where models are trained.
    fn observer(&self) -> &dyn Observer {
        &()
    }
    /// A flag that stops the call once it is set.
    fn stop_flag(&self) -> &AtomicBool {
        &NEVER
    }
    /// Whether the call is to stop.
    fn is_stopped(&self) -> bool {
        self.stop_flag().load(Ordering::Relaxed)
    }
}

/// Nobody looks on.
impl Progress for () {}

/// Hands on the steps of a call to a progress, and stops the call where the progress is stopped.
pub(super) fn steps<'a>(
    progress: &'a dyn Progress,
    message: &'a str,
) -> impl Fn(usize, usize) -> bool + Sync + 'a {
    move |done, total| {
        progress.step(done, total, message);
        !progress.is_stopped()
    }
}

/// Stops training where the call is stopped, and tells nothing of it.
pub(super) struct Stopper<'a>(pub &'a dyn Progress);

impl Observer for Stopper<'_> {
    fn stop(&self) -> bool {
        self.0.is_stopped()
    }
}
