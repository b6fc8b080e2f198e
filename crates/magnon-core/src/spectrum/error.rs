//! Why a spectrum cannot be had.

use crate::compute::{Device, EngineError};
use crate::operator::{ChargeError, OperatorError};

/// Why a spectrum, or something made from one, cannot be had.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum SpectrumError {
    /// The call was stopped by its progress.
    #[error("stopped")]
    Stopped,
    /// The dense solver would need more memory than it is allowed.
    #[error(
        "all eigenvalues of a component of {nodes} nodes need {terms} · {nodes}² · {entry} bytes, \
         {needed:.1} GiB, above the limit of {limit:.1} GiB; ask for a few with a count (--count K), \
         for the spectral density (--density), or raise the limit (--memory)"
    )]
    TooLarge {
        /// Nodes of the largest weakly connected component.
        nodes: usize,
        /// Square arrays that the solver holds.
        terms: usize,
        /// Bytes of an entry.
        entry: usize,
        /// GiB needed.
        needed: f64,
        /// GiB allowed.
        limit: f64,
    },
    /// Memory was refused by the system.
    #[error("there is not enough memory for {rows} rows and {cols} columns")]
    OutOfMemory {
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        cols: usize,
    },
    /// A parameter is outside of its range.
    #[error("{name} is {value}, but must be {range}")]
    OutOfRange {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// More eigenpairs were asked for than there are.
    #[error("{count} eigenpairs were asked for, but a graph of {nodes} nodes has {nodes}")]
    TooMany {
        /// Asked for.
        count: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// The graph has no nodes.
    #[error("the graph has no nodes, and so no spectrum")]
    Empty,
    /// The iteration stopped short.
    #[error(
        "{converged} of {count} eigenpairs converged within {products} products; the next residual \
         is {residual:.1e}, above {tolerance:.1e}; loosen the tolerance, ask for fewer, or allow \
         more products"
    )]
    NotConverged {
        /// Pairs within the tolerance.
        converged: usize,
        /// Pairs asked for.
        count: usize,
        /// Products with a block made.
        products: usize,
        /// Smallest residual ‖Su − λu‖ that is too large.
        residual: f64,
        /// What it had to be.
        tolerance: f64,
    },
    /// The dense solver failed, which takes entries that are not finite.
    #[error("the dense eigensolver did not converge on a component of {nodes} nodes")]
    Dense {
        /// Nodes of the component.
        nodes: usize,
    },
    /// The dense solver has no other device than the processor.
    #[error(
        "all eigenvalues come from the dense solver, which runs on the processor, not on {device}; ask for \
         a few with a count (--count K), for the density (--density), or leave out the device"
    )]
    DenseDevice {
        /// What was asked for.
        device: Device,
    },
    /// The device could not do it.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An operator on the way could not be built.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// A charge on the way is none.
    #[error(transparent)]
    Charge(#[from] ChargeError),
}

/// Refuses a parameter that is not `ok`.
pub(crate) fn range(
    name: &'static str,
    value: f64,
    ok: bool,
    range: &'static str,
) -> Result<(), SpectrumError> {
    if ok { Ok(()) } else { Err(SpectrumError::OutOfRange { name, value, range }) }
}
