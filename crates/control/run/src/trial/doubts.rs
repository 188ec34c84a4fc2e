//! Reasons to trust a trial's figures less, as far as the trial itself shows them. Pure.

use model::{
    Doubt, EndCounters, Source,
    counters::{Event, EventKind},
    probe::FarService,
};

use super::End;

/// Stolen time above both of these is a doubt: in percent of a core, and in seconds, because the kernel counts it in ticks of
/// 10 ms and one tick may belong to the time before.
const STEAL: (f64, f64) = (1.0, 0.02);

/// The kernel counts a core's time in ticks of so many seconds.
const TICK: f64 = 0.01;

/// Percent of a core's time that other programs may use without a doubt. The kernel's own work on the core
/// stays below.
pub(crate) const OTHER_LOAD: f64 = 15.0;

/// The kernel counts a core's time in ticks of 10 ms; in less time than this (in seconds) a few of them mean nothing.
const LONG_ENOUGH: f64 = 0.3;

/// A change of a core's frequency by more than this share is a doubt.
const SAME_FREQUENCY: f64 = 0.05;

/// Doubts about cores and clocks in a trial of so many seconds; the receiver is the last of the ends.
pub(super) fn of_place(ends: &[End<'_>], duration_s: f64) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    for end in ends.iter().filter(|end| end.pinned.is_empty() && !end.end.agentless) {
        doubts.push(Doubt::NotPinned { endpoint: end.end.name.clone() });
    }
    let cores_there = |machine: &str| -> Vec<usize> {
        ends.iter().filter(|end| end.end.machine == machine).flat_map(|end| end.end.cpus.clone()).collect()
    };
    let all: Vec<_> = ends.iter().map(|end| (&end.counters, cores_there(&end.end.machine))).collect();
    let steal = all.iter().map(|(counters, cores)| stolen(counters, cores)).fold(0.0, f64::max);
    if steal > 0.0 {
        doubts.push(Doubt::Steal { percent: steal });
    }
    doubts.extend(all.iter().find_map(|(counters, cores)| frequency_changed(counters, cores)));
    doubts.extend(other_load(ends));
    doubts.extend(ends.iter().flat_map(|end| events(end, duration_s)));
    doubts
}

/// Doubts about ends without wireproof, which did this by programs of their own.
pub(super) fn of_programs(ends: &[End<'_>], service: Option<FarService>) -> Vec<Doubt> {
    let agentless = ends.iter().filter(|end| end.end.agentless);
    let of_end = |end: &End<'_>| {
        let command = service.map_or("", FarService::command).to_owned();
        let endpoint = || end.end.name.clone();
        [Doubt::FarProgram { endpoint: endpoint(), command }, Doubt::FarUnobserved { endpoint: endpoint() }]
    };
    agentless.flat_map(of_end).collect()
}

/// A sender that fell short of its schedule by no more than what the hypervisor took of a core was not too slow: it was paused.
pub(super) fn unless_paused(doubt: Doubt, ends: &[End<'_>]) -> Doubt {
    let Doubt::SenderTooSlow { intended, achieved } = doubt else { return doubt };
    let paused = |end: &End<'_>| {
        let percent = stolen(&end.counters, &end.end.cpus);
        if percent > 0.0 { percent / 100.0 + TICK / end.counters.seconds } else { 0.0 }
    };
    let most = ends.iter().map(paused).fold(0.0, f64::max);
    if intended - achieved <= most * intended { Doubt::SenderPaused { intended, achieved } } else { doubt }
}

/// Events at an end within so many seconds.
fn events(end: &End<'_>, duration_s: f64) -> Vec<Doubt> {
    let endpoint = || end.end.name.clone();
    let events = &end.counters.events;
    let times = end.counters.sum(Source::Link, "carrier_down_count");
    let lost = (times > 0).then(|| Doubt::LinkLost { endpoint: endpoint(), times });
    let seconds = |text: &str| text.parse::<f64>().ok();
    let steps = events.iter().filter(|event| event.kind == EventKind::Clock);
    let steps = steps.filter_map(|event| Some(seconds(&event.after)? - seconds(&event.before)?));
    let by_s = steps.max_by(|a, b| a.abs().total_cmp(&b.abs()));
    // A link that goes down takes addresses, routes and neighbours with it.
    let is_setting = |event: &&Event| !matches!(event.kind, EventKind::Clock | EventKind::Carrier) && times == 0;
    // Before and after the counted time the figure is of one state alone: a program of ours that counts packets switches offloads of
    // veth when it comes and when it goes.
    let is_counted = |event: &&Event| (0.0..=duration_s).contains(&event.at_s);
    let setting = events.iter().filter(is_setting).find(is_counted);
    let changed =
        setting.map(|event| Doubt::SettingsChanged { endpoint: endpoint(), what: event.to_string(), at_s: event.at_s });
    let set = by_s.map(|by_s| Doubt::ClockSet { endpoint: endpoint(), by_s });
    lost.into_iter().chain(changed).chain(set).collect()
}

/// Cores of the ends that were busy with something else too. Not where two ends share a core: else it is unknown whose
/// time was whose.
fn other_load(ends: &[End<'_>]) -> Vec<Doubt> {
    let share = |a: &End<'_>, b: &End<'_>| {
        a.end.name != b.end.name && a.end.machine == b.end.machine && a.pinned.iter().any(|cpu| b.pinned.contains(cpu))
    };
    let alone = ends.iter().filter(|end| !ends.iter().any(|other| share(end, other)));
    alone.filter_map(other_load_of).collect()
}

/// Load on the end's cores beside the end's own threads, named by the core that had most of it: threads fill the cores in
/// their order, and the last may stay idle.
fn other_load_of(end: &End<'_>) -> Option<Doubt> {
    let counters = &end.counters;
    let mut own = counters.own_cpu;
    let mut others = Vec::new();
    for core in end.pinned.iter().filter_map(|cpu| counters.core(*cpu)) {
        // Soft interrupts in the middle of our own calls may be in both sums. Then less is taken for somebody else's, never
        // more.
        let used = (core.busy - core.softirq - core.steal).max(0.0);
        let ours = own.min(used);
        own -= ours;
        others.push((core.cpu, used - ours));
    }
    let percent: f64 = others.iter().map(|(_, other)| other).sum();
    let (cpu, _) = others.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (percent > OTHER_LOAD && counters.seconds > LONG_ENOUGH).then(|| Doubt::OtherLoad {
        cpu,
        percent,
        machine: end.end.machine.clone(),
    })
}

/// Time stolen from the worst of these cores, in percent; zero where that is too little to be measured.
fn stolen(counters: &EndCounters, cores: &[usize]) -> f64 {
    let worst = ours(counters, cores).map(|core| core.steal).fold(0.0, f64::max);
    let (percent, seconds) = STEAL;
    if worst > percent && worst / 100.0 * counters.seconds > seconds { worst } else { 0.0 }
}

fn frequency_changed(counters: &EndCounters, cores: &[usize]) -> Option<Doubt> {
    ours(counters, cores).find_map(|core| {
        let [before, after] = core.mhz?;
        let moved = before.abs_diff(after) as f64 > SAME_FREQUENCY * f64::from(before);
        moved.then_some(Doubt::FrequencyChanged { cpu: core.cpu, before, after })
    })
}

fn ours<'a>(counters: &'a EndCounters, cores: &'a [usize]) -> impl Iterator<Item = &'a model::CoreUse> {
    counters.cpu.iter().filter(|core| cores.contains(&core.cpu))
}

#[cfg(test)]
mod tests {
    use model::{CoreUse, Delta, Endpoint};

    use super::*;

    fn counters(steal: f64, seconds: f64) -> EndCounters {
        let core = |cpu, steal| CoreUse { cpu, busy: 100.0, steal, ..CoreUse::default() };
        EndCounters { seconds, cpu: vec![core(0, steal), core(7, 90.0)], ..EndCounters::default() }
    }

    #[test]
    fn stolen_time_counts_on_the_cores_of_the_ends_and_from_two_ticks_on() {
        let ends = [0, 1];
        assert_eq!(stolen(&counters(14.0, 0.07), &ends), 0.0, "one tick in a short trial");
        assert_eq!(stolen(&counters(14.0, 1.0), &ends), 14.0);
        assert_eq!(stolen(&counters(0.5, 100.0), &ends), 0.0);
    }

    #[test]
    fn a_sender_without_its_core_was_paused_and_not_too_slow() {
        let mut bed = model::fixture::lab();
        bed.endpoints.iter_mut().enumerate().for_each(|(cpu, end)| end.cpus = vec![cpu]);
        let of = |steal, achieved| {
            let end = |cpu: usize, steal| {
                let core = CoreUse { cpu, busy: 100.0, steal, ..CoreUse::default() };
                let counters = EndCounters { seconds: 2.0, cpu: vec![core], ..EndCounters::default() };
                End { end: &bed.endpoints[cpu], pinned: vec![cpu], counters }
            };
            let ends = [end(0, steal), end(1, 0.0)];
            unless_paused(Doubt::SenderTooSlow { intended: 20e3, achieved }, &ends)
        };
        let (paused, slow) = (
            |achieved| Doubt::SenderPaused { intended: 20e3, achieved },
            |achieved| Doubt::SenderTooSlow { intended: 20e3, achieved },
        );
        assert_eq!(of(2.0, 19.7e3), paused(19.7e3), "40 ms stolen, 30 ms not sent");
        assert_eq!(of(2.0, 18e3), slow(18e3), "a tenth is missing");
        assert_eq!(of(0.0, 19.7e3), slow(19.7e3));
        assert_eq!(of(0.5, 19.7e3), slow(19.7e3), "too little to be told");
    }

    #[test]
    fn what_changed_meanwhile_is_a_doubt() {
        let bed = model::fixture::lab();
        let of = |counters: EndCounters| events(&End { end: &bed.endpoints[0], pinned: vec![0], counters }, 2.0);
        let event = |kind, what: &str, before: &str, after: &str| {
            let [what, before, after] = [what, before, after].map(str::to_owned);
            Event { at_s: 1.5, kind, what, before, after }
        };
        let offload = event(EventKind::Offload, "tx-tcp-segmentation", "on", "off");
        let changed = of(EndCounters { events: vec![offload.clone()], ..EndCounters::default() });
        let what = "offload tx-tcp-segmentation: on → off".to_owned();
        assert_eq!(changed, [Doubt::SettingsChanged { endpoint: "a".to_owned(), what, at_s: 1.5 }]);
        let outside = [-0.2, 2.5].map(|at_s| Event { at_s, ..offload.clone() });
        assert_eq!(of(EndCounters { events: outside.into(), ..EndCounters::default() }), [], "not in the counted time");
        let carrier = Delta { source: Source::Link, of: "lab-a".into(), name: "carrier_down_count".into(), delta: 2 };
        let route = event(EventKind::Route, "198.18.0.0/24", "on the link", "none");
        let lost = of(EndCounters { events: vec![route], deltas: vec![carrier], ..EndCounters::default() });
        assert_eq!(lost, [Doubt::LinkLost { endpoint: "a".to_owned(), times: 2 }], "and the route with it");
        // An hour ahead, and back.
        let steps = [("0.0", "3600.0"), ("3600.0", "0.5")].map(|(a, b)| event(EventKind::Clock, "time of day", a, b));
        let set = of(EndCounters { events: steps.into(), ..EndCounters::default() });
        assert_eq!(set, [Doubt::ClockSet { endpoint: "a".to_owned(), by_s: 3600.0 }]);
        assert_eq!(of(EndCounters::default()), []);
    }

    #[test]
    fn what_somebody_else_used_on_a_core_of_the_ends_is_a_doubt() {
        let place = |index: usize, machine: &str| {
            let end = model::fixture::lab().endpoints.swap_remove(index);
            Endpoint { machine: machine.to_owned(), ..end }
        };
        let (near, far) = (place(0, ""), place(1, ""));
        let counters = |cpu: usize, busy: f64, own_cpu: f64| {
            let core = CoreUse { cpu, busy, softirq: 20.0, ..CoreUse::default() };
            EndCounters { seconds: 2.0, own_cpu, cpu: vec![core], ..EndCounters::default() }
        };
        let end = |end, cpu, busy, own_cpu| End { end, pinned: vec![cpu], counters: counters(cpu, busy, own_cpu) };
        let alone = || end(&near, 0, 100.0, 75.0);
        assert!(other_load(&[alone(), end(&far, 1, 60.0, 40.0)]).is_empty());
        let doubt = |cpu, percent, machine: &str| Doubt::OtherLoad { cpu, percent, machine: machine.to_owned() };
        assert_eq!(other_load(&[alone(), end(&far, 1, 100.0, 30.0)]), [doubt(1, 50.0, "")]);
        let (one, two) = (place(0, "near"), place(1, "far"));
        let two_machines = other_load(&[end(&one, 1, 100.0, 30.0), end(&two, 1, 100.0, 30.0)]);
        assert_eq!(two_machines, [doubt(1, 50.0, "near"), doubt(1, 50.0, "far")]);
        let one_core = [end(&near, 1, 100.0, 30.0), end(&far, 1, 100.0, 30.0)];
        assert!(other_load(&one_core).is_empty(), "one core for both ends");
        // One thread, which fills the first of two cores; the second is somebody else's.
        let mut two = end(&far, 2, 100.0, 80.0);
        two.pinned.push(3);
        two.counters.cpu.push(CoreUse { cpu: 3, busy: 40.0, ..CoreUse::default() });
        assert_eq!(other_load(&[alone(), two]), [doubt(3, 40.0, "")]);
    }

    #[test]
    fn a_core_that_changed_its_frequency_is_named() {
        let mut counters = counters(0.0, 1.0);
        counters.cpu[0].mhz = Some([3000, 2900]);
        assert_eq!(frequency_changed(&counters, &[0]), None);
        counters.cpu[0].mhz = Some([3000, 2000]);
        assert_eq!(
            frequency_changed(&counters, &[0]),
            Some(Doubt::FrequencyChanged { cpu: 0, before: 3000, after: 2000 })
        );
        assert_eq!(frequency_changed(&counters, &[1]), None);
    }
}
