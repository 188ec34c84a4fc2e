//! The section `path` of a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, PATH_TIMEOUT, each_mtu};
use crate::{
    probe::{IpVersion, PathSpec, ProbeSpec},
    units::{Mtu, Nanos},
};

/// Path MTU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathItem {
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// MTUs that both ends are set to, one after the other, and put back afterwards; empty leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
    /// How long to wait for the acknowledgement of one packet.
    #[serde(default = "path_timeout")]
    pub timeout: Nanos,
}

fn path_timeout() -> Nanos {
    PATH_TIMEOUT
}

impl Item for PathItem {
    fn check(&self) -> Result<(), String> {
        if self.timeout.0 < 1_000_000 || self.timeout > Nanos::from_secs(1) {
            return Err(format!("timeout {} is not between 1 ms and 1 s", self.timeout));
        }
        Ok(())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let spec = |mtu| PathSpec { ip: self.ip, mtu, timeout: self.timeout };
        each_mtu(&self.mtus).map(|mtu| spec(mtu).into()).collect()
    }
}
