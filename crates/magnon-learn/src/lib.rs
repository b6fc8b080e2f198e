//! Networks on directed graphs: the tape and its layers, one model per file, the training loop, and run folders.
//!
//! A module uses those that come before it in this list, and none that comes after.
//!
//! | module | contains |
//! |---|---|
//! | [`nn`] | the tape, parameters, initial weights, optimisers |
//! | [`model`] | one model per file |
//! | [`train`] | configurations, `fit`, experiments of several trials, scores |
//! | [`run`] | run folders, saved models, prediction |

pub mod model;
pub mod nn;
pub mod run;
#[doc(hidden)]
pub mod strict;
#[doc(hidden)]
pub mod tensors;
pub mod train;
