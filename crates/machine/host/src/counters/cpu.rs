//! Use of the machine's cores over time.

use std::collections::BTreeMap;

use kernel::clock;
use model::{CoreKinds, CoreUse, Nanos};

use crate::source::{LocalSource, Source};

/// Times of each online core since boot, and its frequency.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Time of the reading, by `CLOCK_MONOTONIC`.
    at: Nanos,
    cores: BTreeMap<usize, Core>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Core {
    ticks: Ticks,
    /// If known; few virtual machines have it.
    mhz: Option<u32>,
}

/// In clock ticks (commonly 10 ms), as in proc_stat(5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    all: u64,
    /// User time, including low priority.
    user: u64,
    system: u64,
    irq: u64,
    /// Idle time, including waits for a disk.
    idle: u64,
    softirq: u64,
    steal: u64,
}

impl CpuTimes {
    /// Reads them; empty if they are unreadable.
    pub fn read() -> Self {
        let at = clock::now();
        let mut cores = parse(&LocalSource.read("/proc/stat").or_default());
        for (cpu, core) in &mut cores {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
            core.mhz = LocalSource.read(&path).into_known().and_then(|khz| megahertz(&khz));
        }
        Self { at, cores }
    }

    /// Use of each core until a later reading; only cores that were online at both.
    pub fn usage_until(&self, later: &Self) -> Vec<CoreUse> {
        let both = self.cores.iter().filter_map(|(cpu, from)| Some((*cpu, from, later.cores.get(cpu)?)));
        both.map(|(cpu, from, to)| usage(cpu, from, to)).collect()
    }

    /// Time until a later reading, in seconds.
    pub fn seconds_until(&self, later: &Self) -> f64 {
        Nanos(later.at.0.saturating_sub(self.at.0)).as_secs_f64()
    }
}

fn parse(stat: &str) -> BTreeMap<usize, Core> {
    stat.lines().filter_map(core).map(|(cpu, ticks)| (cpu, Core { ticks, mhz: None })).collect()
}

/// cpufreq writes kHz.
fn megahertz(khz: &str) -> Option<u32> {
    khz.trim().parse::<u32>().ok().map(|khz| khz / 1000)
}

/// One line, like `cpu0 user nice system idle iowait irq softirq steal guest guest_nice`. `user` and `nice` include
/// guest time.
fn core(line: &str) -> Option<(usize, Ticks)> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal] = *ticks.first_chunk()?;
    let all = user + nice + system + idle + iowait + irq + softirq + steal;
    Some((cpu, Ticks { all, user: user + nice, system, irq, idle: idle + iowait, softirq, steal }))
}

fn usage(cpu: usize, before: &Core, after: &Core) -> CoreUse {
    let (from, to) = (before.ticks, after.ticks);
    // The kernel documents that iowait may decrease; that counts as no time.
    let all = to.all.saturating_sub(from.all);
    let percent = |from: u64, to: u64| if all == 0 { 0.0 } else { 100.0 * to.saturating_sub(from) as f64 / all as f64 };
    CoreUse {
        cpu,
        busy: percent(from.all - from.idle, to.all - to.idle),
        softirq: percent(from.softirq, to.softirq),
        steal: percent(from.steal, to.steal),
        kinds: Some(CoreKinds {
            user: percent(from.user, to.user),
            system: percent(from.system, to.system),
            irq: percent(from.irq, to.irq),
            idle: percent(from.idle, to.idle),
        }),
        mhz: before.mhz.zip(after.mhz).map(|(before, after)| [before, after]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a virtual machine with two cores; the interrupt line is shortened.
    const BEFORE: &str = "cpu  135125 539 29474 427268 1644 0 362 244 0 0\n\
        cpu0 66286 272 13781 216589 215 0 46 123 0 0\n\
        cpu1 68838 266 15693 210678 1429 0 315 121 0 0\n\
        intr 1424136 0 0\nctxt 2525600\nbtime 1795257000\n";

    #[test]
    fn each_core_has_its_shares() {
        let after = BEFORE
            .replace("cpu0 66286 272 13781 216589 215 0 46 123", "cpu0 66306 272 13801 216629 225 0 56 123")
            .replace("0 315 121", "0 315 131");
        let usage = times(BEFORE).usage_until(&times(&after));
        let kinds = CoreKinds { user: 20.0, system: 20.0, irq: 0.0, idle: 50.0 };
        assert_eq!(
            usage,
            [
                CoreUse { cpu: 0, busy: 50.0, softirq: 10.0, kinds: Some(kinds), ..CoreUse::default() },
                CoreUse { cpu: 1, busy: 100.0, steal: 100.0, kinds: Some(CoreKinds::default()), ..CoreUse::default() },
            ]
        );
    }

    fn times(stat: &str) -> CpuTimes {
        CpuTimes { at: Nanos(0), cores: parse(stat) }
    }

    #[test]
    fn no_time_is_no_use_and_a_core_that_went_away_is_left_out() {
        let before = times(BEFORE);
        assert!(before.usage_until(&before).iter().all(|core| core.busy == 0.0 && core.steal == 0.0));
        let one = times("cpu0 66287 272 13781 216589 215 0 46 123 0 0\n");
        assert_eq!(before.usage_until(&one).len(), 1);
        assert!(before.usage_until(&times("")).is_empty());
    }

    #[test]
    fn a_frequency_counts_where_it_is_known_at_both_readings() {
        // scaling_cur_freq of a laptop.
        assert_eq!(megahertz("2419217\n"), Some(2419));
        assert_eq!(megahertz("<unknown>\n"), None);
        let at = |mhz| Core { mhz, ..Core::default() };
        assert_eq!(usage(0, &at(Some(800)), &at(Some(3400))).mhz, Some([800, 3400]));
        assert_eq!(usage(0, &at(Some(800)), &at(None)).mhz, None);
    }

    #[test]
    fn the_machine_has_cores() {
        let times = CpuTimes::read();
        assert!(!times.cores.is_empty());
        assert!(times.seconds_until(&CpuTimes::read()) > 0.0);
    }
}
