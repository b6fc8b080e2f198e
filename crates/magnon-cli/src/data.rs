//! From DATA on the command line to a data set.

use crate::args::Common;
use crate::fetched;
use crate::report::{Bar, Clock};
use magnon::data::{Dataset, Split};
use magnon::settings::DataSettings;
use magnon::train::DataConfig;
use magnon::workflow::choose_split;

/// A data set and the split that was asked for.
pub struct Loaded {
    pub dataset: Dataset,
    pub split: Option<Split>,
}

/// Reads or generates DATA.
pub fn read(settings: &DataSettings, common: &Common, clock: &mut Clock) -> anyhow::Result<Loaded> {
    let mut config = settings.config()?;
    locate(settings, &mut config, common)?;
    read_config(&config, common, clock)
}

/// Puts the place of DATA in place of its name. A public data set is downloaded where it is not in the cache; what a
/// preset or a run names is taken as it is.
pub fn locate(
    settings: &DataSettings,
    config: &mut DataConfig,
    common: &Common,
) -> anyhow::Result<()> {
    if settings.data.is_some() {
        config.source = fetched::locate(&config.source, common.quiet)?;
    }
    Ok(())
}

/// Reads or generates the data that a configuration describes.
pub fn read_config(
    config: &DataConfig,
    common: &Common,
    clock: &mut Clock,
) -> anyhow::Result<Loaded> {
    clock.phase("load", || {
        let dataset = read_dataset(config, common.seed(), common)?;
        let split = choose_split(&dataset, config, common.seed())?;
        Ok(Loaded { dataset, split })
    })
}

/// The data set that a configuration describes, with its remarks told.
fn read_dataset(config: &DataConfig, seed: u64, common: &Common) -> anyhow::Result<Dataset> {
    let bar = Bar::open_ended("reading the data", common);
    let dataset = magnon::workflow::read_dataset(config, seed)?;
    drop(bar);
    Ok(told(dataset, common))
}

/// The same for models, which need features.
pub fn read_training_data(
    config: &DataConfig,
    seed: u64,
    common: &Common,
) -> anyhow::Result<Dataset> {
    let bar = Bar::open_ended("reading the data", common);
    let dataset = magnon::workflow::read_training_data(config, seed)?;
    drop(bar);
    Ok(told(dataset, common))
}

fn told(dataset: Dataset, common: &Common) -> Dataset {
    if !common.quiet {
        dataset.remarks.iter().for_each(|remark| remark!("note: {remark}"));
    }
    dataset
}
