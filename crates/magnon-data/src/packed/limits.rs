//! What can be packed, said before the work begins.

use super::PackConfig;
use crate::DataError;
use std::path::Path;

/// Columns have 30 bits; two more say which of both edges exist.
pub(super) const MOST_NODES: u64 = 1 << 30;

/// The least memory that the stages can do with: blocks of text, the edges in them, and buffers.
pub(super) const LEAST_MEMORY: u64 = 8 << 20;

/// Refuses machines that the format does not fit, and budgets that nothing can be done in.
pub(super) fn check(output: &Path, config: &PackConfig) -> Result<(), DataError> {
    let refuse = |problem: String| Err(DataError::format(output.display().to_string(), problem));
    if let Some(problem) = machine() {
        return refuse(problem.to_owned());
    }
    if config.memory < LEAST_MEMORY {
        let problem = format!(
            "{} bytes of memory are too few to pack in; give at least {LEAST_MEMORY} (8M)",
            config.memory
        );
        return refuse(problem);
    }
    Ok(())
}

/// Why this machine can neither write nor map packed graphs.
pub(super) fn machine() -> Option<&'static str> {
    if cfg!(target_endian = "big") {
        return Some("packed graphs are little-endian, and this machine is not");
    }
    (usize::BITS < 64).then_some("packed graphs need a machine with 64-bit addresses")
}

/// Refuses more nodes than columns can number.
pub(super) fn check_nodes(file: &str, nodes: u64) -> Result<(), DataError> {
    if nodes <= MOST_NODES {
        return Ok(());
    }
    let problem = format!(
        "there are {nodes} nodes, and a packed graph holds at most 2^30 (1,073,741,824); cut the graph into parts"
    );
    Err(DataError::format(file, problem))
}

/// More memory is needed than the budget allows.
pub(super) fn over_budget(file: &str, what: &str, bytes: u64, budget: u64) -> DataError {
    let problem = format!(
        "{what} need {bytes} bytes of memory, and the budget is {budget}; give a larger --memory"
    );
    DataError::format(file, problem)
}
