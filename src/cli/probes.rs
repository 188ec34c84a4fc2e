//! Options of each probe, a file a probe. They apply themselves to the items of a plan.
//!
//! A new probe is a file here, a variant of [`super::Command`], and an entry in [`REFUSED`].

mod goodput;
mod latency;
mod packets;
mod path;

use model::{Plan, Stack, plan::PlanError};

pub(crate) use self::{goodput::GoodputOptions, latency::LatencyOptions, packets::PacketsOptions, path::PathOptions};

/// Options of one probe.
pub(crate) trait ProbeOptions {
    /// The built-in plan that they change, which is also the name of the command.
    const PLAN: &'static str;
    /// The section that the shared options speak of.
    const TIMED: Timed;
    /// Shared options that mean nothing here: they are refused with the reason, and not offered.
    const REFUSED: &'static [&'static str];

    /// Changes the items of the plan.
    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError>;

    /// Network stacks that were asked for.
    fn stacks(&self) -> &[Stack] {
        &[]
    }
}

/// The section that `--duration` and `--frame-sizes` speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timed {
    Latency,
    Goodput,
    Packets,
}

/// Options that a command refuses, by the name of the command.
pub(super) const REFUSED: &[(&str, &[&str])] = &[
    (LatencyOptions::PLAN, LatencyOptions::REFUSED),
    (GoodputOptions::PLAN, GoodputOptions::REFUSED),
    (PacketsOptions::PLAN, PacketsOptions::REFUSED),
    (PathOptions::PLAN, PathOptions::REFUSED),
];

/// Sets the value of an option in each item of a section, if the option was given.
pub(super) fn each<I, V>(
    option: &str,
    section: &str,
    value: Option<V>,
    items: &mut [I],
    set: impl Fn(&mut I, &V),
) -> Result<(), PlanError> {
    let Some(value) = value else { return Ok(()) };
    if items.is_empty() {
        let why = format!("the plan has no [[{section}]] section, so there is nothing that this could change");
        return Err(PlanError::Set { set: option.to_owned(), why });
    }
    items.iter_mut().for_each(|item| set(item, &value));
    Ok(())
}

/// A list that was given.
pub(super) fn some<T>(values: &[T]) -> Option<&[T]> {
    (!values.is_empty()).then_some(values)
}
