//! Lines: the unit in which features travel through the product.
//!
//! A tile holds a few feature columns of all nodes, one cache line of 64 bytes per node: `N` real
//! columns, or the real parts of `N / 2` complex columns followed by their imaginary parts. The
//! product then touches exactly one cache line for each neighbour.

use crate::memory::zeroed;
use bytemuck::{Pod, Zeroable};
use std::ops::{Add, Mul, Sub};

/// Bytes of a line, in either precision.
pub const LINE: usize = 64;
/// Number of `f32` in a line.
pub const F32_LANES: usize = 16;
/// Number of `f64` in a line.
pub const F64_LANES: usize = 8;

/// The two floating point types that products are made in.
pub trait Real:
    Pod + Send + Sync + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// Nearest value.
    fn from_f64(value: f64) -> Self;
    /// Exact widening.
    fn to_f64(self) -> f64;
    /// `self * a + b` in one rounding; slow where the processor has no such instruction.
    fn fused(self, a: Self, b: Self) -> Self;
}

macro_rules! real {
    ($float:ty) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.into()
            }
            #[inline(always)]
            fn fused(self, a: Self, b: Self) -> Self {
                self.mul_add(a, b)
            }
        }
    };
}
real!(f32);
real!(f64);

/// One node's part of a tile.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Line<T, const N: usize>(pub [T; N]);

// SAFETY: an array of plain numbers; all zero bits are the number 0. Tested by `tiles_are_zero`.
unsafe impl<T: Zeroable, const N: usize> Zeroable for Line<T, N> {}

impl<T: Real, const N: usize> Line<T, N> {
    /// All zero.
    pub const ZERO: Self = Self([T::ZERO; N]);
}

/// The numbers of a tile, line after line.
pub fn flat<T: Real, const N: usize>(tile: &[Line<T, N>]) -> &[T] {
    const { assert!(size_of::<Line<T, N>>() == N * size_of::<T>()) };
    // SAFETY: a line is its numbers and nothing else, as was just made sure of. Tested by `tiles_are_numbers`.
    unsafe { std::slice::from_raw_parts(tile.as_ptr().cast(), tile.len() * N) }
}

/// The same, to be written.
pub fn flat_mut<T: Real, const N: usize>(tile: &mut [Line<T, N>]) -> &mut [T] {
    const { assert!(size_of::<Line<T, N>>() == N * size_of::<T>()) };
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(tile.as_mut_ptr().cast(), tile.len() * N) }
}

/// A tile of zeros for `nodes` nodes.
pub fn tile<T: Real, const N: usize>(nodes: usize) -> Vec<Line<T, N>> {
    zeroed(nodes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_zero() {
        assert!(tile::<f32, 16>(3).iter().all(|line| line.0 == [0.0; 16]));
        assert!(tile::<f64, 8>(3).iter().all(|line| line.0 == [0.0; 8]));
    }

    #[test]
    fn tiles_are_numbers() {
        let mut wide = tile::<f64, 8>(3);
        flat_mut(&mut wide)[9] = 2.0;
        assert_eq!((wide[1].0[1], flat(&wide).len(), flat(&wide)[9]), (2.0, 24, 2.0));
    }
}
