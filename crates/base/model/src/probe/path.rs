//! The largest packet that passes unfragmented, each way by itself.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Conditions, IpVersion, Probe, ProbeSpec, Profile, Selectors};
use crate::{
    figure::Metric,
    units::{Mtu, Nanos},
};

/// The largest IPv4 packet there is (RFC 791, section 3.1: Total Length has 16 bits); larger IPv6 packets would be
/// jumbograms (RFC 2675).
pub const LARGEST_PATH_MTU: Mtu = Mtu(65_535);

/// Path MTU to the byte, by packets that may not be fragmented.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathSpec {
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// MTU that both ends are set to; `None` leaves the bed's own.
    pub mtu: Option<Mtu>,
    /// A packet that is not acknowledged for this long did not pass (it is sent again before that is believed).
    pub timeout: Nanos,
    /// Packets to each hop, one a second; 0 asks for no hop.
    #[serde(default, skip_serializing_if = "is_none")]
    pub hops: u32,
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

impl fmt::Display for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ip)?;
        self.mtu.map_or(Ok(()), |mtu| write!(f, " MTU {}", mtu.0))?;
        if self.hops == 0 { Ok(()) } else { write!(f, " hops {}", self.hops) }
    }
}

/// Expected duration on a clean path, in seconds; one with a black hole takes longer.
const CLEAN: f64 = 0.5;

impl Probe for PathSpec {
    fn name(&self) -> &'static str {
        "path"
    }

    fn profile(&self) -> Profile {
        Profile { mtu: self.mtu, measures_mtu: true, ..Profile::ordinary(self.ip, CLEAN + f64::from(self.hops)) }
    }

    fn metrics(&self) -> &'static [Metric] {
        &[Metric::PathMtu]
    }

    fn compared(&self) -> &'static [Metric] {
        self.metrics()
    }

    fn selectors(&self) -> Selectors {
        Selectors { ip: Some(self.ip), mtu: self.mtu, ..Selectors::default() }
    }

    fn amount(&self) -> Option<Amount> {
        None
    }

    fn warmup(&self) -> Option<Amount> {
        None
    }

    fn conditions(&self) -> Conditions {
        Conditions::default()
    }
}

impl From<PathSpec> for ProbeSpec {
    fn from(spec: PathSpec) -> Self {
        Self::Path(spec)
    }
}
