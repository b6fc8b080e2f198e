//! Text files: lines, fields and tables of numbers.

mod ends;
mod fields;
mod lines;
mod table;

pub(crate) use ends::settle_line_ends;
pub(crate) use fields::{Delimiter, MOST_FIELDS, is_comment, too_many_fields};
pub(crate) use lines::{Lines, line_of, without_bom};
pub(crate) use table::{indices, labels, matrix};
