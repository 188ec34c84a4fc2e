//! The section `goodput` of a plan.

use std::num::NonZeroU16;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Item, LONGEST, Method, NO_RATE, at_most, check_stacks, each_mtu, kernel,
    searched::{ONE_LOAD, Searched},
    stored::{Extent, mtus},
};
use crate::{
    frame_size::PayloadSize,
    plausible::{self, Checked},
    probe::{Batch, Direction, GoodputSpec, IpVersion, ProbeSpec, Protocol, ReceiveMethod, SendMethod, Stack},
    search::{Goal, SearchMethod},
    units::{BitRate, BitRateRange, Bytes, Mtu, Nanos},
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
    /// Network stacks at both ends, one after the other: `kernel`, and `bypass` (UDP, bypassing the kernel by AF_XDP).
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
    pub send: SendMethod,
    /// `read` or `truncate` (TCP).
    #[serde(default)]
    pub receive: ReceiveMethod,
    /// Payload of each datagram in bytes (UDP); without it they fill the MTU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub datagram: Option<PayloadSize>,
    /// `mmsg` or `gso` (UDP).
    #[serde(default)]
    pub batch: Batch,
    /// Payload offered each way, all streams together ("1 Gbit/s", UDP); without it flat out. With `search` the lowest and the highest
    /// load ("10 Mbit/s..1 Gbit/s"), or the highest one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRateRange>,
    /// `mlr` (RFC 9971) or `binary`: looks for the highest load that meets a goal, from the lowest to the highest one of `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchMethod>,
    /// Goals of the search; without any, no loss in a trial of `duration`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<Goal>,
}

fn one_stream() -> NonZeroU16 {
    NonZeroU16::MIN
}
fn half_second() -> Nanos {
    Nanos::from_millis(500)
}

/// Goodput is counted by the second.
const SHORTEST: Nanos = Nanos::from_secs(1);

impl Item for GoodputItem {
    fn check(&self) -> Result<(), String> {
        if self.duration < SHORTEST {
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

    fn check_stored(&self) -> Checked {
        // A search goes by the arithmetic of its goals: impossible ones lead nowhere.
        self.of_search(|search| search.check()).or_else(|why| plausible::refuse("search", why))
    }

    fn method(&self) -> Method {
        self.of_search(|search| search.method(Method::List))
    }
}

impl GoodputItem {
    fn check_tcp(&self) -> Result<(), String> {
        let udp_only = [
            ("datagram", self.datagram.is_some()),
            ("batch", self.batch != Batch::Mmsg),
            ("rate", self.rate.is_some()),
            ("search", self.search.is_some()),
            ("goal", !self.goal.is_empty()),
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
            ("send", self.send != SendMethod::Write),
            ("receive", self.receive != ReceiveMethod::Read),
        ];
        if let Some((key, _)) = tcp_only.into_iter().find(|(_, is_set)| *is_set) {
            return Err(format!("{key} is for TCP; take it out, or write protocol = \"tcp\""));
        }
        if self.rate.is_some_and(|rate| rate.highest == BitRate(0)) {
            return Err(NO_RATE.to_owned());
        }
        if self.search.is_none() && self.rate.is_some_and(|rate| rate.lowest.is_some()) {
            return Err(ONE_LOAD.to_owned());
        }
        self.of_search(|search| search.check())?;
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

    /// Something of its search.
    fn of_search<T>(&self, of: impl FnOnce(Searched<'_>) -> T) -> T {
        of(Searched {
            method: self.search,
            goals: &self.goal,
            duration: self.duration,
            shortest: SHORTEST,
            loads: self.rate.map(|rate| (rate.lowest.map(|lowest| lowest.0), rate.highest.0)),
            words: &|rate| BitRate(rate).to_string(),
            example: "10 Mbit/s..1 Gbit/s",
        })
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
            rate: self.rate.map(|rate| rate.highest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    fn plan(keys: &str) -> Result<Plan, String> {
        let toml = format!("name = \"t\"\n[[goodput]]\nprotocol = \"udp\"\nduration = \"5 s\"\n{keys}");
        Plan::parse(&toml, &[]).map_err(|error| error.to_string())
    }

    #[test]
    fn datagrams_are_searched_by_their_rate() {
        let read = plan("rate = \"10 Mbit/s..1 Gbit/s\"\nsearch = \"mlr\"\nstreams = 2").unwrap();
        assert_eq!(Plan::parse(&read.to_toml(), &[]), Ok(read.clone()));
        let section = read.sections().remove(0);
        let Method::Search(planned) = &section.method else { panic!("a search") };
        assert_eq!((planned.min, planned.max), (10_000_000, 1_000_000_000));
        let highest = section.specs[0].probe();
        assert_eq!(section.specs[0].to_string(), "goodput UDP IPv4 2 streams mmsg at 1 Gbit/s");
        let other = highest.with_load(30_000_000, Nanos::from_secs(20)).unwrap();
        assert_eq!(other.to_string(), "goodput UDP IPv4 2 streams mmsg at 30 Mbit/s 20 s");
        assert_eq!(other.probe().without_load(), highest.without_load());
        assert_eq!(highest.without_load().unwrap().to_string(), "goodput UDP IPv4 2 streams mmsg");
        let tcp = plan("").unwrap().to_toml().replace("udp", "tcp");
        assert_eq!(Plan::parse(&tcp, &[]).unwrap().specs()[0].probe().without_load(), None);
    }

    #[test]
    fn a_search_that_cannot_be_is_refused() {
        let refused = |keys: &str| plan(keys).unwrap_err();
        assert!(refused("rate = \"1 Mbit/s..1 Gbit/s\"").contains("write search = \"mlr\" too"));
        assert!(refused("search = \"mlr\"").contains("like rate = \"10 Mbit/s..1 Gbit/s\""));
        assert!(refused("search = \"mlr\"\nrate = \"100 bit/s..1 Gbit/s\"").contains("begins at 400 bit/s"));
        let goal = "[[goodput.goal]]\nname = \"x\"\nfinal_trial_duration = \"500 ms\"\nduration_sum = \"5 s\"\nloss_ratio = 0\nexceed_ratio = 0";
        assert!(refused(&format!("search = \"mlr\"\nrate = \"1 Gbit/s\"\n{goal}")).contains("last 1 s or more"));
        assert!(refused(goal).contains("goals are those of a search"));
        let tcp = "name = \"t\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"5 s\"\nsearch = \"binary\"";
        assert!(Plan::parse(tcp, &[]).unwrap_err().to_string().contains("search is for datagrams"));
    }
}
