use model::{
    Bytes, Evidence, IpVersion, Measured, Mtu, Nanos, PathResult, PathSpec, Place,
    Protocol::Tcp,
    Source,
    limited::Wait,
    trial::{Leg, Refusal, TcpSeconds},
};

use super::fixture::{A, B, Story, at, story, trial};

fn tcp() -> Story {
    story(Tcp)
}

#[test]
fn nothing_that_shows_is_not_known() {
    let limited = tcp().limited_by();
    assert_eq!((limited.place, limited.endpoint, limited.evidence.len()), (Place::NotKnown, None, 2));
    let flapped = tcp().counted(B, Source::Link, "eth0", "carrier_down_count", 1).limited_by();
    let tells = |it: &Evidence| matches!(it, Evidence::Counter { counter } if counter.name == "carrier_down_count");
    assert!(flapped.place == Place::NotKnown && flapped.evidence.iter().any(tells), "{flapped:?}");
}

#[test]
fn a_shaping_qdisc_is_told_from_one_that_just_passes_on() {
    // As tc counted at 200 Mbit/s of tbf.
    let shaped = |overlimits| {
        let story = tcp().busy(B, 0.0).counted(A, Source::Qdisc, "tbf 8005:", "packets", 33_123);
        story.counted(A, Source::Qdisc, "tbf 8005:", "overlimits", overlimits)
    };
    let limited = shaped(65_270).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::Qdisc, Some("a")));
    assert!(matches!(&limited.evidence[0], Evidence::Counter { counter } if counter.name == "overlimits"));
    assert_eq!(shaped(5).place().0, Place::ReceiverCpu);
    // Acknowledgements that the other end's qdisc holds back say nothing of the data.
    assert_eq!(tcp().counted(B, Source::Qdisc, "tbf 1:", "overlimits", 65_270).place().0, Place::NotKnown);
}

#[test]
fn a_full_link_comes_before_busy_cores() {
    let mut full = tcp().link(1000).busy(A, 0.0);
    full.goodput().1.received.counted_bytes = 1_175_000_000;
    assert_eq!(full.place(), (Place::LinkRate, None));
}

#[test]
fn a_closed_receive_window_is_a_slow_reader_or_a_small_window() {
    let closed = || {
        let mut story = tcp();
        story.tcp().receive_window_limited_us = 9_900_000;
        story
    };
    let limited = closed().limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::Window, Some("b")));
    assert_eq!(limited.evidence, [Evidence::Waited { waited_for: Wait::ReceiveWindow, percent: 90.0 }]);
    let limited = closed().busy(B, 30.0).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::ReceiverCpu, Some("b")));
    assert_eq!(limited.evidence[1], Evidence::Waited { waited_for: Wait::ReceiveWindow, percent: 90.0 });
}

#[test]
fn a_send_buffer_is_the_senders_unless_its_size_was_asked_for() {
    let mut small = tcp();
    small.tcp().send_buffer_limited_us = 5_500_000;
    assert_eq!(small.place(), at(Place::SenderSocket, "a"));
    small.goodput().0.window = Some(Bytes(65_536));
    assert_eq!(small.place(), at(Place::Window, "a"));
}

#[test]
fn a_window_that_was_asked_for_is_held_against_the_rtt() {
    // 128 KiB in 1 ms are 1.05 Gbit/s; the goodput is 1 Gbit/s.
    let asked = |bytes: u64| {
        let mut story = tcp();
        story.goodput().0.window = Some(Bytes(bytes));
        story.goodput().1.received.buffer = Some(Bytes(bytes));
        story
    };
    let limited = asked(131_072).limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::Window, None));
    let possible_bps = 131_072.0 * 8e3;
    assert_eq!(limited.evidence, [Evidence::WindowPerRtt { window: 131_072, rtt_us: 1000, possible_bps }]);
    assert_eq!(asked(1 << 20).place().0, Place::NotKnown);
    // The kernel granted less than was asked for.
    let mut cut = asked(1 << 20);
    cut.goodput().1.received.buffer = Some(Bytes(131_072));
    assert_eq!(cut.place().0, Place::Window);
}

#[test]
fn of_two_busy_cores_the_senders_is_named() {
    assert_eq!(tcp().busy(A, 0.0).busy(B, 0.0).place(), at(Place::SenderCpu, "a"));
    assert_eq!(tcp().busy(B, 0.0).place(), at(Place::ReceiverCpu, "b"));
    assert_eq!(tcp().busy(B, 93.0).place(), at(Place::SoftirqCore, "b"));
}

#[test]
fn a_core_of_neither_end_that_receives_for_the_kernel_is_named() {
    let mut flooded = tcp();
    let core = &mut flooded.trial.counters[B].cpu[3];
    (core.busy, core.softirq) = (97.0, 96.0);
    assert_eq!(flooded.place().0, Place::NotKnown, "it may be another card's flood");
    let flooded = flooded.counted(B, Source::Link, "eth0", "rx_packets", 942_000).counted(
        B,
        Source::Softnet,
        "cpu 3",
        "processed",
        950_000,
    );
    let limited = flooded.limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::SoftirqCore, Some("b")));
    assert_eq!(limited.evidence, [Evidence::Core { cpu: 3, busy: 97.0, softirq: 96.0, steal: 0.0 }]);
}

#[test]
fn a_core_that_one_stream_does_not_use_limits_nothing() {
    let mut second = tcp();
    second.trial.cpus[A] = vec![1, 3];
    second.trial.counters[A].cpu[3].busy = 100.0;
    assert_eq!(second.place().0, Place::NotKnown);
    second.goodput().0.streams = 2;
    assert_eq!(second.place(), at(Place::SenderCpu, "a"));
}

#[test]
fn what_the_hypervisor_took_is_not_the_senders_work() {
    let mut stolen = tcp().busy(A, 0.0);
    stolen.trial.counters[A].cpu[1].steal = 40.0;
    let limited = stolen.limited_by();
    assert_eq!(limited.place, Place::NotKnown);
    assert_eq!(limited.evidence[0], Evidence::Core { cpu: 1, busy: 99.0, softirq: 0.0, steal: 40.0 });
}

#[test]
fn retransmissions_are_followed_to_where_the_segments_went() {
    let lossy = |retransmits| {
        let mut story = tcp();
        story.tcp().retransmits = retransmits;
        story
    };
    // Out of 942 000 segments.
    assert_eq!(lossy(2_000).limited_by().evidence, [Evidence::Unseen { packets: 2_000 }]);
    assert_eq!(lossy(2_000).place(), (Place::NotKnown, None));
    let dropped = lossy(2_000).counted(A, Source::Qdisc, "fq_codel 0:", "drops", 1_990);
    assert_eq!(dropped.place(), at(Place::Qdisc, "a"));
    let refused = lossy(2_000).counted(B, Source::Netstat, "TcpExt", "TCPBacklogDrop", 1_500);
    assert_eq!(refused.place(), at(Place::ReceiverSocket, "b"));
    assert_eq!(lossy(20).place().0, Place::NotKnown, "too few to hold anything back");
}

#[test]
fn segments_that_were_only_overtaken_are_told_from_lost_ones() {
    let resent_by = |control: &str, retransmits, twice| {
        // A window of 85 segments per RTT of 1 ms is what arrived.
        let mut story = tcp().allowed(1e9, u64::MAX);
        (story.tcp().retransmits, story.tcp().congestion) = (retransmits, control.to_owned());
        let story = story.counted(A, Source::Netstat, "TcpExt", "TCPDSACKRecvSegs", twice);
        story.counted(B, Source::Netstat, "TcpExt", "TCPOFOQueue", 142)
    };
    let resent = |retransmits, twice| resent_by("cubic", retransmits, twice);
    let reordered = resent(35_389, 34_249).limited_by();
    assert_eq!((reordered.place, reordered.endpoint), (Place::Reordering, None));
    let counter = |it: &Evidence| match it {
        Evidence::Counter { counter } => (counter.name.clone(), counter.delta),
        other => panic!("{other:?}"),
    };
    let counters: Vec<_> = reordered.evidence.iter().map(counter).collect();
    assert_eq!(counters, [("TCPDSACKRecvSegs".to_owned(), 34_249), ("TCPOFOQueue".to_owned(), 142)]);
    // The same once RPS had one core take in all segments.
    assert_eq!(resent(7, 6).place().0, Place::CongestionControl);
    // As nstat counted with bbr over a veth pair between two cores: it paced, whatever was sent again.
    assert_eq!(resent_by("bbr", 35_389, 34_249).place(), at(Place::CongestionControl, "a"));
    assert_eq!(resent_by("bbr", 70_000, 69_000).place().0, Place::Reordering, "a fourteenth was sent for nothing");
    let mut free = resent(35_389, 34_249);
    free.tcp().seconds = TcpSeconds::default();
    assert_eq!(free.place().0, Place::NotKnown, "nothing shows that it cost anything");
    assert_eq!(resent(2_000, 300).place().0, Place::NotKnown, "most of them were lost");
    assert_eq!(resent(2_000, 1_900).busy(A, 0.0).place(), at(Place::SenderCpu, "a"), "a core says more");
}

#[test]
fn a_congestion_control_that_allowed_no_more_is_named() {
    let limited = tcp().allowed(4e9, 1_100_000_000).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::CongestionControl, Some("a")));
    let Evidence::CongestionControl { allowed_bps, bps, .. } = limited.evidence[0] else { panic!("{limited:?}") };
    assert!((allowed_bps - 1.1e9).abs() < 1.0 && (bps - 1e9).abs() < 1.0, "the pacing rate is less than the window");
    assert_eq!(tcp().allowed(4e9, 5_000_000_000).place().0, Place::NotKnown, "it allowed far more");
    assert_eq!(tcp().allowed(1e9, u64::MAX).busy(A, 0.0).place(), at(Place::SenderCpu, "a"), "a core says more");
    let window = tcp().allowed(1.1e9, u64::MAX);
    assert_eq!(window.place().0, Place::CongestionControl, "without pacing, the window allows no more");
}

#[test]
fn acknowledgements_that_are_held_back_are_found_at_the_receiver() {
    // As tc counted with 1 Mbit/s of tbf for acknowledgements; the sender's buffer was full meanwhile.
    let slow = |overlimits| {
        let mut story = tcp();
        story.tcp().send_buffer_limited_us = 9_000_000;
        let story = story.counted(B, Source::Qdisc, "tbf 1:", "packets", 9_103);
        story.counted(B, Source::Qdisc, "tbf 1:", "overlimits", overlimits)
    };
    let limited = slow(22_747).limited_by();
    assert_eq!((limited.place, limited.endpoint.as_deref()), (Place::Qdisc, Some("b")));
    assert!(matches!(&limited.evidence[0], Evidence::Counter { counter } if counter.delta == 22_747));
    assert_eq!(slow(300).place(), at(Place::SenderSocket, "a"), "a few bursts");
}

#[test]
fn seconds_without_data_say_more_than_what_was_sent_again_for_them() {
    // As received while nothing passed for 1.5 s.
    let received = |intervals_bps: [f64; 5]| {
        let mut story = tcp();
        story.tcp().retransmits = 2_000;
        story.goodput().1.received.intervals_bps = intervals_bps.map(|mbps| mbps * 1e6).into();
        story
    };
    let limited = received([1591.0, 0.0, 0.0, 4655.0, 6692.0]).limited_by();
    assert_eq!((limited.place, limited.endpoint), (Place::Interruption, None));
    assert_eq!(limited.evidence, [Evidence::Silent { seconds: 2, of: 5 }]);
    assert_eq!(received([1591.0, 800.0, 900.0, 4655.0, 6692.0]).place().0, Place::NotKnown);
    let flapped = received([9000.0, 5500.0, 9000.0, 9000.0, 9000.0])
        .counted(B, Source::Link, "eth0", "carrier_down_count", 1)
        .limited_by();
    assert_eq!((flapped.place, flapped.endpoint.as_deref()), (Place::Interruption, Some("b")));
    assert!(matches!(&flapped.evidence[..], [Evidence::Counter { .. }]), "{flapped:?}");
    assert_ne!(received([0.0; 5]).place().0, Place::Interruption, "nothing ever arrived");
}

#[test]
fn a_path_probe_of_the_run_says_that_full_segments_do_not_pass() {
    let leg = |mtu| Leg { mtu: Some(Mtu(mtu)), refusal: Refusal::Interface, routers: None };
    let result = PathResult { forward: leg(1400), reverse: leg(1500), devices: vec![], packets: 20, hops: vec![] };
    let spec = PathSpec { ip: IpVersion::V4, mtu: None, timeout: Nanos::from_millis(200), hops: 0 };
    let probed = |spec: PathSpec| {
        let mut story = tcp();
        story.run.trials.push(trial(Measured::Path { spec, result: result.clone() }));
        story.trial.number = 2;
        story
    };
    let mut stuck = probed(spec.clone());
    assert_eq!(stuck.place(), (Place::PathMtu, None));
    // Once it knows, the connection sends segments that fit.
    stuck.tcp().mss = 1360;
    assert_eq!(stuck.place().0, Place::NotKnown);
    assert_eq!(probed(PathSpec { ip: IpVersion::V6, ..spec }).place().0, Place::NotKnown, "another protocol's path");
}

#[test]
fn of_two_flows_the_slower_one_is_explained() {
    let mut both = tcp().busy(B, 0.0);
    let Measured::Goodput { result, .. } = &mut both.trial.measured else { panic!("a transfer") };
    let mut back = result.flows[0].clone();
    (back.from, back.to) = ("b".into(), "a".into());
    back.received.counted_bytes /= 2;
    result.flows.push(back);
    assert_eq!(both.place(), at(Place::SenderCpu, "b"));
}
