//! How the machine's cores spend their time.

use std::{collections::BTreeMap, fs};

use model::trial::CoreUse;

/// Time each online core has spent since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes(BTreeMap<usize, Ticks>);

/// In clock ticks (commonly 10 ms), as proc_stat(5) has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ticks {
    all: u64,
    /// Idle, or idle while waiting for a disk.
    idle: u64,
    softirq: u64,
    steal: u64,
}

impl CpuTimes {
    /// Reads them now; empty where they cannot be read.
    pub fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/stat").unwrap_or_default())
    }

    fn parse(stat: &str) -> Self {
        Self(stat.lines().filter_map(core).collect())
    }

    /// How each core was used from here to a later reading; cores that were not online at both are left out.
    pub fn usage_until(&self, later: &Self) -> Vec<CoreUse> {
        let both = self.0.iter().filter_map(|(cpu, from)| Some((*cpu, from, later.0.get(cpu)?)));
        both.map(|(cpu, from, to)| usage(cpu, from, to)).collect()
    }
}

/// One line, like `cpu0 user nice system idle iowait irq softirq steal guest guest_nice`. The guests' time is in `user` and
/// `nice` already.
fn core(line: &str) -> Option<(usize, Ticks)> {
    let mut words = line.split_whitespace();
    let cpu = words.next()?.strip_prefix("cpu")?.parse().ok()?;
    let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
    let [user, nice, system, idle, iowait, irq, softirq, steal] = *ticks.first_chunk()?;
    let all = user + nice + system + idle + iowait + irq + softirq + steal;
    Some((cpu, Ticks { all, idle: idle + iowait, softirq, steal }))
}

fn usage(cpu: usize, from: &Ticks, to: &Ticks) -> CoreUse {
    // The kernel says that iowait may go backwards; that is no time then.
    let all = to.all.saturating_sub(from.all);
    let percent = |from: u64, to: u64| if all == 0 { 0.0 } else { 100.0 * to.saturating_sub(from) as f64 / all as f64 };
    CoreUse {
        cpu,
        busy: percent(from.all - from.idle, to.all - to.idle),
        softirq: percent(from.softirq, to.softirq),
        steal: percent(from.steal, to.steal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From a virtual machine with two cores; the line of interrupts shortened.
    const BEFORE: &str = "cpu  135125 539 29474 427268 1644 0 362 244 0 0\n\
        cpu0 66286 272 13781 216589 215 0 46 123 0 0\n\
        cpu1 68838 266 15693 210678 1429 0 315 121 0 0\n\
        intr 1424136 0 0\nctxt 2525600\nbtime 1795257000\n";

    #[test]
    fn each_core_has_its_shares() {
        let after = BEFORE
            .replace("cpu0 66286 272 13781 216589 215 0 46 123", "cpu0 66306 272 13801 216629 225 0 56 123")
            .replace("0 315 121", "0 315 131");
        let usage = CpuTimes::parse(BEFORE).usage_until(&CpuTimes::parse(&after));
        assert_eq!(
            usage,
            [
                CoreUse { cpu: 0, busy: 50.0, softirq: 10.0, steal: 0.0 },
                CoreUse { cpu: 1, busy: 100.0, softirq: 0.0, steal: 100.0 },
            ]
        );
    }

    #[test]
    fn no_time_is_no_use_and_a_core_that_went_away_is_left_out() {
        let before = CpuTimes::parse(BEFORE);
        assert!(before.usage_until(&before).iter().all(|core| core.busy == 0.0 && core.steal == 0.0));
        let one = CpuTimes::parse("cpu0 66287 272 13781 216589 215 0 46 123 0 0\n");
        assert_eq!(before.usage_until(&one).len(), 1);
        assert!(before.usage_until(&CpuTimes::parse("")).is_empty());
    }

    #[test]
    fn the_machine_has_cores() {
        assert!(!CpuTimes::read().0.is_empty());
    }
}
