//! cpuset(1): cores of a process, an interrupt or the machine.

use crate::text::lines;

/// Most cores of a machine.
const MOST: usize = 4096;

/// Cores of `cpuset -g`, `cpuset -g -x IRQ` or `cpuset -g -p PID`; empty if it says none.
pub fn cores(text: &str) -> Vec<usize> {
    let mask = |line: &'_ str| {
        let (subject, list) = line.split_once(" mask: ")?;
        // NUMA domains have a mask, too.
        if subject.contains("domain") { None } else { list.split(',').map(|core| core.trim().parse().ok()).collect() }
    };
    let mut cores: Vec<usize> = lines(text).find_map(mask).unwrap_or_default();
    cores.truncate(MOST);
    cores
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_of_an_interrupt_and_of_the_machine() {
        assert_eq!(cores("irq 264 mask: 3\n"), [3]);
        // As of FreeBSD 12.
        let machine = "pid -1 mask: 0, 1, 2, 3\npid -1 domain policy: first-touch mask: 0\n";
        assert_eq!(cores(machine), [0, 1, 2, 3]);
        let other = "cpuset 0 domain policy: first-touch mask: 0\ncpuset 0 mask: 0, 1\n";
        assert_eq!(cores(other), [0, 1]);
        assert_eq!(cores("cpuset: getaffinity: No such process"), [0_usize; 0]);
        assert_eq!(cores("irq 1 mask: 0, x"), [0_usize; 0]);
    }
}
