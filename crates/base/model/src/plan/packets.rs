//! The section of a plan for numbered packets.

mod rfc2544;

use std::{num::NonZeroU32, str::FromStr};

use derive_more::Display;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::rfc2544::Rfc2544Item;
use super::{
    Item, LONGEST, Method, Plan,
    searched::Searched,
    stored::{Extent, mtus},
};
use crate::{
    alike::distinct,
    frame_size::{FrameSize, MIN_FRAME},
    plausible::{self, Checked},
    probe::{Direction, Engine, IpVersion, PacketsSpec, ProbeSpec},
    search::{Goal, SearchMethod},
    stream::{
        BROADCASTS, LARGEST_FRAME, Load, MOST_STREAMS, Pacing, RAMP, Rate, Sizes, Stream, WordsError, words::as_words,
    },
    units::{BitRate, Mtu, Nanos, PacketRate, Percent},
};

/// Numbered packets, at one load or at several, counted by number where they arrive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketsItem {
    /// `4` or `6`.
    #[serde(default)]
    pub ip: IpVersion,
    /// `forward`, `reverse` or `both`.
    #[serde(default)]
    pub direction: Direction,
    /// Frame sizes with FCS, in bytes, a trial each. One that has no room for the number is raised to the smallest that has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frame_sizes: Vec<FrameSize>,
    /// Frame sizes used in turn within one trial, in place of `frame_sizes`, like "imix", "64, 128, 1518" or "64..1518 step 2".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Sizes>,
    /// Instead: streams that are sent at the same time, each with its own sizes, headers and load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stream: Vec<Stream>,
    /// Load offered each way ("1 Mpps", "5 Gbit/s L1", "10 %", "1 Mpps poisson"), or several loads one after the other ("1 Mpps..10 Mpps": ten of
    /// them, in round steps; "1 Mpps..10 Mpps step 500 kpps"); without it flat out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Ladder>,
    /// `mlr` (RFC 9971) or `binary`: instead of each load of a ladder, those that lead to the highest one that meets a goal. `rate` then has
    /// the lowest and the highest load, in any of its units, or the highest one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchMethod>,
    /// Goals of the search; without any, no loss in a trial of `duration`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub goal: Vec<Goal>,
    /// Flows that the packets take turns in, distinguished by their ports.
    #[serde(default = "one_flow")]
    pub flows: NonZeroU32,
    /// Duration of sending, for each frame size and rate.
    pub duration: Nanos,
    /// `live`, `xsk`, `af_packet`, `udp` or `pktgen`; without it what fits best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,
    /// MTUs that both ends are set to, one after the other, each proved by a path probe, and put back afterwards; empty
    /// leaves the bed's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mtus: Vec<Mtu>,
}

fn one_flow() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// In less time a rate is hardly one.
const SHORTEST: Nanos = Nanos::from_millis(100);

/// More rungs are no ladder.
const MOST_RUNGS: f64 = 1_000.0;

/// Rungs of a ladder that names no step: as many as there may be, and so few that another step is taken if one fits better.
const MOST_ROUND_RUNGS: f64 = 11.0;
const FEWEST_ROUND_RUNGS: f64 = 5.0;

/// Round steps of each power of ten, in tenths.
const ROUND: [u32; 4] = [10, 20, 25, 50];

impl Item for PacketsItem {
    fn check(&self) -> Result<(), String> {
        self.of_search(|search| search.check())?;
        let said = [!self.frame_sizes.is_empty(), self.sizes.is_some(), !self.stream.is_empty()];
        if said.into_iter().filter(|said| *said).count() != 1 {
            return Err("write exactly one of frame_sizes (like [64, 1518], a trial each), sizes (like \"imix\") and \
                [[packets.stream]] tables"
                .to_owned());
        }
        if self.duration < SHORTEST || self.duration > LONGEST {
            return Err(format!("duration is between {SHORTEST} and {LONGEST}"));
        }
        if self.stream.is_empty() {
            return self.check_sizes();
        }
        self.check_streams()
    }

    /// A probe for each MTU, frame size and load, the loads of one frame size in a row.
    fn specs(&self) -> Vec<ProbeSpec> {
        let together = self.streams();
        let each = |mtu| together.iter().map(move |streams| self.spec(mtu, streams.clone()).into());
        super::each_mtu(&self.mtus).flat_map(each).collect()
    }

    fn extent(&self) -> Extent {
        let loads = self.rate.as_ref().map_or(1, |ladder| ladder.loads().len());
        let sizes = self.frame_sizes.len() + usize::from(self.sizes.is_some());
        let each = if self.stream.is_empty() { sizes.saturating_mul(loads) } else { 1 };
        Extent::of(&[mtus(&self.mtus), each], &[self.duration])
    }

    fn check_stored(&self) -> Checked {
        // A search goes by the arithmetic of its goals: impossible ones lead nowhere.
        self.of_search(|search| search.check()).or_else(|why| plausible::refuse("search", why))
    }

    fn method(&self) -> Method {
        self.of_search(|search| search.method(Method::Ladder))
    }
}

impl PacketsItem {
    /// Something of its search.
    fn of_search<T>(&self, of: impl FnOnce(Searched<'_>) -> T) -> T {
        let loads = self.rate.as_ref().map(Ladder::loads).unwrap_or_default();
        let (lowest, highest) = (loads.first().map(|load| load.rate), loads.last().map(|load| load.rate));
        let amounts = || Some((lowest?.amount()?, highest?.amount()?));
        let range = amounts().map(|(lowest, highest)| (Some(lowest).filter(|_| loads.len() > 1), highest));
        of(Searched {
            method: self.search,
            goals: &self.goal,
            duration: self.duration,
            shortest: SHORTEST,
            loads: range,
            words: &|amount| highest.unwrap_or_default().with_amount(amount).to_string(),
            example: "100 kpps..10 Mpps",
        })
    }

    fn check_sizes(&self) -> Result<(), String> {
        if let Some(small) = self.frame_sizes.iter().find(|size| **size < MIN_FRAME || **size > LARGEST_FRAME) {
            let (least, most) = (MIN_FRAME.0, LARGEST_FRAME.0);
            return Err(format!("there is no frame of {} bytes: use {least} to {most} (with FCS)", small.0));
        }
        self.stream_of(Sizes::List(vec![MIN_FRAME]), Load::default()).check().map_err(|error| error.to_string())
    }

    fn check_streams(&self) -> Result<(), String> {
        if self.rate.is_some() || self.flows != one_flow() {
            return Err(
                "rate and flows are those of the one stream that the section itself makes; write load and flows \
                into the [[packets.stream]] tables instead"
                    .to_owned(),
            );
        }
        if self.stream.len() > MOST_STREAMS {
            return Err(format!("{} streams are too many: {MOST_STREAMS} at the most", self.stream.len()));
        }
        let mut versions = self.stream.iter().filter(|stream| stream.replay.is_none()).map(|stream| stream.ip);
        let first = versions.next();
        if versions.any(|ip| Some(ip) != first) {
            return Err("streams that are sent together are all IPv4 or all IPv6; write a section for each".to_owned());
        }
        if let Some(stream) = self.stream.iter().find(|stream| stream.name.starts_with(BROADCASTS)) {
            return Err(format!("\"{}\" is the name of frames that no figure counts; choose another", stream.name));
        }
        if self.stream.iter().any(|stream| stream.name == RAMP && stream.load.pacing != Pacing::Ramp) {
            return Err(format!(
                "\"{RAMP}\" is the name of a stream whose load rises before the others begin; choose another"
            ));
        }
        Stream::check_all(&self.stream).map_err(|error| error.to_string())
    }

    /// Streams that are sent together in each trial.
    fn streams(&self) -> Vec<Vec<Stream>> {
        if !self.stream.is_empty() {
            return vec![self.stream.clone()];
        }
        let each = self.frame_sizes.iter().map(|size| Sizes::List(vec![*size]));
        let loads = match &self.rate {
            None => vec![Load::default()],
            // A search asks for others as it goes.
            Some(Ladder { loads, .. }) if self.search.is_some() => loads.last().copied().into_iter().collect(),
            Some(Ladder { loads, .. }) => loads.clone(),
        };
        each.chain(self.sizes.clone())
            .flat_map(|sizes| loads.iter().map(move |load| vec![self.stream_of(sizes.clone(), *load)]))
            .collect()
    }

    fn stream_of(&self, sizes: Sizes, load: Load) -> Stream {
        let flows = Some(self.flows.get()).filter(|flows| *flows > 1);
        Stream { sizes, ip: self.ip, flows, load, ..Stream::default() }
    }

    fn spec(&self, mtu: Option<Mtu>, streams: Vec<Stream>) -> PacketsSpec {
        PacketsSpec {
            streams,
            direction: self.direction,
            duration: self.duration,
            engine: self.engine,
            mtu,
            modifier: None,
        }
    }
}

impl Plan {
    /// Names of its captures without folders, each once.
    pub fn captures(&self) -> Vec<&str> {
        distinct(self.written_streams().filter_map(Stream::capture))
    }

    /// The plan with its captures named without folders, as if they stood beside it.
    pub(crate) fn with_captures_beside(&self) -> Self {
        let mut plan = self.clone();
        plan.packets.iter_mut().flat_map(|item| &mut item.stream).for_each(Stream::leave_folder);
        plan
    }

    /// Words that quote paths of its captures, with their names alone.
    pub(crate) fn without_folders(&self, words: &str) -> String {
        self.written_streams().fold(words.to_owned(), |words, stream| stream.without_folder(&words))
    }

    /// Streams that stand in tables of their own.
    fn written_streams(&self) -> impl Iterator<Item = &Stream> {
        self.packets.iter().flat_map(|item| &item.stream)
    }
}

/// One load, or several from the lowest to the highest.
#[derive(Clone, Debug, PartialEq, Display)]
#[display("{text}")]
pub struct Ladder {
    text: String,
    loads: Vec<Load>,
}

/// A ladder of loads that cannot be climbed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rate \"{text}\": {why}")]
pub struct LadderError {
    text: String,
    why: String,
}

impl Ladder {
    /// Loads, the lowest first.
    pub fn loads(&self) -> &[Load] {
        &self.loads
    }
}

impl FromStr for Ladder {
    type Err = LadderError;

    fn from_str(text: &str) -> Result<Self, LadderError> {
        let loads = loads(text).map_err(|why| LadderError { text: text.to_owned(), why })?;
        Ok(Self { text: text.to_owned(), loads })
    }
}

fn loads(text: &str) -> Result<Vec<Load>, String> {
    if text.contains(',') {
        let why =
            "lists of loads are refused; write a ladder, like \"1 Mpps..10 Mpps\" or \"1 Mpps..10 Mpps step 500 kpps\"";
        return Err(why.to_owned());
    }
    let Some((first, rest)) = text.split_once("..") else {
        return Ok(vec![text.parse().map_err(|error: WordsError| error.to_string())?]);
    };
    let rate = |text: &str| text.parse::<Rate>().map_err(|error| error.to_string());
    let (last, step) = match rest.split_once(" step ") {
        Some((last, step)) => (last.parse().map_err(|error: WordsError| error.to_string())?, Some(rate(step)?)),
        None => (rest.parse::<Load>().map_err(|error| error.to_string())?, None),
    };
    let rates = rungs(rate(first)?, last.rate, step)?;
    Ok(rates.into_iter().map(|rate| Load { rate, ..last }).collect())
}

/// From the first rate to the last, which is one of them.
fn rungs(first: Rate, last: Rate, step: Option<Rate>) -> Result<Vec<Rate>, String> {
    let one_kind = || {
        "a ladder and its step are written in one kind of rate, like \"1 Mpps..10 Mpps\" or \"10 %..100 %\"".to_owned()
    };
    let amount = |rate: Rate| amount_like(first, rate).ok_or_else(one_kind);
    let (low, high) = (amount(first)?, amount(last)?);
    if low >= high {
        return Err("the first rate of a ladder is lower than its last, like \"1 Mpps..10 Mpps\"".to_owned());
    }
    let amounts: Vec<f64> = match step {
        None => round_rungs(low, high, !matches!(first, Rate::Line(_))),
        Some(step) => {
            let step = amount(step)?;
            let below = ((high - low) / step).ceil();
            if below >= MOST_RUNGS {
                return Err(format!("a ladder has {MOST_RUNGS} rungs at the most; take larger steps"));
            }
            (0..below as u32).map(|rung| low + step * f64::from(rung)).chain([high]).collect()
        }
    };
    Ok(amounts.into_iter().map(|amount| rate_like(first, amount)).collect())
}

/// From the lowest to the highest in round steps: those that lead from one to the other, if there are such, else the smallest; the
/// rungs between are multiples of the step. Packets and bits are whole.
fn round_rungs(low: f64, high: f64, is_whole: bool) -> Vec<f64> {
    let power = (high - low).log10().floor() as i32;
    let round = (power - 2..=power).flat_map(|power| ROUND.map(|tenths| Step { tenths, power }));
    let steps: Vec<Step> = round.filter(|step| !is_whole || step.times(1.0).fract() == 0.0).collect();
    let count = |step: &&Step| step.between(low, high).count() as f64 + 2.0;
    let leads = |step: &&Step| step.is_multiple(low) && step.is_multiple(high) && count(step) >= FEWEST_ROUND_RUNGS;
    let mut few = steps.iter().filter(|step| count(step) <= MOST_ROUND_RUNGS);
    let step = few.clone().find(leads).or_else(|| few.next());
    let between = step.into_iter().flat_map(|step| step.between(low, high));
    [low].into_iter().chain(between).chain([high]).collect()
}

/// A round step: so many tenths of a power of ten.
struct Step {
    tenths: u32,
    power: i32,
}

impl Step {
    /// So many steps. The division by a power of ten keeps decimals short.
    fn times(&self, count: f64) -> f64 {
        let (number, power) = (count * f64::from(self.tenths), self.power - 1);
        if power < 0 { number / 10_f64.powi(-power) } else { number * 10_f64.powi(power) }
    }

    fn is_multiple(&self, amount: f64) -> bool {
        let count = amount / self.times(1.0);
        (count - count.round()).abs() < 1e-6
    }

    /// Multiples between two amounts.
    fn between(&self, low: f64, high: f64) -> impl Iterator<Item = f64> + '_ {
        let first = (low / self.times(1.0) + 1e-6).floor() as u64 + 1;
        (first..).map(|count| self.times(count as f64)).take_while(move |amount| *amount < high * (1.0 - 1e-9))
    }
}

/// Amount of a rate, if it is of the same kind as another.
fn amount_like(kind: Rate, rate: Rate) -> Option<f64> {
    match (kind, rate) {
        (Rate::Packets(_), Rate::Packets(rate)) => Some(rate.0 as f64),
        (Rate::L1(_), Rate::L1(rate)) | (Rate::L2(_), Rate::L2(rate)) => Some(rate.0 as f64),
        (Rate::Line(_), Rate::Line(share)) => Some(share.0),
        _ => None,
    }
}

fn rate_like(kind: Rate, amount: f64) -> Rate {
    match kind {
        Rate::FlatOut | Rate::Captured => kind,
        Rate::Packets(_) => Rate::Packets(PacketRate(amount.round() as u64)),
        Rate::L1(_) => Rate::L1(BitRate(amount.round() as u64)),
        Rate::L2(_) => Rate::L2(BitRate(amount.round() as u64)),
        Rate::Line(_) => Rate::Line(Percent(amount)),
    }
}

as_words!(Ladder);

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match text.parse::<Ladder>() {
            Ok(ladder) => ladder.loads().iter().map(Load::to_string).collect::<Vec<_>>().join(", "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_ladder_has_ten_rungs_or_steps_of_its_own() {
        assert_eq!(shown("5 Mpps"), "5 Mpps");
        assert_eq!(shown("flat out"), "flat out");
        let ten = "1 Mpps, 2 Mpps, 3 Mpps, 4 Mpps, 5 Mpps, 6 Mpps, 7 Mpps, 8 Mpps, 9 Mpps, 10 Mpps";
        assert_eq!(shown("1Mpps..10Mpps"), ten);
        assert_eq!(shown("1 Mpps..2.1 Mpps step 500 kpps"), "1 Mpps, 1.5 Mpps, 2 Mpps, 2.1 Mpps");
        assert_eq!(shown("25 %..100 % poisson step 25 %").split(", ").next(), Some("25 % poisson"));
        assert_eq!(shown("1 Gbit/s L1..2 Gbit/s L1 step 1 Gbit/s L1"), "1 Gbit/s L1, 2 Gbit/s L1");
    }

    #[test]
    fn a_ladder_without_a_step_has_round_rungs() {
        let thousands = ["100", "150", "200", "250", "300", "350", "400", "450", "500"].map(|it| format!("{it} kpps"));
        assert_eq!(shown("100kpps..500kpps"), thousands.join(", "));
        assert_eq!(
            shown("1 Mpps..3 Mpps"),
            "1 Mpps, 1.2 Mpps, 1.4 Mpps, 1.6 Mpps, 1.8 Mpps, 2 Mpps, 2.2 Mpps, 2.4 Mpps, 2.6 Mpps, 2.8 Mpps, 3 Mpps"
        );
        assert_eq!(shown("10 %..100 %").split(", ").count(), 10);
        assert_eq!(
            shown("0.5 %..1 %"),
            "0.5 %, 0.55 %, 0.6 %, 0.65 %, 0.7 %, 0.75 %, 0.8 %, 0.85 %, 0.9 %, 0.95 %, 1 %"
        );
        assert_eq!(shown("1 Mpps..100 Mpps").split(", ").take(3).collect::<Vec<_>>(), ["1 Mpps", "10 Mpps", "20 Mpps"]);
        assert_eq!(shown("7 pps..9 pps"), "7 pps, 8 pps, 9 pps");
        assert_eq!(shown("1234567 pps..1234568 pps"), "1.234567 Mpps, 1.234568 Mpps");
    }

    #[test]
    fn what_is_no_ladder_says_what_is_one() {
        assert!(shown("10 Mpps..1 Mpps").contains("lower than its last"), "{}", shown("10 Mpps..1 Mpps"));
        assert!(shown("1 Mpps..10").contains("\"1 Mpps\""), "{}", shown("1 Mpps..10"));
        assert!(shown("1 Mpps..100 %").contains("one kind of rate"));
        assert!(shown("0 pps..1 Mpps").contains("sends nothing"));
        assert!(shown("1 pps..10 Mpps step 1 pps").contains("larger steps"));
    }

    fn specs(keys: &str) -> Result<Vec<String>, String> {
        let toml = format!("name = \"t\"\n[[packets]]\nduration = \"1 s\"\n{keys}");
        let plan = crate::Plan::parse(&toml, &[]).map_err(|error| error.to_string())?;
        Ok(plan.specs().iter().map(ToString::to_string).collect())
    }

    #[test]
    fn each_size_and_rate_is_a_trial_and_a_mix_or_streams_are_one() {
        let ladder = specs("frame_sizes = [64, 128]\nrate = \"1 Mpps..2 Mpps step 1 Mpps\"").unwrap();
        assert_eq!(
            ladder,
            ["64", "128"].map(|size| [1, 2].map(|rate| format!("packets IPv4 {size} B at {rate} Mpps"))).concat()
        );
        assert_eq!(
            specs("sizes = \"imix\"\nflows = 100\ndirection = \"both\""),
            Ok(vec!["packets IPv4 IMIX 100 flows both".to_owned()])
        );
        let two =
            "[[packets.stream]]\nname = \"x\"\nload = \"1 kpps\"\n[[packets.stream]]\nname = \"y\"\nprotocol = \"tcp\"";
        assert_eq!(specs(two), Ok(vec!["packets x: IPv4 64 B at 1 kpps + y: TCP IPv4 64 B".to_owned()]));
    }

    #[test]
    fn a_search_is_planned_at_its_highest_load_and_has_goals() {
        let range = "frame_sizes = [64, 128]\nrate = \"100 kpps..10 Mpps\"\nsearch = \"mlr\"";
        assert_eq!(specs(range), Ok(["64", "128"].map(|size| format!("packets IPv4 {size} B at 10 Mpps")).to_vec()));
        let goal =
            "name = \"x\"\nfinal_trial_duration = \"1 s\"\nduration_sum = \"21 s\"\nloss_ratio = 0\nexceed_ratio = 0.5";
        assert!(specs(&format!("{range}\n[[packets.goal]]\n{goal}")).is_ok());
        let refused = |keys: &str| specs(keys).unwrap_err();
        for loads in ["10 Mpps", "1 %..10 %", "100 %", "1 Gbit/s L1..2 Gbit/s L1", "100 Mbit/s L2"] {
            assert!(specs(&range.replace("100 kpps..10 Mpps", loads)).is_ok(), "{loads}");
        }
        assert!(refused(&range.replace("rate", "#")).contains("lowest and its highest load"));
        assert!(refused(&range.replace("100 kpps..10 Mpps", "flat out")).contains("or the highest one alone"));
        assert!(refused(&range.replace("100 kpps..10 Mpps", "300 pps")).contains("or the highest one alone"));
        assert!(refused(&range.replace("100 kpps", "399 pps")).contains("begins at 400 pps or more"));
        assert!(refused(&range.replace("100 kpps..10 Mpps", "0.03 %..1 %")).contains("begins at 0.04 % or more"));
        assert!(refused(&range.replace("mlr", "linear")).contains("expected `mlr` or `binary`"));
        let several =
            format!("{range}\n[[packets.goal]]\n{goal}\n[[packets.goal]]\n{}", goal.replace("\"x\"", "\"y\""));
        assert!(specs(&several).is_ok());
        assert!(refused(&several.replace("mlr", "binary")).contains("halving has one goal"));
        assert!(refused(&several.replace("search", "#")).contains("goals are those of a search"));
        assert!(refused(&several.replace("\"1 s\"", "\"10 ms\"")).contains("last 100 ms or more"));
    }

    #[test]
    fn a_search_keeps_the_unit_of_its_loads() {
        let planned = |rate: &str| {
            let toml = format!(
                "name = \"t\"\n[[packets]]\nduration = \"1 s\"\nframe_sizes = [64]\nsearch = \"mlr\"\nrate = \"{rate}\""
            );
            let section = crate::Plan::parse(&toml, &[]).unwrap().sections().remove(0);
            let Method::Search(planned) = section.method else { panic!("a search") };
            let at = |load| section.specs[0].probe().with_load(load, Nanos::from_secs(1)).unwrap().to_string();
            (planned.min, planned.max, at(planned.max / 4))
        };
        let named = |load: &str| format!("packets IPv4 64 B at {load}");
        assert_eq!(planned("100 %"), (1_000, 1_000_000, named("25 %")));
        assert_eq!(planned("0.1 %..50 % burst 32"), (1_000, 500_000, named("12.5 % burst 32")));
        assert_eq!(planned("2 Gbit/s L1"), (2_000_000, 2_000_000_000, named("500 Mbit/s L1")));
        assert_eq!(planned("1 Mbit/s L2..2 Gbit/s L2"), (1_000_000, 2_000_000_000, named("500 Mbit/s L2")));
        assert_eq!(planned("4 kpps"), (400, 4_000, named("1 kpps")));
    }

    #[test]
    fn what_cannot_be_sent_is_refused_with_its_section() {
        let refused = |keys: &str| specs(keys).unwrap_err();
        assert!(refused("").contains("[[packets]] number 1: write exactly one of frame_sizes"), "{}", refused(""));
        assert!(refused("frame_sizes = [64]\nsizes = \"imix\"").contains("exactly one"));
        assert!(refused("frame_sizes = [60]").contains("use 64 to"));
        assert!(refused("frame_sizes = [64]\nflows = 1000001").contains("1000000"));
        assert!(refused("rate = \"1 Mpps\"\n[[packets.stream]]").contains("into the [[packets.stream]] tables"));
        assert!(refused("[[packets.stream]]\n[[packets.stream]]\nip = 6").contains("all IPv4 or all IPv6"));
        assert!(refused("[[packets.stream]]\ndscp = 64").contains("DSCP"));
        assert!(refused("[[packets.stream]]\n[[packets.stream]]").contains("another stream has this name"));
    }
}
