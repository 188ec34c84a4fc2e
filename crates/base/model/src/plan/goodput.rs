//! The section `goodput` of a plan.

use std::num::NonZeroU16;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, LONGEST, NO_RATE, at_most, check_stacks, each_mtu, kernel,
    stored::{Extent, mtus},
};
use crate::{
    frame_size::PayloadSize,
    probe::{Batch, Direction, GoodputSpec, IpVersion, ProbeSpec, Protocol, ReceiveWay, SendWay, Stack},
    units::{BitRate, Bytes, Mtu, Nanos},
};

/// The number of each datagram, and some bytes to see that they came whole.
const LEAST_DATAGRAM: PayloadSize = PayloadSize(16);

/// IPv4's largest packet less its headers.
const LARGEST_DATAGRAM: PayloadSize = PayloadSize(65_507);

/// Goodput of one kind of transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoodputItem {
    /// `tcp` or `udp`.
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Network stacks at both ends, one after the other: `kernel`, and `bypass` (UDP, past the kernel by AF_XDP).
    #[serde(default = "kernel")]
    pub stacks: Vec<Stack>,
    /// `forward`, `reverse` or `both`.
    #[serde(default)]
    pub direction: Direction,
    /// Connections or flows at the same time, each way.
    #[serde(default = "one_stream")]
    pub streams: NonZeroU16,
    /// Time that counts.
    pub duration: Nanos,
    /// Time sent first and not counted.
    #[serde(default = "half_second")]
    pub warmup: Nanos,
    /// MTUs that both ends are set to, one after the other, each proved by a path probe, and put back afterwards; empty
    /// leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
    /// Size of each socket's send and receive buffer ("4 MiB"); without it the kernel tunes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Bytes>,
    /// TCP congestion control, like `cubic` or `bbr`, or `default` for the kernel's default. Without it a lab uses cubic, so that
    /// labs of all machines compare, and any other bed the kernel's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// `write`, `zerocopy` or `sendfile` (TCP).
    #[serde(default)]
    pub send: SendWay,
    /// `read` or `truncate` (TCP).
    #[serde(default)]
    pub receive: ReceiveWay,
    /// Payload of each datagram in bytes (UDP); without it they fill the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagram: Option<PayloadSize>,
    /// `mmsg` or `gso` (UDP).
    #[serde(default)]
    pub batch: Batch,
    /// Payload offered each way, all streams together ("1 Gbit/s", UDP); without it flat out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
}

fn one_stream() -> NonZeroU16 {
    NonZeroU16::MIN
}
fn half_second() -> Nanos {
    Nanos::from_millis(500)
}

impl Item for GoodputItem {
    fn check(&self) -> Result<(), String> {
        if self.duration < Nanos::from_secs(1) {
            return Err(format!(
                "duration {} is too short: goodput is counted by the second, use \"1 s\" or more",
                self.duration
            ));
        }
        if self.duration > LONGEST || self.warmup > LONGEST {
            return Err(format!("duration and warmup are {LONGEST} at the most"));
        }
        at_most("streams", self.streams.get().into(), 128)?;
        if self.window.is_some_and(|window| window.0 < 4096 || window.0 > 1 << 30) {
            return Err("window is between 4 KiB and 1 GiB".to_owned());
        }
        check_stacks(&self.stacks)?;
        match self.protocol {
            Protocol::Tcp => self.check_tcp(),
            Protocol::Udp => self.check_udp(),
        }
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let stacks = |mtu| self.stacks.iter().map(move |stack| self.spec(*stack, mtu).into());
        each_mtu(&self.mtus).flat_map(stacks).collect()
    }

    fn extent(&self) -> Extent {
        Extent::of(&[mtus(&self.mtus), self.stacks.len()], &[self.duration, self.warmup])
    }
}

impl GoodputItem {
    fn check_tcp(&self) -> Result<(), String> {
        let udp_only = [
            ("datagram", self.datagram.is_some()),
            ("batch", self.batch != Batch::Mmsg),
            ("rate", self.rate.is_some()),
        ];
        match udp_only.into_iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) => Err(format!(
                "{key} is for datagrams; TCP cuts its stream itself: take it out, or write \
                protocol = \"udp\""
            )),
            None => Ok(()),
        }
    }

    fn check_udp(&self) -> Result<(), String> {
        let tcp_only = [
            ("congestion", self.congestion.is_some()),
            ("send", self.send != SendWay::Write),
            ("receive", self.receive != ReceiveWay::Read),
        ];
        if let Some((key, _)) = tcp_only.into_iter().find(|(_, is_set)| *is_set) {
            return Err(format!("{key} is for TCP; take it out, or write protocol = \"tcp\""));
        }
        if self.rate == Some(BitRate(0)) {
            return Err(NO_RATE.to_owned());
        }
        if self.batch == Batch::Gso && self.stacks.contains(&Stack::Bypass) {
            return Err("batch = \"gso\" is the kernel's; take it out, or write stacks = [\"kernel\"]".to_owned());
        }
        match self.datagram {
            Some(size) if size < LEAST_DATAGRAM || size > LARGEST_DATAGRAM => Err(format!(
                "datagram = {} is not between {} and {}: each carries its number, and IP takes no more",
                size.0, LEAST_DATAGRAM.0, LARGEST_DATAGRAM.0
            )),
            _ => Ok(()),
        }
    }

    fn spec(&self, stack: Stack, mtu: Option<Mtu>) -> GoodputSpec {
        GoodputSpec {
            protocol: self.protocol,
            ip: self.ip,
            stack,
            direction: self.direction,
            streams: self.streams.get(),
            duration: self.duration,
            warmup: self.warmup,
            mtu,
            window: self.window,
            congestion: self.congestion.clone(),
            send: self.send,
            receive: self.receive,
            datagram: self.datagram,
            batch: self.batch,
            rate: self.rate,
        }
    }
}
