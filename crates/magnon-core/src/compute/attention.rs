//! What the attention of a graph attention layer is computed from.

use super::{DrawKey, Engine, Shape, Storage};

/// Sums over the neighbours, weighted by a softmax of scores, for several heads.
///
/// With h(v) the features of node v, split evenly between the heads, and real scores s(v), t(u) for
/// each head,
///
/// e(u,v) = LeakyReLU(t(u) + s(v)), α(u,v) = e^{e(u,v)} / Σ_w e^{e(u,w)}, y(u) = Σ_v α(u,v)·h(v),
///
/// where v runs over the neighbours of u, in the underlying undirected graph, and u itself. In
/// training each α(u,v) is dropped with probability `rate`, and the others are scaled up.
pub struct Attention<'a, S: Storage = Engine> {
    /// A map over the edges of a neighbourhood; only its pattern is used.
    pub edges: &'a S::Map,
    /// h: one row per node seen, heads × columns of a head.
    pub features: (&'a S::Buffer, Shape),
    /// s: one row per node seen, one column per head.
    pub source: &'a S::Buffer,
    /// t: one row per node of the result at least, one column per head.
    pub target: &'a S::Buffer,
    /// Number of heads.
    pub heads: usize,
    /// Rows of the result.
    pub rows: usize,
    /// Slope of LeakyReLU below 0.
    pub slope: f64,
    /// Share of weights that are dropped, and the draws' key.
    pub dropout: Option<(f64, DrawKey)>,
}

/// Gradient of the result, and where those of the inputs go.
pub struct AttentionGradient<'a, S: Storage = Engine> {
    /// For each row and head the largest score and the sum of the exponentials, from the way there.
    pub norms: &'a S::Buffer,
    /// The result y.
    pub out: &'a S::Buffer,
    /// Gradient of y.
    pub dy: &'a S::Buffer,
    /// Gradient of h.
    pub features: &'a mut S::Buffer,
    /// Gradient of s.
    pub source: &'a mut S::Buffer,
    /// Gradient of t.
    pub target: &'a mut S::Buffer,
}
