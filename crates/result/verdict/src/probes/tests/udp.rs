use model::{Doubt, Evidence, Flow, Measured, Place, Protocol::Udp, Source, card::PcieLink};

use super::fixture::{A, B, Story, at, story};

fn udp() -> Story {
    story(Udp)
}

#[test]
fn a_load_beside_other_programs_is_the_limit_only_where_nothing_was_lost() {
    let beside = |lost| {
        let mut beside = story(Udp).asked(1e9).lost(lost);
        beside.trial.doubts.push(Doubt::OtherLoad { cpu: 1, percent: 40.0, machine: String::new() });
        beside.limited_by()
    };
    assert_eq!(beside(0).place, Place::IntendedLoad, "no program made the rate smaller");
    let lossy = beside(500);
    assert_eq!(lossy.place, Place::NotKnown, "programs on the cores may be why");
    assert!(matches!(lossy.evidence[..], [Evidence::AsAsked { .. }]));
    assert_eq!(story(Udp).asked(1e9).lost(500).place().0, Place::IntendedLoad, "alone on its cores");
}

#[test]
fn a_load_that_arrived_as_asked_limits_itself() {
    let limited = udp().asked(1e9).busy(A, 0.0).limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::IntendedLoad, None));
    assert_eq!(limited.evidence, [Evidence::AsAsked { intended: 1e9, achieved: 1e9 }]);
    // One in ten thousand is lost: no rate to speak of.
    assert_eq!(udp().asked(1e9).lost(90).place().0, Place::IntendedLoad);
    assert_ne!(udp().asked(1e9).lost(20_000).place().0, Place::IntendedLoad);
}

#[test]
fn a_sender_without_time_stays_behind_or_sets_the_pace() {
    let behind = udp().asked(2e9).busy(A, 40.0).limited_by();
    assert_eq!((behind.place, behind.endpoint.as_deref()), (Place::SenderCpu, Some("a")));
    let core = Evidence::Core { cpu: 1, busy: 99.0, softirq: 40.0, steal: 0.0 };
    assert_eq!(behind.evidence, [core.clone(), Evidence::Behind { intended: 2e9, achieved: 1e9 }]);
    assert_eq!(udp().busy(A, 40.0).limited_by().evidence, [core]);
    assert_eq!(udp().busy(A, 95.0).place(), at(Place::SoftirqCore, "a"));
}

#[test]
fn a_sender_behind_for_no_reason_that_shows_is_not_blamed() {
    let limited = udp().asked(2e9).limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::NotKnown, None));
    assert_eq!(limited.evidence[0], Evidence::Behind { intended: 2e9, achieved: 1e9 });
    assert_eq!(limited.evidence.len(), 3, "and the cores of both ends");
}

#[test]
fn a_sender_that_waits_for_its_socket_says_so() {
    let mut waiting = udp();
    waiting.goodput().1.sent.buffer_full = 20_000;
    assert_eq!(waiting.place(), at(Place::SenderSocket, "a"));
    waiting.goodput().1.sent.buffer_full = 3;
    assert_eq!(waiting.place().0, Place::NotKnown);
}

#[test]
fn a_shaped_sender_that_loses_a_little_is_limited_by_the_shaper() {
    // As counted with iperf3 at 600 Mbit/s through 200 Mbit/s of tbf: 29 of 17 343 overflowed at the receiver.
    let shaped = |lost| {
        let story = udp().lost(lost).counted(B, Source::Snmp, "Udp", "RcvbufErrors", lost);
        let story = story.counted(B, Source::Snmp, "Udp", "InErrors", lost);
        let story = story.counted(A, Source::Qdisc, "tbf 8006:", "packets", 17_367);
        story.counted(A, Source::Qdisc, "tbf 8006:", "overlimits", 51_799)
    };
    assert_eq!(shaped(1_560).place(), at(Place::Qdisc, "a"));
    assert_eq!(shaped(170_000).place(), at(Place::ReceiverSocket, "b"));
}

#[test]
fn a_full_receive_buffer_is_the_cores_fault_if_it_has_no_time() {
    let mut overflowing = udp().lost(50_000).counted(B, Source::Snmp, "Udp", "RcvbufErrors", 50_000);
    overflowing.goodput().1.received.datagrams.as_mut().unwrap().overflowed = 50_000;
    let limited = overflowing.limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::ReceiverSocket, Some("b")));
    assert_eq!(limited.evidence[0], Evidence::Overflow { datagrams: 50_000 });
    assert!(matches!(limited.evidence[1], Evidence::Counter { .. }), "{limited:?}");

    let limited = overflowing.busy(B, 20.0).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::ReceiverCpu, Some("b")));
    assert!(matches!(limited.evidence[0], Evidence::Core { cpu: 2, .. }), "{limited:?}");
    assert_eq!(limited.evidence[1], Evidence::Overflow { datagrams: 50_000 });
}

#[test]
fn a_second_without_datagrams_is_no_interruption_where_a_counter_has_them() {
    let silent = || {
        let mut story = udp().lost(50_000).busy(B, 20.0);
        story.goodput().1.received.intervals_bps = vec![2e8, 0.0];
        story
    };
    assert_eq!(silent().place(), (Place::Interruption, None));
    let overflown = silent().counted(B, Source::Snmp, "Udp", "RcvbufErrors", 50_000);
    assert_eq!(overflown.counted(B, Source::Snmp, "Udp", "InErrors", 50_000).place(), at(Place::ReceiverCpu, "b"));
}

#[test]
fn each_place_that_drops_is_named_with_its_counter() {
    let cases = [
        (A, Source::Qdisc, "tbf 8005:", "drops", at(Place::Qdisc, "a")),
        (B, Source::Link, "eth0", "rx_missed_errors", at(Place::PeerRing, "b")),
        (B, Source::Ethtool, "eth0", "rx_no_dma_resources", at(Place::PeerRing, "b")),
        (B, Source::Ethtool, "eth0", "rx_dropped.nic", at(Place::PeerRing, "b")),
        (A, Source::Link, "eth0", "tx_dropped", at(Place::NotKnown, "a")),
        (B, Source::Softnet, "cpu 3", "dropped", at(Place::SoftirqCore, "b")),
        (B, Source::Ethtool, "eth0", "rx_queue_0_xdp_drops", at(Place::PacketFilter, "b")),
        (B, Source::Snmp, "Udp", "InCsumErrors", (Place::Path, None)),
        (B, Source::Netstat, "TcpExt", "IPReversePathFilter", at(Place::NotKnown, "b")),
        (B, Source::Netstat, "IpExt", "InNoRoutes", at(Place::IpAddress, "b")),
        (B, Source::Snmp, "Ip6", "InAddrErrors", at(Place::IpAddress, "b")),
    ];
    for (end, source, of, name, expected) in cases {
        let limited = udp().lost(50_000).counted(end, source, of, name, 50_000).limited_by();
        assert_eq!((limited.place, limited.endpoint), expected, "{name}");
        assert!(matches!(&limited.evidence[0], Evidence::Counter { counter } if counter.name == name), "{name}");
    }
}

#[test]
fn the_place_of_loss_that_no_counter_shows_is_not_known() {
    let limited = udp().lost(50_000).busy(A, 0.0).limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::NotKnown, None));
    assert_eq!(limited.evidence, [Evidence::Unseen { packets: 50_000 }]);
    // Without the loss it is the sender again.
    assert_eq!(udp().busy(A, 0.0).place().0, Place::SenderCpu);
}

#[test]
fn a_full_link_is_told_by_what_crosses_the_wire() {
    // 1472 bytes of payload take 1538 on the wire: 1 Gbit/s of goodput does not fit 1 Gbit/s.
    let mut full = udp().link(1000);
    full.goodput().1.received.counted_bytes = 1_190_000_000;
    let limited = full.limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::LinkRate, None));
    let Evidence::LinkFull { bps, link_bps } = limited.evidence[0] else { panic!("{limited:?}") };
    assert!((bps - 0.952e9 * 1538.0 / 1472.0).abs() < 1e6 && link_bps == 1e9, "{bps}");
    assert_eq!(udp().link(10_000).place().0, Place::NotKnown);
}

#[test]
fn a_narrow_slot_is_told_by_what_crosses_the_bus() {
    let slot = |width: &str, bus: [&str; 2]| {
        let mut story = udp().link(10_000);
        for (facts, bus) in story.run.before.endpoints.iter_mut().zip(bus) {
            let card = &mut facts.interfaces[0];
            card.bus = bus.into();
            card.pcie = Some(PcieLink { width: width.into(), speed: "2.5 GT/s PCIe".into(), ..PcieLink::default() });
        }
        story.goodput().1.received.counted_bytes = 2_200_000_000;
        story
    };
    let apart = ["0000:01:00.0", "0000:02:00.0"];
    // One lane leaves 1.83 Gbit/s for data; 1.76 of payload and headers cross it.
    let limited = slot("1", apart).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::Pcie, Some("a")));
    assert_eq!(slot("2", apart).place().0, Place::NotKnown);

    // Both ways at once over two ports of one card: each way of the bus carries both.
    let both_ways = |bus| {
        let mut story = slot("2", bus);
        let back = Flow { from: "b".into(), to: "a".into(), ..story.goodput().1.clone() };
        let Measured::Goodput { result, .. } = &mut story.trial.measured else { panic!("a transfer") };
        result.flows.push(back);
        story
    };
    assert_eq!(both_ways(["0000:01:00.0", "0000:01:00.1"]).place().0, Place::Pcie);
    assert_eq!(both_ways(apart).place().0, Place::NotKnown);
    let mut two_machines = both_ways(["0000:01:00.0", "0000:01:00.0"]);
    two_machines.run.bed.endpoints[1].machine = "another".into();
    assert_eq!(two_machines.place().0, Place::NotKnown, "cards of two machines may be in slots of one number");
}

#[test]
fn datagrams_too_large_for_the_path_are_told_from_loss() {
    let doubt = |forward| Doubt::PathNotProven { mtu: 1500, forward: Some(forward), reverse: Some(1500) };
    let mut stuck = udp().lost(934_000 / 2);
    stuck.trial.doubts.push(doubt(1400));
    let limited = stuck.limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::PathMtu, None));
    assert_eq!(limited.evidence, [Evidence::PathMtu { mtu: 1500, path_mtu: 1400 }]);
    // They arrive all the same: in fragments, and something else limits them.
    let mut fragmented = udp().busy(A, 0.0);
    fragmented.trial.doubts.push(doubt(1400));
    assert_eq!(fragmented.place().0, Place::SenderCpu);
}

#[test]
fn an_end_that_is_not_pinned_has_no_core_to_blame() {
    let mut loose = udp().busy(A, 0.0);
    loose.trial.cpus = [vec![], vec![]];
    assert_eq!(loose.place().0, Place::NotKnown);
}
