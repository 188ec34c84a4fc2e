use model::{Batch, Delta, Direction, Dut, LossAt, Measured, PayloadSize, Place, Protocol, Source, Stack};

use super::{
    super::assess,
    fixture::{A, B, Story, counter, story},
};

fn udp(lost: u64) -> Story {
    story(Protocol::Udp).lost(lost)
}

fn shares(story: &Story) -> Vec<(Place, Option<&str>, u64)> {
    let named = |loss: LossAt| {
        let endpoint = loss.endpoint.map(|name| if name == "a" { "a" } else { "b" });
        (loss.place, endpoint, loss.packets)
    };
    assess(&story.run, &story.trial).losses.into_iter().map(named).collect()
}

#[test]
fn places_add_up_to_what_was_lost() {
    let story = udp(1_000)
        .counted(B, Source::Snmp, "Udp", "InErrors", 300)
        .counted(B, Source::Snmp, "Udp", "RcvbufErrors", 300)
        .counted(A, Source::Qdisc, "fq_codel 0:", "drops", 500);
    assert_eq!(
        shares(&story),
        [(Place::ReceiverSocket, Some("b"), 300), (Place::Qdisc, Some("a"), 500), (Place::NotKnown, None, 200),]
    );
    let found = assess(&story.run, &story.trial).losses;
    assert_eq!(found[0].shown_by, [counter(Source::Snmp, "Udp", "RcvbufErrors", 300)]);
    assert_eq!(found[2].shown_by, [] as [Delta; 0]);
}

#[test]
fn no_place_gets_more_than_was_lost() {
    let story = udp(10).counted(A, Source::Qdisc, "tbf 1:", "drops", 400);
    assert_eq!(shares(&story), [(Place::Qdisc, Some("a"), 10)]);
    let none = udp(0).counted(A, Source::Qdisc, "tbf 1:", "drops", 400);
    assert_eq!(shares(&none), []);
}

#[test]
fn a_packet_that_is_counted_twice_is_lost_once() {
    // A full backlog behind a veth pair shows at the core and at the sending interface.
    let veth = |mut story: Story| {
        story.run.bed.endpoints.iter_mut().for_each(|endpoint| endpoint.driver = "veth".into());
        story
    };
    let backlog = veth(udp(800)).counted(B, Source::Softnet, "cpu 1", "dropped", 800).counted(
        A,
        Source::Link,
        "veth0",
        "tx_dropped",
        800,
    );
    assert_eq!(shares(&backlog), [(Place::SoftirqCore, Some("b"), 800)]);
    // A root has its children's drops in its own.
    let tree = udp(900).counted(A, Source::Qdisc, "mq 1:", "drops", 600).counted(
        A,
        Source::Qdisc,
        "fq_codel 0:",
        "drops",
        600,
    );
    assert_eq!(shares(&tree), [(Place::Qdisc, Some("a"), 600), (Place::NotKnown, None, 300)]);
    // A driver counts for each queue and for all.
    let queues = udp(900)
        .counted(B, Source::Ethtool, "eth0", "rx_xdp_drops", 600)
        .counted(B, Source::Ethtool, "eth0", "rx0_xdp_drops", 400)
        .counted(B, Source::Ethtool, "eth0", "rx1_xdp_drops", 200);
    assert_eq!(shares(&queues), [(Place::PacketFilter, Some("b"), 600), (Place::NotKnown, None, 300)]);
}

#[test]
fn packets_that_ip_received_and_did_not_deliver_were_filtered() {
    let ip = |story: Story, name: &str, delta| story.counted(B, Source::Snmp, "Ip", name, delta);
    let filtered = ip(ip(udp(700), "InReceives", 10_000), "InDelivers", 9_300);
    assert_eq!(shares(&filtered), [(Place::PacketFilter, Some("b"), 700)]);
    // Refusals and fragments explain the difference.
    let refused = ip(filtered, "InAddrErrors", 500);
    assert_eq!(shares(&refused), [(Place::IpAddress, Some("b"), 500), (Place::PacketFilter, Some("b"), 200)]);
    let mut fragments = ip(ip(udp(100), "InReceives", 10_000), "InDelivers", 5_000);
    fragments = ip(ip(fragments, "ReasmReqds", 10_000), "ReasmOKs", 5_000);
    assert_eq!(shares(&fragments), [(Place::NotKnown, None, 100)]);
}

#[test]
fn connection_tracking_names_its_reason_before_the_counters_of_ip() {
    let ip = |story: Story, name: &str, delta| story.counted(B, Source::Snmp, "Ip", name, delta);
    let story = udp(700).counted(B, Source::Conntrack, "nf_conntrack", "drop", 700);
    assert_eq!(shares(&story), [(Place::NotKnown, None, 700)], "IP missed none");
    let found = ip(ip(story, "InReceives", 10_000), "InDelivers", 9_300);
    assert_eq!(shares(&found), [(Place::PacketFilter, Some("b"), 700)]);
    let shown = assess(&found.run, &found.trial).losses.swap_remove(0).shown_by;
    assert_eq!(shown[0], counter(Source::Conntrack, "nf_conntrack", "drop", 700));
}

#[test]
fn packets_that_the_interface_received_and_ip_did_not_were_filtered_before_it() {
    let arrived = udp(700).counted(B, Source::Link, "eth0", "rx_packets", 10_000);
    assert_eq!(shares(&arrived), [(Place::NotKnown, None, 700)], "nothing is known of IP");
    let ip = |story: Story, received| {
        let story = story.counted(B, Source::Snmp, "Ip", "InReceives", received);
        story.counted(B, Source::Snmp, "Ip", "InDelivers", received)
    };
    let arrived = || udp(700).counted(B, Source::Link, "eth0", "rx_packets", 10_000);
    assert_eq!(shares(&ip(arrived(), 9_300)), [(Place::PacketFilter, Some("b"), 700)]);
    assert_eq!(shares(&ip(arrived(), 9_995)), [(Place::NotKnown, None, 700)], "ARP, and the like");
    let mut past = ip(arrived(), 9_300);
    past.goodput().0.stack = Stack::Bypass;
    assert_eq!(shares(&past), [(Place::NotKnown, None, 700)], "IP sees nothing of what goes past the kernel");
}

#[test]
fn packets_for_another_mac_address_are_named() {
    let wrong = udp(100).counted(B, Source::Link, "eth0", "rx_otherhost_dropped", 100);
    assert_eq!(shares(&wrong), [(Place::MacAddress, Some("b"), 100)]);
}

#[test]
fn the_path_is_named_as_far_as_both_interfaces_show_the_loss() {
    let on_the_path = |story: Story| {
        let sent = story.counted(A, Source::Link, "eth0", "tx_packets", 10_000);
        sent.counted(B, Source::Link, "eth0", "rx_packets", 9_400)
    };
    let mut story = on_the_path(udp(700));
    assert_eq!(shares(&story), [(Place::Path, None, 600), (Place::NotKnown, None, 100)]);
    let missed = on_the_path(udp(700)).counted(B, Source::Link, "eth0", "rx_missed_errors", 600);
    assert_eq!(shares(&missed), [(Place::PeerRing, Some("b"), 600), (Place::NotKnown, None, 100)]);
    story.run.bed.dut = Some(Dut { machine: "dut".into(), ..Dut::default() });
    assert_eq!(shares(&story), [(Place::DeviceUnderTest, None, 600), (Place::NotKnown, None, 100)]);
}

#[test]
fn damaged_datagrams_are_no_full_socket() {
    let mut story =
        udp(552).counted(B, Source::Snmp, "Udp", "InErrors", 552).counted(B, Source::Snmp, "Udp", "InCsumErrors", 552);
    // The drops of the socket (SO_MEMINFO) include them.
    story.goodput().1.received.datagrams.as_mut().unwrap().overflowed = 552;
    assert_eq!(shares(&story), [(Place::Path, None, 552)]);
}

#[test]
fn what_the_other_end_sends_is_not_confused_with_what_it_receives() {
    let story = udp(100).counted(B, Source::Qdisc, "tbf 1:", "drops", 100);
    assert_eq!(shares(&story), [(Place::NotKnown, None, 100)]);
    let policed = udp(100).counted(B, Source::Qdisc, "ingress ffff:", "drops", 100);
    assert_eq!(shares(&policed), [(Place::Qdisc, Some("b"), 100)]);
}

#[test]
fn with_segmentation_offload_one_packet_is_many_datagrams() {
    let mut story = udp(4_400).counted(A, Source::Qdisc, "fq_codel 0:", "drops", 100);
    assert_eq!(shares(&story)[1], (Place::NotKnown, None, 4_300));
    let (spec, flow) = story.goodput();
    spec.batch = Batch::Gso;
    flow.sent.datagrams.as_mut().unwrap().payload_size = PayloadSize(1472);
    assert_eq!(shares(&story), [(Place::Qdisc, Some("a"), 4_400)]);
}

#[test]
fn each_flow_has_its_own_losses() {
    let mut story = udp(100).counted(B, Source::Snmp, "Udp", "RcvbufErrors", 100);
    story = story.counted(B, Source::Snmp, "Udp", "InErrors", 100);
    let Measured::Goodput { spec, result } = &mut story.trial.measured else { panic!("a transfer") };
    spec.direction = Direction::Both;
    let mut back = result.flows[0].clone();
    (back.from, back.to) = ("b".into(), "a".into());
    result.flows.push(back);
    assert_eq!(shares(&story), [(Place::ReceiverSocket, Some("b"), 100), (Place::NotKnown, None, 100)]);
}

#[test]
fn tcp_loses_nothing() {
    let story = super::fixture::story(Protocol::Tcp).counted(A, Source::Qdisc, "tbf 1:", "drops", 400);
    assert_eq!(shares(&story), []);
}
