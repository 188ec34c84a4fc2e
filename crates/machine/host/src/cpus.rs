//! Where cores and cards are. Nothing here fails: what cannot be read is left empty.

use std::{collections::BTreeSet, fs, path::Path};

use model::{CardFacts, CoreFacts, CpuFacts};

use crate::{counters::interrupt_numbers, facts::read, parse};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// Facts about the cores of this machine, and about the card of this interface, where it has one.
pub fn cpus(interface: Option<&str>) -> CpuFacts {
    let online = list(&format!("{CPUS}/online"));
    let nodes: Vec<(usize, Vec<usize>)> = list(&format!("{NODES}/online"))
        .into_iter()
        .map(|node| (node, list(&format!("{NODES}/node{node}/cpulist"))))
        .collect();
    let core = |cpu: usize| CoreFacts {
        cpu,
        node: nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map(|(node, _)| *node),
        siblings: list(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list")),
    };
    CpuFacts {
        allowed: kernel::cpu::allowed().unwrap_or_default(),
        isolated: list(&format!("{CPUS}/isolated")).into_iter().filter(|cpu| online.contains(cpu)).collect(),
        nohz_full: list(&format!("{CPUS}/nohz_full")),
        cores: online.iter().copied().map(core).collect(),
        card: interface.and_then(card),
    }
}

/// The card of an interface; a virtual one has none.
fn card(interface: &str) -> Option<CardFacts> {
    let device = fs::canonicalize(format!("/sys/class/net/{interface}/device")).ok()?;
    let cpus_of = |irq: &u32| list(&format!("/proc/irq/{irq}/effective_affinity_list"));
    let interrupts: BTreeSet<usize> = interrupt_numbers(&device).iter().flat_map(cpus_of).collect();
    Some(CardFacts { node: node(&device), interrupts: interrupts.into_iter().collect() })
}

/// NUMA node of a device, or of the one it is on; the kernel writes -1 where the firmware says none.
fn node(device: &Path) -> Option<usize> {
    let places = [Some(device), device.parent()].into_iter().flatten();
    places.filter_map(|place| read(&place.join("numa_node").to_string_lossy()).parse().ok()).next()
}

fn list(path: &str) -> Vec<usize> {
    parse::list(&read(path)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_core_is_its_own_sibling() {
        let facts = cpus(None);
        assert!(!facts.allowed.is_empty() && !facts.cores.is_empty(), "{facts:?}");
        assert!(facts.cores.iter().all(|core| core.siblings.contains(&core.cpu)), "{facts:?}");
        assert_eq!(facts.card, None);
    }

    #[test]
    fn a_virtual_interface_has_no_card() {
        assert_eq!(cpus(Some("lo")).card, None);
    }
}
