//! Faults planted in the readings of a clean machine: each is found alone.

use Check as C;
use Goal::{Bypass, Latency, Router, Throughput};

use super::*;

/// A fault: its goal, its check and object, and the change that plants it.
type Fault = (Goal, Check, &'static str, fn(&mut HostReadings));

pub(super) const FAULTS: [Fault; 53] = [
    (Throughput, C::LinkDown, "eth1", |it| now(it).carrier = Some(false)),
    (Throughput, C::LinkSlow, "eth1", |it| eth1(it).speed_mbps = Reading::Known(1000)),
    (Throughput, C::HalfDuplex, "eth1", |it| now(it).full_duplex = Some(false)),
    (Throughput, C::PauseOneSided, "eth1", |it| *numbers(it, "pause") = vec![0, 0, 0]),
    (Throughput, C::FecOff, "eth1", |it| {
        (eth1(it).speed_mbps, card(it).top_speed_mbps) = (Reading::Known(25_000), Reading::Known(25_000));
        nic(it).fec = Reading::Known(1 << 2);
    }),
    (Throughput, C::NoLight, "eth1", |it| {
        known(&mut now(it).module).lanes[0].received_mw = 0.0;
    }),
    (Throughput, C::PcieNarrow, "eth1", |it| {
        let link = &mut card(it).hops[0].link;
        (link.width, link.speed) = ("4".into(), "5.0 GT/s PCIe".into());
        (link.most_width, link.most_speed) = ("4".into(), "5.0 GT/s PCIe".into());
    }),
    (Throughput, C::PcieTrainedDown, "eth1", |it| card(it).hops[0].link.width = "4".into()),
    (Throughput, C::PciePayload, "eth1", |it| pci(it, |sizes| sizes.payload = 128)),
    (Router, C::PcieReadRequest, "eth1", |it| pci(it, |sizes| sizes.read_request = 128)),
    (Throughput, C::PcieErrors, "eth1", |it| {
        now(it).bus_errors.insert("0000:01:00.0 nonfatal CmpltTO".into(), 3);
    }),
    (Bypass, C::Iommu, "eth1", |it| nic(it).iommu = "DMA-FQ".into()),
    (Throughput, C::IrqNode, "eth1", |it| interrupts(it)[2].cores = vec![5]),
    (Throughput, C::IrqOneCore, "eth1", |it| interrupts(it).iter_mut().for_each(|irq| irq.cores = vec![0])),
    (Latency, C::IrqIsolated, "eth1", |it| {
        nic(it).node_cores = (0..8).collect();
        interrupts(it)[1].cores = vec![6];
    }),
    (Router, C::Channels, "eth1", |it| numbers(it, "channels")[7] = 1),
    (Router, C::ReceiveHash, "eth1", |it| offload(it, "rx-hashing", false)),
    (Throughput, C::RingReceive, "eth1", |it| numbers(it, "rings")[4] = 64),
    (Throughput, C::RingTransmit, "eth1", |it| numbers(it, "rings")[7] = 64),
    (Throughput, C::TransmitQueue, "eth1", |it| {
        let nic = nic(it);
        (nic.transmit_queue, nic.qdiscs) = (Reading::Known(100), vec!["mq 0:".into(), "pfifo_fast 0:".into()]);
    }),
    (Latency, C::CoalescingLatency, "eth1", |it| numbers(it, "coalescing")[0] = 125),
    (Latency, C::CoalescingLatency, "eth1", |it| numbers(it, "coalescing")[9] = 1),
    (Throughput, C::CoalescingThroughput, "eth1", |it| numbers(it, "coalescing")[..2].copy_from_slice(&[0, 1])),
    (Throughput, C::OffloadOff, "eth1", |it| offload(it, "rx-gro", false)),
    (Throughput, C::OffloadOff, "eth1", |it| offload(it, "tx-tcp-segmentation", false)),
    (Throughput, C::OffloadOff, "eth1", |it| offload(it, "tx-checksum-ip-generic", false)),
    (Router, C::LroForwarding, "eth1", |it| offload(it, "rx-lro", true)),
    (Bypass, C::XdpMtu, "eth1", |it| mtu(it, "eth1", 9000)),
    (Latency, C::Governor, "", |it| set_governor(it, "powersave")),
    (Latency, C::IdleStates, "", |it| idle_states(it)[2].enabled = true),
    (Latency, C::HugePages, "", |it| processor(it).huge_pages = "always".into()),
    (Latency, C::NumaBalancing, "kernel.numa_balancing", |it| set_host(it, "kernel.numa_balancing", "1")),
    (Latency, C::NmiWatchdog, "kernel.nmi_watchdog", |it| set_host(it, "kernel.nmi_watchdog", "1")),
    (Latency, C::BusyPoll, "net.core.busy_poll", |it| set_host(it, "net.core.busy_poll", "0")),
    (Latency, C::ClockSource, "", |it| it.host.clock_source = "hpet".into()),
    (Latency, C::Steal, "", |it| since(it).steal = Reading::Known(0.04)),
    (Throughput, C::ReceiveBuffer, "net.ipv4.tcp_rmem", |it| set(it, "net.ipv4.tcp_rmem", "4096 131072 262144")),
    (Throughput, C::SendBuffer, "net.ipv4.tcp_wmem", |it| set(it, "net.ipv4.tcp_wmem", "4096 16384 65536")),
    (Throughput, C::WindowScaling, "net.ipv4.tcp_window_scaling", |it| set(it, "net.ipv4.tcp_window_scaling", "0")),
    (Throughput, C::SelectiveAcks, "net.ipv4.tcp_sack", |it| set(it, "net.ipv4.tcp_sack", "0")),
    (Throughput, C::Timestamps, "net.ipv4.tcp_timestamps", |it| set(it, "net.ipv4.tcp_timestamps", "0")),
    (Throughput, C::CongestionControl, "net.ipv4.tcp_congestion_control", |it| {
        set(it, "net.ipv4.tcp_congestion_control", "vegas");
    }),
    (Throughput, C::DefaultQdisc, "net.core.default_qdisc", |it| set_host(it, "net.core.default_qdisc", "pfifo_fast")),
    (Throughput, C::QdiscShapes, "eth1", |it| nic(it).qdiscs = vec!["tbf 8001:".into()]),
    (Throughput, C::MtuMember, "tap0", |it| {
        ["br0", "veth0"].iter().for_each(|name| mtu(it, name, 9000));
        it.ends[0].interfaces[2].settings.as_mut().and_then(|it| it.other_end.as_mut()).expect("it has").mtu = 9000;
    }),
    (Throughput, C::MtuLower, "eth1.7", |it| mtu(it, "eth1.7", 1600)),
    (Throughput, C::MtuPeer, "veth0", |it| {
        it.ends[0].interfaces[2].settings.as_mut().and_then(|it| it.other_end.as_mut()).expect("it has").mtu = 1400;
    }),
    (Throughput, C::RouteMtu, "198.18.9.1", |it| since(it).learned_mtus = vec![("198.18.9.1".into(), 576)]),
    (Router, C::Forwarding, "net.ipv4.ip_forward", |it| set(it, "net.ipv4.ip_forward", "0")),
    (Router, C::ConnectionTable, "nf_conntrack", |it| since(it).connections = Reading::Known(250_000)),
    (Throughput, C::ConnectionDrops, "nf_conntrack", |it| drop(it, Source::Conntrack, "nf_conntrack", "early_drop", 9)),
    (Throughput, C::Damage, "eth1", |it| drop(it, Source::Link, "eth1", "rx_crc_errors", 17)),
    (Throughput, C::PathMtuDiscovery, "net.ipv4.ip_no_pmtu_disc", |it| set(it, "net.ipv4.ip_no_pmtu_disc", "1")),
];

#[test]
fn each_planted_fault_is_found_alone() {
    for (goal, check, object, plant) in FAULTS {
        let mut readings = clean(goal);
        plant(&mut readings);
        let findings = host(&readings, &conditions(goal));
        // A second finding may say the same of another thing, like a probing that is wanted with large frames.
        let found: Vec<_> = bad(&findings).into_iter().filter(|(found, _)| *found != Check::MtuProbing).collect();
        assert_eq!(found, [(check, object)], "{goal}");
        assert_eq!(findings[0].check, check, "the worst comes first");
    }
}
