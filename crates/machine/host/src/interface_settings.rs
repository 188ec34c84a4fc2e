//! Settings of an interface and its driver, as an inspection judges them.

use kernel::{link::Link, nic::LinkSettings};
use model::{
    Reading,
    settings::{InterfaceSettings, Interrupt},
};

use crate::{
    card,
    counters::interrupt_numbers,
    placement::{card_of, list, node_cores},
    source::Source,
};

/// Offloads that an inspection judges, as the kernel names them.
const OFFLOADS: [&str; 11] = [
    "rx-checksum",
    "rx-gro",
    "rx-gro-hw",
    "rx-hashing",
    "rx-lro",
    "tx-checksum-ip-generic",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
];

/// Bits of `ETHTOOL_LINK_MODE_*`: symmetric and asymmetric pause frames, and autonegotiation.
const PAUSE: u32 = 13;
const ASYMMETRIC_PAUSE: u32 = 14;

/// Settings with the offloads that an inspection judges.
pub(crate) fn judged(source: &dyn Source, link: &Link) -> InterfaceSettings {
    let settings = of(source, link);
    let offloads = settings.offloads.map(|mut offloads| {
        offloads.retain(|name, _| OFFLOADS.contains(&name.as_str()));
        offloads
    });
    InterfaceSettings { offloads, ..settings }
}

/// All settings.
pub(crate) fn of(source: &dyn Source, link: &Link) -> InterfaceSettings {
    let name = link.name.as_str();
    let card = card_of(source, name);
    let node = card.as_ref().and_then(|card| card.node);
    let has_card = card.is_some();
    InterfaceSettings {
        kind: link.kind.clone(),
        lower: link.lower.clone(),
        other_end: if link.kind == "veth" { source.other_end(name).into_known() } else { None },
        numbers: source.driver_settings(name).map(|settings| settings.numbers),
        offloads: source.offloads(name),
        transmit_queue: source
            .read(&format!("/sys/class/net/{name}/tx_queue_len"))
            .and_then(|length| length.parse().ok()),
        qdiscs: source.counters(name).or_default().1.into_iter().map(|qdisc| qdisc.name).collect(),
        interrupts: interrupts(source, name),
        subport: source.read(&format!("/sys/class/net/{name}/phys_port_name")).known().and_then(|name| subport(name)),
        node,
        node_cores: node.map(|node| node_cores(source, node)).unwrap_or_default(),
        receive_steering: receive_steering(source, name),
        partner_pause: source.link_settings(name).known().and_then(partner_pause),
        fec: if has_card { source.fec(name) } else { Reading::Absent },
        pci: card::pci_settings(source, name),
        iommu: card::iommu(source, name),
    }
}

/// `p0s1` is the second part of a port that was split, `p0` a whole one (Documentation/networking/devlink/devlink-port.rst).
fn subport(port: &str) -> Option<usize> {
    let (number, part) = port.strip_prefix('p')?.split_once('s').unwrap_or((&port[1..], "0"));
    number.parse::<usize>().ok()?;
    part.parse().ok()
}

fn partner_pause(settings: &LinkSettings) -> Option<[bool; 2]> {
    let has = |mode: u32| settings.partner.contains(&mode);
    (settings.autonegotiation && !settings.partner.is_empty()).then(|| [has(PAUSE), has(ASYMMETRIC_PAUSE)])
}

fn interrupts(source: &dyn Source, interface: &str) -> Reading<Vec<Interrupt>> {
    let read = |number: u32| Interrupt {
        number,
        action: source.read(&format!("/sys/kernel/irq/{number}/actions")).or_default(),
        cores: list(source, &format!("/proc/irq/{number}/effective_affinity_list")),
        allowed: source.read(&format!("/proc/irq/{number}/smp_affinity_list")),
    };
    let device = source.resolve(&format!("/sys/class/net/{interface}/device"));
    device.map(|device| interrupt_numbers(source, &device).into_iter().map(read).collect())
}

fn receive_steering(source: &dyn Source, interface: &str) -> Vec<String> {
    queue_cores(source, interface, "rx", "rps_cpus").into_iter().filter_map(|(_, cores)| cores.into_known()).collect()
}

/// Cores of each queue of a direction, as masks, by the files below the interface's folder that have them.
pub(crate) fn queue_cores(
    source: &dyn Source,
    interface: &str,
    direction: &str,
    file: &str,
) -> Vec<(String, Reading<String>)> {
    let folder = format!("/sys/class/net/{interface}/");
    let queues = source.list(&format!("{folder}queues")).or_default();
    let queues = queues.iter().filter(|path| path.contains(&format!("/{direction}-")));
    let files = queues.filter_map(|queue| Some(format!("{}/{file}", queue.strip_prefix(&folder)?)));
    files.map(|file| (file.clone(), source.read(&format!("{folder}{file}")))).collect()
}

#[cfg(test)]
mod tests {
    use model::{Mtu, change::DriverNumber, nic::DriverSettings, settings::Offload};

    use super::*;
    use crate::recorded::Recorded;

    #[test]
    fn a_part_of_a_split_port_is_known_by_its_name() {
        assert_eq!(["p1", "p0s0", "p12s3"].map(subport), [Some(0), Some(0), Some(3)]);
        assert_eq!(["", "p", "pf0vf2", "p0s", "s1", "é1"].map(subport), [None; 6]);
    }

    #[test]
    fn settings_of_a_card_are_read_with_its_interrupts_and_its_node() {
        let mut machine = Recorded::new(&[
            ("/sys/devices/pci0000:00/0000:00:03.0/class", "0x020000"),
            ("/sys/devices/pci0000:00/0000:00:03.0/numa_node", "1"),
            ("/sys/devices/pci0000:00/0000:00:03.0/msi_irqs/37", "msix"),
            ("/sys/devices/system/node/node1/cpulist", "2-3"),
            ("/sys/kernel/irq/37/actions", "eth1-TxRx-0"),
            ("/proc/irq/37/effective_affinity_list", "2"),
            ("/proc/irq/37/smp_affinity_list", "0-3"),
            ("/sys/class/net/eth1/tx_queue_len", "1000"),
            ("/sys/class/net/eth1/queues/rx-0/rps_cpus", "0"),
            ("/sys/class/net/eth1/queues/tx-0/xps_cpus", "1"),
        ]);
        machine.link("/sys/class/net/eth1/device", "/sys/devices/pci0000:00/0000:00:03.0");
        let rings = [("rings".to_owned(), vec![4096, 0, 0, 4096, 512, 0, 0, 512])];
        let driver = DriverSettings { numbers: rings.into(), ..DriverSettings::default() };
        machine.settings = [("eth1".to_owned(), driver)].into();
        machine.offloads =
            ["rx-gro", "hw-tc-offload"].map(|name| (name.to_owned(), Offload { on: true, changeable: true })).into();
        let link = Link { index: 2, name: "eth1".into(), up: true, mtu: Mtu(1500), ..Link::default() };
        let read = judged(&machine, &link);
        assert_eq!(read.number(DriverNumber::RingRx), Reading::Known((512, Some(4096))));
        let interrupt = Interrupt { number: 37, action: "eth1-TxRx-0".into(), cores: vec![2], allowed: "0-3".into() };
        assert_eq!((read.interrupts, read.node, read.node_cores), (vec![interrupt].into(), Some(1), vec![2, 3]));
        assert_eq!(read.offloads.map(|offloads| offloads.len()), Reading::Known(1), "the judged ones");
        assert_eq!((read.receive_steering, read.transmit_queue), (vec!["0".to_owned()], Reading::Known(1000)));
    }

    #[test]
    fn pause_frames_of_the_partner_are_known_where_it_told() {
        let of = |autonegotiation, partner: &[u32]| {
            partner_pause(&LinkSettings { autonegotiation, partner: partner.to_vec(), ..LinkSettings::default() })
        };
        assert_eq!(of(true, &[5, PAUSE]), Some([true, false]));
        assert_eq!(of(true, &[5]), Some([false, false]));
        assert_eq!((of(false, &[5, PAUSE]), of(true, &[])), (None, None));
    }
}
