//! LinearRank against Markov diffusion on a linear classifier.

use super::cell::Setting;
use super::{Cell, Row, Table, Work, paper};
use crate::Error;
use crate::filter::{FilterConfig, FilterKind};
use crate::model::ModelConfig;
use crate::train::RunConfig;

pub(super) fn make(work: &mut Work) -> Result<Vec<Table>, Error> {
    let mut rows = Vec::new();
    for (name, filter, published) in paper::BY_ORDER {
        let Some(at) = work.data.found.iter().position(|found| found.name() == name) else {
            continue;
        };
        let title = work.data.found[at].title();
        let (mut cells, mut seconds) = (Vec::new(), 0.0);
        let (kind, filter) = match filter {
            "markov" => (FilterKind::Markov, "Markov diffusion"),
            _ => (FilterKind::LinearRank, "LinearRank"),
        };
        for (order, published) in paper::ORDERS.into_iter().zip(published) {
            let mut config = RunConfig::of(ModelConfig::named("sgc")?);
            config.filter = Some(FilterConfig { kind, order: Some(order), ..Default::default() });
            let label = format!("{filter} of order {order}");
            let record = work.measure(at, &config, Setting::Given, &label)?;
            seconds += record.seconds;
            cells.push(Cell::new(record.summary(), Some(published)));
        }
        rows.push(Row { name: format!("{title}, {filter}"), cells, seconds: Some(seconds) });
    }
    Ok(vec![Table {
        part: "order",
        title: "Accuracy by the order of the filter".to_owned(),
        setting: format!(
            "a linear classifier on filtered features (SGC with its own rate and decay), the authors' split, \
             {} seeds",
            work.config.runs
        ),
        columns: paper::ORDERS.map(|order| format!("K = {order}")).to_vec(),
        rows,
        notes: work.data.notes(),
    }])
}
