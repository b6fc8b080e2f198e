//! What an interrupt does: nothing half-written stays, and long searches tell what they know.

use crate::failure;
use crate::signals;
use magnon::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::SeqCst};
use std::time::Duration;

/// How long a call has to end by itself where nothing is lost without that. A single step of it may take
/// longer: reading a large file, filtering its features.
const GRACE: Duration = Duration::from_millis(500);

/// What is message of a call that nothing more is known of, and the kind of its failure.
const STOPPED: &str = "stopped";

/// Set by the first interrupt of a call that looks at it.
static STOP: AtomicBool = AtomicBool::new(false);

/// Nothing looks at [`STOP`].
const DEAF: u8 = 0;
/// A call looks at [`STOP`]; what it has done so far is kept already.
const KEPT: u8 = 1;
/// A call looks at [`STOP`], and has something to hand over before it ends.
const HOLDING: u8 = 2;
static CALL: AtomicU8 = AtomicU8::new(DEAF);

/// What is said when a call was stopped.
type Words = Box<dyn Fn() -> String + Send>;
static WORDS: Mutex<Option<Words>> = Mutex::new(None);

/// Called on Ctrl-C and termination.
pub fn handle() {
    if CALL.load(SeqCst) == DEAF || STOP.swap(true, SeqCst) {
        leave(); // a second interrupt does not wait
    }
    // A call may come to its end without a look at the flag; what comes after it is not waited for either.
    std::thread::spawn(|| {
        std::thread::sleep(GRACE);
        while CALL.load(SeqCst) == HOLDING {
            std::thread::sleep(Duration::from_millis(20));
        }
        say_and_leave();
    });
}

/// Ends the process, with the exit code of the signal that asked for it.
pub fn leave() -> ! {
    magnon::data::write::remove_unfinished();
    failure::tell(STOPPED, STOPPED, signals::exit_code());
    std::process::exit(signals::exit_code().into());
}

fn say_and_leave() -> ! {
    let mut message = STOPPED.to_owned();
    // Taken, so that of two threads that come here one says it.
    if let Some(words) = WORDS.lock().ok().and_then(|mut words| words.take()) {
        message = words();
        remark!("{message}");
    }
    failure::tell(&message, STOPPED, signals::exit_code());
    leave();
}

/// Runs a call that ends early when the flag it is given is set, or else the process ends without it.
pub fn stoppable<T>(call: impl FnOnce(&AtomicBool) -> T) -> T {
    CALL.store(KEPT, SeqCst);
    let result = call(&STOP);
    CALL.store(DEAF, SeqCst);
    result
}

/// The same for a call that another one can go on from; `words` say how, when this one was stopped.
pub fn resumable<T>(
    words: impl Fn() -> String + Send + 'static,
    call: impl FnOnce(&AtomicBool) -> Result<T, Error>,
) -> Result<T, Error> {
    if let Ok(mut message) = WORDS.lock() {
        *message = Some(Box::new(words));
    }
    match stoppable(call) {
        Err(Error::Stopped) => say_and_leave(),
        outcome => outcome,
    }
}

/// Runs a search that tells what it knows when the flag is set; it is waited for, and so is what it tells.
pub fn patient<T>(search: impl FnOnce(&AtomicBool) -> T) -> T {
    hold();
    let result = search(&STOP);
    if !interrupted() {
        CALL.store(DEAF, SeqCst);
    }
    result
}

/// From now on, the call that is under way is waited for: it has something to hand over.
pub fn hold() {
    CALL.store(HOLDING, SeqCst);
}

/// Whether a search was interrupted.
pub fn interrupted() -> bool {
    STOP.load(SeqCst)
}
