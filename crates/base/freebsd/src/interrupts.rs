//! vmstat(8): `vmstat -i` or `vmstat -ia`.

use crate::text::lines;

/// Count of an interrupt since boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interrupt {
    /// Number; `None` for a timer of a core.
    pub irq: Option<u32>,
    /// Device and queue, like `ix0:rxq1`; a few share one with `+`.
    pub name: String,
    /// Since boot.
    pub total: u64,
    /// A second, on average since boot.
    pub rate: u64,
}

impl Interrupt {
    /// Number of the queue that it is of, in the words of the drivers: `ix0:que 3`, `ix0:q3`, `ixl0:rxq3`.
    pub fn queue_of(&self, device: &str) -> Option<u32> {
        let queue = self.name.strip_prefix(device)?.strip_prefix(':')?.trim();
        let number = ["que", "rxq", "q"].iter().find_map(|word| queue.strip_prefix(word))?;
        number.trim().parse().ok()
    }
}

/// Interrupts in the order of the output, stray ones and the sum left out.
pub fn read(text: &str) -> Vec<Interrupt> {
    lines(text).filter_map(row).collect()
}

fn row(line: &str) -> Option<Interrupt> {
    let (rest, rate) = line.rsplit_once(char::is_whitespace)?;
    let (name, total) = rest.trim_end().rsplit_once(char::is_whitespace)?;
    let (rate, total, name) = (rate.parse().ok()?, total.parse().ok()?, name.trim());
    if name == "Total" || name.starts_with("stray") {
        return None;
    }
    let numbered = name.strip_prefix("irq").and_then(|name| {
        let (irq, name) = name.split_once(':')?;
        Some((irq.parse().ok()?, name.trim()))
    });
    let (irq, name) = numbered.map_or((None, name), |(irq, name)| (Some(irq), name));
    Some(Interrupt { irq, name: name.to_owned(), total, rate })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{VMSTAT_10, VMSTAT_12, VMSTAT_13};

    #[test]
    fn queues_are_named_otherwise_in_each_release() {
        let old = read(VMSTAT_10);
        assert_eq!(old[1], Interrupt { irq: Some(259), name: "ix0:que 1".into(), total: 1_923_385, rate: 756 });
        assert_eq!(
            old.iter().map(|row| row.queue_of("ix0")).collect::<Vec<_>>(),
            [Some(0), Some(1), Some(2), Some(3), None, None, None]
        );
        assert_eq!(old[5].queue_of("ix1"), Some(0));
        let queues: Vec<_> = read(VMSTAT_12).iter().filter_map(|row| row.queue_of("ixl0")).collect();
        assert_eq!(queues, [0, 1, 2, 3, 4, 5, 6, 7]);
        let new = read(VMSTAT_13);
        assert_eq!(new.iter().filter_map(|row| row.queue_of("igb0")).count(), 4);
        assert_eq!((new[2].irq, new[2].name.as_str()), (None, "cpu0:timer"));
    }

    #[test]
    fn stray_interrupts_are_none() {
        let rows = read(
            "irq272: ix0:que 0                    870          0\nstray irq272                           0          0\n",
        );
        assert_eq!(rows.len(), 1);
    }
}
