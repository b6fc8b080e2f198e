//! The operator on a part of a graph that was cut by rows.

use super::{MagneticOperator, OperatorConfig, OperatorError};
use crate::compute::pattern::{Pattern, Weights};
use crate::memory::Slab;
use std::sync::Arc;

impl MagneticOperator {
    /// The operator of a part. Its own rows are those of the whole operator once [`with_halo`](Self::with_halo) has told
    /// it the degrees outside; those of the halo are of no use. The charge is given: a part's own cycles mislead.
    #[doc(hidden)]
    pub fn of_part(
        (offsets, columns): (Slab<usize>, Slab<u32>),
        weights: Option<Slab<[f32; 2]>>,
        directed: bool,
        config: &OperatorConfig,
    ) -> Result<Self, OperatorError> {
        let weights = weights.map_or(Weights::Unit, Weights::Explicit);
        let pattern = Pattern::from_slabs(offsets, columns, weights, None, directed);
        Self::from_pattern(Arc::new(pattern), config)
    }

    /// Degrees out and in of a node as the operator divides by them; equal where it knows one.
    pub fn degrees_of(&self, node: usize) -> [f64; 2] {
        let out = self.degrees[node];
        [out, self.in_degrees.get(node).copied().unwrap_or(out)]
    }

    /// Sets degrees of nodes outside, and whether the whole operator is real: weights elsewhere decide about that, too.
    pub fn with_halo(mut self, degrees: &[(usize, [f64; 2])], real: bool) -> Self {
        for &(node, [out, back]) in degrees {
            self.degrees[node] = out;
            if let Some(place) = self.in_degrees.get_mut(node) {
                *place = back;
            }
        }
        self.real = real;
        self
    }
}
