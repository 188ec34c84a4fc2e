//! Options of each probe, a file a probe. They apply themselves to the items of a plan.
//!
//! A new probe is a file here, a variant of [`ProbeCommand`], and an entry in [`PROBES`].

mod forwarding;
mod goodput;
mod latency;
mod packets;
mod path;
mod shared;
mod transactions;
mod transfer;

use clap::Subcommand;
use model::{FrameSize, Plan, Stack, plan::PlanError};

use self::{
    forwarding::ForwardingOptions, goodput::GoodputOptions, latency::LatencyOptions, transactions::TransactionsOptions,
    transfer::TransferOptions,
};
pub(crate) use self::{goodput::KNOWN as GOODPUT, packets::PacketsOptions, path::PathOptions, shared::apply};
use super::{Measure, PacketsAction};

/// The command of each probe.
#[derive(Debug, Subcommand)]
pub(crate) enum ProbeCommand {
    /// Measure round-trip times only: ping-pong, or under load with --rate.
    Latency {
        #[command(flatten)]
        probe: LatencyOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Measure goodput only: bulk data counted at the receiver.
    Goodput {
        #[command(flatten)]
        probe: GoodputOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Another name of "goodput".
    #[command(hide = true)]
    Throughput {
        #[command(flatten)]
        probe: GoodputOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Send numbered packets at one rate or several; count arrived and lost packets by number, and locate the loss.
    #[command(args_conflicts_with_subcommands = true)]
    Packets {
        #[command(subcommand)]
        action: Option<PacketsAction>,
        #[command(flatten)]
        probe: Box<PacketsOptions>,
        #[command(flatten)]
        options: Measure,
    },
    /// Measure requests and their responses: on open connections, with a connection for each, or by HTTP.
    Transactions {
        #[command(flatten)]
        probe: TransactionsOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Move a file from one end to the other by wireproof itself and by installed programs, and compare their rates.
    Transfer {
        #[command(flatten)]
        probe: TransferOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Check whether a device forwards correctly: crafted frames are compared where they arrive, and its answers judged.
    Forwarding {
        #[command(flatten)]
        probe: ForwardingOptions,
        #[command(flatten)]
        options: Measure,
    },
    /// Find the largest packet that passes, each direction separately, and what limits it.
    Path {
        #[command(flatten)]
        probe: PathOptions,
        #[command(flatten)]
        options: Measure,
    },
}

impl ProbeCommand {
    /// Options of the probe, and those of every measurement.
    pub(crate) fn options(&self) -> (&dyn ProbeOptions, &Measure) {
        match self {
            Self::Latency { probe, options } => (probe, options),
            Self::Goodput { probe, options } | Self::Throughput { probe, options } => (probe, options),
            Self::Packets { probe, options, .. } => (&**probe, options),
            Self::Transactions { probe, options } => (probe, options),
            Self::Transfer { probe, options } => (probe, options),
            Self::Forwarding { probe, options } => (probe, options),
            Self::Path { probe, options } => (probe, options),
        }
    }
}

/// A probe as the command line knows it.
pub(crate) struct Known {
    /// Its command, and the built-in plan that its options change.
    pub(crate) name: &'static str,
    /// That plan.
    pub(crate) plan: &'static str,
    /// Applies `--frame-sizes`.
    pub(crate) sizes: fn(&[FrameSize], &mut Plan) -> Result<(), PlanError>,
    /// Applies `--duration`.
    pub(crate) duration: fn(&Measure, &mut Plan) -> Result<(), PlanError>,
    /// Shared options that mean nothing here: they are refused with the reason, and not offered.
    pub(crate) refused: &'static [&'static str],
}

/// All of them.
pub(crate) const PROBES: &[&Known] = &[
    &latency::KNOWN,
    &goodput::KNOWN,
    &packets::KNOWN,
    &transactions::KNOWN,
    &transfer::KNOWN,
    &forwarding::KNOWN,
    &path::KNOWN,
];

/// Options of one probe.
pub(crate) trait ProbeOptions {
    /// Their probe.
    fn known(&self) -> &'static Known;

    /// Changes the items of the plan.
    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError>;

    /// Network stacks that were asked for.
    fn stacks(&self) -> &[Stack] {
        &[]
    }
}

/// Sets the value of an option in each item of a section, if the option was given.
pub(crate) fn each<I, V>(
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
pub(crate) fn some<T>(values: &[T]) -> Option<&[T]> {
    (!values.is_empty()).then_some(values)
}
