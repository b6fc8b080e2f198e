//! Words for people on standard error.

use std::io::{self, Write};

/// Says something on standard error, in the form of `eprintln!`. Nobody may be listening, or the
/// disk behind it be full; neither is a reason to stop the work.
macro_rules! remark {
    ($($words:tt)*) => { crate::terminal::say(&format!($($words)*)) };
}

/// See [`remark!`].
pub fn say(words: &str) {
    // One write, so that lines of several processes do not mix; what cannot be written is lost.
    let _ = io::stderr().lock().write_all(format!("{words}\n").as_bytes());
}
