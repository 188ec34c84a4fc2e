//! The section `path` of a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, PATH_TIMEOUT, each_mtu,
    stored::{Extent, mtus},
};
use crate::{
    plausible::{self, Checked},
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
    /// Time to wait for the acknowledgement of one packet.
    #[serde(default = "path_timeout")]
    pub timeout: Nanos,
    /// Packets to each router on the way and to the far end, one a second: its address, answers and round-trip times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
}

/// A quarter of an hour is enough to see a path change.
const MOST_HOPS: u32 = 1_000;

fn path_timeout() -> Nanos {
    PATH_TIMEOUT
}

impl Item for PathItem {
    fn check(&self) -> Result<(), String> {
        if self.timeout.0 < 1_000_000 || self.timeout > Nanos::from_secs(1) {
            return Err(format!("timeout {} is not between 1 ms and 1 s", self.timeout));
        }
        if self.hops.is_some_and(|hops| !(1..=MOST_HOPS).contains(&hops)) {
            return Err(format!("hops is not between 1 and {MOST_HOPS}, the number of packets to each hop"));
        }
        Ok(())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let spec = |mtu| PathSpec { ip: self.ip, mtu, timeout: self.timeout, hops: self.hops.unwrap_or(0) };
        each_mtu(&self.mtus).map(|mtu| spec(mtu).into()).collect()
    }

    fn extent(&self) -> Extent {
        Extent::of(&[mtus(&self.mtus)], &[self.timeout])
    }

    fn check_stored(&self) -> Checked {
        self.hops.map_or(Ok(()), |hops| plausible::number("hops", hops))
    }
}
