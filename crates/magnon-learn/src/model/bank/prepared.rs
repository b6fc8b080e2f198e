//! What a bank does to the features before they are filtered.

use crate::model::Inputs;
use magnon_core::graph::log_degrees;
use magnon_core::matrix::Features;
use std::borrow::Cow;

/// What is done to the features; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prepared {
    /// Whether rows are scaled to a largest entry of 1.
    pub rescale: bool,
    /// Whether ln(1 + d) of the degrees in and out are two more columns.
    pub degrees: bool,
}

impl Prepared {
    pub fn features<'a>(self, inputs: &Inputs<'a>) -> Cow<'a, Features> {
        let mut features = Cow::Borrowed(inputs.features);
        if self.rescale {
            features.to_mut().scale_rows_to_one();
        }
        if self.degrees {
            let degrees = Features::Dense(log_degrees(inputs.graph));
            features = Cow::Owned(features.beside(&degrees));
        }
        features
    }
}
