//! What can be wrong with a filter.

/// Why a filter cannot be made or applied.
#[derive(Debug, thiserror::Error, PartialEq)]
#[non_exhaustive]
pub enum FilterError {
    /// The call was stopped by its progress.
    #[error("stopped")]
    Stopped,
    /// A filter that is solved for needs sums over all nodes.
    #[error(
        "this filter is solved for by conjugate gradients, which needs sums over all nodes; parts of a graph are \
         filtered with polynomials alone"
    )]
    Parts,
    /// Order 0 where at least 1 is needed.
    #[error("the order of {0} must be at least 1")]
    OrderZero(&'static str),
    /// More terms than anyone needs.
    #[error("the order {0} is too large; at most {max} terms are evaluated", max = super::form::MAX_ORDER)]
    OrderTooLarge(usize),
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
    /// A parameter that the filter needs was not given.
    #[error("the filter {filter} needs {parameter}")]
    Missing {
        /// The filter.
        filter: &'static str,
        /// What it needs.
        parameter: &'static str,
    },
    /// A parameter was given that the filter does not have.
    #[error("the filter {filter} has no {parameter}")]
    Unused {
        /// The filter.
        filter: &'static str,
        /// What it does not have.
        parameter: &'static str,
    },
    /// The series does not converge on the operator's spectrum.
    #[error(
        "the series of {filter} diverges: it needs |{factor}·λ| < 1, but the spectrum may reach \
         {radius}; normalise the operator (sym or rw), or lower the factor"
    )]
    Diverges {
        /// The filter.
        filter: &'static str,
        /// Its factor.
        factor: f64,
        /// Largest |λ| of the operator's bounds.
        radius: f64,
    },
    /// The denominator vanishes inside the spectrum.
    #[error(
        "the feedback part vanishes near λ = {at:.4}, inside the operator's spectrum; the filter \
         has a pole there"
    )]
    Pole {
        /// Where.
        at: f64,
    },
    /// The tolerance cannot be reached with the allowed number of terms.
    #[error(
        "{filter} is not reached to {tolerance:e} with {terms} terms; solve it exactly, or take less \
         extreme parameters"
    )]
    NotResolved {
        /// The filter.
        filter: &'static str,
        /// What was asked for.
        tolerance: f64,
        /// Terms tried.
        terms: usize,
    },
    /// Conjugate gradients stopped short.
    #[error(
        "conjugate gradients stopped after {iterations} iterations at the relative residual \
         {residual:e}: the system is too ill-conditioned; move the filter's pole away from the \
         spectrum, for PageRank by a smaller alpha"
    )]
    NotConverged {
        /// Iterations made.
        iterations: usize,
        /// Relative residual reached.
        residual: f64,
    },
    /// Features and operator do not fit together.
    #[error("the features have {features} rows, but the operator has {nodes} nodes")]
    Shape {
        /// Rows of the features.
        features: usize,
        /// Nodes of the operator.
        nodes: usize,
    },
    /// Memory for the result was refused.
    #[error(
        "out of memory: {bytes} bytes are needed for a result of {rows} rows and {cols} columns; use a \
         larger machine, or fewer columns at a time"
    )]
    OutOfMemory {
        /// Rows of the result.
        rows: usize,
        /// Columns of the result.
        cols: usize,
        /// Bytes that are needed, at the most.
        bytes: usize,
    },
    /// Not even one column fits the budget of memory.
    #[error(
        "one column of {rows} rows needs {bytes} bytes of memory, and the budget is {memory}; give a larger \
         --memory, or cut the graph into parts"
    )]
    OverBudget {
        /// Rows of the result.
        rows: usize,
        /// Bytes that are needed.
        bytes: usize,
        /// Bytes that may be used.
        memory: u64,
    },
    /// The device could not do it.
    #[error(transparent)]
    Engine(#[from] crate::compute::EngineError),
    /// A response that cannot be written down.
    #[error("the response at λ = {lambda} is {response}, beyond what can be written")]
    NotFinite {
        /// Where.
        lambda: f64,
        /// h(λ).
        response: f64,
    },
    /// The values grew beyond what single precision holds.
    #[error(
        "filtered features overflow at node {node}, column {column}; a high order without \
         normalisation grows like a power of the degree"
    )]
    Overflow {
        /// Node at fault.
        node: usize,
        /// Column at fault.
        column: usize,
    },
}

impl FilterError {
    /// Whether the parameters are at fault, whatever the graph.
    pub fn is_argument(&self) -> bool {
        matches!(
            self,
            Self::OrderZero(_)
                | Self::OrderTooLarge(_)
                | Self::OutOfRange { .. }
                | Self::Missing { .. }
                | Self::Unused { .. }
        )
    }
}
