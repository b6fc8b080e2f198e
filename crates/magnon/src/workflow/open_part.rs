//! Long calls in parts, which machines that do not talk to each other run.
//!
//! Whoever hands out parts asks a call where it stands by its [`Journal`](super::Journal), has every open part run with a
//! copy of the journal, adds the lines that they come to, and asks again, until no part is open.

use serde::Serialize;

/// A part of a call that depends on nothing but what the journal has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OpenPart {
    /// Its name in the journal.
    pub key: String,
    /// Parts with the same word take about as long.
    pub group: String,
}
