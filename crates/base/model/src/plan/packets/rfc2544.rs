//! The section of a plan for tests of RFC 2544.

use std::{collections::BTreeMap, num::NonZeroU32};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, LONGEST, Ladder, Method, SHORTEST, one_flow};
use crate::{
    frame_size::{FrameSize, Headers, MIN_FRAME, PayloadSize},
    json::value_of,
    modifier::Modifier,
    plan::{at_most, stored::Extent},
    plausible::{self, Checked},
    probe::{Direction, Engine, IpVersion, PacketsSpec, ProbeSpec, Protocol},
    rfc2544::{FRAME_SIZES, PlannedRfc2544, Rfc2544Test},
    search::{Goal, Ratio, SearchMethod, check_goals, least_load},
    stream::{LARGEST_FRAME, Load, Pacing, RAMP, Rate, Sizes, Stream, Values},
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
    /// A mix that is tested after them: sizes that the frames have in turn, like "imix", "64, 128, 1518" or "genome aaafg".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
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
    /// Time in which the load of each trial of throughput, latency and loss rises before its frames count; without it, trials begin
    /// with their full load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ramp: Option<Nanos>,
    /// Number of overloads of the recovery test.
    #[serde(default = "three")]
    pub recovery_repeats: NonZeroU32,
    /// Duration of the trial in which the device is reset.
    #[serde(default = "two_minutes")]
    pub reset_duration: Nanos,
    /// Destination networks behind the device, 1 or 256 in the RFC: frames go to one after the other.
    #[serde(default = "one_network", skip_serializing_if = "is_one")]
    pub networks: u16,
    /// Conditions of section 11 under which all tests are made again: `broadcast`, `1-filter`, `25-filters`, `route-updates`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
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

/// Keys of results with a place of their own, and of tests that the throughput does not depend on.
const BESIDE_THROUGHPUT: [&str; 11] = [
    "tests",
    "frame_sizes",
    "sizes",
    "modifiers",
    "latency_duration",
    "latency_repeats",
    "latency_loads",
    "burst_repeats",
    "longest_burst",
    "recovery_repeats",
    "reset_duration",
];

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
        if (1..self.modifiers.len()).any(|at| self.modifiers[..at].contains(&self.modifiers[at])) {
            return Err(format!("modifiers names each modifier once: {}", Modifier::WORDS.join(", ")));
        }
        self.check_sizes()?;
        if let Some(ramp) = self.ramp.filter(|ramp| *ramp < SHORTEST || *ramp > LONGEST) {
            return Err(format!("ramp = \"{ramp}\": a ramp takes {SHORTEST} to {LONGEST}"));
        }
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
        let stream = self.stream(of_one(MIN_FRAME), Load::default());
        stream.check().map_err(|error| error.to_string())
    }

    /// A probe for each frame size at its highest load, and for the mix; the same for each modifier. The tests make others of it.
    fn specs(&self) -> Vec<ProbeSpec> {
        let spec = |sizes: Sizes, modifier: Option<Modifier>| {
            let max = self.max(&sizes)?;
            // Broadcasts are a part of the highest load.
            let max = if modifier == Some(Modifier::Broadcast) { (max as f64 / 1.01) as u64 } else { max };
            let load = Load { rate: Rate::Packets(PacketRate(max)), ..Load::default() };
            let stream = Stream { load: Load { after: self.ramp, ..load }, ..self.stream(sizes, load) };
            let rise = |time| Load { pacing: Pacing::Ramp, time: Some(time), ..load };
            let ramp = self.ramp.map(|time| Stream { name: RAMP.to_owned(), load: rise(time), ..stream.clone() });
            let streams = [stream].into_iter().chain(ramp).collect();
            let duration = Nanos(self.duration.0 + self.ramp.unwrap_or_default().0);
            let (direction, engine) = (self.direction, self.engine);
            Some(PacketsSpec { streams, direction, duration, engine, mtu: None, modifier }.into())
        };
        let modifiers = [None].into_iter().chain(self.modifiers.iter().copied().map(Some));
        modifiers.flat_map(|modifier| self.tested_sizes().filter_map(move |sizes| spec(sizes, modifier))).collect()
    }

    fn extent(&self) -> Extent {
        let repeats = self.latency_repeats.saturating_add(self.burst_repeats.get());
        let repeats =
            repeats.saturating_add(self.recovery_repeats.get()).saturating_add(self.latency_loads.len() as u32).get();
        Extent::of(
            &[self.frame_sizes.len() + usize::from(self.sizes.is_some()), 1 + self.modifiers.len(), repeats as usize],
            &[
                self.duration,
                self.latency_duration,
                self.longest_burst,
                self.reset_duration,
                self.ramp.unwrap_or_default(),
            ],
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
    /// Settings that a throughput depends on, by their keys.
    pub fn settings_of_throughput(&self) -> BTreeMap<String, String> {
        let Value::Object(keys) = value_of(self) else { return BTreeMap::new() };
        let words = |value: Value| if let Value::String(text) = value { text } else { value.to_string() };
        let all = keys.into_iter().filter(|(key, _)| !BESIDE_THROUGHPUT.contains(&key.as_str()));
        all.map(|(key, value)| (key, words(value))).collect()
    }

    fn check_sizes(&self) -> Result<(), String> {
        if self.frame_sizes.is_empty() && self.sizes.is_none() {
            return Err(
                "frame_sizes is empty; write some, like [64, 1518], or leave it out for those of the RFC".to_owned()
            );
        }
        let differs = |sizes: &&Sizes| sizes.cycle(MIN_FRAME) != sizes.cycle(LARGEST_FRAME);
        if let Some(sizes) = self.sizes.as_ref().filter(differs) {
            let why = "has a size (z) that depends on the MTU, and thus no load known in advance; write its sizes";
            return Err(format!("sizes = \"{sizes}\" {why}"));
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
        for sizes in self.tested_sizes() {
            let Some(max) = self.max(&sizes) else {
                let why =
                    "is no highest load: write that of the link, like \"10 Gbit/s L1\", or a rate like \"14 Mpps\"";
                return Err(format!("rate = \"{}\" {why}", self.rate));
            };
            if max <= least {
                return Err(format!(
                    "rate = \"{}\" is too low for frames of {}: more than {least} pps",
                    self.rate,
                    sizes.words()
                ));
            }
        }
        Ok(())
    }

    /// Goals of the search: those of the plan, or the throughput of RFC 2544.
    fn goals(&self) -> Vec<Goal> {
        if self.goal.is_empty() { vec![Goal::throughput(self.duration)] } else { self.goal.clone() }
    }

    /// Sizes of the frames of one test each: one size, or the mix.
    fn tested_sizes(&self) -> impl Iterator<Item = Sizes> {
        self.frame_sizes.iter().map(|size| of_one(*size)).chain(self.sizes.clone())
    }

    /// Highest load of frames of these sizes, in frames a second: of the frames as they are sent.
    fn max(&self, sizes: &Sizes) -> Option<u64> {
        let load = self.rate.loads().last().filter(|load| load.pacing == Pacing::Constant)?;
        let headers = Headers { ip: self.ip, protocol: Protocol::Udp, tcp_timestamps: false };
        let least = headers.frame_with(LEAST_PAYLOAD);
        let sent: Vec<f64> = sizes.cycle(MIN_FRAME).iter().map(|size| size.0.max(least.0).into()).collect();
        let mean = sent.iter().sum::<f64>() / sent.len() as f64;
        let per_second = load.rate.per_second(mean, None).ok()??;
        Some(per_second.floor() as u64)
    }

    fn stream(&self, sizes: Sizes, load: Load) -> Stream {
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
            sizes,
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

fn of_one(size: FrameSize) -> Sizes {
    Sizes::List(vec![size])
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
    fn a_mix_is_tested_after_the_frame_sizes_at_the_rate_of_its_mean() {
        let rates = |keys: &str| {
            let plan = plan(&format!("rate = \"10 Gbit/s L1\"\n{keys}")).unwrap();
            assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan.clone()));
            plan.specs().iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        // (7 × 64 + 4 × 594 + 1518) / 12 = 361.8 bytes, and 20 around each frame.
        let imix = "packets IPv4 IMIX at 3.273679 Mpps".to_owned();
        assert_eq!(rates("frame_sizes = []\nsizes = \"imix\""), std::slice::from_ref(&imix));
        let all = rates("sizes = \"imix\"");
        assert_eq!((all.len(), all.last()), (8, Some(&imix)));
        // 76 bytes for 64.
        assert_eq!(rates("ip = 6\nframe_sizes = []\nsizes = \"imix\""), ["packets IPv6 IMIX at 3.214744 Mpps"]);
        let error = plan("rate = \"1 Mpps\"\nsizes = \"genome az\"").unwrap_err();
        assert!(error.contains("depends on the MTU"), "{error}");
    }

    #[test]
    fn a_ramp_comes_before_the_duration_of_each_trial_and_is_of_no_other_size_or_rate() {
        let plan = plan("rate = \"1 Mpps\"\nframe_sizes = [64]\nduration = \"2 s\"\nramp = \"500 ms\"").unwrap();
        assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan.clone()));
        let spec = plan.specs().remove(0);
        assert_eq!(spec.to_string(), "packets IPv4 64 B at 1 Mpps after 500 ms");
        let half = spec.probe().with_load(500_000, Nanos::from_secs(4)).unwrap();
        let half = half.of::<PacketsSpec>().unwrap();
        let loads: Vec<String> = half.streams.iter().map(|stream| stream.load.to_string()).collect();
        assert_eq!(loads, ["500 kpps after 500 ms", "500 kpps ramp for 500 ms"]);
        assert_eq!(
            (half.duration, half.ramp(), half.rate()),
            (Nanos(4_500_000_000), Nanos(500_000_000), spec_rate(half))
        );
        assert_eq!(half.at_once().to_string(), "IPv4 64 B at 500 kpps");
        assert_eq!(half.at_once().duration, Nanos::from_secs(4));
        let error = self::plan("rate = \"1 Mpps\"\nramp = \"1 ms\"").unwrap_err();
        assert!(error.contains("a ramp takes 100 ms to"), "{error}");
    }

    #[test]
    fn all_tests_are_asked_for_again_under_each_modifier() {
        let plan =
            plan("rate = \"101 kpps\"\nframe_sizes = [64, 128]\nmodifiers = [\"broadcast\", \"25-filters\"]").unwrap();
        assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan.clone()));
        let shown: Vec<String> = plan.specs().iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "packets IPv4 64 B at 101 kpps",
                "packets IPv4 128 B at 101 kpps",
                "packets IPv4 64 B at 100 kpps with broadcast",
                "packets IPv4 128 B at 100 kpps with broadcast",
                "packets IPv4 64 B at 101 kpps with 25-filters",
                "packets IPv4 128 B at 101 kpps with 25-filters",
            ]
        );
        // Broadcasts follow the load that a search asks for.
        let half = plan.specs()[2].probe().with_load(50_000, Nanos::from_secs(1)).unwrap();
        let sent = half.of::<PacketsSpec>().unwrap().as_sent();
        let loads = sent.streams.iter().map(|stream| format!("{} {}", stream.name, stream.load));
        assert_eq!(loads.collect::<Vec<_>>(), ["stream 50 kpps", "broadcasts beside stream 500 pps"]);
        assert_eq!(plan.specs()[4].profile().filters, Some(25));
        assert_eq!(plan.specs()[4].of::<PacketsSpec>().unwrap().as_sent().streams.len(), 1);
        let error = self::plan("rate = \"1 Mpps\"\nmodifiers = [\"1-filter\", \"1-filter\"]").unwrap_err();
        assert!(error.contains("each modifier once"), "{error}");
        let error = self::plan("rate = \"1 Mpps\"\nmodifiers = [\"management\"]").unwrap_err();
        assert!(error.contains("`broadcast`, `1-filter`, `25-filters`"), "{error}");
    }

    /// The rate of its first stream.
    fn spec_rate(spec: &PacketsSpec) -> Option<PacketRate> {
        spec.streams[0].load.rate.amount().map(PacketRate)
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
