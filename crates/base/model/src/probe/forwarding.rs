//! Correctness of a forwarding device: crafted frames, checked where they arrive.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Amount, Conditions, IpVersion, Probe, ProbeSpec, Profile, Selectors};
use crate::figure::Metric;

/// Frames of the numbered flow: fewer show no order, more take too long.
const FLOW: std::ops::RangeInclusive<u32> = 10..=100_000;

/// Checks of a device that forwards from the near end to the far one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForwardingSpec {
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// Frames of the numbered flow, in which loss, duplicates and order are checked.
    pub frames: u32,
}

impl ForwardingSpec {
    /// The value that is out of bounds. Plans are checked for it, and agents refuse it, as they trust no controller.
    pub fn check(&self) -> Result<(), String> {
        if FLOW.contains(&self.frames) {
            return Ok(());
        }
        Err(format!("frames = {} is not between {} and {}", self.frames, FLOW.start(), FLOW.end()))
    }
}

impl fmt::Display for ForwardingSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} frames", self.ip, self.frames)
    }
}

/// Expected duration in seconds without the numbered flow: a router gives up an address that nobody has after three seconds.
const WITHOUT_FLOW: f64 = 5.0;

/// Frames of the flow in a second.
const FLOW_RATE: f64 = 5_000.0;

impl Probe for ForwardingSpec {
    fn name(&self) -> &'static str {
        "forwarding"
    }

    fn profile(&self) -> Profile {
        Profile::ordinary(self.ip, WITHOUT_FLOW + f64::from(self.frames) / FLOW_RATE)
    }

    fn metrics(&self) -> &'static [Metric] {
        &[Metric::ChecksFailed]
    }

    fn compared(&self) -> &'static [Metric] {
        self.metrics()
    }

    fn selectors(&self) -> Selectors {
        Selectors { ip: Some(self.ip), ..Selectors::default() }
    }

    fn amount(&self) -> Option<Amount> {
        None
    }

    fn warmup(&self) -> Option<Amount> {
        None
    }

    fn conditions(&self) -> Conditions {
        Conditions { ip: Some(self.ip), ..Conditions::default() }
    }
}

impl From<ForwardingSpec> for ProbeSpec {
    fn from(spec: ForwardingSpec) -> Self {
        Self::Forwarding(spec)
    }
}
