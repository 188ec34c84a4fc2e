//! Location of cores and cards.

use std::collections::BTreeSet;

use model::{CardFacts, CoreFacts, CpuFacts, core_list};

use crate::{
    counters::interrupt_numbers,
    source::{LocalSource, Source},
};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

/// Facts about the cores of this machine, and about the card of this interface, if any.
pub fn cpus(interface: Option<&str>) -> CpuFacts {
    cpus_of(&LocalSource, interface)
}

fn cpus_of(source: &dyn Source, interface: Option<&str>) -> CpuFacts {
    let list = |path: String| list(source, &path);
    let online = list(format!("{CPUS}/online"));
    let nodes: Vec<(usize, Vec<usize>)> =
        list(format!("{NODES}/online")).into_iter().map(|node| (node, node_cores(source, node))).collect();
    let core = |cpu: usize| CoreFacts {
        cpu,
        node: nodes.iter().find(|(_, cpus)| cpus.contains(&cpu)).map(|(node, _)| *node),
        siblings: source
            .read(&format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list"))
            .and_then(|text| core_list::parse(&text)),
    };
    CpuFacts {
        allowed: source.allowed_cpus().or_default(),
        isolated: list(format!("{CPUS}/isolated")).into_iter().filter(|cpu| online.contains(cpu)).collect(),
        nohz_full: list(format!("{CPUS}/nohz_full")),
        cores: online.iter().copied().map(core).collect(),
        card: interface.and_then(|interface| card_of(source, interface)),
    }
}

/// The card of an interface; `None` for a virtual one.
pub(crate) fn card_of(source: &dyn Source, interface: &str) -> Option<CardFacts> {
    let device = source.resolve(&format!("/sys/class/net/{interface}/device")).into_known()?;
    let cpus_of = |irq: &u32| list(source, &format!("/proc/irq/{irq}/effective_affinity_list"));
    let interrupts: BTreeSet<usize> = interrupt_numbers(source, &device).iter().flat_map(cpus_of).collect();
    Some(CardFacts { node: node(source, &device), interrupts: interrupts.into_iter().collect() })
}

/// NUMA node of a device or its parent; the kernel writes -1 if the firmware gives none.
fn node(source: &dyn Source, device: &str) -> Option<usize> {
    let places = [Some(device), device.rsplit_once('/').map(|(above, _)| above)].into_iter().flatten();
    places.filter_map(|place| source.read(&format!("{place}/numa_node")).into_known()?.parse().ok()).next()
}

/// Cores of a NUMA node.
pub(crate) fn node_cores(source: &dyn Source, node: usize) -> Vec<usize> {
    list(source, &format!("{NODES}/node{node}/cpulist"))
}

/// A list of numbers; empty where there is none.
pub(crate) fn list(source: &dyn Source, path: &str) -> Vec<usize> {
    core_list::parse(&source.read(path).or_default()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Recorded;

    #[test]
    fn each_core_is_its_own_sibling() {
        let facts = cpus(None);
        assert!(!facts.allowed.is_empty() && !facts.cores.is_empty(), "{facts:?}");
        assert!(facts.cores.iter().all(|core| core.may_be_sibling(&[core.cpu])), "{facts:?}");
        assert_eq!(facts.card, None);
    }

    #[test]
    fn cores_have_their_nodes_and_a_card_those_that_it_interrupts() {
        let machine = Recorded::new(&[
            ("/sys/devices/system/cpu/online", "0-3"),
            ("/sys/devices/system/cpu/isolated", "3,9"),
            ("/sys/devices/system/node/online", "0-1"),
            ("/sys/devices/system/node/node0/cpulist", "0-1"),
            ("/sys/devices/system/node/node1/cpulist", "2-3"),
            ("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3"),
            ("/sys/devices/pci0000:00/0000:00:03.0/numa_node", "1"),
            ("/sys/devices/pci0000:00/0000:00:03.0/msi_irqs/37", "msix"),
            ("/proc/irq/37/effective_affinity_list", "2"),
        ]);
        // A virtio device is below its PCI function.
        machine.make_folder("/sys/devices/pci0000:00/0000:00:03.0/virtio1");
        machine.link("/sys/class/net/eth1/device", "/sys/devices/pci0000:00/0000:00:03.0/virtio1");
        let facts = cpus_of(&machine, Some("eth1"));
        assert_eq!(facts.cores.iter().map(|core| core.node).collect::<Vec<_>>(), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!((&facts.cores[2].siblings, facts.isolated.as_slice()), (&vec![2, 3].into(), &[3][..]));
        assert_eq!(facts.card, Some(CardFacts { node: Some(1), interrupts: vec![2] }));
    }

    #[test]
    fn a_virtual_interface_has_no_card() {
        assert_eq!(cpus(Some("lo")).card, None);
    }
}
