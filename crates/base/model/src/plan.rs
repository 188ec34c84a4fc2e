//! What a run shall measure, read from TOML, and what it must reach.

use std::{fmt, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    frame_size::FrameSize,
    probe::{GoodputSpec, IpVersion, LatencySpec, ProbeSpec, Protocol, WaitMode},
    units::{BitRate, Nanos, UnitError},
};

/// A plan: probes in the order they run, how often, and limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Short name, shown in reports and lists.
    pub name: String,
    /// How often the whole list of probes is gone through. Repeats go round the list, so that a drift of the
    /// machine's speed meets each probe alike.
    #[serde(default = "one")]
    pub repeats: NonZeroU32,
    /// Round-trip times.
    #[serde(default)]
    pub latency: Vec<LatencyItem>,
    /// Goodput.
    #[serde(default)]
    pub goodput: Vec<GoodputItem>,
    /// What figures must reach.
    #[serde(default)]
    pub limits: Vec<Limit>,
}

/// Latency over several frame sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyItem {
    /// `udp` or `tcp`.
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default = "v4")]
    pub ip: IpVersion,
    /// `spin` or `block`.
    #[serde(default = "spin")]
    pub mode: WaitMode,
    /// Frame sizes with FCS, in bytes.
    pub frame_sizes: Vec<FrameSize>,
    /// Round trips that count, for each frame size.
    #[serde(default = "ten_thousand")]
    pub count: NonZeroU64,
    /// Round trips made first and not counted.
    #[serde(default = "thousand")]
    pub warmup: u64,
    /// When a reply counts as late.
    #[serde(default = "second")]
    pub timeout: Nanos,
}

/// Goodput of one kind of transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoodputItem {
    /// `tcp`.
    pub protocol: Protocol,
    /// `4` or `6`.
    #[serde(default = "v4")]
    pub ip: IpVersion,
    /// Connections at the same time.
    #[serde(default = "one_stream")]
    pub streams: NonZeroU16,
    /// Time that counts.
    pub duration: Nanos,
    /// Time sent first and not counted.
    #[serde(default = "half_second")]
    pub warmup: Nanos,
}

/// A figure that a limit can be set on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Smallest RTT.
    RttMin,
    /// Mean RTT.
    RttMean,
    /// Median RTT.
    RttP50,
    /// 90th percentile of RTT.
    RttP90,
    /// 99th percentile of RTT.
    RttP99,
    /// 99.9th percentile of RTT.
    RttP999,
    /// Largest RTT.
    RttMax,
    /// Goodput over the whole trial.
    GoodputMean,
    /// Goodput of the slowest interval.
    GoodputMin,
}

/// One bound on one figure, for all trials that the selectors match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The figure.
    pub metric: Metric,
    /// The figure must not be above this ("30 us").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<String>,
    /// The figure must not be below this ("9.4 Gbit/s").
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<String>,
    /// Only trials of this protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<Protocol>,
    /// Only trials of this IP version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ip: Option<IpVersion>,
    /// Only latency trials that wait this way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<WaitMode>,
    /// Only latency trials of this frame size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_size: Option<FrameSize>,
    /// Only goodput trials with this many streams.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<u16>,
}

/// Which side of a bound is good, with the bound in the metric's base unit (nanoseconds or bit/s).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// Good at or below.
    AtMost(f64),
    /// Good at or above.
    AtLeast(f64),
}

/// One probe to run, and in which repeat.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Counts from 1.
    pub repeat: u32,
    /// What to measure.
    pub spec: ProbeSpec,
}

/// A plan that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML, an unknown key, a wrong type or unit; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// A `--set` that names nothing.
    #[error("--set {set}: {why}")]
    Set {
        /// As written.
        set: String,
        /// What is wrong with it.
        why: String,
    },
    /// Readable, but it asks for something that cannot be.
    #[error("{section}: {why}")]
    Meaning {
        /// The section, like `[[latency]] number 2`.
        section: String,
        /// What is wrong and what to write.
        why: String,
    },
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}
fn one_stream() -> NonZeroU16 {
    NonZeroU16::MIN
}
fn v4() -> IpVersion {
    IpVersion::V4
}
fn spin() -> WaitMode {
    WaitMode::Spin
}
fn ten_thousand() -> NonZeroU64 {
    const { NonZeroU64::new(10_000).expect("not zero") }
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

impl Plan {
    /// Reads a plan from TOML, with `--set` overrides (`KEY=VALUE`, like `repeats=6` or `latency.count=100`; a key in
    /// a list of tables changes all of them).
    pub fn parse(toml: &str, sets: &[String]) -> Result<Self, PlanError> {
        let plan: Self = if sets.is_empty() {
            toml::from_str(toml).map_err(|e| PlanError::Toml(e.to_string()))?
        } else {
            let mut table: toml::Table = toml::from_str(toml).map_err(|e| PlanError::Toml(e.to_string()))?;
            for set in sets {
                apply_set(&mut table, set)?;
            }
            table.try_into().map_err(|e: toml::de::Error| PlanError::Set { set: sets.join(" "), why: e.to_string() })?
        };
        plan.check()?;
        Ok(plan)
    }

    /// Whether all that the plan says can be meant.
    pub fn check(&self) -> Result<(), PlanError> {
        if self.latency.is_empty() && self.goodput.is_empty() {
            let why = "the plan measures nothing; add a [[latency]] or [[goodput]] section".to_owned();
            return Err(PlanError::Meaning { section: format!("plan \"{}\"", self.name), why });
        }
        check_name(&self.name).map_err(|why| PlanError::Meaning { section: "name".to_owned(), why })?;
        at_most("repeats", self.repeats.get().into(), MOST_REPEATS)
            .map_err(|why| PlanError::Meaning { section: format!("plan \"{}\"", self.name), why })?;
        for (number, item) in self.latency.iter().enumerate() {
            item.check().map_err(|why| meaning("latency", number, why))?;
        }
        for (number, item) in self.goodput.iter().enumerate() {
            item.check().map_err(|why| meaning("goodput", number, why))?;
        }
        for (number, limit) in self.limits.iter().enumerate() {
            limit.bound().map_err(|why| meaning("limits", number, why))?;
        }
        Ok(())
    }

    /// Each probe to run, in order: the whole list, then the whole list again for the next repeat.
    pub fn steps(&self) -> Vec<Step> {
        (1..=self.repeats.get())
            .flat_map(|repeat| self.specs().into_iter().map(move |spec| Step { repeat, spec }))
            .collect()
    }

    /// Each probe once.
    pub fn specs(&self) -> Vec<ProbeSpec> {
        let latency = self.latency.iter().flat_map(LatencyItem::specs).map(ProbeSpec::Latency);
        let goodput = self.goodput.iter().map(GoodputItem::spec).map(ProbeSpec::Goodput);
        latency.chain(goodput).collect()
    }
}

fn meaning(section: &str, index: usize, why: String) -> PlanError {
    PlanError::Meaning { section: format!("[[{section}]] number {}", index + 1), why }
}

/// More of these cannot be meant, and would only look like a program that hangs.
const MOST_REPEATS: u64 = 10_000;
const MOST_ROUND_TRIPS: u64 = 1_000_000_000;
const LONGEST: Nanos = Nanos::from_secs(7 * 24 * 3600);
const LONGEST_NAME: usize = 64;

fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!("a plan's name has 1 to {LONGEST_NAME} characters, and no control characters"));
    }
    Ok(())
}

fn at_most(key: &str, value: u64, most: u64) -> Result<(), String> {
    if value > most { Err(format!("{key} = {value} is too many: {most} at the most")) } else { Ok(()) }
}

impl LatencyItem {
    fn check(&self) -> Result<(), String> {
        at_most("count", self.count.get(), MOST_ROUND_TRIPS)?;
        at_most("warmup", self.warmup, MOST_ROUND_TRIPS)?;
        if self.frame_sizes.is_empty() {
            return Err("frame_sizes is empty; write for example frame_sizes = [64, 1518]".to_owned());
        }
        if self.timeout.0 < 1_000_000 || self.timeout > Nanos::from_secs(60) {
            return Err(format!("timeout {} is not between 1 ms and 60 s", self.timeout));
        }
        Ok(())
    }

    fn specs(&self) -> Vec<LatencySpec> {
        let spec = |frame_size: &FrameSize| LatencySpec {
            protocol: self.protocol,
            ip: self.ip,
            mode: self.mode,
            frame_size: *frame_size,
            count: self.count.get(),
            warmup: self.warmup,
            timeout: self.timeout,
        };
        self.frame_sizes.iter().map(spec).collect()
    }
}

impl GoodputItem {
    fn check(&self) -> Result<(), String> {
        if self.protocol == Protocol::Udp {
            return Err("goodput is measured over TCP; write protocol = \"tcp\"".to_owned());
        }
        if self.duration < Nanos::from_secs(1) {
            return Err(format!(
                "duration {} is too short: goodput is counted by the second, use \"1 s\" or more",
                self.duration
            ));
        }
        if self.duration > LONGEST || self.warmup > LONGEST {
            return Err(format!("duration and warmup are {LONGEST} at the most"));
        }
        at_most("streams", self.streams.get().into(), 128)
    }

    fn spec(&self) -> GoodputSpec {
        GoodputSpec {
            protocol: self.protocol,
            ip: self.ip,
            streams: self.streams.get(),
            duration: self.duration,
            warmup: self.warmup,
        }
    }
}

impl Metric {
    /// Whether the figure is a time (else a bit rate).
    pub fn is_time(self) -> bool {
        !matches!(self, Self::GoodputMean | Self::GoodputMin)
    }

    fn parse_value(self, text: &str) -> Result<f64, UnitError> {
        if self.is_time() {
            text.parse::<Nanos>().map(|nanos| nanos.0 as f64)
        } else {
            text.parse::<BitRate>().map(|rate| rate.0 as f64)
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RttMin => "rtt_min",
            Self::RttMean => "rtt_mean",
            Self::RttP50 => "rtt_p50",
            Self::RttP90 => "rtt_p90",
            Self::RttP99 => "rtt_p99",
            Self::RttP999 => "rtt_p999",
            Self::RttMax => "rtt_max",
            Self::GoodputMean => "goodput_mean",
            Self::GoodputMin => "goodput_min",
        })
    }
}

impl Limit {
    /// The bound in the metric's base unit, or what is wrong with it.
    pub fn bound(&self) -> Result<Bound, String> {
        let value = |text: &str| self.metric.parse_value(text).map_err(|e| e.to_string());
        match (&self.at_most, &self.at_least) {
            (Some(text), None) => Ok(Bound::AtMost(value(text)?)),
            (None, Some(text)) => Ok(Bound::AtLeast(value(text)?)),
            _ => Err(format!("{} needs exactly one of at_most and at_least", self.metric)),
        }
    }

    /// Whether the limit speaks of this probe.
    pub fn matches(&self, spec: &ProbeSpec) -> bool {
        fn fits<T: PartialEq>(wanted: &Option<T>, is: T) -> bool {
            wanted.as_ref().is_none_or(|wanted| *wanted == is)
        }
        match spec {
            ProbeSpec::Latency(spec) => {
                self.metric.is_time()
                    && self.streams.is_none()
                    && fits(&self.protocol, spec.protocol)
                    && fits(&self.ip, spec.ip)
                    && fits(&self.mode, spec.mode)
                    && fits(&self.frame_size, spec.frame_size)
            }
            ProbeSpec::Goodput(spec) => {
                !self.metric.is_time()
                    && self.mode.is_none()
                    && self.frame_size.is_none()
                    && fits(&self.protocol, spec.protocol)
                    && fits(&self.ip, spec.ip)
                    && fits(&self.streams, spec.streams)
            }
        }
    }
}

fn apply_set(table: &mut toml::Table, set: &str) -> Result<(), PlanError> {
    let error = |why: &str| PlanError::Set { set: set.to_owned(), why: why.to_owned() };
    let (key, value) = set.split_once('=').ok_or_else(|| error("write it as KEY=VALUE, for example repeats=6"))?;
    let value = parse_set_value(value.trim());
    let path: Vec<&str> = key.trim().split('.').collect();
    match path.as_slice() {
        [key] if !key.is_empty() => {
            table.insert((*key).to_owned(), value);
        }
        [section, key] if !key.is_empty() => {
            let Some(toml::Value::Array(items)) = table.get_mut(*section) else {
                return Err(error("the plan has no such section, so there is nothing to change"));
            };
            for item in items.iter_mut().filter_map(toml::Value::as_table_mut) {
                item.insert((*key).to_owned(), value.clone());
            }
        }
        _ => return Err(error("the key is one word (repeats) or section.word (latency.count)")),
    }
    Ok(())
}

/// A TOML value where it is one (numbers, lists), text otherwise (`10 s`).
fn parse_set_value(text: &str) -> toml::Value {
    let document = format!("value = {text}");
    let parsed = toml::from_str::<toml::Table>(&document).ok().and_then(|mut table| table.remove("value"));
    parsed.unwrap_or_else(|| toml::Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
name = "t"
repeats = 2
[[latency]]
protocol = "udp"
frame_sizes = [64, 1518]
[[goodput]]
protocol = "tcp"
duration = "2 s"
"#;

    fn error(toml: &str) -> String {
        Plan::parse(toml, &[]).unwrap_err().to_string()
    }

    #[test]
    fn repeats_go_round_the_whole_list() {
        let steps = Plan::parse(PLAN, &[]).unwrap().steps();
        let shown: Vec<_> = steps.iter().map(|step| format!("{} {}", step.repeat, step.spec)).collect();
        assert_eq!(
            shown,
            [
                "1 latency UDP IPv4 spin 64 B",
                "1 latency UDP IPv4 spin 1518 B",
                "1 goodput TCP IPv4 1 stream",
                "2 latency UDP IPv4 spin 64 B",
                "2 latency UDP IPv4 spin 1518 B",
                "2 goodput TCP IPv4 1 stream",
            ]
        );
    }

    #[test]
    fn errors_name_line_column_and_what_is_expected() {
        let unknown_key = error(&PLAN.replace("protocol = \"udp\"", "protocl = \"udp\""));
        assert!(unknown_key.contains("line 5, column 1") && unknown_key.contains("expected one of"), "{unknown_key}");
        let unit = error(&PLAN.replace("2 s", "2"));
        assert!(unit.contains("line 9") && unit.contains("has no unit; use one of ns, us, ms, s"), "{unit}");
        let protocol = error(&PLAN.replace("\"udp\"", "\"sctp\""));
        assert!(protocol.contains("line 5") && protocol.contains("`udp` or `tcp`"), "{protocol}");
        let count = error(&PLAN.replace("[64, 1518]", "[64]\ncount = 0"));
        assert!(count.contains("line 7") && count.contains("nonzero"), "{count}");
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_section() {
        assert!(error("name = \"t\"").contains("measures nothing"));
        assert!(
            error(&PLAN.replace("\"tcp\"", "\"udp\"")).contains("[[goodput]] number 1: goodput is measured over TCP")
        );
        let limit = format!("{PLAN}[[limits]]\nmetric = \"rtt_p50\"\nat_most = \"5 Gbit/s\"");
        assert!(error(&limit).contains("unknown unit \"Gbit/s\""), "{}", error(&limit));
        let both = format!("{PLAN}[[limits]]\nmetric = \"rtt_p50\"");
        assert!(error(&both).contains("exactly one of"));
    }

    #[test]
    fn set_changes_one_key_or_all_items_of_a_section() {
        let sets = ["repeats=6".to_owned(), "latency.frame_sizes=[128]".to_owned(), "goodput.duration=3 s".to_owned()];
        let plan = Plan::parse(PLAN, &sets).unwrap();
        assert_eq!(plan.repeats.get(), 6);
        assert_eq!(plan.latency[0].frame_sizes, [FrameSize(128)]);
        assert_eq!(plan.goodput[0].duration, Nanos::from_secs(3));
        let wrong = Plan::parse(PLAN, &["latency.cout=1".to_owned()]).unwrap_err().to_string();
        assert!(wrong.contains("unknown field `cout`"), "{wrong}");
    }

    #[test]
    fn limits_speak_only_of_the_trials_they_select() {
        let limit = r#"[[limits]]
metric = "rtt_p99"
at_most = "30 us"
frame_size = 64
"#;
        let plan = Plan::parse(&format!("{PLAN}{limit}"), &[]).unwrap();
        let matched = plan.specs().iter().map(|spec| plan.limits[0].matches(spec)).collect::<Vec<_>>();
        assert_eq!(matched, [true, false, false]);
        assert_eq!(plan.limits[0].bound(), Ok(Bound::AtMost(30_000.0)));
    }
}
