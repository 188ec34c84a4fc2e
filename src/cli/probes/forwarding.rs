//! Options of the checks of forwarding.

use clap::Args;
use model::{IpVersion, Metric, Plan, plan::PlanError};

use super::{super::numbers::whole, Known, ProbeOptions, each, shared::latency_sizes};

pub(super) const KNOWN: Known = Known {
    name: "forwarding",
    plan: include_str!("../../../plans/forwarding.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "goodput", options.duration, &mut plan.goodput, |item, duration| item.duration = *duration)
    },
    refused: &["frame_sizes", "duration", "count", "streams", "histogram"],
};

/// Checks of a forwarding device.
#[derive(Clone, Debug, Args)]
pub(crate) struct ForwardingOptions {
    /// 4 or 6; both without it.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Frames of the numbered flow, in which loss, duplicates and order are checked, 10 to 100000 (1000).
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = whole::<u32>("1000"))]
    frames: Option<u32>,
    /// Checks that may fail (0).
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = whole::<u32>("0"))]
    max_failed: Option<u32>,
}

impl ProbeOptions for ForwardingOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        plan.forwarding.retain(|item| self.ip.is_none_or(|ip| item.ip == ip));
        each("--frames", "forwarding", self.frames, &mut plan.forwarding, |item, frames| item.frames = *frames)?;
        if let Some(most) = self.max_failed {
            let limits = plan.limits.iter_mut().filter(|limit| limit.metric == Metric::ChecksFailed);
            limits.for_each(|limit| limit.at_most = Some(most.to_string()));
        }
        Ok(())
    }
}
