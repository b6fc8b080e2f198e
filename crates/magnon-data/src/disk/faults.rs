//! Faults that tests plan for the file operations of their thread.

use super::Operation;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Write};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The operation fails.
    Error(ErrorKind),
    /// A write gets half of its bytes to the disk, and fails.
    Torn,
    /// A write takes half of its bytes, as it may; nothing fails.
    Short,
    /// The operation fails, and all that come after it, as if the process had been killed.
    Crash,
}

struct Plan {
    /// The operation that fails, counted from 0.
    at: usize,
    fault: Fault,
    seen: Vec<Operation>,
}

thread_local! {
    static PLAN: RefCell<Option<Plan>> = const { RefCell::new(None) };
}

/// No operation.
pub const NEVER: usize = usize::MAX;

/// Does something while operation `at` of it goes wrong; gives the operations there were, too. The disk
/// is not waited for meanwhile.
pub fn with<T>(at: usize, fault: Fault, act: impl FnOnce() -> T) -> (T, Vec<Operation>) {
    PLAN.set(Some(Plan { at, fault, seen: Vec::new() }));
    let result = act();
    (result, PLAN.take().map(|plan| plan.seen).unwrap_or_default())
}

/// Whether faults are planned in this thread, be it none.
pub(super) fn planned() -> bool {
    PLAN.with_borrow(Option::is_some)
}

/// The fault that is due now.
fn due(operation: Operation) -> Option<Fault> {
    PLAN.with_borrow_mut(|plan| {
        let plan = plan.as_mut()?;
        let now = plan.seen.len();
        plan.seen.push(operation);
        let due = now == plan.at || (now > plan.at && plan.fault == Fault::Crash);
        due.then_some(plan.fault)
    })
}

pub(super) fn trip(operation: Operation) -> io::Result<()> {
    match due(operation) {
        Some(Fault::Error(kind)) => Err(kind.into()),
        Some(Fault::Torn) => Err(ErrorKind::StorageFull.into()),
        Some(Fault::Crash) => Err(io::Error::other("crashed")),
        Some(Fault::Short) | None => Ok(()),
    }
}

/// What of the bytes a write takes.
pub(super) fn cut<'a>(bytes: &'a [u8], mut file: &File) -> io::Result<&'a [u8]> {
    let half = &bytes[..bytes.len().div_ceil(2)];
    match due(Operation::Write) {
        Some(Fault::Error(kind)) => Err(kind.into()),
        Some(fault @ (Fault::Torn | Fault::Crash)) => {
            file.write_all(half)?;
            let kind = if fault == Fault::Torn { ErrorKind::StorageFull } else { ErrorKind::Other };
            Err(kind.into())
        }
        Some(Fault::Short) => Ok(half),
        None => Ok(bytes),
    }
}
