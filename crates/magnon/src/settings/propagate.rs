//! What filtering is asked for.

use super::{DataSettings, FilterSettings, OperatorSettings, excludes, value};
use crate::Error;
use crate::compute::Device;
use crate::model::Channel;
use serde::{Deserialize, Serialize};

/// What [`propagate`](crate::workflow::propagate) is asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct PropagateSettings {
    /// What is read, and how.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub data: DataSettings,
    /// Which operator is built.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub operator: OperatorSettings,
    /// Which filter is applied.
    #[serde(flatten)]
    #[cfg_attr(feature = "clap", command(flatten))]
    pub filter: FilterSettings,
    /// Filter into the channels of a bank, such as x,out,in,out.in, by one command; each has its own operator and filter
    #[cfg_attr(feature = "clap", arg(long, value_name = "LIST", conflicts_with = "device"))]
    #[serde(deserialize_with = "value::joined")]
    pub channels: Option<String>,
    /// Where it runs: cpu, cuda, cuda:1 or auto; on a card all sums are in single precision
    #[cfg_attr(feature = "clap", arg(long, value_name = "D", default_value_t))]
    pub device: Device,
}

impl PropagateSettings {
    /// The channels, where some were asked for; they bring their own operators and filters.
    pub fn channel_list(&self) -> Result<Option<Vec<Channel>>, Error> {
        let Some(list) = &self.channels else { return Ok(None) };
        excludes(("channels", true), &[("device", self.device != Device::default())])?;
        let filters = self.filter.given().first().map(|(name, _)| *name);
        if let Some(name) = self.operator.first_given().or(filters) {
            let problem =
                "is not for channels, each of which has its own: as in power(order=2,charge=1/4)";
            return Err(Error::parameter(name, problem));
        }
        Channel::list(list).map(Some).map_err(|error| Error::Argument(error.to_string()))
    }
}
