//! Every model on every data set.

use super::cell::Setting;
use super::{Cell, Row, Table, Work, paper};
use crate::Error;
use crate::model::{ChargeChoice, Direction, ModelConfig};
use crate::operator::Charge;
use crate::train::RunConfig;
use crate::workflow::preset;

pub(super) fn make(work: &mut Work) -> Result<Vec<Table>, Error> {
    let given = table(
        work,
        Setting::Given,
        "Accuracy on the authors' split",
        "the authors' split, {runs} seeds, ± half the 95 % interval over the seeds",
    )?;
    let random = table(
        work,
        Setting::Random,
        "Accuracy on random splits",
        "{runs} random splits, 60/20/20 % of each class, one seed on each, ± half the 95 % interval over \
         the splits; the paper's figures are those of its own split",
    )?;
    Ok(vec![given, random])
}

fn table(work: &mut Work, setting: Setting, title: &str, how: &str) -> Result<Table, Error> {
    let mut rows = Vec::new();
    let plain = [("mlp", [None; 7])];
    for (name, published) in paper::ACCURACY.iter().chain(&plain) {
        let info = ModelConfig::named(name)?.info();
        let (mut cells, mut seconds) = (Vec::new(), 0.0);
        for at in 0..work.data.found.len() {
            let found = &work.data.found[at];
            let config = config(name, found.at)?;
            let published = published[found.at];
            let record = work.measure(at, &config, setting, info.title)?;
            seconds += record.seconds;
            cells.push(Cell::new(record.summary(), published));
        }
        rows.push(Row { name: info.title.to_owned(), cells, seconds: Some(seconds) });
    }
    let mut notes = work.data.notes();
    notes.push(
        "MGC has the paper's hyper-parameters and MagNet its charges; the others have the defaults of \
         `magnon models`, since the paper leaves theirs to their own papers; the MLP, which the paper does \
         not have, shares MGC's settings"
            .to_owned(),
    );
    Ok(Table {
        part: "accuracy",
        title: title.to_owned(),
        setting: how.replace("{runs}", &work.config.runs.to_string()),
        columns: work.data.found.iter().map(|found| found.title().to_owned()).collect(),
        rows,
        notes,
    })
}

/// The configuration of a model on a data set of the paper.
fn config(name: &str, at: usize) -> Result<RunConfig, Error> {
    let own = preset(paper::NAMES[at])?;
    if name == "mgc" {
        return Ok(own);
    }
    let mut config = RunConfig::of(ModelConfig::named(name)?);
    let info = config.model.info();
    match (info.direction, &mut config.operator) {
        // The network without the graph learns as MGC does.
        (Direction::NoGraph, _) => {
            for (key, value) in own.model.settings() {
                if config.model.has(&key) {
                    config.model.set(&key, value)?;
                }
            }
            config.train = own.train;
        }
        (Direction::Charge, Some(operator)) if info.name == "magnet" => {
            let charge: Charge = paper::MAGNET_CHARGES[at].parse()?;
            operator.charge = ChargeChoice::Fixed(charge);
        }
        _ => (),
    }
    Ok(config)
}
