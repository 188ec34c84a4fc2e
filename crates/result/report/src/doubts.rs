//! Doubts in words, and the doubts of a run brought together.

use std::{fmt::Display, iter, slice};

use model::{Doubt, Environment, Run, Trial};

use crate::{
    changes,
    lang::Lang,
    show::{self, grouped},
    texts::Texts,
};

/// Meaning of a doubt, and its remedy.
pub fn advice(doubt: &Doubt, lang: Lang) -> String {
    let t = Texts::of(lang);
    let with = |values: &[(&str, &dyn Display)]| t.of_value_with("doubt", doubt, values);
    let micros = |ns: u64| show::micros(ns as f64);
    match doubt {
        Doubt::Steal { percent } => with(&[("percent", &format!("{percent:.1}"))]),
        Doubt::OtherLoad { cpu, percent, machine } => other_load(&[(machine.clone(), *cpu, *percent)], t),
        Doubt::EnvironmentChanged { what } => environment_changed(slice::from_ref(what), None, t),
        Doubt::BroadcastShare { percent, .. } => with(&[("percent", &format!("{percent:.2}"))]),
        Doubt::Outage { seconds, .. } => with(&[("time", &show::seconds(*seconds))]),
        Doubt::NothingArrived { packets, .. }
        | Doubt::WrongPort { packets, .. }
        | Doubt::Duplicated { packets, .. }
        | Doubt::Reordered { packets, .. }
        | Doubt::Corrupted { packets, .. } => with(&[("packets", &grouped(*packets))]),
        Doubt::SenderTooSlow { intended, achieved } | Doubt::SenderPaused { intended, achieved } => {
            with(&[("percent", &format!("{:.1}", 100.0 * achieved / intended))])
        }
        Doubt::BehindSchedule { behind_ns, rtt_ns } => {
            with(&[("behind", &micros(*behind_ns)), ("rtt", &micros(*rtt_ns))])
        }
        Doubt::Unsteady { thirds_bps: Some(thirds), .. } => {
            let [first, second, last] = thirds.map(show::rate);
            t.with("doubt-unsteady-thirds", &[("first", &first), ("second", &second), ("last", &last)])
        }
        Doubt::Unsteady { settled_after_s, .. } => with(&[("seconds", &format!("{settled_after_s:.1}"))]),
        Doubt::SettingsChanged { at_s, .. } => with(&[("seconds", &format!("{at_s:.1}"))]),
        Doubt::ClockSet { by_s, .. } => with(&[("by", &format!("{by_s:.3}"))]),
        Doubt::PathNotProven { forward, reverse, .. } => {
            with(&[("forward", &passed(*forward, t)), ("reverse", &passed(*reverse, t))])
        }
        Doubt::MtuDisproved { ip, forward, reverse, .. } => {
            with(&[("ip", ip), ("forward", &passed(*forward, t)), ("reverse", &passed(*reverse, t))])
        }
        Doubt::ThroughKernel { datagrams, of } => with(&[("datagrams", &grouped(*datagrams)), ("of", &grouped(*of))]),
        Doubt::NoAddress { ip } => with(&[("ip", ip)]),
        plain => t.of_value("doubt", plain),
    }
}

fn passed(mtu: Option<u32>, t: &Texts) -> String {
    mtu.map_or_else(|| t.get("nothing-passed"), |it| format!("{it} B"))
}

/// A core with its machine, where there are two, and the percentage that something else took.
type LoadedCore = (String, usize, f64);

fn other_load(cores: &[LoadedCore], t: &Texts) -> String {
    let core = |(machine, cpu, percent): &LoadedCore| {
        let load = t.with("core-load", &[("cpu", cpu), ("percent", &format!("{percent:.0}"))]);
        format!("{machine} {load}").trim_start().to_owned()
    };
    t.with("doubt-other-load", &[("cores", &cores.iter().map(core).collect::<Vec<_>>().join(&t.get("list-comma")))])
}

fn environment_changed(changes: &[String], machines: Option<&Environment>, t: &Texts) -> String {
    t.with("doubt-environment-changed", &[("what", &changes::grouped(changes, machines, t).join("; "))])
}

/// One doubt, and where it arose.
pub(crate) struct GroupedDoubt {
    pub(crate) doubt: Doubt,
    /// Further doubts that one text tells of: about other cores or other changes.
    more: Vec<Doubt>,
    /// Whether the run itself carries it.
    of_run: bool,
    /// Numbers of the trials that carry it, in order.
    trials: Vec<u32>,
}

impl GroupedDoubt {
    fn of(doubt: &Doubt, trial: Option<u32>) -> Self {
        Self { doubt: doubt.clone(), more: vec![], of_run: trial.is_none(), trials: trial.into_iter().collect() }
    }

    /// Its meaning and its remedy. `run` is the one that carries it.
    pub(crate) fn advice(&self, run: &Run, lang: Lang) -> String {
        let all = iter::once(&self.doubt).chain(&self.more);
        match &self.doubt {
            Doubt::OtherLoad { .. } => {
                let core = |doubt: &Doubt| match doubt {
                    Doubt::OtherLoad { cpu, percent, machine } => Some((machine.clone(), *cpu, *percent)),
                    _ => None,
                };
                let mut cores: Vec<LoadedCore> = all.filter_map(core).collect();
                cores.sort_by(|(a, of_a, _), (b, of_b, _)| (a, of_a).cmp(&(b, of_b)));
                other_load(&cores, Texts::of(lang))
            }
            Doubt::EnvironmentChanged { .. } => {
                let change = |doubt: &Doubt| match doubt {
                    Doubt::EnvironmentChanged { what } => Some(what.clone()),
                    _ => None,
                };
                let changes: Vec<String> = all.filter_map(change).collect();
                environment_changed(&changes, Some(&run.before), Texts::of(lang))
            }
            alone => advice(alone, lang),
        }
    }

    /// Where it arose: in the whole run, in all of its trials, in some of them, or in both.
    pub(crate) fn place(&self, run: &Run, t: &Texts) -> String {
        let of_all = self.trials.len() == run.trials.len();
        let key = match self.of_run {
            true if of_all || self.trials.is_empty() => return t.get("doubts-run"),
            true => "doubts-run-and-trials",
            false if of_all => return t.get("doubts-all-trials"),
            false => "doubts-trials",
        };
        let trials = ranges(&self.trials);
        t.with(key, &[("count", &self.trials.len()), ("of", &run.trials.len()), ("trials", &trials)])
    }

    /// How many trials carry it, where those are only some of the run.
    pub(crate) fn some_trials(&self, run: &Run) -> Option<usize> {
        let count = self.trials.len();
        (!self.of_run && count < run.trials.len()).then_some(count)
    }

    /// It arose where the other one did, too.
    fn joins(&mut self, other: &Self) {
        self.of_run |= other.of_run;
        self.trials.extend(&other.trials);
        self.trials.sort_unstable();
        self.trials.dedup();
    }

    /// Takes in a doubt that the same text tells of: about another core, or about another change of the machines.
    fn takes(&mut self, other: &Self) -> bool {
        let is_alike = matches!(
            (&self.doubt, &other.doubt),
            (Doubt::OtherLoad { .. }, Doubt::OtherLoad { .. })
                | (Doubt::EnvironmentChanged { .. }, Doubt::EnvironmentChanged { .. })
        );
        if is_alike {
            self.more.push(other.doubt.clone());
            self.joins(other);
        }
        is_alike
    }
}

/// Every doubt of the run and its trials, each said once: those of one kind become the worst of them, one about cores names all
/// cores, and one about changes all changes.
pub(crate) fn gather(run: &Run) -> Vec<GroupedDoubt> {
    let of_run = run.doubts.iter().map(|doubt| GroupedDoubt::of(doubt, None));
    let of_trial = |trial: &Trial| -> Vec<GroupedDoubt> {
        trial.doubts.iter().map(|doubt| GroupedDoubt::of(doubt, Some(trial.number))).collect()
    };
    let mut kinds: Vec<GroupedDoubt> = Vec::new();
    for one in of_run.chain(run.trials.iter().flat_map(of_trial)) {
        match kinds.iter_mut().find_map(|known| worse(&known.doubt, &one.doubt).map(|worse| (known, worse))) {
            Some((known, worse)) => {
                known.doubt = worse;
                known.joins(&one);
            }
            None => kinds.push(one),
        }
    }
    let mut gathered: Vec<GroupedDoubt> = Vec::new();
    for one in kinds {
        if !gathered.iter_mut().any(|known| known.takes(&one)) {
            gathered.push(one);
        }
    }
    gathered
}

/// One doubt that says what both say, if they are alike.
fn worse(a: &Doubt, b: &Doubt) -> Option<Doubt> {
    match (a, b) {
        (Doubt::Steal { percent: a }, Doubt::Steal { percent: b }) => Some(Doubt::Steal { percent: a.max(*b) }),
        (Doubt::RepliesMissing { lost, late }, Doubt::RepliesMissing { lost: more_lost, late: more_late }) => {
            Some(Doubt::RepliesMissing { lost: lost.saturating_add(*more_lost), late: late.saturating_add(*more_late) })
        }
        (Doubt::CountersDisagree { sent, received }, Doubt::CountersDisagree { sent: s, received: r }) => {
            let wider = if s.abs_diff(*r) > sent.abs_diff(*received) { b } else { a };
            Some(wider.clone())
        }
        (Doubt::SenderTooSlow { intended, achieved }, Doubt::SenderTooSlow { intended: i, achieved: s })
        | (Doubt::SenderPaused { intended, achieved }, Doubt::SenderPaused { intended: i, achieved: s }) => {
            Some(if s / i < achieved / intended { b.clone() } else { a.clone() })
        }
        (Doubt::MessagesJoined { messages, segments }, Doubt::MessagesJoined { messages: more, segments: in_more }) => {
            let (messages, segments) = (messages.saturating_add(*more), segments.saturating_add(*in_more));
            Some(Doubt::MessagesJoined { messages, segments })
        }
        (Doubt::BehindSchedule { behind_ns, .. }, Doubt::BehindSchedule { behind_ns: other, .. }) => {
            Some(if other > behind_ns { b.clone() } else { a.clone() })
        }
        (
            Doubt::Unsteady { settled_after_s: a, thirds_bps: None },
            Doubt::Unsteady { settled_after_s: b, thirds_bps: None },
        ) => Some(Doubt::Unsteady { settled_after_s: a.max(*b), thirds_bps: None }),
        (Doubt::Unsteady { thirds_bps: Some(thirds), .. }, Doubt::Unsteady { thirds_bps: Some(others), .. }) => {
            Some(if ratio(others) > ratio(thirds) { b.clone() } else { a.clone() })
        }
        (
            Doubt::OtherLoad { cpu, percent: a, machine },
            Doubt::OtherLoad { cpu: other_cpu, percent: b, machine: other_machine },
        ) if (cpu, machine) == (other_cpu, other_machine) => {
            Some(Doubt::OtherLoad { cpu: *cpu, percent: a.max(*b), machine: machine.clone() })
        }
        (Doubt::Outage { from, to, seconds: a }, Doubt::Outage { from: f, to: t, seconds: b })
            if (from, to) == (f, t) =>
        {
            Some(Doubt::Outage { from: from.clone(), to: to.clone(), seconds: a.max(*b) })
        }
        (Doubt::BroadcastShare { from, percent: a }, Doubt::BroadcastShare { from: f, percent: b }) if from == f => {
            let worse = if (a - 1.0).abs() > (b - 1.0).abs() { a } else { b };
            Some(Doubt::BroadcastShare { from: from.clone(), percent: *worse })
        }
        (
            Doubt::WrongPort { from, to, port, packets: few },
            Doubt::WrongPort { from: f, to: t, port: p, packets: many },
        ) if (from, to, port) == (f, t, p) => Some(if few > many { a } else { b }.clone()),
        (Doubt::Duplicated { from, to, packets: few }, Doubt::Duplicated { from: f, to: t, packets: many })
        | (Doubt::Corrupted { from, to, packets: few }, Doubt::Corrupted { from: f, to: t, packets: many })
        | (Doubt::Reordered { from, to, packets: few }, Doubt::Reordered { from: f, to: t, packets: many })
            if (from, to) == (f, t) =>
        {
            Some(if few > many { a } else { b }.clone())
        }
        (Doubt::Stalled { seconds: a }, Doubt::Stalled { seconds: b }) => Some(Doubt::Stalled { seconds: *a.max(b) }),
        (
            Doubt::PacketsDisagree { endpoint, program, interface },
            Doubt::PacketsDisagree { endpoint: at, program: p, interface: i },
        ) if endpoint == at => Some(if p.abs_diff(*i) > program.abs_diff(*interface) { b.clone() } else { a.clone() }),
        _ => (a == b).then(|| a.clone()),
    }
}

/// The highest rate over the lowest one.
fn ratio(rates: &[f64; 3]) -> f64 {
    let (low, high) =
        rates.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    high / low.max(1.0)
}

/// Trial numbers as a person writes them: `1–3, 7`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number <= *last + 1 => *last = number.max(*last),
            _ => runs.push((number, number)),
        }
    }
    let show = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}–{last}") };
    runs.iter().map(show).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use model::{IpVersion, Plan, fixture};

    use super::*;

    fn run() -> Run {
        fixture::run(Plan::parse("name = \"t\"\n[[path]]", &[]).unwrap())
    }

    #[test]
    fn doubts_of_one_kind_become_the_worst_of_them() {
        let steal = |percent| Doubt::Steal { percent };
        assert_eq!(worse(&steal(1.0), &steal(3.0)), Some(steal(3.0)));
        let missing = |lost, late| Doubt::RepliesMissing { lost, late };
        assert_eq!(worse(&missing(1, 2), &missing(3, 0)), Some(missing(4, 2)));
        let disagree = |sent, received| Doubt::CountersDisagree { sent, received };
        assert_eq!(worse(&disagree(100, 99), &disagree(50, 10)), Some(disagree(50, 10)));
        let slow = |achieved| Doubt::SenderTooSlow { intended: 100.0, achieved };
        assert_eq!(worse(&slow(90.0), &slow(80.0)), Some(slow(80.0)));
        let unsteady = |thirds| Doubt::Unsteady { settled_after_s: 1.0, thirds_bps: Some(thirds) };
        let (rising, dead) = (unsteady([1e9, 2e9, 3e9]), unsteady([9e9, 9e9, 0.0]));
        assert_eq!([worse(&rising, &dead), worse(&dead, &rising)], [Some(dead.clone()), Some(dead)]);
        let outage = |to: &str, seconds| Doubt::Outage { from: "a".to_owned(), to: to.to_owned(), seconds };
        assert_eq!(worse(&outage("b", 0.3), &outage("b", 0.1)), Some(outage("b", 0.3)));
        assert_eq!(worse(&outage("b", 0.3), &outage("c", 0.1)), None, "another way");
        assert_eq!(worse(&Doubt::SharedCore { cpu: 0 }, &Doubt::SharedCore { cpu: 1 }), None);
    }

    #[test]
    fn each_doubt_has_its_advice_in_both_languages() {
        let endpoint = || "b".to_owned();
        for doubt in [
            Doubt::DutSharesCore { cpu: 1 },
            Doubt::PacketsDisagree { endpoint: endpoint(), program: 100, interface: 120 },
            Doubt::NotNumbered { stream: "voice".to_owned() },
            Doubt::NothingArrived { from: endpoint(), to: endpoint(), packets: 9, engine: model::Engine::Live },
            Doubt::Outage { from: endpoint(), to: endpoint(), seconds: 0.3 },
            Doubt::BroadcastShare { from: endpoint(), percent: 0.7 },
            Doubt::WrongPort { from: endpoint(), to: endpoint(), port: endpoint(), packets: 1234 },
            Doubt::Duplicated { from: endpoint(), to: endpoint(), packets: 1234 },
            Doubt::Corrupted { from: endpoint(), to: endpoint(), packets: 1234 },
            Doubt::Reordered { from: endpoint(), to: endpoint(), packets: 1234 },
            Doubt::SenderTooSlow { intended: 1e6, achieved: 8e5 },
            Doubt::SenderPaused { intended: 1e6, achieved: 8e5 },
            Doubt::BehindSchedule { behind_ns: 90_000, rtt_ns: 120_000 },
            Doubt::NoSelfTest { what: "x".to_owned() },
            Doubt::Stalled { seconds: 1 },
            Doubt::Unsteady { settled_after_s: 1.5, thirds_bps: None },
            Doubt::Unsteady { settled_after_s: 3.0, thirds_bps: Some([9e9, 5e9, 4e9]) },
            Doubt::LinkLost { endpoint: endpoint(), times: 1 },
            Doubt::SettingsChanged { endpoint: endpoint(), what: "offload gro: on → off".to_owned(), at_s: 1.2 },
            Doubt::ClockSet { endpoint: endpoint(), by_s: 3600.0 },
            Doubt::PathNotProven { mtu: 9000, forward: Some(1500), reverse: None },
            Doubt::MtuDisproved { mtu: 9000, ip: IpVersion::V4, forward: Some(1500), reverse: None },
            Doubt::NoAddress { ip: IpVersion::V6 },
            Doubt::FarProgram { endpoint: endpoint(), command: "nc -l | cat".to_owned() },
            Doubt::FarUnobserved { endpoint: endpoint() },
            Doubt::NeedsAgent { endpoint: endpoint(), probe: "packets".to_owned() },
            Doubt::TtlKept { from: endpoint(), to: endpoint() },
            Doubt::NothingToPoll { endpoint: endpoint() },
            Doubt::ThroughKernel { datagrams: 1234, of: 20_000 },
            Doubt::FrequencyChanged { cpu: 1, before: 3000, after: 2000 },
            Doubt::SmallBuffer { endpoint: endpoint(), asked: 4096, granted: 2048 },
            Doubt::Unfinished { seconds: 2 },
            Doubt::OtherLoad { cpu: 1, percent: 30.0, machine: String::new() },
            Doubt::DataEndedEarly,
            Doubt::OtherBuild { first: "1".to_owned(), then: "2".to_owned() },
        ] {
            let both = [Lang::En, Lang::Ja].map(|lang| advice(&doubt, lang));
            assert!(both[0] != both[1] && both.iter().all(|text| !text.contains('⟦')), "{both:?}");
        }
        let slow = advice(&Doubt::SenderTooSlow { intended: 1e6, achieved: 8e5 }, Lang::En);
        assert!(slow.contains("80.0 % of it at worst"), "{slow}");
    }

    #[test]
    fn doubts_about_cores_name_all_of_them_at_once() {
        let of = |cpu, trial| GroupedDoubt::of(&Doubt::OtherLoad { cpu, percent: 30.0, machine: String::new() }, trial);
        let mut first = of(0, Some(1));
        assert!(first.takes(&of(1, Some(3))) && first.takes(&of(2, Some(1))));
        assert!(!first.takes(&GroupedDoubt::of(&Doubt::Interrupted, Some(1))));
        let english = first.advice(&run(), Lang::En);
        assert!(english.contains("(core 0: 30 %, core 1: 30 %, core 2: 30 %)"), "{english}");
        assert_eq!((first.trials.as_slice(), first.of_run), ([1, 3].as_slice(), false));
        let mut later = of(1, None);
        assert!(later.takes(&of(0, Some(2))) && later.of_run && later.trials == [2]);
        assert!(
            later.advice(&run(), Lang::Ja).contains("(コア 0: 30 %、コア 1: 30 %)"),
            "{}",
            later.advice(&run(), Lang::Ja)
        );
    }

    #[test]
    fn a_machine_that_changed_is_one_doubt_however_much_of_it_did() {
        let changed = |what: &str| Doubt::EnvironmentChanged { what: what.to_owned() };
        let mut first = GroupedDoubt::of(&changed("endpoints 1 interfaces 1 mtu: 1500 → 9000"), None);
        for what in ["endpoints 1 interfaces 1 state: \"up\" → \"down\"", "endpoints 2 interfaces 1 mtu: 1500 → 9000"]
        {
            assert!(first.takes(&GroupedDoubt::of(&changed(what), None)));
        }
        let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| first.advice(&run(), lang));
        let both = "(endpoint 1 interface 1: MTU 1500 → 9000, link state \"up\" → \"down\"; endpoint 2 interface 1 MTU: 1500 → 9000)";
        assert!(english.contains(both), "{english}");
        assert!(japanese.contains("リンクの状態 \"アップ\" → \"ダウン\""), "{japanese}");
    }

    #[test]
    fn trial_numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7]), "1–3, 7");
        assert_eq!(ranges(&[4]), "4");
    }
}
