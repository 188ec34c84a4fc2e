//! Options of goodput.

use clap::Args;
use model::{
    Batch, BitRateRange, Bytes, Direction, IpVersion, Mtu, PayloadSize, Plan, Protocol, ReceiveMethod, SendMethod,
    Stack, plan::PlanError,
};

use super::{super::numbers::whole, Known, ProbeOptions, each, shared::latency_sizes, some};

pub(crate) const KNOWN: Known = Known {
    name: "goodput",
    plan: include_str!("../../../plans/goodput.toml"),
    sizes: latency_sizes,
    duration: |options, plan| {
        each("--duration", "goodput", options.duration, &mut plan.goodput, |item, duration| item.duration = *duration)
    },
    refused: &["frame_sizes", "count", "histogram"],
};

/// How to measure goodput.
#[derive(Clone, Debug, Args)]
pub(crate) struct GoodputOptions {
    /// tcp or udp.
    #[arg(long)]
    protocol: Option<Protocol>,
    /// 4 or 6.
    #[arg(long)]
    ip: Option<IpVersion>,
    /// Network stacks at both ends, one after the other: kernel, bypass (UDP, past the kernel by AF_XDP).
    #[arg(long, value_delimiter = ',', value_name = "STACKS")]
    stack: Vec<Stack>,
    /// Direction of the data: forward (client to server), reverse or both.
    #[arg(long)]
    direction: Option<Direction>,
    /// Size of each socket's send and receive buffer, like "4 MiB".
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE")]
    window: Option<Bytes>,
    /// TCP congestion control, like cubic or bbr, or "default" for the kernel's (default: cubic in a lab, the kernel's elsewhere).
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// How TCP data is sent: write, zerocopy or sendfile.
    #[arg(long, value_name = "WAY")]
    send: Option<SendMethod>,
    /// How TCP data is received: read, or truncate (the kernel discards it).
    #[arg(long, value_name = "WAY")]
    receive: Option<ReceiveMethod>,
    /// Offered UDP payload in each direction, like "1 Gbit/s" (default: as fast as possible); for a search the lowest
    /// and the highest, like "10 Mbit/s..1 Gbit/s".
    #[arg(long, allow_hyphen_values = true, value_name = "RATE")]
    rate: Option<BitRateRange>,
    /// Payload of each UDP datagram in bytes (default: fill the MTU).
    #[arg(long, value_name = "BYTES")]
    datagram: Option<PayloadSize>,
    /// How UDP datagrams are batched: mmsg (each alone through the kernel) or gso (segmentation offload).
    #[arg(long)]
    batch: Option<Batch>,
    /// MTUs to set at both ends, in turn, like 1500,9000; each is verified, and the old one restored.
    #[arg(long, value_delimiter = ',', value_name = "MTUS", allow_negative_numbers = true, value_parser = whole::<u32>("1500"))]
    mtus: Vec<u32>,
}

impl ProbeOptions for GoodputOptions {
    fn known(&self) -> &'static Known {
        &KNOWN
    }

    fn apply(&self, plan: &mut Plan) -> Result<(), PlanError> {
        let items = &mut plan.goodput;
        each("--protocol", "goodput", self.protocol, items, |item, protocol| item.protocol = *protocol)?;
        each("--ip", "goodput", self.ip, items, |item, ip| item.ip = *ip)?;
        each("--stack", "goodput", some(&self.stack), items, |item, stacks| item.stacks = stacks.to_vec())?;
        each("--direction", "goodput", self.direction, items, |item, direction| item.direction = *direction)?;
        each("--window", "goodput", self.window, items, |item, window| item.window = Some(*window))?;
        each("--congestion", "goodput", self.congestion.clone(), items, |item, name| {
            item.congestion = Some(name.clone());
        })?;
        each("--send", "goodput", self.send, items, |item, send| item.send = *send)?;
        each("--receive", "goodput", self.receive, items, |item, receive| item.receive = *receive)?;
        each("--rate", "goodput", self.rate, items, |item, rate| item.rate = Some(*rate))?;
        each("--datagram", "goodput", self.datagram, items, |item, size| item.datagram = Some(*size))?;
        each("--batch", "goodput", self.batch, items, |item, batch| item.batch = *batch)?;
        each("--mtus", "goodput", some(&self.mtus), items, |item, mtus| {
            item.mtus = mtus.iter().copied().map(Mtu).collect();
        })
    }

    fn stacks(&self) -> &[Stack] {
        &self.stack
    }
}
