//! What kernels take, laid out as their sources declare it.

use std::ffi::c_void;

/// Something that a kernel takes by value.
///
/// # Safety
/// The layout is that of the kernel's parameter.
pub(super) unsafe trait Argument {
    /// Where it lies.
    fn address(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast_mut().cast()
    }
}

macro_rules! arguments {
    ($($kind:ty),*) => {
        $(
            // SAFETY: numbers are what they are, and the structs below are laid out as in C, field by
            // field as in the kernels' sources. Tested by `tests/network/cuda.rs`, kernel by kernel.
            unsafe impl Argument for $kind {}
        )*
    };
}

arguments!(
    i32, u32, i64, u64, f32, f64, Matrix, Key, Operand, Rows, Block, Factors, Step, AllTrained,
    Attention, Back, Targets, TileRows, TileStep
);

/// An address on the card; 0 for none.
pub(super) type Address = u64;

/// A matrix: where it is, and how far it is from one lane to the next.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Matrix {
    pub at: Address,
    pub lane: i64,
}

/// What random draws are a function of.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub seed: u64,
    pub epoch: u32,
    pub batch: u32,
    pub site: u32,
    pub unused: u32,
    pub clock: Address,
    pub seeds: Address,
    /// The places that rows have in the draws, and numbers from one lane to the next.
    pub places: Address,
    pub places_lane: i64,
    /// Rates of dropout by lane: two thresholds and what is kept is multiplied with.
    pub rates: Address,
}

/// One factor of a dense product.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub matrix: Matrix,
    pub row: i64,
    pub col: i64,
    pub complex: i32,
    pub conjugate: i32,
    pub unused: [i32; 2],
}

/// Sparse rows.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Rows {
    pub offsets: Address,
    pub columns: Address,
    pub values: Address,
    pub places: Address,
    pub left: Address,
    pub own: Address,
    pub segment_rows: Address,
    pub segments: Address,
    pub long_rows: Address,
    pub values_lane: i64,
    pub offsets_lane: i64,
    pub columns_lane: i64,
    pub segments_lane: i64,
    pub long_lane: i64,
    pub segment_count: i64,
    pub long_count: i64,
    pub table: [f32; 8],
}

/// The numbers of one step of a recurrence: α, β, γ and θ.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Factors {
    pub alpha: f32,
    pub beta: f32,
    pub gamma: f32,
    pub theta: f32,
}

/// The blocks of one step of a recurrence.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Block {
    pub x: Matrix,
    pub last: Matrix,
    pub source: Matrix,
    pub y: Matrix,
    pub partial: Matrix,
    pub x_rows: i64,
    pub y_rows: i64,
    pub width: i64,
    pub threads: i32,
    pub limited: i32,
}

/// Rows and classes of a loss, and how far it is from those of one lane to the next.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Targets {
    pub at: Address,
    pub lane: i64,
    pub count: i64,
}

/// The numbers of one Adam step.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Step {
    pub rate: f32,
    pub correction: f32,
    pub first: f32,
    pub other_first: f32,
    pub second: f32,
    pub other_second: f32,
    pub epsilon: f32,
}

/// One of the matrices that are trained.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct Trained {
    pub gradient: Matrix,
    pub weights: Matrix,
    pub first: Matrix,
    pub second: Matrix,
    pub n: i64,
    /// Blocks of the launch before its own.
    pub blocks: i64,
    pub decays: f64,
    pub l2: f32,
    pub shrink: f32,
}

/// Matrices of one launch; as in the kernel.
pub(super) const AT_A_TIME: usize = 8;

/// Several of them.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(super) struct AllTrained {
    pub of: [Trained; AT_A_TIME],
    pub count: i64,
}

/// The rows of an operator, for steps on tiles.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TileRows {
    pub offsets: Address,
    pub columns: Address,
    pub values: Address,
    pub gain: Address,
    pub own: Address,
    pub long_rows: Address,
    pub long_count: i64,
    pub nodes: i64,
}

/// A step on tiles.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct TileStep {
    pub z: Address,
    pub source: Address,
    pub out: Address,
    pub scale: f64,
    pub keep: f64,
    pub theta: f64,
}

/// What attention is computed from.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Attention {
    pub offsets: Address,
    pub columns: Address,
    pub features: Matrix,
    pub source: Matrix,
    pub target: Matrix,
    pub heads: i64,
    pub cols: i64,
    pub seen: i64,
    pub rows: i64,
    pub slope: f32,
    pub keep: f32,
    pub threshold: u32,
    pub dropout: i32,
    pub key: Key,
}

/// What the way back over attention needs besides.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Back {
    pub norms: Matrix,
    pub out: Matrix,
    pub dy: Matrix,
    pub along: Matrix,
}
