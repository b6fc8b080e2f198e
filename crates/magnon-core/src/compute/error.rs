//! What can go wrong on an engine.

/// Why an engine could not do its work.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no memory for a matrix.
    #[error(
        "there is no memory for {bytes} more bytes; use a smaller model, or fewer rows at a time"
    )]
    OutOfMemory {
        /// How much was asked for.
        bytes: usize,
    },
    /// There is no memory for what each thread works in.
    #[error(
        "there is no memory for {threads} thread(s), each of which works in {bytes} bytes; ask for fewer threads"
    )]
    Threads {
        /// How many there are.
        threads: usize,
        /// What each needs.
        bytes: usize,
    },
    /// The work was stopped.
    #[error("stopped")]
    Stopped,
    /// The engine has no way to make such a product.
    #[error("{0}")]
    Unsupported(String),
    /// The device that was asked for is not there.
    #[error("{0}; use the device cpu")]
    NoDevice(String),
    /// The device failed.
    #[error("the device failed: {0}")]
    Device(String),
}
