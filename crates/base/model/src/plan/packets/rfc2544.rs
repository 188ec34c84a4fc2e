//! The section of a plan for tests of RFC 2544.

use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Item, LONGEST, Ladder, Method, SHORTEST, one_flow};
use crate::{
    frame_size::{FrameSize, Headers, MIN_FRAME, PayloadSize},
    plan::{at_most, stored::Extent},
    plausible::{self, Checked},
    probe::{Direction, Engine, IpVersion, PacketsSpec, ProbeSpec, Protocol},
    rfc2544::{FRAME_SIZES, PlannedRfc2544, Rfc2544Test},
    search::{Goal, Ratio, SearchMethod, check_goals, least_load},
    stream::{LARGEST_FRAME, Load, Pacing, Rate, Sizes, Stream, Values},
    units::{Nanos, PacketRate},
};

/// Tests of a device under test: throughput, latency, frame loss and back-to-back frames, for each frame size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rfc2544Item {
    /// `throughput`, `latency`, `loss`, `back-to-back`, `recovery` and `reset`; all but `reset` unless given. Latency, recovery and reset rest on
    /// the throughput, which is then searched for.
    #[serde(default = "all_tests")]
    pub tests: Vec<Rfc2544Test>,
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// `forward`, `reverse` or `both`.
    #[serde(default)]
    pub direction: Direction,
    /// Frame sizes with FCS, in bytes; the seven of the RFC unless given.
    #[serde(default = "all_sizes")]
    pub frame_sizes: Vec<FrameSize>,
    /// Highest load each way, best that of the link ("10 Gbit/s L1", "14 Mpps"), or the lowest and the highest ("10 kpps..1 Mpps").
    pub rate: Ladder,
    /// `mlr` (RFC 9971) or `binary`.
    #[serde(default = "mlr")]
    pub search: SearchMethod,
    /// Goals of the search; without any, no loss in a trial of `duration`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<Goal>,
    /// Duration of the trials of throughput and loss.
    #[serde(default = "minute")]
    pub duration: Nanos,
    /// Duration of each latency trial.
    #[serde(default = "two_minutes")]
    pub latency_duration: Nanos,
    /// Number of latency trials.
    #[serde(default = "twenty")]
    pub latency_repeats: NonZeroU32,
    /// Loads of one more latency trial each, as shares of the throughput.
    #[serde(default = "tenth_half_most")]
    pub latency_loads: Vec<Ratio>,
    /// Number of bursts that are searched for.
    #[serde(default = "fifty")]
    pub burst_repeats: NonZeroU32,
    /// Duration of the longest burst.
    #[serde(default = "two_seconds")]
    pub longest_burst: Nanos,
    /// Number of overloads of the recovery test.
    #[serde(default = "three")]
    pub recovery_repeats: NonZeroU32,
    /// Duration of the trial in which the device is reset.
    #[serde(default = "two_minutes")]
    pub reset_duration: Nanos,
    /// Destination networks behind the device, 1 or 256 in the RFC: frames go to one after the other.
    #[serde(default = "one_network", skip_serializing_if = "is_one")]
    pub networks: u16,
    /// Flows that the frames take turns in.
    #[serde(default = "one_flow")]
    pub flows: NonZeroU32,
    /// Whether the ports of the flows are random (RFC 4814).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random_ports: bool,
    /// `live`, `xsk`, `af_packet`, `udp` or `pktgen`; without it what fits best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
}

fn all_tests() -> Vec<Rfc2544Test> {
    Rfc2544Test::ALONE.to_vec()
}

fn all_sizes() -> Vec<FrameSize> {
    FRAME_SIZES.map(FrameSize).to_vec()
}

fn mlr() -> SearchMethod {
    SearchMethod::Mlr
}

fn minute() -> Nanos {
    Nanos::from_secs(60)
}

fn two_minutes() -> Nanos {
    Nanos::from_secs(120)
}

fn two_seconds() -> Nanos {
    Nanos::from_secs(2)
}

fn one_network() -> u16 {
    1
}

fn is_one(networks: &u16) -> bool {
    *networks == 1
}

fn three() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(2)
}

fn twenty() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(19)
}

fn tenth_half_most() -> Vec<Ratio> {
    [0.1, 0.5, 0.9].map(Ratio).to_vec()
}

fn fifty() -> NonZeroU32 {
    NonZeroU32::MIN.saturating_add(49)
}

/// Lowest load of a search that names none, as a share of the highest.
const LOWEST: f64 = 0.001;

/// Payload of the smallest frame: the short form of the number (see `tag::SHORT` of the room `frame`).
const LEAST_PAYLOAD: PayloadSize = PayloadSize(10);

/// More trials at one load cannot be meant.
const MOST_REPEATS: u64 = 1_000;

/// Shares of the throughput at which latency is measured, at the most.
const MOST_LOADS: usize = 20;

/// Source port of the first flow to each of several networks.
const FIRST_PORT: u16 = 1024;

/// Source and destination ports of random flows (RFC 4814, section 4.5).
const RANDOM_SOURCES: [u16; 2] = [1024, 65_535];
const RANDOM_DESTINATIONS: [u16; 2] = [1, 49_151];

impl Item for Rfc2544Item {
    fn check(&self) -> Result<(), String> {
        let is_twice = (1..self.tests.len()).any(|at| self.tests[..at].contains(&self.tests[at]));
        if self.tests.is_empty() || is_twice {
            return Err(format!("tests names each test once: {}", Rfc2544Test::WORDS.join(", ")));
        }
        self.check_sizes()?;
        for (key, duration) in [
            ("duration", self.duration),
            ("latency_duration", self.latency_duration),
            ("longest_burst", self.longest_burst),
            ("reset_duration", self.reset_duration),
        ] {
            if duration < SHORTEST || duration > LONGEST {
                return Err(format!("{key} is between {SHORTEST} and {LONGEST}"));
            }
        }
        at_most("latency_repeats", self.latency_repeats.get().into(), MOST_REPEATS)?;
        at_most("burst_repeats", self.burst_repeats.get().into(), MOST_REPEATS)?;
        at_most("recovery_repeats", self.recovery_repeats.get().into(), MOST_REPEATS)?;
        if self.latency_loads.len() > MOST_LOADS
            || self.latency_loads.iter().any(|share| !(0.0..=1.0).contains(&share.0) || share.0 == 0.0)
        {
            return Err(format!(
                "latency_loads are {MOST_LOADS} at the most, more than 0 % and up to 100 % of the throughput"
            ));
        }
        self.check_goals()?;
        self.check_rates()?;
        let stream = self.stream(MIN_FRAME, Load::default());
        stream.check().map_err(|error| error.to_string())
    }

    /// A probe for each frame size at its highest load; the tests make others of it.
    fn specs(&self) -> Vec<ProbeSpec> {
        let spec = |size: &FrameSize| {
            let load = Load { rate: Rate::Packets(PacketRate(self.max(*size)?)), ..Load::default() };
            let streams = vec![self.stream(*size, load)];
            let (direction, duration, engine) = (self.direction, self.duration, self.engine);
            Some(PacketsSpec { streams, direction, duration, engine, mtu: None }.into())
        };
        self.frame_sizes.iter().filter_map(spec).collect()
    }

    fn extent(&self) -> Extent {
        let repeats = self.latency_repeats.saturating_add(self.burst_repeats.get());
        let repeats =
            repeats.saturating_add(self.recovery_repeats.get()).saturating_add(self.latency_loads.len() as u32).get();
        Extent::of(
            &[self.frame_sizes.len(), repeats as usize],
            &[self.duration, self.latency_duration, self.longest_burst, self.reset_duration],
        )
    }

    fn check_stored(&self) -> Checked {
        // A search goes by the arithmetic of its goals: impossible ones lead nowhere.
        self.check_goals().or_else(|why| plausible::refuse("goals", why))
    }

    fn method(&self) -> Method {
        let loads = self.rate.loads();
        let lowest = match loads {
            [first, .., last] => share(first.rate, last.rate).unwrap_or(LOWEST),
            _ => LOWEST,
        };
        Method::Rfc2544(PlannedRfc2544 {
            tests: self.tests.clone(),
            search: self.search,
            goals: self.goals(),
            lowest,
            duration: self.duration,
            latency_duration: self.latency_duration,
            latency_repeats: self.latency_repeats.get(),
            latency_loads: self.latency_loads.iter().map(|share| share.0).collect(),
            burst_repeats: self.burst_repeats.get(),
            longest_burst: self.longest_burst,
            recovery_repeats: self.recovery_repeats.get(),
            reset_duration: self.reset_duration,
        })
    }
}

impl Rfc2544Item {
    fn check_sizes(&self) -> Result<(), String> {
        if self.frame_sizes.is_empty() {
            return Err(
                "frame_sizes is empty; write some, like [64, 1518], or leave it out for those of the RFC".to_owned()
            );
        }
        match self.frame_sizes.iter().find(|size| **size < MIN_FRAME || **size > LARGEST_FRAME) {
            Some(size) => {
                let (least, most) = (MIN_FRAME.0, LARGEST_FRAME.0);
                Err(format!("there is no frame of {} bytes: use {least} to {most} (with FCS)", size.0))
            }
            None => Ok(()),
        }
    }

    fn check_goals(&self) -> Result<(), String> {
        let goals = self.goals();
        check_goals(&goals).map_err(|error| error.to_string())?;
        if self.search == SearchMethod::Binary && goals.len() > 1 {
            return Err("halving has one goal; write search = \"mlr\" for several".to_owned());
        }
        if goals.iter().any(|goal| goal.initial_trial_duration.unwrap_or(goal.final_trial_duration) < SHORTEST) {
            return Err(format!("trials of a search last {SHORTEST} or more"));
        }
        Ok(())
    }

    fn check_rates(&self) -> Result<(), String> {
        let least = least_load(&self.goals());
        for size in &self.frame_sizes {
            let Some(max) = self.max(*size) else {
                let why =
                    "is no highest load: write that of the link, like \"10 Gbit/s L1\", or a rate like \"14 Mpps\"";
                return Err(format!("rate = \"{}\" {why}", self.rate));
            };
            if max <= least {
                return Err(format!(
                    "rate = \"{}\" is too low for frames of {} bytes: more than {least} pps",
                    self.rate, size.0
                ));
            }
        }
        Ok(())
    }

    /// Goals of the search: those of the plan, or the throughput of RFC 2544.
    fn goals(&self) -> Vec<Goal> {
        if self.goal.is_empty() { vec![Goal::throughput(self.duration)] } else { self.goal.clone() }
    }

    /// Highest load of frames of this size, in frames a second: of the frames as they are sent.
    fn max(&self, size: FrameSize) -> Option<u64> {
        let load = self.rate.loads().last().filter(|load| load.pacing == Pacing::Constant)?;
        let headers = Headers { ip: self.ip, protocol: Protocol::Udp, tcp_timestamps: false };
        let sent = size.max(headers.frame_with(LEAST_PAYLOAD));
        let per_second = load.rate.per_second(sent.0.into(), None).ok()??;
        Some(per_second.floor() as u64)
    }

    fn stream(&self, size: FrameSize, load: Load) -> Stream {
        let networks = Some(self.networks).filter(|networks| *networks != 1);
        let of_each = self.flows.get().div_ceil(self.networks.max(1).into());
        let flows = of_each * u32::from(self.networks.max(1));
        // Where networks make flows already, ports make more of each only where they are named.
        let ports = (networks.is_some() && of_each > 1).then(|| Values::Range {
            first: FIRST_PORT,
            last: (u32::from(FIRST_PORT) + of_each - 1).min(65_535) as u16,
            step: 1,
        });
        let random = |[first, last]: [u16; 2]| self.random_ports.then_some(Values::Random { first, last, seed: 0 });
        Stream {
            sizes: Sizes::List(vec![size]),
            ip: self.ip,
            networks,
            flows: (self.random_ports || flows > 1).then_some(flows),
            source_port: random(RANDOM_SOURCES).or(ports),
            destination_port: random(RANDOM_DESTINATIONS),
            load,
            ..Stream::default()
        }
    }
}

/// One rate as a share of another, in frames of any one size.
fn share(low: Rate, high: Rate) -> Option<f64> {
    let [low, high] = [low, high].map(|rate| rate.per_second(f64::from(MIN_FRAME.0), None).ok().flatten());
    Some(low? / high?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plan;

    fn plan(keys: &str) -> Result<Plan, String> {
        Plan::parse(&format!("name = \"t\"\n[[rfc2544]]\n{keys}"), &[]).map_err(|error| error.to_string())
    }

    fn planned(keys: &str) -> PlannedRfc2544 {
        match plan(keys).unwrap().sections().remove(0).method {
            Method::Rfc2544(planned) => planned,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_rfc_stands_where_nothing_else_is_written() {
        let link = plan("rate = \"10 Gbit/s L1\"").unwrap();
        let shown: Vec<String> = link.specs().iter().map(ToString::to_string).collect();
        assert_eq!(shown.len(), 7);
        assert_eq!(
            [&shown[0], &shown[6]],
            ["packets IPv4 64 B at 14.880952 Mpps", "packets IPv4 1518 B at 812.743 kpps"]
        );
        let planned = planned("rate = \"10 Gbit/s L1\"");
        assert_eq!(
            (planned.tests, planned.latency_repeats, planned.burst_repeats),
            (Rfc2544Test::ALONE.to_vec(), 20, 50)
        );
        assert_eq!(
            [planned.goals[0].final_trial_duration, planned.latency_duration].map(|it| it.0 / 1_000_000_000),
            [60, 120]
        );
        assert_eq!(Plan::parse(&link.to_toml(), &[]), Ok(link));
    }

    #[test]
    fn a_search_begins_at_the_share_of_the_lowest_load() {
        let planned = planned("rate = \"10 kpps..1 Mpps\"\nframe_sizes = [64]");
        assert_eq!((planned.lowest, planned.min(1_000_000), planned.min(5_000)), (0.01, 10_000, 400));
    }

    #[test]
    fn a_frame_without_room_for_its_number_is_loaded_as_it_is_sent() {
        let plan = plan("rate = \"10 Gbit/s L1\"\nframe_sizes = [64, 128]\nip = 6").unwrap();
        let rates: Vec<u64> = plan.specs().iter().map(|spec| spec.probe().selectors().rate.unwrap().0).collect();
        // 76 bytes are sent for 64.
        assert_eq!(rates, [13_020_833, 8_445_945]);
    }

    #[test]
    fn random_ports_are_in_the_ranges_of_rfc_4814() {
        let plan = plan("rate = \"1 Mpps\"\nframe_sizes = [64]\nrandom_ports = true\nflows = 100\nip = 6").unwrap();
        let spec = plan.specs().remove(0);
        let stream = &spec.of::<PacketsSpec>().unwrap().streams[0];
        assert_eq!(
            (stream.source_port.as_ref().unwrap().to_string(), stream.flow_count()),
            ("random 1024..65535 seed 0".to_owned(), Ok(100))
        );
        assert_eq!(spec.profile().ip, IpVersion::V6);
    }

    #[test]
    fn frames_go_to_several_networks_with_as_many_flows_each() {
        let stream = |keys: &str| {
            let spec = plan(&format!("rate = \"1 Mpps\"\nframe_sizes = [64]\n{keys}")).unwrap().specs().remove(0);
            spec.of::<PacketsSpec>().unwrap().streams[0].clone()
        };
        let counted = |keys: &str| (stream(keys).networks, stream(keys).flow_count().unwrap());
        assert_eq!(counted("networks = 256"), (Some(256), 256));
        assert_eq!(counted("networks = 256\nflows = 1000"), (Some(256), 1024));
        assert_eq!(counted("networks = 256\nflows = 1000\nrandom_ports = true"), (Some(256), 1024));
        assert_eq!(counted("flows = 10"), (None, 10));
        let error = plan("rate = \"1 Mpps\"\nnetworks = 257").unwrap_err();
        assert!(error.contains("networks is 1 to 256"), "{error}");
    }

    #[test]
    fn what_is_no_test_is_refused_with_what_is_one() {
        let refused = |keys: &str| plan(keys).unwrap_err();
        let rate = "rate = \"1 Mpps\"\n";
        assert!(refused("").contains("rate"), "{}", refused(""));
        assert!(
            refused(&format!("{rate}tests = []")).contains("throughput, latency, loss, back-to-back, recovery, reset")
        );
        assert!(refused(&format!("{rate}tests = [\"loss\", \"loss\"]")).contains("each test once"));
        assert!(refused(&format!("{rate}tests = [\"jitter\"]")).contains("recovery"));
        assert!(refused(&format!("{rate}reset_duration = \"1 ms\"")).contains("reset_duration is between"));
        assert!(refused(&format!("{rate}latency_loads = [\"110 %\"]")).contains("up to 100 %"));
        assert!(refused(&format!("{rate}frame_sizes = []")).contains("frame_sizes is empty"));
        assert!(refused(&format!("{rate}frame_sizes = [60]")).contains("use 64 to"));
        assert!(refused(&format!("{rate}duration = \"1 ms\"")).contains("duration is between"));
        assert!(refused("rate = \"flat out\"").contains("no highest load"));
        assert!(refused("rate = \"10 %\"").contains("10 Gbit/s L1"));
        assert!(refused("rate = \"100 pps\"").contains("too low"));
        assert!(refused(&format!("{rate}goal = []\nsearch = \"linear\"")).contains("expected `mlr` or `binary`"));
    }
}
