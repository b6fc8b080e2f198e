//! Decoders that panic on damaged bytes: the panic becomes an error, and nothing is printed.

use crate::DataError;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// How many guarded calls this thread is in.
    static GUARDED: Cell<usize> = const { Cell::new(0) };
}

/// Makes the hook for panics silent on threads that are in a guarded call. Decoders work on the thread that calls them.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if GUARDED.get() == 0 {
                before(panic);
            }
        }));
    });
}

/// Notes that the thread has left a guarded call, also by a panic.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        GUARDED.set(GUARDED.get() - 1);
    }
}

/// The decoders answer most damage with an error, and some with a panic.
pub(crate) fn guarded<T>(
    file: &str,
    read: impl FnOnce() -> Result<T, DataError>,
) -> Result<T, DataError> {
    // The hook cannot be changed by a thread that panics.
    if !std::thread::panicking() {
        install();
    }
    GUARDED.set(GUARDED.get() + 1);
    let guard = Guard;
    let outcome = catch_unwind(AssertUnwindSafe(read));
    drop(guard);
    outcome.unwrap_or_else(|_| {
        Err(DataError::format(file, "damaged: its parts do not fit together; fetch it again"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn only_guarded_panics_are_silent() {
        static SEEN: AtomicUsize = AtomicUsize::new(0);
        let mine = |panic: &std::panic::PanicHookInfo| {
            panic.payload_as_str().is_some_and(|text| text.starts_with("quiet test"))
        };
        let before = take_hook();
        set_hook(Box::new(move |panic| match mine(panic) {
            true => _ = SEEN.fetch_add(1, SeqCst),
            false => before(panic),
        }));
        // Had another test installed the hook before, this one would lie over it.
        let over = take_hook();
        set_hook(Box::new(move |panic| {
            if GUARDED.get() == 0 {
                over(panic);
            }
        }));
        let threads: Vec<_> = (0..4)
            .map(|k| {
                std::thread::spawn(move || {
                    for _ in 0..50 {
                        let error = guarded::<()>("f", || panic!("quiet test {k}")).unwrap_err();
                        assert!(error.to_string().contains("damaged"));
                    }
                    // A thread that is not reading is heard, while others are.
                    assert!(catch_unwind(|| panic!("quiet test loud")).is_err());
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(SEEN.load(SeqCst), 4);
        assert_eq!(GUARDED.get(), 0);
    }
}
