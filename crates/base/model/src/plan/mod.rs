//! The plan of a run, read from TOML: measurements and limits.

mod forwarding;
mod goodput;
mod latency;
mod limit;
mod packets;
mod path;
mod searched;
mod set;
mod stored;
mod transactions;
mod transfer;

use std::{collections::HashMap, num::NonZeroU32, ops::Range};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use forwarding::ForwardingItem;
pub use goodput::GoodputItem;
pub use latency::LatencyItem;
pub use limit::{Bound, Criterion, Limit};
pub use packets::{Ladder, LadderError, PacketsItem, Rfc2544Item};
pub use path::PathItem;
pub use transactions::{TransactionKind, TransactionsItem};
pub use transfer::TransferItem;

use self::{set::apply_sets, stored::Extent};
use crate::{
    bed::Endpoint,
    choice::choice,
    plausible::Checked,
    probe::{LONGEST, PathSpec, ProbeSpec, Protocol, Stack},
    rfc2544::PlannedRfc2544,
    search::PlannedSearch,
    toml_text::{from_toml, to_toml},
    trial::{Origin, Trial},
    units::{Mtu, Nanos},
};

/// A plan: probes in the order they run, how often, and limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Short name, shown in reports and lists.
    pub name: String,
    /// Question that the first page of the report answers: `card`, whether the cards at the ends are healthy. Without it the first page has
    /// verdict and key figures alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<Purpose>,
    /// Whether searches are first made without the device between the ends: they tell the highest load that the tester vouches for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tester_first: bool,
    /// Number of rounds through the whole list of probes. Repeats go round the list, so that a drift of the
    /// machine's speed meets each probe alike.
    #[serde(default = "one")]
    pub repeats: NonZeroU32,
    /// Round-trip times.
    #[serde(default)]
    pub latency: Vec<LatencyItem>,
    /// Goodput.
    #[serde(default)]
    pub goodput: Vec<GoodputItem>,
    /// Path MTU.
    #[serde(default)]
    pub path: Vec<PathItem>,
    /// Numbered packets.
    #[serde(default)]
    pub packets: Vec<PacketsItem>,
    /// Requests and their responses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<TransactionsItem>,
    /// Files from one end to the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfer: Vec<TransferItem>,
    /// Tests of RFC 2544.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rfc2544: Vec<Rfc2544Item>,
    /// Correctness of forwarding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forwarding: Vec<ForwardingItem>,
    /// Limits that figures must reach.
    #[serde(default)]
    pub limits: Vec<Limit>,
}

crate::json!(Plan);

choice!(
    /// Question that a plan answers.
    Purpose, "a purpose", {
        /// Whether the cards at the ends are healthy.
        Card = "card",
    }
);

/// A trial to be measured: its identity within the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The procedure that asks for it (see [`Section::id`]).
    pub procedure: String,
    /// Items to measure.
    pub spec: ProbeSpec,
    /// The bed's senders that are in it (see [`crate::Bed::senders`]).
    pub senders: Range<usize>,
    /// Counts from 1.
    pub repeat: u32,
    /// Number of this request for this configuration in this repeat, from 1.
    pub attempt: u32,
}

/// A section of a plan, with the probes that it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// Name and number, like `latency.2`, as in `--set`.
    pub id: String,
    /// In which order it is measured.
    pub method: Method,
    /// Probes.
    pub specs: Vec<ProbeSpec>,
}

/// A way to go through a section of a plan.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// One probe after the other.
    List,
    /// From the lowest load to the highest, for each configuration that is otherwise the same.
    Ladder,
    /// By loads that follow from the trials so far, for each configuration.
    Search(PlannedSearch),
    /// Tests of a device, one after the other, for each configuration.
    Rfc2544(PlannedRfc2544),
}

impl Step {
    /// Whether this trial belongs to the step, on a bed with these senders.
    pub fn is_of(&self, trial: &Trial, senders: &[Endpoint]) -> bool {
        let ends = senders.get(self.senders.clone()).unwrap_or_default();
        trial.repeat == self.repeat
            && trial.origin.as_ref().is_some_and(|origin| *origin == self.origin())
            && trial.senders().eq(ends.iter().map(|end| end.name.as_str()))
            && trial.measured.spec() == self.spec
    }

    /// Part of the step that its trial stores, beside spec and ends.
    pub fn origin(&self) -> Origin {
        Origin { procedure: self.procedure.clone(), attempt: self.attempt }
    }
}

/// A plan that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Not TOML, an unknown key, a wrong type or unit; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// A `--set` that names nothing.
    #[error("{set}: {why}")]
    Set {
        /// As written.
        set: String,
        /// The fault.
        why: String,
    },
    /// TCP is to be bypassed.
    #[error("{section}: only UDP goes past the kernel so far; write protocol = \"udp\", or stacks = [\"kernel\"]")]
    TcpBypass {
        /// The section, like `[[latency]] number 2`.
        section: String,
    },
    /// Readable, but it asks for something that cannot be.
    #[error("{section}: {why}")]
    Meaning {
        /// The section, like `[[latency]] number 2`.
        section: String,
        /// The fault and its remedy.
        why: String,
    },
}

fn read(toml: &str) -> Result<Plan, PlanError> {
    from_toml(toml).map_err(|error| PlanError::Toml(error.in_text))
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

impl Plan {
    /// Reads a plan from TOML, with `--set` overrides (`KEY=VALUE`, like `repeats=6` or `latency.count=100`; a key in
    /// a list of tables changes all of them, `goodput.2.duration=5 s` the second one).
    pub fn parse(toml: &str, sets: &[String]) -> Result<Self, PlanError> {
        Self::changed(toml, sets, |_| Ok(()))
    }

    /// Like [`Plan::parse`], with other changes made before the overrides.
    pub fn changed(
        toml: &str,
        sets: &[String],
        change: impl Fn(&mut Self) -> Result<(), PlanError>,
    ) -> Result<Self, PlanError> {
        let plan = if sets.is_empty() {
            let mut plan = read(toml)?;
            change(&mut plan)?;
            plan
        } else {
            // First, since they may say what the text leaves out; and again, since they have the last word.
            let mut plan = Self::set(toml, sets)?;
            change(&mut plan)?;
            Self::set(&plan.to_toml(), sets)?
        };
        plan.check()?;
        Ok(plan)
    }

    fn set(toml: &str, sets: &[String]) -> Result<Self, PlanError> {
        let mut table = toml::from_str(toml).map_err(|error| PlanError::Toml(error.to_string()))?;
        apply_sets(&mut table, sets)?;
        from_toml(&table.to_string()).map_err(|error| PlanError::Set { set: sets.join(" "), why: error.message })
    }

    /// TOML that reads back as this plan.
    pub fn to_toml(&self) -> String {
        to_toml(self)
    }

    /// Whether all that the plan says can be meant.
    pub fn check(&self) -> Result<(), PlanError> {
        let sections = self.items();
        if sections.iter().all(|(_, items)| items.is_empty()) {
            let names = sections.map(|(name, _)| format!("[[{name}]]"));
            let why = format!("the plan measures nothing; add a section {}", names.join(" or "));
            return Err(PlanError::Meaning { section: format!("plan \"{}\"", self.name), why });
        }
        check_name(&self.name).map_err(|why| PlanError::Meaning { section: "name".to_owned(), why })?;
        at_most("repeats", self.repeats.get().into(), MOST_REPEATS)
            .map_err(|why| PlanError::Meaning { section: format!("plan \"{}\"", self.name), why })?;
        let searches = |method: Method| match method {
            Method::Search(_) => true,
            Method::Rfc2544(planned) => planned.is_searched(),
            _ => false,
        };
        if self.tester_first && !self.items().iter().flat_map(|(_, items)| items).any(|item| searches(item.method())) {
            let why =
                "there is no search whose loads the tester could vouch for; write search = \"mlr\", or leave it out";
            return Err(PlanError::Meaning { section: "tester_first".to_owned(), why: why.to_owned() });
        }
        for (name, items) in sections {
            for (number, item) in items.into_iter().enumerate() {
                item.check().map_err(|why| meaning(name, number, why))?;
                let specs = item.specs();
                if matches!(item.method(), Method::List) {
                    check_once(&specs).map_err(|why| meaning(name, number, why))?;
                }
                check_bypass(name, number, &specs)?;
            }
        }
        for (number, limit) in self.limits.iter().enumerate() {
            limit.criterion().map_err(|why| meaning("limits", number, why))?;
        }
        Ok(())
    }

    /// Each probe once, in order.
    pub fn specs(&self) -> Vec<ProbeSpec> {
        self.sections().into_iter().flat_map(|section| section.specs).collect()
    }

    /// The highest load of the ladder that a step is on; `None` where it is on none.
    pub fn highest_load(&self, step: &Step) -> Option<ProbeSpec> {
        let ladder = step.spec.probe().without_load()?;
        let section = self.sections().into_iter().find(|section| section.id == step.procedure)?;
        let mut rungs = section.specs.into_iter().filter(|spec| spec.probe().without_load().as_ref() == Some(&ladder));
        // The lowest comes first.
        if section.method == Method::Ladder { rungs.next_back() } else { None }
    }

    /// The sections in the order they are measured. Where the bed's MTU is changed for a probe, a path probe before it proves
    /// that packets of that size pass.
    pub fn sections(&self) -> Vec<Section> {
        let section = |name: &str, number: usize, item: &dyn Item| Section {
            id: format!("{name}.{}", number + 1),
            method: item.method(),
            specs: item.specs().into_iter().flat_map(proved).collect(),
        };
        let numbered = self.items().into_iter().flat_map(|(name, items)| {
            items.into_iter().enumerate().map(move |(number, item)| section(name, number, item))
        });
        numbered.collect()
    }

    /// The items of each section that measures, in the order they are measured: path and forwarding first, because the others rest on them.
    fn items(&self) -> [(&'static str, Vec<&dyn Item>); 8] {
        [
            ("path", items(&self.path)),
            ("forwarding", items(&self.forwarding)),
            ("latency", items(&self.latency)),
            ("goodput", items(&self.goodput)),
            ("packets", items(&self.packets)),
            ("transactions", items(&self.transactions)),
            ("transfer", items(&self.transfer)),
            ("rfc2544", items(&self.rfc2544)),
        ]
    }

    /// The plan without its measurements and limits.
    pub fn frame(&self) -> Self {
        let (name, purpose, repeats) = (self.name.clone(), self.purpose, self.repeats);
        Self {
            name,
            purpose,
            tester_first: self.tester_first,
            repeats,
            latency: vec![],
            goodput: vec![],
            path: vec![],
            packets: vec![],
            transactions: vec![],
            transfer: vec![],
            rfc2544: vec![],
            forwarding: vec![],
            limits: vec![],
        }
    }
}

/// An item of a section that measures.
trait Item {
    /// Whether all that it says can be meant.
    fn check(&self) -> Result<(), String>;

    /// Probes in the order in which they run.
    fn specs(&self) -> Vec<ProbeSpec>;

    /// In which order they are measured.
    fn method(&self) -> Method {
        Method::List
    }

    /// Size, known before its probes are listed.
    fn extent(&self) -> Extent;

    /// Whether its numbers are possible, in a plan of a store.
    fn check_stored(&self) -> Checked {
        Ok(())
    }
}

fn items<I: Item>(items: &[I]) -> Vec<&dyn Item> {
    items.iter().map(|item| item as &dyn Item).collect()
}

/// A probe, with the proof of its MTU before it.
fn proved(spec: ProbeSpec) -> Vec<ProbeSpec> {
    let profile = spec.profile();
    let mtu = profile.mtu.filter(|_| !profile.measures_mtu);
    let proof = mtu.map(|mtu| PathSpec { ip: profile.ip, mtu: Some(mtu), timeout: PATH_TIMEOUT, hops: 0 }.into());
    proof.into_iter().chain([spec]).collect()
}

/// Long for a laboratory, short enough that a silent path is judged within seconds.
pub(crate) const PATH_TIMEOUT: Nanos = Nanos::from_millis(200);

fn meaning(section: &str, index: usize, why: String) -> PlanError {
    PlanError::Meaning { section: numbered(section, index), why }
}

/// Repeats are for the whole plan: the same configuration twice would be measured as more of them.
fn check_once(specs: &[ProbeSpec]) -> Result<(), String> {
    let mut by_name = HashMap::<String, Vec<&ProbeSpec>>::new();
    for spec in specs {
        let of_name = by_name.entry(spec.to_string()).or_default();
        if of_name.contains(&spec) {
            return Err(format!("it names {spec} twice; name each value once, and measure more often by repeats"));
        }
        of_name.push(spec);
    }
    Ok(())
}

fn check_bypass(section: &str, index: usize, specs: &[ProbeSpec]) -> Result<(), PlanError> {
    let is_refused = |spec: &ProbeSpec| {
        let wanted = spec.probe().selectors();
        (wanted.protocol, wanted.stack) == (Some(Protocol::Tcp), Some(Stack::Bypass))
    };
    if specs.iter().any(is_refused) {
        return Err(PlanError::TcpBypass { section: numbered(section, index) });
    }
    Ok(())
}

fn numbered(section: &str, index: usize) -> String {
    format!("[[{section}]] number {}", index + 1)
}

/// More of these cannot be meant, and would only look like a program that hangs.
const MOST_REPEATS: u64 = 10_000;
const MOST_ROUND_TRIPS: u64 = 1_000_000_000;
const LONGEST_NAME: usize = 64;
const NO_RATE: &str = "a rate of 0 sends nothing; ask for more, or leave it out";

fn check_name(name: &str) -> Result<(), String> {
    if name.trim().is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(format!("a plan's name has 1 to {LONGEST_NAME} characters, and no control characters"));
    }
    Ok(())
}

fn at_most(key: &str, value: u64, most: u64) -> Result<(), String> {
    if value > most { Err(format!("{key} = {value} is too many: {most} at the most")) } else { Ok(()) }
}

fn kernel() -> Vec<Stack> {
    vec![Stack::Kernel]
}

fn check_stacks(stacks: &[Stack]) -> Result<(), String> {
    if stacks.is_empty() || (1..stacks.len()).any(|at| stacks[..at].contains(&stacks[at])) {
        return Err("stacks names each network stack once, like stacks = [\"kernel\", \"bypass\"]".to_owned());
    }
    Ok(())
}

fn each_mtu(mtus: &[Mtu]) -> impl Iterator<Item = Option<Mtu>> {
    let own = mtus.is_empty().then_some(None);
    own.into_iter().chain(mtus.iter().copied().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameSize, Metric, Percent};

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
    fn a_plan_is_written_so_that_it_reads_back() {
        let more = "rate = \"20 kpps\"\nduration = \"2 s\"\n[[path]]\n[[limits]]\nmetric = \"rtt_p50\"\nat_most = \"9 us\"\nmode = \"spin\"\n";
        let plan = Plan::parse(&PLAN.replace("[[goodput]]", &format!("{more}[[goodput]]")), &[]).unwrap();
        assert_eq!(Plan::parse(&plan.to_toml(), &[]), Ok(plan));
    }

    #[test]
    fn the_tester_is_first_only_where_something_is_searched() {
        let first = PLAN.replace("repeats = 2", "tester_first = true");
        assert!(error(&first).starts_with("tester_first: there is no search"), "{}", error(&first));
        let search = "[[packets]]\nframe_sizes = [64]\nrate = \"1 Mpps\"\nduration = \"1 s\"\nsearch = \"mlr\"";
        let plan = Plan::parse(&format!("{first}{search}"), &[]).unwrap();
        assert!(plan.tester_first && Plan::parse(&plan.to_toml(), &[]) == Ok(plan));
        let tests = "\n[[rfc2544]]\nrate = \"1 Mpps\"\n";
        assert!(Plan::parse(&format!("{first}{tests}"), &[]).unwrap().tester_first);
        let without_search = format!("{first}{tests}tests = [\"loss\"]");
        assert!(error(&without_search).starts_with("tester_first: there is no search"), "{}", error(&without_search));
    }

    #[test]
    fn an_mtu_of_its_own_is_proved_before_it_is_used() {
        let plan = PLAN.replace("\"2 s\"", "\"2 s\"\nmtus = [1500, 9000]");
        let shown: Vec<_> = Plan::parse(&plan, &[]).unwrap().specs().iter().skip(2).map(ToString::to_string).collect();
        let [path, goodput] = ["path IPv4 MTU", "goodput TCP IPv4 1 stream MTU"];
        assert_eq!(
            shown,
            [format!("{path} 1500"), format!("{goodput} 1500"), format!("{path} 9000"), format!("{goodput} 9000")]
        );
    }

    #[test]
    fn each_network_stack_has_trials_of_its_own_and_limits_tell_them_apart() {
        let both = "stacks = [\"kernel\", \"bypass\"]";
        let limit = "[[limits]]\nmetric = \"rtt_p50\"\nat_most = \"9 us\"\nstack = \"bypass\"\n";
        let plan =
            format!("{}{limit}", PLAN.replace("frame_sizes = [64, 1518]", &format!("frame_sizes = [64]\n{both}")));
        let plan = Plan::parse(&plan, &[]).unwrap();
        let shown: Vec<_> = plan.specs().iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["latency UDP IPv4 spin 64 B", "latency UDP IPv4 spin 64 B bypass", "goodput TCP IPv4 1 stream"]
        );
        let matched: Vec<_> = plan.specs().iter().map(|spec| plan.limits[0].matches(spec)).collect();
        assert_eq!(matched, [false, true, false]);
    }

    #[test]
    fn what_the_kernel_alone_does_is_refused_past_it() {
        let latency = |more: &str| error(&PLAN.replace("[64, 1518]", &format!("[64]\nstacks = [\"bypass\"]\n{more}")));
        assert!(latency("mode = \"busy-poll\"").contains("busy-poll is the kernel's"));
        assert!(latency("stamps = true").contains("stamps are the kernel's"));
        let tcp = error(&PLAN.replace("\"2 s\"", "\"2 s\"\nstacks = [\"bypass\"]"));
        assert!(tcp.contains("[[goodput]] number 1: only UDP goes past the kernel so far"), "{tcp}");
        let gso = PLAN.replace(
            "\"tcp\"\nduration = \"2 s\"",
            "\"udp\"\nduration = \"2 s\"\nbatch = \"gso\"\nstacks = [\"bypass\"]",
        );
        assert!(error(&gso).contains("batch = \"gso\" is the kernel's"));
        let twice = error(&PLAN.replace("[64, 1518]", "[64]\nstacks = [\"kernel\", \"kernel\"]"));
        assert!(twice.contains("names each network stack once"), "{twice}");
        let twice = error(&PLAN.replace("[64, 1518]", "[64, 1518, 64]"));
        assert!(twice.contains("64 B twice; name each value once"), "{twice}");
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
        assert!(count.contains("line 7") && count.contains("a whole number from 1: write it like 6"), "{count}");
    }

    #[test]
    fn a_value_of_another_kind_says_how_it_is_written() {
        let time = error(&PLAN.replace("\"2 s\"", "10"));
        assert!(time.contains("integer `10`, expected a number with its unit: write it like \"10 s\""), "{time}");
        let set = |set: &str| Plan::parse(PLAN, &[set.to_owned()]).unwrap_err().to_string();
        assert!(set("goodput.duration=10").contains("write it like \"10 s\""), "{}", set("goodput.duration=10"));
        for (key, words) in [
            ("repeats=six", "a whole number from 1: write it like 6"),
            ("goodput.mtus=[\"large\"]", "a whole number: write it like 1500"),
            ("latency.frame_sizes=64", "a list: write it like [64]"),
            ("latency.stamps=1", "true or false"),
            ("goodput.congestion=3", "a text: write it like \"3\""),
            ("goodput.congestion=[]", "a text: write it like \"text\""),
            ("goodput.rate=1000", "write it like \"9.4 Gbit/s\""),
        ] {
            assert!(set(key).contains(words), "{}", set(key));
        }
    }

    #[test]
    fn what_cannot_be_meant_is_refused_with_its_section() {
        assert!(error("name = \"t\"").contains("measures nothing"));
        let tcp_rate = error(&PLAN.replace("\"2 s\"", "\"2 s\"\nrate = \"1 Gbit/s\""));
        assert!(tcp_rate.contains("[[goodput]] number 1: rate is for datagrams"), "{tcp_rate}");
        let two_ends = error(&PLAN.replace("[64, 1518]", "[64]\ncount = 9\nduration = \"1 s\""));
        assert!(two_ends.contains("write only one of them"), "{two_ends}");
        let paced = |more: &str| error(&PLAN.replace("[64, 1518]", &format!("[64]\n{more}")));
        assert!(paced("rate = \"0.4 pps\"").contains("a rate of 0 sends nothing"));
        assert!(paced("rate = \"101 Mpps\"").contains("100 Mpps at the most"));
        assert!(paced("rate = \"1 Mpps\"\ntimeout = \"5 s\"").contains("choose a shorter timeout"));
        assert!(paced("rate = \"1 pps\"\ncount = 604801").contains("take longer than 604800 s"));
        let limit = format!("{PLAN}[[limits]]\nmetric = \"rtt_p50\"\nat_most = \"5 Gbit/s\"");
        assert!(error(&limit).contains("unknown unit \"Gbit/s\""), "{}", error(&limit));
        let both = format!("{PLAN}[[limits]]\nmetric = \"rtt_p50\"");
        assert!(error(&both).contains("exactly one of"));
        let by_reference = |rest: &str| error(&format!("{both}\nreference = \"mine\"\n{rest}"));
        assert!(by_reference("").contains("within is missing"));
        assert!(by_reference("within = \"20\"").contains("has no unit; write it like \"20 %\""));
        assert!(by_reference("within = \"20 %\"\nat_most = \"5 us\"").contains("exactly one of"));
    }

    #[test]
    fn set_changes_one_key_or_all_items_of_a_section() {
        let sets = ["repeats=6".to_owned(), "latency.frame_sizes=[128]".to_owned(), "goodput.duration=3 s".to_owned()];
        let plan = Plan::parse(PLAN, &sets).unwrap();
        assert_eq!(plan.repeats.get(), 6);
        assert_eq!(plan.latency[0].frame_sizes, [FrameSize(128)]);
        assert_eq!(plan.goodput[0].duration, Nanos::from_secs(3));
        let timed = PLAN.replace("[64, 1518]", "[64]\nduration = \"1 s\"");
        let counted = Plan::parse(&timed, &["latency.count=5".to_owned()]).unwrap();
        assert_eq!(counted.specs()[0].to_string(), "latency UDP IPv4 spin 64 B");
        assert_eq!((counted.latency[0].count.map(|count| count.get()), counted.latency[0].duration), (Some(5), None));
        let both = Plan::parse(&timed, &["latency.count=5".to_owned(), "latency.duration=1 s".to_owned()]);
        assert!(both.unwrap_err().to_string().contains("write only one of them"));
        let two = format!("{PLAN}[[goodput]]\nprotocol = \"tcp\"\nduration = \"60 s\"");
        let all = Plan::parse(&two, &["goodput.duration=1 s".to_owned(), "goodput.2.duration=5 s".to_owned()]).unwrap();
        let durations: Vec<_> = all.goodput.iter().map(|item| item.duration).collect();
        assert_eq!(durations, [Nanos::from_secs(1), Nanos::from_secs(5)]);
        for absent in ["goodput.0.streams=2", "goodput.2.streams=2", "path.1.ip=6"] {
            let error = Plan::parse(PLAN, &[absent.to_owned()]).unwrap_err().to_string();
            assert!(error.contains("the plan has no [[") && error.contains("counted from 1"), "{error}");
        }
        let wrong = Plan::parse(PLAN, &["latency.cout=1".to_owned()]).unwrap_err().to_string();
        assert!(wrong.contains("unknown field `cout`"), "{wrong}");
    }

    #[test]
    fn a_limit_may_lean_on_a_reference() {
        let limit = "[[limits]]\nmetric = \"goodput_mean\"\nreference = \"mine\"\nwithin = \"20 %\"";
        let plan = Plan::parse(&format!("{PLAN}{limit}"), &[]).unwrap();
        let within = Percent(20.0);
        assert_eq!(plan.limits[0].criterion(), Ok(Criterion::Reference { id: "mine", within }));
        assert_eq!(Metric::GoodputMean.no_worse_than(1e9, within), Bound::AtLeast(0.8e9));
        assert_eq!(Metric::RttMean.no_worse_than(1000.0, within), Bound::AtMost(1200.0));
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
        assert_eq!(plan.limits[0].criterion(), Ok(Criterion::Bound(Bound::AtMost(30_000.0))));
    }

    #[test]
    fn a_limit_may_speak_of_so_many_connections() {
        let section = "[[transactions]]\nkind = \"rr\"\nconnections = [1, 100]\nduration = \"1 s\"\n";
        let limit = "[[limits]]\nmetric = \"response_p99\"\nat_most = \"2 ms\"\nconnections = 100\n";
        let plan = Plan::parse(&format!("name = \"t\"\n{section}{limit}"), &[]).unwrap();
        let matched = plan.specs().iter().map(|spec| plan.limits[0].matches(spec)).collect::<Vec<_>>();
        assert_eq!(matched, [false, true]);
    }

    #[test]
    fn a_limit_on_loss_speaks_of_all_that_can_lose() {
        let sections = "[[goodput]]\nprotocol = \"udp\"\nduration = \"1 s\"\n[[limits]]\nmetric = \"loss\"\n";
        let plan = Plan::parse(&format!("{PLAN}{sections}at_most = \"0.01 %\""), &[]).unwrap();
        let matched = plan.specs().iter().map(|spec| plan.limits[0].matches(spec)).collect::<Vec<_>>();
        assert_eq!(matched, [true, true, false, true], "not of TCP");
        assert_eq!(plan.limits[0].criterion(), Ok(Criterion::Bound(Bound::AtMost(0.0001))));
        assert!(error(&format!("{PLAN}{sections}at_most = \"0.01\"")).contains("has no unit"));
    }
}
