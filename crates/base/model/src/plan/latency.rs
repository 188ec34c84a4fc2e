//! The section `latency` of a plan.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, LONGEST, MOST_ROUND_TRIPS, NO_RATE, at_most, check_stacks, kernel, stored::Extent};
use crate::{
    frame_size::FrameSize,
    plausible::{self, Checked},
    probe::{Amount, Direction, FASTEST, IpVersion, LatencySpec, MOST_OUT, ProbeSpec, Protocol, Stack, WaitMode},
    units::{Nanos, PacketRate},
};

const ORDINARY_COUNT: u64 = 10_000;

/// Round-trip times over several frame sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyItem {
    /// `udp` or `tcp`.
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// Network stacks at both ends, one after the other: `kernel`, and `bypass` (UDP, bypassing the kernel by AF_XDP).
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
    /// Directions of TCP connections that load the path meanwhile, one after the other, each compared with the idle path, which is
    /// measured first: `forward`, `reverse`, `both`. Empty measures the idle path alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tcp_load: Vec<Direction>,
}

fn thousand() -> u64 {
    1_000
}
fn second() -> Nanos {
    Nanos::from_secs(1)
}

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
        self.check_tcp_load()?;
        self.rate.map_or(Ok(()), |rate| self.check_rate(rate))
    }

    fn specs(&self) -> Vec<ProbeSpec> {
        let count = || Amount::Count(self.count.map_or(ORDINARY_COUNT, NonZeroU64::get));
        let spec = |stack: Stack, frame_size: FrameSize, tcp_load: Option<Direction>| LatencySpec {
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
            tcp_load,
        };
        let loads = || [None].into_iter().chain(self.tcp_load.iter().copied().map(Some));
        let size = |stack: Stack, size: FrameSize| loads().map(move |load| spec(stack, size, load));
        let sizes = |stack: &Stack| self.frame_sizes.iter().flat_map(|it| size(*stack, *it)).collect::<Vec<_>>();
        self.stacks.iter().flat_map(sizes).map(ProbeSpec::from).collect()
    }

    fn extent(&self) -> Extent {
        let lengths = [self.stacks.len(), self.frame_sizes.len(), self.tcp_load.len().saturating_add(1)];
        Extent::of(&lengths, &[self.duration.unwrap_or_default(), self.timeout])
    }

    fn check_stored(&self) -> Checked {
        plausible::counts(&[("count", self.count.map_or(0, NonZeroU64::get)), ("warmup", self.warmup)])
    }
}

impl LatencyItem {
    fn check_tcp_load(&self) -> Result<(), String> {
        let loads = &self.tcp_load;
        if loads.is_empty() {
            return Ok(());
        }
        if (1..loads.len()).any(|at| loads[..at].contains(&loads[at])) {
            return Err(
                "tcp_load names each direction once, like tcp_load = [\"forward\", \"reverse\", \"both\"]".to_owned()
            );
        }
        if self.protocol == Protocol::Tcp || self.stacks != [Stack::Kernel] {
            return Err(
                "tcp_load goes beside datagrams of the kernel's stack; write protocol = \"udp\", and no stacks"
                    .to_owned(),
            );
        }
        match (self.rate, self.duration) {
            (Some(_), Some(duration)) if duration >= Nanos::from_secs(1) => Ok(()),
            _ => Err("tcp_load needs a schedule of a second or more; write for example rate = \"100 pps\" and duration = \"10 s\"".to_owned()),
        }
    }

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

#[cfg(test)]
mod tests {
    use crate::{Direction, LatencySpec, Metric, Nanos, Plan, probe::Probe};

    const LOADED: &str = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [128]\nrate = \"100 pps\"\nduration = \"10 s\"\n\
                          warmup = 50\ntcp_load = [\"forward\", \"both\"]\n";

    #[test]
    fn the_idle_path_is_measured_before_each_load() {
        let plan = Plan::parse(LOADED, &[]).unwrap();
        let specs: Vec<LatencySpec> =
            plan.specs().iter().filter_map(|spec| spec.of::<LatencySpec>()).cloned().collect();
        let loads: Vec<_> = specs.iter().map(|spec| spec.tcp_load).collect();
        assert_eq!(loads, [None, Some(Direction::Forward), Some(Direction::Both)]);
        assert!(specs[2].to_string().ends_with("128 B at 100 pps beside TCP both"), "{}", specs[2]);
        let gives = |spec: &LatencySpec, metric| spec.metrics().contains(&metric);
        assert!(!gives(&specs[0], Metric::LoadedRtt) && gives(&specs[1], Metric::LoadedRtt));
        assert_eq!(specs[0].transfer(), None);
        let transfer = specs[2].transfer().expect("a load");
        assert_eq!((transfer.direction, transfer.duration), (Direction::Both, Nanos::from_millis(10_500)));
        assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan));
    }

    #[test]
    fn a_load_that_cannot_be_is_refused() {
        let error = |from: &str, to: &str| Plan::parse(&LOADED.replace(from, to), &[]).unwrap_err().to_string();
        assert!(error("\"udp\"", "\"tcp\"").contains("beside datagrams"));
        assert!(error("128]\n", "128]\nstacks = [\"bypass\"]\n").contains("beside datagrams"));
        assert!(error("rate = \"100 pps\"\n", "").contains("needs a schedule"));
        assert!(error("duration = \"10 s\"", "count = 500").contains("needs a schedule"));
        assert!(error("\"both\"", "\"forward\"").contains("each direction once"));
        assert!(error("\"both\"", "\"sideways\"").contains("sideways"));
    }
}
