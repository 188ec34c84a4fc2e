//! Processor, memory and slots of a machine, as an inspection judges them.

use std::collections::BTreeMap;

use firmware::{TABLE_BYTES, slots};
use model::{
    Reading, core_list,
    settings::{IdleState, ProcessorFacts},
};

use crate::source::Source;

const CPUS: &str = "/sys/devices/system/cpu";

/// Reads them.
pub(crate) fn processor(source: &dyn Source) -> ProcessorFacts {
    let line = |path: &str| source.read(path).filled();
    ProcessorFacts {
        governors: governors(source),
        idle_states: idle_states(source, 0).map(|states| states.into_values().collect()),
        smt: line("/sys/devices/system/cpu/smt/control"),
        // The kernel writes "(null)" where there are none.
        nohz_full: line("/sys/devices/system/cpu/nohz_full")
            .and_then(|list| list.starts_with(|first: char| first.is_ascii_digit()).then_some(list)),
        huge_pages: huge_pages(source),
        clock_sources: line("/sys/devices/system/clocksource/clocksource0/available_clocksource"),
        slots: source.read_bytes("/sys/firmware/dmi/tables/DMI", TABLE_BYTES).map(|table| slots(&table)),
    }
}

/// Use of transparent huge pages.
pub(crate) fn huge_pages(source: &dyn Source) -> Reading<String> {
    // The word in brackets is the one in force.
    source.read("/sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| {
        let (_, rest) = text.split_once('[')?;
        rest.split_once(']').map(|(word, _)| word.to_owned())
    })
}

/// Frequency governors, each with its cores.
pub(crate) fn governors(source: &dyn Source) -> Reading<BTreeMap<String, String>> {
    let policies = source.list(&format!("{CPUS}/cpufreq"));
    let of_policy = |policy: String| {
        let cores = source.read(&format!("{policy}/affected_cpus"));
        cores.then(|cores| source.read(&format!("{policy}/scaling_governor")).map(|governor| (governor, cores)))
    };
    let read = policies.then(|policies| -> Reading<Vec<_>> {
        policies.into_iter().filter(|path| path.contains("/policy")).map(of_policy).collect()
    });
    read.map(|policies| {
        let mut governors: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (governor, cores) in policies {
            let cores = cores.split_whitespace().filter_map(|core| core.parse::<usize>().ok());
            governors.entry(governor).or_default().extend(cores);
        }
        governors.into_iter().map(|(governor, cores)| (governor, core_list::written(cores))).collect()
    })
}

/// Idle states of a core by their folders, the shallowest first.
pub(crate) fn idle_states(source: &dyn Source, core: usize) -> Reading<BTreeMap<String, IdleState>> {
    let state = |folder: String| {
        let file = |name: &str| source.read(&format!("{folder}/{name}"));
        let enabled = file("disable").map(|word| word != "1").or(|| Reading::Known(true));
        let latency = file("latency").and_then(|text| text.parse::<u64>().ok());
        let state = file("name")
            .then(|name| latency.then(|latency_us| enabled.map(|enabled| IdleState { name, latency_us, enabled })));
        state.map(|state| (folder, state))
    };
    source.list(&format!("{CPUS}/cpu{core}/cpuidle")).then(|states| states.into_iter().map(state).collect())
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
        assert_eq!(read.governors, BTreeMap::from(governors).into());
        let idle = |name: &str, latency_us, enabled| IdleState { name: name.into(), latency_us, enabled };
        assert_eq!(read.idle_states, vec![idle("POLL", 0, true), idle("C6", 133, false)].into());
        assert_eq!((read.huge_pages, read.smt), ("madvise".into(), "on".into()));
        assert_eq!((read.nohz_full, read.slots), (Reading::Absent, Reading::Absent));
        assert_eq!(steal(&machine), Reading::Known(0.02));
        assert_eq!(processor(&Recorded::new(&[])), ProcessorFacts::default());
    }
    #[test]
    fn a_core_of_which_something_is_unreadable_has_no_half_of_its_idle_states() {
        let machine = Recorded::new(&[
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/name", "C1"),
            ("/sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "2"),
            ("/sys/devices/system/cpu/cpufreq/policy0/affected_cpus", "0"),
        ]);
        machine.make_folder("/sys/devices/system/cpu/cpu0/cpuidle/state0/disable");
        machine.make_folder("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor");
        machine.make_folder("/sys/kernel/mm/transparent_hugepage/enabled");
        let read = processor(&machine);
        let is_of = |path: &str| path.ends_with("state0/disable");
        assert!(matches!(&read.idle_states, Reading::Unreadable { path, .. } if is_of(path)), "{read:?}");
        assert!(matches!(read.governors, Reading::Unreadable { .. }), "{read:?}");
        assert!(matches!(read.huge_pages, Reading::Unreadable { .. }), "{read:?}");
    }
}
