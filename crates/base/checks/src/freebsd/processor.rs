//! Cores, the clock, interrupts and the hypervisor.

use model::{
    Reading,
    inspection::{Check, Finding, Goal, Read, Severity},
};

use super::{
    context::Context,
    setting::{Setting, place, unreadable},
};

const IX: (&str, &str) = ("ix(4), ixl(4)", "interrupt storms: hw.intr_storm_threshold");
const INTR: (&str, &str) = ("FreeBSD sys/kern/kern_intr.c", "hw.intr_storm_threshold");
const CPU: (&str, &str) = ("cpu(4), acpi(4)", "dev.cpu.N.cx_lowest, hw.acpi.cpu.cx_lowest");
const HWPSTATE: (&str, &str) = ("hwpstate_intel(4)", "dev.hwpstate_intel.N.epp: 0 for performance");
const TIMECOUNTERS: (&str, &str) = ("timecounters(4)", "kern.timecounter.hardware, kern.timecounter.choice");
const GUEST: (&str, &str) = ("FreeBSD sys/kern/subr_param.c", "kern.vm_guest");

/// Interrupts in a row that a fast card stays below.
const STORM: u64 = 9000;
/// Counters that are read without leaving the processor.
const FAST_CLOCKS: [&str; 6] = ["TSC", "TSC-low", "ARM MPCore Timecounter", "kvmclock", "Hyper-V-TSC", "VMware TSC"];

const CLOCKED: Setting = Setting {
    check: Check::Governor,
    key: "dev.hwpstate_intel.0.epp",
    wanted: "0",
    is_wanted: |value| value == "0",
    severity: |context| context.is_for(&[Goal::Latency, Goal::Bypass]).then_some(Severity::Warn),
    sources: &[HWPSTATE],
};

pub(super) fn check(context: &Context<'_>) -> Vec<Finding> {
    let all = [storm(context), idle(context), CLOCKED.judge(context), clock(context), hypervisor(context)];
    all.into_iter().flatten().collect()
}

/// 0 switches the threshold off.
fn storm(context: &Context<'_>) -> Option<Finding> {
    let key = "hw.intr_storm_threshold";
    let value = match context.value(key) {
        Reading::Known(value) => value,
        Reading::Absent => return Some(unreadable(Check::InterruptStorm, key, "sysctl printed no such name")),
        Reading::Unreadable { why, .. } => return Some(unreadable(Check::InterruptStorm, key, &why)),
    };
    let threshold: u64 = value.parse().ok()?;
    let severity = if context.is_fast() { Severity::Warn } else { Severity::Info };
    let finding =
        Finding::of(Check::InterruptStorm, key, Read::of(value, place(key)), format!("0, >= {STORM}"), &[IX, INTR]);
    let mend = format!("sysctl {key}={STORM}");
    Some(finding.unless(threshold == 0 || threshold >= STORM, severity, Some(mend)))
}

/// The deepest idle state that cores may enter. `Cmax` and `C8` stand for whatever they have.
fn idle(context: &Context<'_>) -> Option<Finding> {
    context.is_for(&[Goal::Latency, Goal::Bypass]).then_some(())?;
    let keys = ["hw.acpi.cpu.cx_lowest", "dev.cpu.0.cx_lowest"];
    if let Reading::Unreadable { why, .. } = context.value(keys[0]) {
        return Some(unreadable(Check::IdleStates, keys[0], &why));
    }
    // A virtual machine may have neither.
    let all = keys.into_iter().filter_map(|key| Some((key, *context.value(key).known()?)));
    let (key, lowest) = all.max_by_key(|(_, lowest)| *lowest != "C1")?;
    let read = Read::of(lowest, place(key));
    let finding = Finding::of(Check::IdleStates, key, read, "C1", &[CPU]);
    Some(finding.unless(lowest == "C1", Severity::Warn, Some(format!("sysctl {key}=C1"))))
}

fn clock(context: &Context<'_>) -> Option<Finding> {
    let key = "kern.timecounter.hardware";
    let hardware = *context.value(key).known()?;
    let choice = context.value("kern.timecounter.choice");
    let choice = choice.known().copied().unwrap_or_default();
    // `TSC-low(1000) HPET(950) dummy(-1000000)`: a worse clock than the fast one has been chosen for a reason if that is below 0.
    let better = FAST_CLOCKS.iter().find(|clock| {
        let quality =
            choice.split_whitespace().find_map(|word| word.strip_prefix(**clock)?.strip_prefix('(')?.strip_suffix(')'));
        quality.and_then(|quality| quality.parse::<i64>().ok()).is_some_and(|quality| quality > 0)
    });
    let read = Read::of(hardware, place(key));
    let finding = Finding::of(Check::ClockSource, key, read, better.copied().unwrap_or("TSC"), &[TIMECOUNTERS]);
    let mend = better.map(|clock| format!("sysctl {key}={clock}"));
    Some(finding.unless(FAST_CLOCKS.contains(&hardware), Severity::Warn, mend))
}

fn hypervisor(context: &Context<'_>) -> Option<Finding> {
    let key = "kern.vm_guest";
    match context.value(key) {
        Reading::Known("none") | Reading::Absent => None,
        Reading::Known(name) => {
            let finding = Finding::of(Check::Hypervisor, "", Read::of(name, place(key)), "none", &[GUEST]);
            Some(finding.unless(false, Severity::Info, None))
        }
        Reading::Unreadable { why, .. } => Some(unreadable(Check::Hypervisor, key, &why)),
    }
}
