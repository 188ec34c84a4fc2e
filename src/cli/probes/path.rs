//! Options of the path MTU.

use clap::Args;
use model::{IpVersion, Mtu, Plan, plan::PlanError};

use super::{Known, ProbeOptions, each, shared::latency_sizes, some};

pub(super) const KNOWN: Known = Known {
    name: "path",
    plan: include_str!("../../../plans/path.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "goodput", options.duration, &mut plan.goodput, |item, duration| item.duration = *duration)
    },
    refused: &["frame_sizes", "duration", "count", "streams"],
};

/// How to look for the path MTU.
#[derive(Clone, Debug, Args)]
pub(crate) struct PathOptions {
    /// 4 or 6; both without it.
    #[arg(long)]
    pub(crate) ip: Option<IpVersion>,
    /// MTUs to set at both ends, in turn, like 1500,9000; the old one is restored.
    #[arg(long, value_delimiter = ',', value_name = "MTUS")]
    mtus: Vec<u32>,
}

/// The IP version selects among the items instead, once the plan is read.
impl ProbeOptions for PathOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        each("--mtus", "path", some(&self.mtus), &mut plan.path, |item, mtus| {
            item.mtus = mtus.iter().copied().map(Mtu).collect();
        })
    }
}
