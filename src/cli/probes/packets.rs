//! Options of numbered packets.

use std::{num::NonZeroU32, path::PathBuf};

use clap::Args;
use model::{
    Direction, Engine, IpVersion, Plan,
    plan::{Ladder, PlanError},
    stream::{Load, Rate, Sizes},
};

use super::{super::numbers::from_to, Known, ProbeOptions, each, some};

pub(super) const KNOWN: Known = Known {
    name: "packets",
    plan: include_str!("../../../plans/packets.toml"),
    sizes: |sizes, plan| {
        each("--frame-sizes", "packets", some(sizes), &mut plan.packets, |item, sizes| {
            (item.frame_sizes, item.sizes, item.stream) = (sizes.to_vec(), None, Vec::new());
        })
    },
    duration: |options, plan| {
        each("--duration", "packets", options.duration, &mut plan.packets, |item, duration| item.duration = *duration)
    },
    refused: &["count", "streams", "histogram"],
};

/// Packets to send, and their rate.
#[derive(Clone, Debug, Args)]
pub(crate) struct PacketsOptions {
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Direction of the packets: forward (sender to receiver), reverse or both.
    #[arg(long)]
    direction: Option<Direction>,
    /// Load offered each way: "1 Mpps", "5 Gbit/s L1", "10 %" of the line, with "poisson" or "burst 32" behind it; several
    /// loads one after the other like 1Mpps..10Mpps, "10 %..100 %" or "1 Mpps..10 Mpps step 500 kpps"; without it flat out.
    #[arg(long, allow_hyphen_values = true, value_name = "LOAD")]
    rate: Option<Ladder>,
    /// Frame sizes that the packets of one trial have in turn, like "64, 128, 1518", "64..1518 step 2" or "genome aaafg"
    /// (RFC 6985); with --frame-sizes each size has a trial of its own.
    #[arg(long, value_name = "SIZES", conflicts_with = "frame_sizes")]
    sizes: Option<Sizes>,
    /// The simple Internet mix: 7 frames of 64 bytes, 4 of 594, 1 of 1518.
    #[arg(long, conflicts_with_all = ["sizes", "frame_sizes"])]
    imix: bool,
    /// Number of flows that the packets rotate through, up to 1000000.
    #[arg(long, allow_negative_numbers = true, value_parser = from_to(1_u32..=1_000_000))]
    flows: Option<u32>,
    /// Packet engine: live, xsk, af_packet, udp or pktgen (default: the best one that works).
    #[arg(long)]
    engine: Option<Engine>,
    /// TOML file with a table "stream" for each of several streams at the same time, with headers and loads of their own.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "imix", "frame_sizes", "flows", "rate", "ip"])]
    pub(crate) stream_file: Option<PathBuf>,
    /// Send the frames of a capture (pcap or pcapng) as they are, round after round: with the times between them that they had, or at
    /// --rate. They carry no number: where they arrive they are known by their bytes.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["sizes", "imix", "frame_sizes", "flows", "stream_file", "ip"])]
    pub(crate) replay: Option<PathBuf>,
}

impl PacketsOptions {
    /// The loads that a capture is sent at, one after the other: without any, as it was captured.
    pub(crate) fn replay_loads(&self) -> Vec<Load> {
        let captured = Load { rate: Rate::Captured, ..Load::default() };
        self.rate.as_ref().map_or_else(|| vec![captured], |ladder| ladder.loads().to_vec())
    }
}

/// Stream files and captures are read later.
impl ProbeOptions for PacketsOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let items = &mut plan.packets;
        let sizes = if self.imix { Some(Sizes::Imix) } else { self.sizes.clone() };
        let rate = self.rate.clone().filter(|_| self.replay.is_none());
        each("--ip", "packets", self.ip, items, |item, ip| item.ip = *ip)?;
        each("--direction", "packets", self.direction, items, |item, direction| item.direction = *direction)?;
        each("--rate", "packets", rate, items, |item, rate| item.rate = Some(rate.clone()))?;
        each("--sizes", "packets", sizes, items, |item, sizes| {
            (item.sizes, item.frame_sizes, item.stream) = (Some(sizes.clone()), Vec::new(), Vec::new());
        })?;
        each("--flows", "packets", self.flows.and_then(NonZeroU32::new), items, |item, flows| item.flows = *flows)?;
        each("--engine", "packets", self.engine, items, |item, engine| item.engine = Some(*engine))
    }
}
