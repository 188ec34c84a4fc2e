//! Options that the commands of all probes have, as far as they change the plan.

use std::num::{NonZeroU16, NonZeroU32, NonZeroU64};

use model::{FrameSize, Plan, plan::PlanError};

use super::{super::Measure, Known, each, some};

/// Applies the options that change a plan.
pub(crate) fn apply(options: &Measure, known: &Known, plan: &mut Plan) -> Result<(), PlanError> {
    // It changes nothing, but the plan may take hours and then have nothing to show.
    if options.files.histogram && plan.latency.is_empty() && plan.transactions.is_empty() {
        let why = "the plan has neither a [[latency]] nor a [[transactions]] section, so there is nothing to show";
        return Err(PlanError::Set { set: "--histogram".to_owned(), why: why.to_owned() });
    }
    plan.repeats = options.repeats.and_then(NonZeroU32::new).unwrap_or(plan.repeats);
    // A latency trial has one end: the one that is asked for takes the place of the plan's.
    each("--count", "latency", options.count.and_then(NonZeroU64::new), &mut plan.latency, |item, count| {
        (item.count, item.duration) = (Some(*count), None);
    })?;
    (known.sizes)(&sizes(options), plan)?;
    (known.duration)(options, plan)?;
    let streams = options.streams.and_then(NonZeroU16::new);
    each("--streams", "goodput", streams, &mut plan.goodput, |item, streams| item.streams = *streams)
}

fn sizes(options: &Measure) -> Vec<FrameSize> {
    options.frame_sizes.iter().copied().map(FrameSize).collect()
}

/// `--frame-sizes` where they are those of latency.
pub(super) fn latency_sizes(sizes: &[FrameSize], plan: &mut Plan) -> Result<(), PlanError> {
    each("--frame-sizes", "latency", some(sizes), &mut plan.latency, |item, sizes| item.frame_sizes = sizes.to_vec())
}
