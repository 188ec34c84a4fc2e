//! The section `forwarding` of a plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, stored::Extent};
use crate::{
    plausible::{self, Checked},
    probe::{ForwardingSpec, IpVersion, ProbeSpec},
};

/// Correctness of forwarding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForwardingItem {
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Frames of the numbered flow, in which loss, duplicates and order are checked.
    #[serde(default = "thousand")]
    pub frames: u32,
}

fn thousand() -> u32 {
    1_000
}

impl ForwardingItem {
    fn spec(&self) -> ForwardingSpec {
        ForwardingSpec { ip: self.ip, frames: self.frames }
    }
}

impl Item for ForwardingItem {
    fn check(&self) -> Result<(), String> {
        self.spec().check()
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        vec![self.spec().into()]
    }

    fn extent(&self) -> Extent {
        Extent::of(&[], &[])
    }

    fn check_stored(&self) -> Checked {
        plausible::number("frames", self.frames)
    }
}
