//! Where the coefficients of a product come from.

use super::line::Real;
use crate::compute::pattern::{COLUMN, Pattern};

/// How an entry's coefficient t(u,v) = c + i·s is found.
pub trait Coefficients<T>: Copy + Sync {
    /// `[c, s]` of entry `e` in row `u`, whose packed column is `packed`.
    ///
    /// # Safety
    /// `e` is an entry of row `u` of the pattern and `packed` its column.
    unsafe fn at(&self, u: usize, e: usize, packed: u32) -> [T; 2];

    /// Whether there is a coefficient for each entry of the pattern.
    fn covers(&self, pattern: &Pattern) -> bool;
}

/// By phase class, from a table that stays in the nearest cache.
#[derive(Clone, Copy)]
pub struct ByClass<'a, T>(pub &'a [[T; 2]; 4]);

impl<T: Real> Coefficients<T> for ByClass<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, _: usize, _: usize, packed: u32) -> [T; 2] {
        self.0[(packed >> 30) as usize]
    }

    fn covers(&self, _: &Pattern) -> bool {
        true
    }
}

/// ½(e^{i2πq}P(u,v) + e^{−i2πq}P(v,u)) with P(u,v) = A(u,v)·a(u)·b(v), from which of both edges exist and two
/// factors for each node.
#[derive(Clone, Copy)]
pub struct ByDegree<'a, T> {
    /// A(u,v) and A(v,u), by phase class.
    pub classes: &'a [[T; 2]; 4],
    /// [a, b] of each node: 1/√(degree out), 1/√(degree in).
    pub factors: &'a [[T; 2]],
    /// ½ cos 2πq, ½ sin 2πq.
    pub turn: [T; 2],
}

impl<T: Real> Coefficients<T> for ByDegree<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, u: usize, _: usize, packed: u32) -> [T; 2] {
        // SAFETY: `u` is a row of the pattern and the column names a node; `Step::check` has seen that there
        // are factors for each. Tested by `missing_coefficients_are_refused`.
        let ([a, b], [far_a, far_b]) = unsafe {
            let far = (packed & COLUMN) as usize;
            (*self.factors.get_unchecked(u), *self.factors.get_unchecked(far))
        };
        let [out, back] = self.classes[(packed >> 30) as usize];
        let (out, back) = (out * a * far_b, back * far_a * b);
        [self.turn[0] * (out + back), self.turn[1] * (out - back)]
    }

    fn covers(&self, pattern: &Pattern) -> bool {
        self.factors.len() >= pattern.nodes()
    }
}

/// One explicit value for each entry.
#[derive(Clone, Copy)]
pub struct ByEntry<'a, T>(pub &'a [[T; 2]]);

impl<T: Real> Coefficients<T> for ByEntry<'_, T> {
    #[inline(always)]
    unsafe fn at(&self, _: usize, e: usize, _: u32) -> [T; 2] {
        // SAFETY: the caller names an entry of the pattern, and `Step::check` has seen that there is
        // a value for each. Tested by `missing_coefficients_are_refused`.
        unsafe { *self.0.get_unchecked(e) }
    }

    fn covers(&self, pattern: &Pattern) -> bool {
        self.0.len() >= pattern.stored()
    }
}

/// Per-node vectors of the product in the space z = enter ⊙ x; see
/// [`TileOperator::scaling`](super::TileOperator::scaling).
pub(crate) struct Scaling<T> {
    /// g(u): factor of the gathered sum.
    pub gain: Vec<T>,
    /// m(u): factor of the node's own value.
    pub own: Vec<T>,
    /// r(u) with z = r·x; `None` where r = 1.
    pub enter: Option<Vec<T>>,
    /// 1/r(u), the way back.
    pub leave: Option<Vec<T>>,
}

/// The coefficients t(u,v) in the precision of a product.
pub(crate) enum CoefficientStore<T> {
    Classes([[T; 2]; 4]),
    /// Which of both edges exist, by class; the factors of each node, and half of [cos, sin].
    Degrees {
        classes: [[T; 2]; 4],
        factors: Vec<[T; 2]>,
        turn: [T; 2],
    },
    Entries(Vec<[T; 2]>),
}
