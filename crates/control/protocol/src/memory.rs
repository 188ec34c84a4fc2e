//! Processes that the kernel ended because memory ran out.

use std::fs;

/// Signal of the kernel's choice.
const KILL: i32 = 9;

/// Such processes of this machine since boot, those in control groups with a limit among them; `None` where the kernel does not say.
pub(crate) fn ended_for_want() -> Option<u64> {
    fs::read_to_string("/proc/vmstat").ok().and_then(|text| of_vmstat(&text))
}

fn of_vmstat(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Words for a process that ended by this signal, if the kernel has ended some since `before`.
pub(crate) fn note(signal: Option<i32>, before: Option<u64>, now: Option<u64>) -> &'static str {
    let is_one = signal == Some(KILL) && before.zip(now).is_some_and(|(before, now)| now > before);
    if is_one {
        "; memory ran out on this machine or in the control group of wireproof, and the kernel ended processes meanwhile (see dmesg)"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn want_of_memory_is_told_of_a_process_that_was_killed_meanwhile() {
        // Linux 6.18; other lines omitted.
        let text = "oom_kill 41\npgmigrate_success 0\n";
        assert_eq!(of_vmstat(text), Some(41));
        assert_eq!(of_vmstat("nr_free_pages 1\n"), None);
        assert!(note(Some(9), Some(41), Some(42)).contains("memory ran out"));
        for (signal, before, now) in
            [(Some(9), Some(41), Some(41)), (Some(9), None, Some(42)), (Some(11), Some(41), Some(42))]
        {
            assert_eq!(note(signal, before, now), "");
        }
    }
}
