//! Which signal asked for the end: `ctrlc` calls its handler for an interrupt, a termination and a lost terminal alike,
//! and does not say which it was.

/// The exit code after an interrupt, where nothing else is known.
const INTERRUPTED: u8 = 130;

#[cfg(unix)]
mod unix {
    use std::mem::MaybeUninit;
    use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::SeqCst};

    /// The first signal that asked for the end; 0 before any.
    pub static FIRST: AtomicI32 = AtomicI32::new(0);
    /// The handler that is called next, the same for all signals.
    static NEXT: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn note(signal: libc::c_int) {
        let _ = FIRST.compare_exchange(0, signal, SeqCst, SeqCst);
        let next = NEXT.load(SeqCst);
        if next != libc::SIG_DFL && next != libc::SIG_IGN {
            // SAFETY: the address is that of the handler that `ctrlc` had set, which takes the number of the signal.
            // Tested by `the_exit_code_tells_which_signal_it_was`.
            let next = unsafe { std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(next) };
            next(signal);
        }
    }

    /// Puts [`note`] before the handler that is set.
    pub fn listen() {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            let mut set = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: the system fills what it is given; a handler that takes more than the number of the signal is left
            // as it is. `note` does only what a handler may do. Tested as above.
            unsafe {
                if libc::sigaction(signal, std::ptr::null(), set.as_mut_ptr()) != 0 {
                    continue;
                }
                let mut set = set.assume_init();
                if set.sa_flags & libc::SA_SIGINFO != 0 {
                    continue;
                }
                NEXT.store(set.sa_sigaction, SeqCst);
                set.sa_sigaction = note as extern "C" fn(libc::c_int) as usize;
                libc::sigaction(signal, &raw const set, std::ptr::null_mut());
            }
        }
    }
}

/// Takes note of signals from now on; their handlers are set already.
pub fn listen() {
    #[cfg(unix)]
    unix::listen();
}

/// The exit code of a process that a signal ended: 128 and the number of the signal, as shells have it.
pub fn exit_code() -> u8 {
    #[cfg(unix)]
    {
        let signal = unix::FIRST.load(std::sync::atomic::Ordering::SeqCst);
        if let (1.., Ok(signal)) = (signal, u8::try_from(signal)) {
            return 128u8.saturating_add(signal);
        }
    }
    INTERRUPTED
}
