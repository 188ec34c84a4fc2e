//! Sections of a plan that measure.

use std::num::{NonZeroU16, NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, LONGEST, MOST_ROUND_TRIPS, PATH_TIMEOUT, at_most};
use crate::{
    frame_size::{FrameSize, PayloadSize},
    probe::{
        Amount, Batch, Direction, FASTEST, GoodputSpec, IpVersion, LatencySpec, MOST_OUT, PathSpec, ProbeSpec,
        Protocol, ReceiveWay, SendWay, Stack, WaitMode,
    },
    units::{BitRate, Bytes, Mtu, Nanos, PacketRate},
};

/// Round-trip times over several frame sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyItem {
    /// `udp` or `tcp`.
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Network stacks at both ends, one after the other: `kernel`, and `bypass` (UDP, past the kernel by AF_XDP).
    #[serde(default = "kernel")]
    pub stacks: Vec<Stack>,
    /// `spin`, `block` or `busy-poll`.
    #[serde(default)]
    pub mode: WaitMode,
    /// Frame sizes with FCS, in bytes. One that the headers leave no room in is raised to the smallest there is.
    pub frame_sizes: Vec<FrameSize>,
    /// Messages that count, for each frame size (10000 when there is no duration either).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<NonZeroU64>,
    /// Time that counts, for each frame size, instead of a count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<Nanos>,
    /// Round trips made first and not counted.
    #[serde(default = "thousand")]
    pub warmup: u64,
    /// When a reply counts as late.
    #[serde(default = "second")]
    pub timeout: Nanos,
    /// Messages a second by a schedule ("100 kpps"); without it each message waits for the reply to the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<PacketRate>,
    /// Whether the kernel stamps each message, to split the RTT into stages (costs a microsecond or two).
    #[serde(default)]
    pub stamps: bool,
}

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

/// Path MTU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathItem {
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// MTUs that both ends are set to, one after the other, and put back afterwards; empty leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
    /// How long to wait for the acknowledgement of one packet.
    #[serde(default = "path_timeout")]
    pub timeout: Nanos,
}

fn kernel() -> Vec<Stack> {
    vec![Stack::Kernel]
}
fn one_stream() -> NonZeroU16 {
    NonZeroU16::MIN
}
fn thousand() -> u64 {
    1_000
}
fn second() -> Nanos {
    Nanos::from_secs(1)
}
fn half_second() -> Nanos {
    Nanos::from_millis(500)
}
fn path_timeout() -> Nanos {
    PATH_TIMEOUT
}

const ORDINARY_COUNT: u64 = 10_000;

const NO_RATE: &str = "a rate of 0 sends nothing; ask for more, or leave it out";

/// The number of each datagram, and some bytes to see that they came whole.
const LEAST_DATAGRAM: PayloadSize = PayloadSize(16);

/// IPv4's largest packet less its headers.
const LARGEST_DATAGRAM: PayloadSize = PayloadSize(65_507);

impl Item for LatencyItem {
    fn check(&self) -> Result<(), String> {
        if let Some(count) = self.count {
            at_most("count", count.get(), MOST_ROUND_TRIPS)?;
        }
        at_most("warmup", self.warmup, MOST_ROUND_TRIPS)?;
        if self.count.is_some() && self.duration.is_some() {
            return Err("count and duration are two ends of one trial; write only one of them".to_owned());
        }
        if self.duration.is_some_and(|duration| duration.0 == 0 || duration > LONGEST) {
            return Err(format!("duration is more than nothing, and {LONGEST} at the most"));
        }
        if self.frame_sizes.is_empty() {
            return Err("frame_sizes is empty; write for example frame_sizes = [64, 1518]".to_owned());
        }
        if self.timeout.0 < 1_000_000 || self.timeout > Nanos::from_secs(60) {
            return Err(format!("timeout {} is not between 1 ms and 60 s", self.timeout));
        }
        if self.rate.is_some() && self.stamps {
            return Err("stamps split single round trips; take either them or the rate away".to_owned());
        }
        if self.stamps && self.protocol == Protocol::Tcp {
            return Err("stamps belong to datagrams; write protocol = \"udp\" with them".to_owned());
        }
        if self.mode == WaitMode::BusyPoll && self.stacks.contains(&Stack::Bypass) {
            return Err(
                "busy-poll is the kernel's; write mode = \"spin\" or \"block\" with stacks = [\"bypass\"]".to_owned()
            );
        }
        if self.stamps && self.stacks.contains(&Stack::Bypass) {
            return Err("stamps are the kernel's; take them away, or write stacks = [\"kernel\"]".to_owned());
        }
        check_stacks(&self.stacks)?;
        self.rate.map_or(Ok(()), |rate| self.check_rate(rate))
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let count = || Amount::Count(self.count.map_or(ORDINARY_COUNT, NonZeroU64::get));
        let spec = |stack: Stack, frame_size: FrameSize| LatencySpec {
            protocol: self.protocol,
            ip: self.ip,
            stack,
            mode: self.mode,
            frame_size,
            amount: self.duration.map_or_else(count, Amount::Duration),
            // By a slow schedule a thousand messages would take long: a second of them is warm-up enough.
            warmup: self.rate.map_or(self.warmup, |rate| self.warmup.min(rate.0)),
            timeout: self.timeout,
            rate: self.rate,
            stamps: self.stamps,
        };
        let sizes = |stack: &Stack| self.frame_sizes.iter().map(|size| spec(*stack, *size)).collect::<Vec<_>>();
        self.stacks.iter().flat_map(sizes).map(ProbeSpec::from).collect()
    }
}

impl LatencyItem {
    fn check_rate(&self, rate: PacketRate) -> Result<(), String> {
        if rate.0 == 0 {
            return Err(NO_RATE.to_owned());
        }
        if rate > FASTEST {
            return Err(format!("rate {rate} is more than any clock could pace: {FASTEST} at the most"));
        }
        let within = |time: Nanos| (u128::from(rate.0) * u128::from(time.0)).div_ceil(1_000_000_000);
        if within(self.timeout) > MOST_OUT.into() {
            return Err(format!(
                "at {rate} more than {MOST_OUT} messages could be out within the timeout of {}; choose a shorter timeout",
                self.timeout
            ));
        }
        match self.count {
            Some(count) if u128::from(count.get()) > within(LONGEST) => {
                Err(format!("{count} messages at {rate} take longer than {LONGEST}; take fewer, or a higher rate"))
            }
            _ => Ok(()),
        }
    }
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

impl Item for PathItem {
    fn check(&self) -> Result<(), String> {
        if self.timeout.0 < 1_000_000 || self.timeout > Nanos::from_secs(1) {
            return Err(format!("timeout {} is not between 1 ms and 1 s", self.timeout));
        }
        Ok(())
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let spec = |mtu| PathSpec { ip: self.ip, mtu, timeout: self.timeout };
        each_mtu(&self.mtus).map(|mtu| spec(mtu).into()).collect()
    }
}

fn check_stacks(stacks: &[Stack]) -> Result<(), String> {
    if stacks.is_empty() || (1..stacks.len()).any(|at| stacks[..at].contains(&stacks[at])) {
        return Err("stacks names each network stack once, like stacks = [\"kernel\", \"bypass\"]".to_owned());
    }
    Ok(())
}

pub(super) fn each_mtu(mtus: &[Mtu]) -> impl Iterator<Item = Option<Mtu>> {
    let own = mtus.is_empty().then_some(None);
    own.into_iter().chain(mtus.iter().copied().map(Some))
}
