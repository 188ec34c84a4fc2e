//! Readings of a clean machine, which has no fault, and of machines with one.

use std::collections::BTreeMap;

use model::{
    Card, Delta, Reading, Source,
    card::{Hop, LaneReadings, ModuleReadings, PcieLink, PowerLimits, Readings},
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
    inspection::{Check, Conditions, Finding, Goal, HostReadings, Severity},
    settings::{
        IdleState, InterfaceSettings, Interrupt, Offload, OtherEnd, PciSettings, PciSizes, ProcessorFacts, SinceStart,
        Slot,
    },
};

use super::host;

mod faults;
mod tuned;

/// A server with a port of 10 Gbit/s, two nodes of four cores, a bridge over a veth, and a VLAN, tuned for this goal.
fn clean(goal: Goal) -> HostReadings {
    let known = |value: &str| Reading::Known(value.to_owned());
    let settings = |all: &[(&str, &str)]| all.iter().map(|(key, value)| ((*key).to_owned(), known(value))).collect();
    let link = |width: &str| PcieLink {
        width: width.into(),
        speed: "8.0 GT/s PCIe".into(),
        most_width: "8".into(),
        most_speed: "8.0 GT/s PCIe".into(),
    };
    let hop = |device: &str| Hop { device: device.into(), link: link("8"), ports: 2 };
    let card = Card {
        model: "Intel Corporation 82599ES".into(),
        top_speed_mbps: Reading::Known(10_000),
        hops: vec![hop("0000:01:00.0"), hop("0000:00:01.0")],
        ..Card::default()
    };
    let on = Offload { on: true, changeable: true };
    let offloads = [
        "rx-checksum",
        "rx-gro",
        "rx-hashing",
        "tx-checksum-ip-generic",
        "tx-generic-segmentation",
        "tx-tcp-segmentation",
    ];
    let off = [("rx-lro".to_owned(), Offload { on: false, changeable: true })];
    let mut coalescing = vec![0; 22];
    coalescing[0] = if goal == Goal::Latency { 0 } else { 50 };
    let numbers = [
        ("rings", vec![4096, 0, 0, 4096, 4096, 0, 0, 4096]),
        ("channels", vec![0, 0, 1, 63, 0, 0, 1, 4]),
        ("coalescing", coalescing),
        ("pause", vec![1, 1, 1]),
    ];
    let sizes = PciSizes { payload_most: 512, payload: 256, read_request: 512 };
    let pci = |device: &str| PciSettings { device: device.into(), sizes: Reading::Known(sizes) };
    let interrupt = |core: usize| Interrupt {
        number: 40 + core as u32,
        action: format!("eth1-TxRx-{core}"),
        cores: vec![core],
        allowed: Reading::Known(core.to_string()),
    };
    let nic = InterfaceSettings {
        numbers: BTreeMap::from(numbers.map(|(name, values)| (name.to_owned(), values))).into(),
        offloads: Reading::Known(offloads.map(|name| (name.to_owned(), on)).into_iter().chain(off).collect()),
        transmit_queue: Reading::Known(1000),
        qdiscs: vec!["mq 0:".into(), "fq 0:".into()],
        interrupts: Reading::Known((0..4).map(interrupt).collect()),
        node: Some(0),
        node_cores: (0..4).collect(),
        receive_steering: vec!["0".into(); 4],
        partner_pause: Some([true, false]),
        pci: vec![pci("0000:01:00.0"), pci("0000:00:01.0")],
        iommu: "identity".into(),
        ..InterfaceSettings::default()
    };
    let facts = |name: &str, settings: InterfaceSettings| InterfaceFacts {
        name: name.into(),
        state: "up".into(),
        mtu: Reading::Known(1500),
        settings: Some(settings),
        ..InterfaceFacts::default()
    };
    let kind = |kind: &str| InterfaceSettings { kind: kind.into(), ..InterfaceSettings::default() };
    let other_end = OtherEnd { interface: "veth1".into(), namespace: "guest".into(), mtu: 1500 };
    let interfaces = vec![
        InterfaceFacts { card: Some(card), speed_mbps: Reading::Known(10_000), ..facts("eth1", nic) },
        facts("br0", kind("bridge")),
        InterfaceFacts {
            master: Some("br0".into()),
            ..facts("veth0", InterfaceSettings { other_end: Some(other_end), ..kind("veth") })
        },
        InterfaceFacts { master: Some("br0".into()), ..facts("tap0", kind("tun")) },
        facts("eth1.7", InterfaceSettings { lower: Some("eth1".into()), ..kind("vlan") }),
    ];
    let limits =
        PowerLimits { low_alarm_mw: 0.0446, low_warning_mw: 0.1122, high_warning_mw: 1.7378, high_alarm_mw: 2.1878 };
    let lanes = vec![LaneReadings { received_mw: 0.5, sent_mw: 0.5, bias_ma: 7.0 }];
    let readings = Readings {
        up: Reading::Known(true),
        carrier: Some(true),
        full_duplex: Some(true),
        autonegotiation: Some(true),
        module: ModuleReadings { celsius: 40.0, volts: 3.3, lanes, received_limits: Some(limits) }.into(),
        counters: BTreeMap::from(["rx_packets", "tx_packets"].map(|name| (name.to_owned(), 1_000_000))).into(),
        ..Readings::default()
    };
    let slot = |name: &str, lanes, in_use, address: Option<&str>| Slot {
        name: name.into(),
        generation: Some(3),
        length_lanes: Some(16),
        lanes: Some(lanes),
        in_use: Some(in_use),
        address: address.map(str::to_owned),
    };
    let idle = |name: &str, latency_us, enabled| IdleState { name: name.into(), latency_us, enabled };
    let processor = ProcessorFacts {
        governors: BTreeMap::from([("performance".to_owned(), "0-7".to_owned())]).into(),
        idle_states: vec![idle("POLL", 0, true), idle("C1", 2, true), idle("C6", 133, false)].into(),
        smt: "off".into(),
        huge_pages: "madvise".into(),
        clock_sources: "tsc hpet acpi_pm".into(),
        slots: vec![slot("SLOT1", 8, true, Some("0000:01:00")), slot("SLOT2", 16, false, None)].into(),
        ..ProcessorFacts::default()
    };
    HostReadings {
        host: HostFacts {
            hostname: "bench1".into(),
            cpus: Reading::Known(8),
            numa_nodes: Reading::Known(2),
            clock_source: "tsc".into(),
            isolated_cpus: "6-7".into(),
            processor: Some(processor),
            services: vec!["cron".into()],
            sysctls: settings(&[
                ("kernel.nmi_watchdog", "0"),
                ("kernel.numa_balancing", "0"),
                ("net.core.busy_poll", "50"),
                ("net.core.default_qdisc", "fq"),
                ("net.core.netdev_budget", "300"),
                ("net.core.netdev_max_backlog", "1000"),
                ("net.core.rmem_max", "67108864"),
                ("net.core.wmem_max", "67108864"),
            ]),
            ..HostFacts::default()
        },
        ends: vec![EndpointFacts {
            endpoint: "bench1".into(),
            interfaces,
            readings: [("eth1".to_owned(), readings)].into(),
            since_start: Some(SinceStart {
                steal: Reading::Known(0.0),
                connections: Reading::Known(0),
                ..SinceStart::default()
            }),
            sysctls: settings(&[
                ("net.ipv4.conf.all.rp_filter", "2"),
                ("net.ipv4.ip_forward", "1"),
                ("net.ipv4.ip_no_pmtu_disc", "0"),
                ("net.ipv4.tcp_congestion_control", "cubic"),
                ("net.ipv4.tcp_mtu_probing", "1"),
                ("net.ipv4.tcp_no_metrics_save", "1"),
                ("net.ipv4.tcp_rmem", "4096 131072 67108864"),
                ("net.ipv4.tcp_sack", "1"),
                ("net.ipv4.tcp_slow_start_after_idle", "0"),
                ("net.ipv4.tcp_timestamps", "1"),
                ("net.ipv4.tcp_window_scaling", "1"),
                ("net.ipv4.tcp_wmem", "4096 16384 67108864"),
                ("net.ipv6.conf.all.forwarding", "1"),
                ("net.netfilter.nf_conntrack_max", "262144"),
            ]),
        }],
        refused: Vec::new(),
    }
}

fn conditions(goal: Goal) -> Conditions {
    Conditions { goal, ..Conditions::default() }
}

const GOALS: [Goal; 4] = [Goal::Latency, Goal::Throughput, Goal::Router, Goal::Bypass];

/// Checks that find something worse than worth knowing.
fn bad(findings: &[Finding]) -> Vec<(Check, &str)> {
    let bad = findings.iter().filter(|finding| finding.severity < Severity::Info);
    bad.map(|finding| (finding.check, finding.object.as_str())).collect()
}

#[test]
fn a_clean_machine_has_no_fault_for_any_goal() {
    for goal in GOALS {
        let findings = host(&clean(goal), &conditions(goal));
        assert_eq!(bad(&findings), [], "{goal}");
        assert!(findings.iter().filter(|finding| finding.severity == Severity::Ok).count() > 25, "{goal}");
        assert!(findings.iter().all(|finding| finding.mend.is_none() || finding.severity != Severity::Ok));
    }
}

fn eth1(readings: &mut HostReadings) -> &mut InterfaceFacts {
    &mut readings.ends[0].interfaces[0]
}

fn nic(readings: &mut HostReadings) -> &mut InterfaceSettings {
    eth1(readings).settings.as_mut().expect("it has")
}

fn numbers<'r>(readings: &'r mut HostReadings, name: &str) -> &'r mut Vec<u32> {
    known(&mut nic(readings).numbers).get_mut(name).expect("it has")
}

fn offload(readings: &mut HostReadings, name: &str, on: bool) {
    known(&mut nic(readings).offloads).insert(name.into(), Offload { on, changeable: true });
}

fn interrupts(readings: &mut HostReadings) -> &mut Vec<Interrupt> {
    known(&mut nic(readings).interrupts)
}

fn idle_states(readings: &mut HostReadings) -> &mut Vec<IdleState> {
    known(&mut processor(readings).idle_states)
}

fn set_governor(readings: &mut HostReadings, governor: &str) {
    processor(readings).governors = BTreeMap::from([(governor.to_owned(), "0-7".to_owned())]).into();
}

fn known<T>(reading: &mut Reading<T>) -> &mut T {
    match reading {
        Reading::Known(value) => value,
        _ => panic!("it is known"),
    }
}

fn unreadable<T>() -> Reading<T> {
    Reading::Unreadable { path: "/sys/x".into(), why: "Permission denied".into() }
}

fn card(readings: &mut HostReadings) -> &mut Card {
    eth1(readings).card.as_mut().expect("it has")
}

fn now(readings: &mut HostReadings) -> &mut Readings {
    readings.ends[0].readings.get_mut("eth1").expect("it has")
}

fn processor(readings: &mut HostReadings) -> &mut ProcessorFacts {
    readings.host.processor.as_mut().expect("it has")
}

fn since(readings: &mut HostReadings) -> &mut SinceStart {
    readings.ends[0].since_start.as_mut().expect("it has")
}

fn drop(readings: &mut HostReadings, source: Source, of: &str, name: &str, delta: u64) {
    since(readings).drops.push(Delta { source, of: of.into(), name: name.into(), delta });
}

fn set(readings: &mut HostReadings, key: &str, value: &str) {
    readings.ends[0].sysctls.insert(key.into(), value.into());
}

fn set_host(readings: &mut HostReadings, key: &str, value: &str) {
    readings.host.sysctls.insert(key.into(), value.into());
}

fn mtu(readings: &mut HostReadings, name: &str, mtu: u32) {
    let found = readings.ends[0].interfaces.iter_mut().find(|facts| facts.name == name);
    found.expect("it has").mtu = Reading::Known(mtu);
}

fn pci(readings: &mut HostReadings, change: impl Fn(&mut PciSizes)) {
    for device in &mut nic(readings).pci {
        if let Reading::Known(sizes) = &mut device.sizes {
            change(sizes);
        }
    }
}

#[test]
fn drops_matter_by_their_share_of_the_packets() {
    let of = |dropped| {
        let mut readings = clean(Goal::Router);
        drop(&mut readings, Source::Link, "eth1", "rx_missed_errors", dropped);
        drop(&mut readings, Source::Softnet, "cpu 0", "dropped", u64::from(dropped > 1000));
        bad(&host(&readings, &conditions(Goal::Router))).into_iter().map(|(check, _)| check).collect::<Vec<_>>()
    };
    assert_eq!(of(10), []);
    assert_eq!(of(100_000), [Check::Drops, Check::Backlog]);
}

#[test]
fn tracked_connections_matter_by_the_room_of_their_table() {
    let of = |goal, connections, dropped: &[&str]| {
        let mut readings = clean(goal);
        since(&mut readings).connections = connections;
        dropped.iter().for_each(|name| drop(&mut readings, Source::Conntrack, "nf_conntrack", name, 7));
        let findings = host(&readings, &conditions(goal)).into_iter();
        let all = [Check::ConnectionTracking, Check::ConnectionTable, Check::ConnectionDrops];
        findings.filter(|it| all.contains(&it.check) && it.severity < Severity::Ok).collect::<Vec<_>>()
    };
    let severities = |goal, connections, dropped: &[&str]| -> Vec<(Check, Severity)> {
        of(goal, connections, dropped).into_iter().map(|it| (it.check, it.severity)).collect()
    };
    let known = Reading::Known;
    assert_eq!(severities(Goal::Throughput, known(200_000), &[]), []);
    assert_eq!(severities(Goal::Router, known(3), &[]), [(Check::ConnectionTracking, Severity::Info)]);
    assert_eq!(severities(Goal::Throughput, known(262_144), &[]), [(Check::ConnectionTable, Severity::Fail)]);
    assert_eq!(severities(Goal::Latency, known(0), &["insert_failed"]), [(Check::ConnectionDrops, Severity::Info)]);
    assert_eq!(severities(Goal::Router, unreadable(), &[]), [(Check::ConnectionTable, Severity::Unknown)]);
    assert_eq!(severities(Goal::Router, Reading::Absent, &["drop"]), []);
    let full = &of(Goal::Throughput, known(240_000), &["drop"]);
    let mend = Some("sysctl -w net.netfilter.nf_conntrack_max=524288");
    assert_eq!(full.iter().map(|it| it.mend.as_deref()).collect::<Vec<_>>(), [mend, mend]);
    assert_eq!((full[0].read.value.as_str(), full[1].read.value.as_str()), ("240000 of 262144", "drop 7"));
}

#[test]
fn rate_and_round_trip_time_decide_over_buffers_and_the_bus() {
    let asked = |speed_bps, rtt_s| Conditions { speed_bps: Some(speed_bps), rtt_s, ..conditions(Goal::Throughput) };
    let readings = clean(Goal::Throughput);
    let faults = |conditions: &Conditions| -> Vec<Check> {
        bad(&host(&readings, conditions)).into_iter().map(|(check, _)| check).collect()
    };
    assert_eq!(faults(&asked(10e9, Some(0.02))), [], "50 MB of 64 MiB");
    let far = faults(&asked(40e9, Some(0.1)));
    let buffers = [Check::ReceiveBuffer, Check::SendBuffer, Check::ReceiveBufferLimit, Check::SendBufferLimit];
    assert!(buffers.iter().all(|check| far.contains(check)), "{far:?}");
    assert!(far.contains(&Check::SpeedShort) && far.contains(&Check::PcieNarrow), "{far:?}");
}

#[test]
fn a_narrow_slot_is_named_with_one_that_would_do() {
    let mut readings = clean(Goal::Throughput);
    let link = &mut card(&mut readings).hops[0].link;
    (link.width, link.speed) = ("4".into(), "5.0 GT/s PCIe".into());
    let findings = host(&readings, &conditions(Goal::Throughput));
    let narrow = findings.iter().find(|finding| finding.check == Check::PcieNarrow).expect("one");
    let value = |name: &str| narrow.values[name].as_str();
    assert_eq!((value("slot"), value("better")), ("SLOT1", "SLOT2 (Gen3 x16)"));
    assert_eq!((value("has"), value("needs"), value("ports")), ("14.6 Gbit/s", "20.0 Gbit/s", "2"));
}

#[test]
fn one_interface_is_looked_at_with_those_on_its_path() {
    let of = |interface: &str| {
        let mut readings = clean(Goal::Throughput);
        mtu(&mut readings, "tap0", 1400);
        let asked = Conditions { interface: Some(interface.into()), ..conditions(Goal::Throughput) };
        bad(&host(&readings, &asked)).into_iter().map(|(check, object)| (check, object.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(of("eth1"), []);
    assert_eq!(of("veth0"), [(Check::MtuMember, "tap0".to_owned())]);
}

#[test]
fn settings_that_cannot_be_read_are_unknown_and_old_readings_have_no_findings() {
    let mut readings = clean(Goal::Latency);
    readings.host.sysctls.insert("net.core.busy_poll".into(), unreadable());
    (nic(&mut readings).numbers, nic(&mut readings).offloads) = (unreadable(), unreadable());
    let processor = processor(&mut readings);
    (processor.governors, processor.idle_states, processor.huge_pages) = (unreadable(), unreadable(), unreadable());
    let findings = host(&readings, &conditions(Goal::Latency));
    let unknown = findings.iter().filter(|finding| finding.severity == Severity::Unknown);
    let unknown: Vec<_> = unknown.map(|it| (it.check, it.read.value.as_str())).collect();
    for check in [Check::BusyPoll, Check::Governor, Check::IdleStates, Check::HugePages] {
        assert!(unknown.contains(&(check, "Permission denied")), "{check:?}: {unknown:?}");
    }
    assert_eq!(bad(&host(&HostReadings::default(), &conditions(Goal::Latency))), []);
    readings = clean(Goal::Throughput);
    (nic(&mut readings).numbers, nic(&mut readings).offloads) = (unreadable(), unreadable());
    let findings = host(&readings, &conditions(Goal::Throughput));
    for check in [Check::RingReceive, Check::RingTransmit, Check::OffloadOff] {
        assert!(findings.iter().any(|it| it.check == check && it.severity == Severity::Unknown), "{findings:?}");
    }
}
