//! Options of round-trip times.

use clap::Args;
use model::{Direction, IpVersion, PacketRate, Plan, Protocol, Stack, WaitMode, plan::PlanError};

use super::{Known, ProbeOptions, each, shared::latency_sizes, some};

pub(super) const KNOWN: Known = Known {
    name: "latency",
    plan: include_str!("../../../plans/latency.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "latency", options.duration, &mut plan.latency, |item, duration| {
            item.duration = Some(*duration);
            item.count = item.count.filter(|_| options.count.is_some());
        })
    },
    refused: &["streams"],
};

/// How to measure round-trip times.
#[derive(Clone, Debug, Args)]
pub(crate) struct LatencyOptions {
    /// udp or tcp.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Network stacks at both ends, one after the other: kernel, bypass (UDP, past the kernel by AF_XDP).
    #[arg(long, value_delimiter = ',', value_name = "STACKS")]
    stack: Vec<Stack>,
    /// How both ends wait: spin, block or busy-poll.
    #[arg(long)]
    mode: Option<WaitMode>,
    /// Under load: messages a second by a schedule, like "100 kpps". Latency then counts from the scheduled time.
    #[arg(long, allow_hyphen_values = true, value_name = "RATE")]
    rate: Option<PacketRate>,
    /// Load the path with TCP meanwhile, after it was measured idle: forward, reverse, both (a comma between them). Takes --rate and
    /// --duration.
    #[arg(long, value_delimiter = ',', value_name = "DIRECTIONS")]
    tcp_load: Vec<Direction>,
    /// Have the kernel stamp each message, to split the RTT into program, stack and wire.
    #[arg(long)]
    stamps: bool,
}

impl ProbeOptions for LatencyOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let items = &mut plan.latency;
        each("--protocol", "latency", self.protocol, items, |item, protocol| item.protocol = *protocol)?;
        each("--ip", "latency", self.ip, items, |item, ip| item.ip = *ip)?;
        each("--stack", "latency", some(&self.stack), items, |item, stacks| item.stacks = stacks.to_vec())?;
        each("--mode", "latency", self.mode, items, |item, mode| item.mode = *mode)?;
        each("--rate", "latency", self.rate, items, |item, rate| item.rate = Some(*rate))?;
        each("--tcp-load", "latency", some(&self.tcp_load), items, |item, loads| item.tcp_load = loads.to_vec())?;
        each("--stamps", "latency", self.stamps.then_some(true), items, |item, stamps| item.stamps = *stamps)
    }

    fn stacks(&self) -> &[Stack] {
        &self.stack
    }
}
