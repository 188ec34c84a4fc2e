//! Cores, memory, the clock and the hypervisor.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
    settings::ProcessorFacts,
};

use super::look::Look;

const CPUFREQ: (&str, &str) = ("Linux Documentation/admin-guide/pm/cpufreq.rst", "Generic Scaling Governors");
const CPUIDLE: (&str, &str) = ("Linux Documentation/admin-guide/pm/cpuidle.rst", "Representation of Idle States");
const ESNET: (&str, &str) = ("ESnet, fasterdata.es.net, Host Tuning, Linux Tuning", "CPU governor");
const DPDK: (&str, &str) =
    ("DPDK, Getting Started Guide for Linux", "How to get best performance with NICs on Intel platforms");
const THP: (&str, &str) = ("Linux Documentation/admin-guide/mm/transhuge.rst", "Global THP controls");
const KERNEL_SYSCTL: (&str, &str) =
    ("Linux Documentation/admin-guide/sysctl/kernel.rst", "numa_balancing, nmi_watchdog");
const NET_SYSCTL: (&str, &str) = ("Linux Documentation/admin-guide/sysctl/net.rst", "busy_poll, busy_read");
const CLOCKS: (&str, &str) = ("Linux Documentation/timers/timekeeping.rst", "Clock sources");
const STEAL: (&str, &str) = ("proc_stat(5)", "steal");

const CPUS: &str = "/sys/devices/system/cpu";

/// A core that takes longer to wake shows in a round-trip time, in microseconds.
const SLOW_WAKE_US: u64 = 10;
/// Share of time that the hypervisor may take unnoticed.
const STEAL_SHARE: f64 = 0.005;
/// Clock sources that are read without a system call.
const FAST_CLOCKS: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

pub(super) fn check(look: &Look<'_>) -> Vec<Finding> {
    let nothing = ProcessorFacts::default();
    let processor = look.readings.host.processor.as_ref().unwrap_or(&nothing);
    let of_cores = [governor, idle, smt, isolated, huge_pages, clock];
    let of_machine = [numa_balancing, watchdog, busy_poll, hypervisor, steal];
    let findings = of_cores.iter().filter_map(|check| check(look, processor));
    findings.chain(of_machine.iter().filter_map(|check| check(look))).collect()
}

fn governor(_: &Look<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let governors = &processor.governors;
    let value: Vec<String> = governors.iter().map(|(governor, cores)| format!("{governor}: {cores}")).collect();
    let is_full = governors.keys().all(|governor| governor == "performance");
    let read = Read::of(value.join("; "), format!("{CPUS}/cpufreq/policy*/scaling_governor"));
    let mend = format!("for f in {CPUS}/cpufreq/policy*/scaling_governor; do echo performance > $f; done");
    let finding = Finding::of(Check::Governor, "", read, "performance", &[CPUFREQ, ESNET]);
    (!governors.is_empty()).then(|| finding.unless(is_full, Severity::Warn, Some(mend)))
}

fn idle(look: &Look<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let states = processor.idle_states.iter().filter(|state| state.enabled);
    let deepest = states.max_by_key(|state| state.latency_us)?;
    let read =
        Read::of(format!("{}: {} µs", deepest.name, deepest.latency_us), format!("{CPUS}/cpu0/cpuidle/state*/latency"));
    let is_prompt = deepest.latency_us <= SLOW_WAKE_US;
    let severity = if look.is_for(&[Goal::Latency, Goal::Bypass]) { Severity::Warn } else { Severity::Info };
    let mend = format!("cpupower idle-set --disable-by-latency {SLOW_WAKE_US}");
    let finding = Finding::of(Check::IdleStates, "", read, format!("<= {SLOW_WAKE_US} µs"), &[CPUIDLE, DPDK]);
    Some(finding.unless(is_prompt, severity, Some(mend)))
}

fn smt(look: &Look<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let state = processor.smt.known().filter(|_| look.is_for(&[Goal::Latency, Goal::Bypass]))?;
    let mend = format!("echo off > {CPUS}/smt/control");
    let read = Read::of(state, format!("{CPUS}/smt/control"));
    Some(Finding::of(Check::Smt, "", read, "off", &[DPDK]).unless(state != "on", Severity::Info, Some(mend)))
}

fn isolated(look: &Look<'_>, _: &ProcessorFacts) -> Option<Finding> {
    look.is_for(&[Goal::Latency, Goal::Bypass]).then_some(())?;
    let isolated = match &look.readings.host.isolated_cpus {
        Reading::Known(list) => list.as_str(),
        Reading::Absent => "",
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::IsolatedCores, "", path, why)),
    };
    let read = Read::of(if isolated.is_empty() { "–" } else { isolated }, format!("{CPUS}/isolated"));
    let finding = Finding::of(Check::IsolatedCores, "", read, "isolcpus=…", &[DPDK]);
    Some(finding.unless(!isolated.is_empty(), Severity::Info, None))
}

fn huge_pages(look: &Look<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let state = match &processor.huge_pages {
        Reading::Known(state) => state.as_str(),
        Reading::Absent => return None,
        Reading::Unreadable { path, why } => return Some(Finding::unknown(Check::HugePages, "", path, why)),
    };
    let severity = if look.is_for(&[Goal::Latency]) { Severity::Warn } else { Severity::Info };
    let mend = format!("echo madvise > {path}");
    let finding = Finding::of(Check::HugePages, "", Read::of(state, path), "madvise", &[THP]);
    Some(finding.unless(state != "always", severity, Some(mend)))
}

fn clock(look: &Look<'_>, processor: &ProcessorFacts) -> Option<Finding> {
    let source = look.readings.host.clock_source.known()?.as_str();
    let folder = "/sys/devices/system/clocksource/clocksource0";
    let there = processor.clock_sources.known().map_or("", String::as_str);
    let better = FAST_CLOCKS.iter().find(|fast| there.split_whitespace().any(|word| word == **fast));
    let mend = better.map(|better| format!("echo {better} > {folder}/current_clocksource"));
    let read = Read::of(source, format!("{folder}/current_clocksource"));
    let finding = Finding::of(Check::ClockSource, "", read, better.copied().unwrap_or("tsc"), &[CLOCKS]);
    Some(finding.unless(FAST_CLOCKS.contains(&source), Severity::Warn, mend))
}

fn numa_balancing(look: &Look<'_>) -> Option<Finding> {
    let several = look.readings.host.numa_nodes.copied().is_some_and(|nodes| nodes > 1);
    sysctl(look, (Check::NumaBalancing, "kernel.numa_balancing", KERNEL_SYSCTL), several, |value| {
        (value == "0", "0", Severity::Warn)
    })
}

fn watchdog(look: &Look<'_>) -> Option<Finding> {
    let is_asked = look.is_for(&[Goal::Latency, Goal::Bypass]);
    sysctl(look, (Check::NmiWatchdog, "kernel.nmi_watchdog", KERNEL_SYSCTL), is_asked, |value| {
        (value == "0", "0", Severity::Warn)
    })
}

fn busy_poll(look: &Look<'_>) -> Option<Finding> {
    let is_asked = look.is_for(&[Goal::Latency]);
    sysctl(look, (Check::BusyPoll, "net.core.busy_poll", NET_SYSCTL), is_asked, |value| {
        (value != "0", "50", Severity::Warn)
    })
}

/// A setting of the machine, judged as: whether it is as wanted, the wanted value, and the severity of another one.
fn sysctl(
    look: &Look<'_>,
    (check, key, source): (Check, &str, (&str, &str)),
    is_asked: bool,
    judge: impl Fn(&str) -> (bool, &'static str, Severity),
) -> Option<Finding> {
    is_asked.then_some(())?;
    match look.setting(key) {
        Reading::Known(value) => {
            let (is_wanted, wanted, severity) = judge(value);
            let mend = format!("sysctl -w {key}={wanted}");
            let finding = Finding::of(check, key, Read::of(value, format!("sysctl {key}")), wanted, &[source]);
            Some(finding.unless(is_wanted, severity, Some(mend)))
        }
        Reading::Absent => None,
        Reading::Unreadable { path, why } => Some(Finding::unknown(check, key, &path, &why)),
    }
}

fn hypervisor(look: &Look<'_>) -> Option<Finding> {
    match &look.readings.host.hypervisor {
        Reading::Known(name) => {
            let finding = Finding::of(Check::Hypervisor, "", Read::of(name, "/proc/cpuinfo"), "–", &[STEAL]);
            Some(finding.unless(false, Severity::Info, None))
        }
        Reading::Absent => None,
        Reading::Unreadable { path, why } => Some(Finding::unknown(Check::Hypervisor, "", path, why)),
    }
}

fn steal(look: &Look<'_>) -> Option<Finding> {
    let share = look.readings.ends.iter().find_map(|end| end.since_start.as_ref()?.steal.copied())?;
    let read = Read::of(format!("{:.2} %", 100.0 * share), "/proc/stat");
    let wanted = format!("<= {} %", 100.0 * STEAL_SHARE);
    let finding = Finding::of(Check::Steal, "", read, wanted, &[STEAL]);
    (share > 0.0).then(|| finding.unless(share <= STEAL_SHARE, Severity::Warn, None))
}
