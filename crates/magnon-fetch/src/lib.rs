//! Public graph data sets by name: downloaded, checked against their sha256 and laid out as
//! Magnon's readers take them.
//!
//! ```no_run
//! use magnon_fetch::{Options, fetch};
//!
//! let folder = fetch("cornell", &Options::default(), &mut |_| true)?;
//! println!("{}", folder.display());
//! # Ok::<(), magnon_fetch::FetchError>(())
//! ```
//!
//! A file is written beside its place, checked, and renamed, so that nothing wrong or half ever
//! stands under its final name. What is already there is checked and left alone; without a network
//! a file may be put there by hand. [`datasets`] is the table of what is known.

mod attempt;
mod cache;
mod checksum;
mod client;
mod download;
mod entry;
mod error;
mod fetch;
mod nearest;
mod options;
mod part;
mod roots;
mod seal;
mod table;

pub use cache::{cache_folder, cached};
pub use entry::{Entry, File};
pub use error::FetchError;
pub use fetch::{fetch, fetch_entry};
pub use options::{Options, Progress, Rewrite};
pub use table::{datasets, find};
