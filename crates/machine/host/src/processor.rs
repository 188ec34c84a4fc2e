//! Processor, memory and slots of a machine, as an inspection judges them.

use std::collections::BTreeMap;

use firmware::{TABLE_BYTES, slots};
use model::{
    Reading,
    settings::{IdleState, ProcessorFacts},
};

use crate::source::Source;

const CPUS: &str = "/sys/devices/system/cpu";

/// Reads them.
pub(crate) fn processor(source: &dyn Source) -> ProcessorFacts {
    let line = |path: &str| source.read(path).filled();
    ProcessorFacts {
        governors: governors(source),
        idle_states: idle_states(source),
        smt: line("/sys/devices/system/cpu/smt/control"),
        // The kernel writes "(null)" where there are none.
        nohz_full: line("/sys/devices/system/cpu/nohz_full")
            .and_then(|list| list.starts_with(|first: char| first.is_ascii_digit()).then_some(list)),
        huge_pages: line("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
        clock_sources: line("/sys/devices/system/clocksource/clocksource0/available_clocksource"),
        slots: source.read_bytes("/sys/firmware/dmi/tables/DMI", TABLE_BYTES).map(|table| slots(&table)),
    }
}

/// The word in brackets, which is the one in force.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

fn governors(source: &dyn Source) -> BTreeMap<String, String> {
    let mut governors: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let policies = source.list(&format!("{CPUS}/cpufreq")).or_default();
    for policy in policies.iter().filter(|path| path.contains("/policy")) {
        let Some(governor) = source.read(&format!("{policy}/scaling_governor")).into_known() else { continue };
        let cores = source.read(&format!("{policy}/affected_cpus")).or_default();
        governors
            .entry(governor)
            .or_default()
            .extend(cores.split_whitespace().filter_map(|core| core.parse::<usize>().ok()));
    }
    governors.into_iter().map(|(governor, cores)| (governor, list(cores))).collect()
}

/// Cores as a list of the kernel, like `0-3,8`.
fn list(mut cores: Vec<usize>) -> String {
    cores.sort_unstable();
    let ranges = cores.chunk_by(|one, next| one + 1 == *next);
    let range = |range: &[usize]| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    };
    ranges.map(range).collect::<Vec<_>>().join(",")
}

fn idle_states(source: &dyn Source) -> Vec<IdleState> {
    let states = source.list(&format!("{CPUS}/cpu0/cpuidle")).or_default();
    let state = |path: &String| {
        let file = |name: &str| source.read(&format!("{path}/{name}"));
        Some(IdleState {
            name: file("name").into_known()?,
            latency_us: file("latency").into_known()?.parse().ok()?,
            enabled: file("disable").or_default() != "1",
        })
    };
    states.iter().filter_map(state).collect()
}

/// Share of the cores' time since start that the hypervisor took, from the first line of `/proc/stat`.
pub(crate) fn steal(source: &dyn Source) -> Reading<f64> {
    source.read("/proc/stat").and_then(|text| {
        let all: Vec<u64> =
            text.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map_while(|word| word.parse().ok()).collect();
        // Fields behind the eighth are part of the first two.
        let (steal, sum) = (*all.get(7)?, all[..8].iter().fold(0_u64, |sum, ticks| sum.saturating_add(*ticks)));
        (sum > 0).then(|| steal as f64 / sum as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;

    #[test]
    fn a_processor_is_read_from_its_files() {
        let machine = Recorded::new(&[
            ("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "performance"),
            ("/sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0 1 2"),
            ("/sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "powersave"),
            ("/sys/devices/system/cpu/cpufreq/policy4/affected_cpus", "4"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "POLL"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/name", "C6"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/latency", "133"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "1"),
            ("/sys/devices/system/cpu/smt/control", "on"),
            ("/sys/devices/system/cpu/nohz_full", " (null)"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"),
            ("/proc/stat", "cpu  100 0 50 800 20 0 10 20 0 0\ncpu0 1 2"),
        ]);
        let read = processor(&machine);
        let governors =
            [("performance", "0-2"), ("powersave", "4")].map(|(name, cores)| (name.to_owned(), cores.to_owned()));
        assert_eq!(read.governors, governors.into());
        let deep = IdleState { name: "C6".into(), latency_us: 133, enabled: false };
        assert_eq!((read.idle_states.len(), &read.idle_states[1]), (2, &deep));
        assert_eq!((read.huge_pages, read.smt), ("madvise".into(), "on".into()));
        assert_eq!((read.nohz_full, read.slots), (Reading::Absent, Reading::Absent));
        assert_eq!(steal(&machine), Reading::Known(0.02));
        assert_eq!(processor(&Recorded::new(&[])), ProcessorFacts::default());
    }
}
