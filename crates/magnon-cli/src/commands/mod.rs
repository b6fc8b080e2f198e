//! One command a file.

pub mod cycles;
pub mod demo;
pub mod generate;
pub mod info;
pub mod operator;
pub mod propagate;
pub mod response;
pub mod train;
