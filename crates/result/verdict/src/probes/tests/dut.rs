use model::{
    DUT, Dut, EndCounters, Evidence, OtherSender, Place,
    Protocol::{Tcp, Udp},
    Source,
};

use super::{
    super::assess,
    fixture::{A, B, Story, at, counter, story},
};

const FULL: Evidence = Evidence::Core { cpu: 1, busy: 99.0, softirq: 98.0, steal: 0.0 };

fn shown(counter: model::Delta) -> Evidence {
    Evidence::Counter { counter }
}

#[test]
fn a_core_of_the_device_that_does_nothing_but_receive_is_the_limit() {
    for protocol in [Tcp, Udp] {
        let limited = story(protocol).dut_busy().limited_by();
        assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::SoftirqCore, Some(DUT)));
        assert_eq!(limited.evidence, [FULL]);
        let squeezed = story(protocol).dut_busy().at_dut(Source::Softnet, "cpu 1", "time_squeeze", 70).limited_by();
        assert_eq!(squeezed.evidence, [FULL, shown(counter(Source::Softnet, "cpu 1", "time_squeeze", 70))]);
    }
    assert_eq!(story(Tcp).dut_busy().busy(A, 0.0).place(), at(Place::SoftirqCore, DUT), "the sender waits for it");
}

#[test]
fn a_core_of_the_device_that_is_busy_with_something_else_is_not_named() {
    let mut program = story(Tcp).dut_busy();
    program.trial.dut.as_mut().unwrap().cpu[1].softirq = 20.0;
    assert_eq!(program.place().0, Place::NotKnown);
    let mut other_cards = story(Tcp).dut_busy();
    other_cards.trial.dut.as_mut().unwrap().deltas[2].delta = 9_000_000;
    assert_eq!(other_cards.place().0, Place::NotKnown, "that core received ten times as much from elsewhere");
}

#[test]
fn each_place_of_the_device_that_drops_is_named_with_its_counter() {
    let cases = [
        (Source::Qdisc, "tbf 8005:", "drops", Place::Qdisc),
        (Source::Softnet, "cpu 1", "dropped", Place::SoftirqCore),
        (Source::Link, "in", "rx_missed_errors", Place::DeviceUnderTest),
        (Source::Link, "in", "rx_dropped", Place::DeviceUnderTest),
        (Source::Link, "out", "tx_dropped", Place::DeviceUnderTest),
        (Source::Netstat, "IpExt", "InNoRoutes", Place::DeviceUnderTest),
    ];
    for (source, of, name, place) in cases {
        let counted = |story: Story| story.at_dut(source, of, name, 50_000);
        let lossy = counted(story(Udp).lost(50_000));
        assert_eq!(lossy.place(), at(place, DUT), "{name}");
        assert_eq!(lossy.limited_by().evidence, [shown(counter(source, of, name, 50_000))]);
        let losses = assess(&lossy.run, &lossy.trial).losses;
        assert_eq!((losses.len(), losses[0].endpoint.as_deref(), losses[0].packets), (1, Some(DUT), 50_000), "{name}");

        let mut resent = counted(story(Tcp));
        resent.tcp().retransmits = 50_000;
        assert_eq!(resent.place(), at(place, DUT), "{name}");
        assert_eq!(counted(story(Udp)).place().0, Place::NotKnown, "{name}: nothing of ours was lost");
    }
}

#[test]
fn what_a_full_core_of_the_device_had_no_time_for_goes_with_the_core() {
    let backlog = counter(Source::Softnet, "cpu 1", "dropped", 50_000);
    let full = story(Udp).lost(50_000).dut_busy().at_dut(Source::Softnet, "cpu 1", "dropped", 50_000).limited_by();
    assert_eq!((full.place, full.endpoint.as_deref()), (Place::SoftirqCore, Some(DUT)));
    assert_eq!(full.evidence, [FULL, shown(backlog)], "each is shown once");

    let missed = story(Udp).lost(50_000).dut_busy().at_dut(Source::Link, "in", "rx_missed_errors", 50_000);
    assert_eq!(missed.place(), at(Place::SoftirqCore, DUT), "the ring was full because nobody emptied it");
    let refused = story(Udp).lost(50_000).dut_busy().at_dut(Source::Snmp, "Ip", "InNoRoutes", 50_000);
    assert_eq!(refused.place(), at(Place::DeviceUnderTest, DUT), "no core would help");

    // The receiver's own flooded core says nothing of a backlog in between.
    let mut both = story(Udp).lost(50_000).at_dut(Source::Softnet, "cpu 1", "dropped", 50_000);
    both.trial.counters[B].cpu[3].softirq = 99.0;
    let both = both.counted(B, Source::Link, "eth0", "rx_packets", 900_000);
    let both = both.counted(B, Source::Softnet, "cpu 3", "processed", 900_000).limited_by();
    assert_eq!((both.place, both.endpoint.as_deref(), both.evidence.len()), (Place::SoftirqCore, Some(DUT), 1));
}

#[test]
fn what_the_device_and_the_ends_dropped_adds_up() {
    let story = story(Udp).lost(1_000).counted(A, Source::Qdisc, "fq_codel 0:", "drops", 300).at_dut(
        Source::Softnet,
        "cpu 0",
        "dropped",
        500,
    );
    let shares: Vec<_> =
        assess(&story.run, &story.trial).losses.into_iter().map(|loss| (loss.endpoint, loss.packets)).collect();
    assert_eq!(shares, [(Some("a".into()), 300), (Some(DUT.into()), 500), (None, 200)]);
}

/// Datagrams that were lost, by place and end, where the ends' interfaces sent and received so many, and the device under test dropped
/// 600 packets.
fn shares_of_gap(lost: u64, sent: u64, received: u64) -> Vec<(Place, Option<String>, u64)> {
    let mut story = story(Udp).lost(lost).at_dut(Source::Link, "in", "rx_dropped", 600);
    story.run.bed.dut = Some(Dut { machine: "router".into(), ..Dut::default() });
    let story = story.counted(A, Source::Link, "eth0", "tx_packets", sent);
    let story = story.counted(B, Source::Link, "eth0", "rx_packets", received);
    let losses = assess(&story.run, &story.trial).losses.into_iter();
    losses.map(|loss| (loss.place, loss.endpoint, loss.packets)).collect()
}

#[test]
fn the_device_lost_no_more_than_is_missing_between_the_ends_interfaces() {
    let dut = |packets| (Place::DeviceUnderTest, Some(DUT.to_owned()), packets);
    let unknown = |packets| (Place::NotKnown, None, packets);
    assert_eq!(shares_of_gap(500, 10_000, 10_000), [unknown(500)], "all arrived: it dropped packets of others");
    assert_eq!(shares_of_gap(500, 10_000, 10_100), [unknown(500)], "packets of others arrived too");
    assert_eq!(
        shares_of_gap(500, 10_000, 9_700),
        [dut(320), unknown(180)],
        "the gap, and 20 packets that may hide some of it"
    );
    assert_eq!(shares_of_gap(500, 10_000, 9_504), [dut(500)], "four packets of ARP hide as many");
    let uncounted = (Place::DeviceUnderTest, None, 220);
    assert_eq!(shares_of_gap(900, 10_000, 9_200), [dut(600), uncounted, unknown(80)], "both claims share the gap");
    assert_eq!(shares_of_gap(500, 2, 9_000), [dut(500)], "a driver that does not count what bypasses its kernel");
}

#[test]
fn large_packets_that_were_cut_on_the_way_show_no_gap() {
    let resent = |received| {
        let mut story = story(Tcp).at_dut(Source::Link, "in", "rx_dropped", 50_000);
        story.tcp().retransmits = 50_000;
        let story = story.counted(A, Source::Link, "eth0", "tx_packets", 60_000);
        story.counted(B, Source::Link, "eth0", "rx_packets", received).place()
    };
    assert_eq!(resent(60_000).0, Place::NotKnown);
    assert_eq!(resent(10_000), at(Place::DeviceUnderTest, DUT));
    assert_eq!(resent(900_000), at(Place::DeviceUnderTest, DUT), "the receiver counts segments");
}

#[test]
fn packets_of_all_senders_make_the_gap() {
    let several = |received| {
        let mut several = story(Udp).lost(50).at_dut(Source::Link, "in", "rx_dropped", 60);
        let counters = EndCounters {
            deltas: vec![counter(Source::Link, "eth0", "tx_packets", 1_000)],
            ..several.trial.counters[A].clone()
        };
        several.trial.others = vec![OtherSender { endpoint: "c".into(), cpus: vec![3], counters }];
        let several = several.counted(A, Source::Link, "eth0", "tx_packets", 1_000);
        let several = several.counted(B, Source::Link, "eth0", "rx_packets", received);
        assess(&several.run, &several.trial).losses[0].place
    };
    assert_eq!(several(2_000), Place::NotKnown);
    assert_eq!(several(1_950), Place::DeviceUnderTest);
}

#[test]
fn a_full_core_of_the_devices_own_is_the_limit_whatever_its_port_could_not_take() {
    let own = |cpus: &[usize], protocol| {
        let mut full = story(protocol).dut_busy().counted(A, Source::Link, "eth0", "tx_dropped", 50_000);
        full.trial.dut.as_mut().unwrap().cpu[1].softirq = 0.0;
        full.run.bed.dut = Some(Dut { machine: "router".into(), cpus: cpus.to_vec(), ..Dut::default() });
        full
    };
    for protocol in [Tcp, Udp] {
        assert_eq!(own(&[1], protocol).place(), at(Place::DeviceUnderTest, DUT));
        assert_ne!(own(&[0], protocol).place(), at(Place::DeviceUnderTest, DUT), "that core has time");
        let mut shared = own(&[1], protocol);
        shared.run.bed.endpoints[B].cpus = vec![1];
        assert_ne!(shared.place(), at(Place::DeviceUnderTest, DUT), "an end may have used its time");
    }
    assert_eq!(own(&[1], Udp).lost(50_000).place(), at(Place::DeviceUnderTest, DUT));
}
