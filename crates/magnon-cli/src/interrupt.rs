//! What an interrupt does: nothing half-written stays, and long searches tell what they know.

use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// Set by the first interrupt while a search is under way.
static STOP: AtomicBool = AtomicBool::new(false);
/// Whether a search is under way that looks at [`STOP`].
static PATIENT: AtomicBool = AtomicBool::new(false);

/// Called on Ctrl-C and termination.
pub fn handle() {
    if PATIENT.load(SeqCst) && !STOP.swap(true, SeqCst) {
        return; // the search ends by itself and is reported; a second interrupt does not wait
    }
    leave();
}

/// Ends the process as an interrupt does.
pub fn leave() -> ! {
    magnon::data::write::remove_unfinished();
    std::process::exit(130);
}

/// Runs a search that ends early when the flag it is given is set.
pub fn stoppable<T>(search: impl FnOnce(&AtomicBool) -> T) -> T {
    PATIENT.store(true, SeqCst);
    let result = search(&STOP);
    PATIENT.store(false, SeqCst);
    result
}

/// Whether a search was interrupted.
pub fn interrupted() -> bool {
    STOP.load(SeqCst)
}
