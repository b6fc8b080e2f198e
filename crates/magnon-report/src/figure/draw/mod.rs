//! What figures are drawn with: a plan and its four ways of drawing, scales, letters and colours, and PNG.

pub(crate) mod bars;
pub(crate) mod chart;
pub(crate) mod check;
pub(crate) mod cloud;
pub(crate) mod escape;
pub(crate) mod grid;
pub(crate) mod number;
pub(crate) mod palette;
pub(crate) mod pen;
pub(crate) mod plan;
pub(crate) mod png;
pub(crate) mod scale;
pub(crate) mod table;
pub(crate) mod text;
