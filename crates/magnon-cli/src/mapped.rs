//! What happens when a mapped file loses its end while it is read.
//!
//! Packed graphs are mapped, not read: should someone cut such a file short meanwhile, or its disk go away, the system
//! sends the process a bus error where a read would have failed. That ends the command with a sentence.

/// Said on standard error.
#[cfg(unix)]
const LOST: &str = "error: a packed graph changed or became unreadable while it was in use (bus error); \
    check its disk, or pack the graph again\n";

/// Sets up what is said.
#[cfg(unix)]
pub fn guard() {
    extern "C" fn say_and_end(_: libc::c_int) {
        // SAFETY: both calls are allowed in a handler of signals; the text is constant. Tested by
        // `a_graph_that_is_cut_short_in_use_is_an_error`.
        unsafe {
            libc::write(libc::STDERR_FILENO, LOST.as_ptr().cast(), LOST.len());
            libc::_exit(1);
        }
    }
    let handler: extern "C" fn(libc::c_int) = say_and_end;
    // SAFETY: the handler has the signature that the system expects, and does only what a handler may do. Tested as
    // above.
    unsafe { libc::signal(libc::SIGBUS, handler as libc::sighandler_t) };
}

#[cfg(not(unix))]
pub fn guard() {}
