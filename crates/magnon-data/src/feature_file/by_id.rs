//! Rows of a file that name their nodes.

use super::{ABSENT, Beside};
use crate::allocate::reserve;
use crate::attach::{extra_rule, missing_rows, short};
use crate::table::{NodeIndex, TableKind, join};
use crate::{DataError, ExtraIds};
use std::sync::Arc;

/// The node of each row, and what is to be said of rows and nodes that do not match.
pub(super) fn places(
    ids: &[Arc<str>],
    index: &NodeIndex,
    beside: &Beside,
    file: &str,
) -> Result<(Vec<u32>, Vec<String>), DataError> {
    let Beside { dataset, config } = beside;
    let joined = join(ids, index, dataset.graph.nodes(), file)?;
    let rule = extra_rule(dataset, ids, &joined, TableKind::Features, config, file)?;
    let mut remarks = Vec::new();
    match rule {
        None => {}
        Some((ExtraIds::Drop, examples)) => remarks.push(format!(
            "{}: {} of {} ids are not in the graph and were left out: {examples}",
            short(file),
            joined.extra.len(),
            ids.len()
        )),
        Some((_, examples)) => {
            let problem = format!(
                "{} of its {} ids have no edge, such as {examples}; features that stay on disk cannot add nodes to \
                 the graph: --extra-ids drop leaves them out; where features are read whole (without --memory), they are \
                 added",
                joined.extra.len(),
                ids.len()
            );
            return Err(DataError::format(file, problem));
        }
    }
    remarks.extend(missing_rows(dataset, &joined, file)?);
    let mut places = Vec::new();
    reserve(&mut places, ids.len(), file)?;
    places.resize(ids.len(), ABSENT);
    for (node, row) in joined.rows.iter().enumerate() {
        if let Some(place) = row.and_then(|row| places.get_mut(row as usize)) {
            *place = node as u32;
        }
    }
    Ok((places, remarks))
}
