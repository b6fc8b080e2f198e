//! The data sets of the paper, as far as they are here.

use super::{ReproduceConfig, paper};
use crate::Error;
use crate::data::{Dataset, fingerprint, load, split_check};
use crate::model::SharedInputs;
use crate::train::DataConfig;
use crate::workflow::{Progress, preset, read_dataset};

/// A data set that was found.
pub(super) struct Found {
    /// Its number in the paper's order.
    pub at: usize,
    pub dataset: Dataset,
    /// A checksum of its content, splits included.
    pub check: String,
    pub shared: SharedInputs,
    /// Whether its features are those of the paper.
    pub same_features: bool,
}

impl Found {
    /// The name that the paper gives it.
    pub fn title(&self) -> &'static str {
        paper::TITLES[self.at]
    }

    /// The name of its folder and preset.
    pub fn name(&self) -> &'static str {
        paper::NAMES[self.at]
    }
}

/// All that were found.
pub(super) struct Collection {
    pub found: Vec<Found>,
    pub missing: Vec<String>,
}

/// Bytes of filtered features that are kept for each data set.
const SHARED: usize = 1 << 29;
/// Features that stand in for those of CiteSeerR, which are not published with it.
const STAND_INS: [&str; 2] = ["bow_features.npz", "derived/bow_features.npz"];

impl Collection {
    pub fn read(config: &ReproduceConfig, progress: &dyn Progress) -> Result<Self, Error> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (at, name) in paper::NAMES.into_iter().enumerate() {
            if !config.only.is_empty() && !config.only.iter().any(|only| only == name) {
                continue;
            }
            let folders = config.folders.iter().map(|folder| folder.join(name));
            let Some(folder) = folders.into_iter().find(|folder| folder.is_dir()) else {
                missing.push(format!(
                    "{name} is not here; get it with: magnon fetch {name}, or name the folder that \
                     holds it with --data"
                ));
                continue;
            };
            let own = preset(name)?;
            let source = folder.to_string_lossy().into_owned();
            let mut data = DataConfig { source, load: own.data.load, ..Default::default() };
            let stand_in = STAND_INS.map(|name| folder.join(name));
            let stand_in = stand_in.into_iter().find(|path| path.is_file());
            let plain = load(&folder, &data.load)?;
            let same_features = plain.features.is_some();
            let dataset = match (same_features, stand_in) {
                (true, _) => plain,
                (false, Some(stand_in)) => {
                    data.features = Some(stand_in);
                    read_dataset(&data, 0)?
                }
                (false, None) => {
                    missing.push(format!("{name} is here without its features: left out"));
                    continue;
                }
            };
            progress.remark(&format!("{name}: {}", folder.display()));
            let check = format!("{}-{:08x}", fingerprint(&dataset), split_check(&dataset.splits));
            let shared = SharedInputs::new(&dataset.graph, SHARED)?;
            found.push(Found { at, dataset, check, shared, same_features });
        }
        Ok(Self { found, missing })
    }

    /// What a reader should know about the data.
    pub fn notes(&self) -> Vec<String> {
        let other = self.found.iter().filter(|found| !found.same_features);
        other
            .map(|found| {
                format!(
                    "{}: the paper's features could not be had; a bag of words ({} columns) takes their \
                     place, so its figures are not comparable",
                    found.title(),
                    found.dataset.features.as_ref().map_or(0, |features| features.cols())
                )
            })
            .collect()
    }
}
