//! Features filtered into the channels of a bank.

use crate::arrays::Cells;
use crate::dataset::{Dataset, json};
use crate::errors::Failure;
use crate::settings::Asked;
use magnon::model::ChannelBlock;
use magnon::settings::PropagateSettings;
use magnon::workflow::propagate_channels as propagate;
use pyo3::prelude::*;

/// The channels that the keywords name, each with its array, and what is told of them.
#[pyfunction]
#[pyo3(signature = (dataset, keywords, watch=None))]
#[allow(clippy::type_complexity)] // pairs, as Python makes a dictionary of
pub fn propagate_channels<'py>(
    py: Python<'py>,
    dataset: &Dataset,
    keywords: String,
    watch: Option<Py<PyAny>>,
) -> PyResult<(Vec<(String, Bound<'py, PyAny>)>, String)> {
    let asked = Asked::<PropagateSettings>::read(py, &keywords, watch)?;
    let channels = asked.settings.channel_list();
    let channels = channels.map_err(|error| Failure::from(error).exception(py))?;
    let (data, channels) = (dataset.inner.clone(), channels.unwrap_or_default());
    let (found, report) = asked.call.run(py, move |watch| {
        let mut found = Vec::new();
        let report = propagate(
            &data,
            &channels,
            &mut |channel, block| {
                let cells = match block {
                    ChannelBlock::Sparse(block) => Cells::Single(block.to_dense()),
                    ChannelBlock::Real(block) => Cells::Single(block.clone()),
                    ChannelBlock::Complex(block) => Cells::ComplexSingle(block.clone()),
                };
                found.push((channel.to_string(), cells));
                Ok(())
            },
            watch,
        )?;
        Ok((found, report))
    })?;
    let arrays = found.into_iter().map(|(name, cells)| Ok((name, cells.array(py)?)));
    Ok((arrays.collect::<PyResult<_>>()?, json(&report)?))
}
