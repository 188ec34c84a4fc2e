//! Cores, memory, the clock and the hypervisor.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::ProcessorFacts,
};

use super::context::Context;

const DPDK: (&str, &str) =
    ("DPDK, Getting Started Guide for Linux", "How to get best performance with NICs on Intel platforms");
const CLOCKS: (&str, &str) = ("Linux Documentation/timers/timekeeping.rst", "Clock sources");
const STEAL: (&str, &str) = ("proc_stat(5)", "steal");

const CPUS: &str = "/sys/devices/system/cpu";

/// Share of time that the hypervisor may take unnoticed.
const STEAL_SHARE: f64 = 0.005;
/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let nothing = ProcessorFacts::default();
    let processor = context.readings.host.processor.as_ref().unwrap_or(&nothing);
    let of_cores = [governor, idle, smt, isolated, huge_pages, clock];
    let findings = of_cores.iter().filter_map(|check| check(context, processor)).chain(settings(context));
    findings.chain([hypervisor, steal].iter().filter_map(|check| check(context))).collect()
}

fn governor(context: &Context<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let value = context.wanted("governor")?;
    let governors = match &processor.governors {
        Reading::Known(governors) => governors,
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::Governor, "", path, why)),
    };
    let words: Vec<String> = governors.iter().map(|(governor, cores)| format!("{governor}: {cores}")).collect();
    let is_wanted = governors.keys().all(|governor| value.instead(governor).is_none());
    let read = Read::of(words.join("; "), format!("{CPUS}/cpufreq/policy*/scaling_governor"));
    let mend = format!("for f in {CPUS}/cpufreq/policy*/scaling_governor; do echo {} > $f; done", value.value);
    let finding = Finding::of(Check::Governor, "", read, &value.value, &value.documents());
    (!governors.is_empty()).then(|| finding.unless(is_wanted, Severity::Warn, Some(mend)))
}

fn idle(context: &Context<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let value = context.wanted("idle-latency")?;
    let most: u64 = value.value.parse().ok()?;
    let states = match &processor.idle_states {
        Reading::Known(states) => states,
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::IdleStates, "", path, why)),
    };
    let deepest = states.iter().filter(|state| state.enabled).max_by_key(|state| state.latency_us)?;
    let read =
        Read::of(format!("{}: {} µs", deepest.name, deepest.latency_us), format!("{CPUS}/cpu0/cpuidle/state*/latency"));
    // The command disables states of this latency too.
    let mend = format!("cpupower idle-set --disable-by-latency {}", most.saturating_add(1));
    let finding = Finding::of(Check::IdleStates, "", read, format!("<= {most} µs"), &value.documents());
    Some(finding.unless(deepest.latency_us <= most, Severity::Warn, Some(mend)))
}

fn smt(context: &Context<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let state = processor.smt.known().filter(|_| context.is_for(&[Goal::Latency, Goal::Bypass]))?;
    let mend = format!("echo off > {CPUS}/smt/control");
    let read = Read::of(state, format!("{CPUS}/smt/control"));
    Some(Finding::of(Check::Smt, "", read, "off", &[DPDK]).unless(state != "on", Severity::Info, Some(mend)))
}

fn isolated(context: &Context<'_>, _: &ProcessorFacts) -> Option<Finding> {
    context.is_for(&[Goal::Latency, Goal::Bypass]).then_some(())?;
    let isolated = match &context.readings.host.isolated_cpus {
        Reading::Known(list) => list.as_str(),
        Reading::Absent => "",
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::IsolatedCores, "", path, why)),
    };
    let read = Read::of(if isolated.is_empty() { "–" } else { isolated }, format!("{CPUS}/isolated"));
    let finding = Finding::of(Check::IsolatedCores, "", read, "isolcpus=…", &[DPDK]);
    Some(finding.unless(!isolated.is_empty(), Severity::Info, None))
}

fn huge_pages(context: &Context<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let (value, path) = (context.wanted("transparent-hugepages")?, "/sys/kernel/mm/transparent_hugepage/enabled");
    let state = match &processor.huge_pages {
        Reading::Known(state) => state.as_str(),
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::HugePages, "", path, why)),
    };
    let mend = format!("echo {} > {path}", value.value);
    let finding = Finding::of(Check::HugePages, "", Read::of(state, path), &value.value, &value.documents());
    Some(finding.unless(value.instead(state).is_none(), Severity::Warn, Some(mend)))
}

fn clock(context: &Context<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let source = context.readings.host.clock_source.known()?.as_str();
    let folder = "/sys/devices/system/clocksource/clocksource0";
    let there = processor.clock_sources.known().map_or("", String::as_str);
    let better = FAST_CLOCKS.iter().find(|fast| there.split_whitespace().any(|word| word == **fast));
    let mend = better.map(|better| format!("echo {better} > {folder}/current_clocksource"));
    let read = Read::of(source, format!("{folder}/current_clocksource"));
    let finding = Finding::of(Check::ClockSource, "", read, better.copied().unwrap_or("tsc"), &[CLOCKS]);
    Some(finding.unless(FAST_CLOCKS.contains(&source), Severity::Warn, mend))
}

fn settings(context: &Context<'_>) -> Vec<Finding> {
    let has_nodes = context.readings.host.numa_nodes.copied().is_some_and(|nodes| nodes > 1);
    let settings = [
        (Check::NumaBalancing, "kernel.numa_balancing", has_nodes),
        (Check::NmiWatchdog, "kernel.nmi_watchdog", true),
        (Check::BusyPoll, "net.core.busy_poll", true),
    ];
    let asked = settings.into_iter().filter(|(.., is_asked)| *is_asked);
    asked.flat_map(|(check, key, _)| context.sysctl(check, key, Severity::Warn)).collect()
}

fn hypervisor(context: &Context<'_>) -> Option<Finding> {
    match &context.readings.host.hypervisor {
        Reading::Known(name) => {
            let finding = Finding::of(Check::Hypervisor, "", Read::of(name, "/proc/cpuinfo"), "–", &[STEAL]);
            Some(finding.unless(false, Severity::Info, None))
        }
        Reading::Absent => None,
        Reading::Unreadable { path, why } => Some(Finding::unknown(Check::Hypervisor, "", path, why)),
    }
}

fn steal(context: &Context<'_>) -> Option<Finding> {
    let share = context.readings.ends.iter().find_map(|end| end.since_start.as_ref()?.steal.copied())?;
    let read = Read::of(format!("{:.2} %", 100.0 * share), "/proc/stat");
    let wanted = format!("<= {} %", 100.0 * STEAL_SHARE);
    let finding = Finding::of(Check::Steal, "", read, wanted, &[STEAL]);
    (share > 0.0).then(|| finding.unless(share <= STEAL_SHARE, Severity::Warn, None))
}
