use model::{
    Doubt, Evidence, Exchange, Failed, FailureKind, IpVersion, Measured, Nanos, PayloadSize, Place, Protocol, Source,
    TimeSummary, TransactionsResult, TransactionsSpec, WaitMode,
};

use super::fixture::{A, B, Story, at, run, trial};

fn spec() -> TransactionsSpec {
    TransactionsSpec {
        exchange: Exchange::Rr { protocol: Protocol::Tcp, request: PayloadSize(64), response: PayloadSize(64) },
        ip: IpVersion::V4,
        mode: WaitMode::Block,
        connections: 10,
        duration: Nanos::from_secs(10),
        warmup: Nanos(0),
        timeout: Nanos::from_secs(5),
        rate: None,
    }
}

/// Ten connections whose responses take 1 ms.
fn result() -> TransactionsResult {
    TransactionsResult {
        counted_s: 10.0,
        completed: 100_000,
        connected: 10,
        threads: 1,
        response_ns: TimeSummary { n: 100_000, mean: Some(1e6), ..TimeSummary::default() },
        ..TransactionsResult::default()
    }
}

fn story(spec: TransactionsSpec, result: TransactionsResult) -> Story {
    Story { run: run(), trial: trial(Measured::Transactions { spec, result: Box::new(result) }) }
}

fn limited(story: &Story) -> (Place, Option<String>, Vec<Evidence>) {
    let by = story.limited_by();
    (by.place, by.endpoint, by.evidence)
}

#[test]
fn connections_that_only_wait_for_their_responses_are_the_limit() {
    let (place, endpoint, evidence) = limited(&story(spec(), result()));
    assert_eq!((place, endpoint), (Place::Connections, None));
    assert_eq!(evidence, [Evidence::ClosedLoop { connections: 10, mean_ns: 1e6, possible: 10_000.0 }]);
    let idle = TransactionsResult { completed: 50_000, ..result() };
    assert_eq!(limited(&story(spec(), idle)).0, Place::NotKnown, "connections without a transaction");
}

#[test]
fn a_schedule_that_was_kept_is_the_limit_and_one_that_was_not_is_not() {
    let at_rate = |completed| TransactionsResult { completed, intended_per_s: Some(10_000.0), ..result() };
    assert_eq!(limited(&story(spec(), at_rate(99_900))).0, Place::IntendedLoad);
    let mut beside_others = story(spec(), at_rate(99_900));
    beside_others.trial.doubts.push(Doubt::OtherLoad { cpu: 1, percent: 40.0, machine: String::new() });
    assert_eq!(limited(&beside_others).0, Place::NotKnown, "others used the cores");
    let (place, _, evidence) = limited(&story(spec(), at_rate(50_000)));
    assert_eq!(place, Place::NotKnown);
    assert_eq!(evidence, [Evidence::Behind { intended: 10_000.0, achieved: 5_000.0 }]);
}

#[test]
fn the_core_without_time_is_named_unless_it_spins() {
    let server = || story(spec(), result()).busy(B, 20.0);
    assert_eq!(server().place(), at(Place::ReceiverCpu, "b"));
    let mut both = server().busy(A, 20.0);
    both.trial.counters[A].cpu[1].busy = 99.9;
    assert_eq!(both.place(), at(Place::SenderCpu, "a"), "the busier one");
    let spins = TransactionsSpec { mode: WaitMode::Spin, ..spec() };
    assert_eq!(story(spins, result()).busy(B, 20.0).place().0, Place::Connections);
}

#[test]
fn want_of_ports_descriptors_and_room_to_listen_are_named() {
    let failed = |kind, count| TransactionsResult { failed: vec![Failed { kind, count }], ..result() };
    let ports = TransactionsResult { time_wait: Some(28_000), ports: Some(28_232), ..failed(FailureKind::NoPort, 3) };
    let (place, endpoint, evidence) = limited(&story(spec(), ports));
    assert_eq!((place, endpoint), at(Place::EphemeralPorts, "a"));
    assert_eq!(evidence[1], Evidence::Ports { time_wait: 28_000, ports: 28_232 });
    assert_eq!(limited(&story(spec(), failed(FailureKind::NoDescriptor, 3))).0, Place::FileDescriptors);

    let full = story(spec(), result()).counted(B, Source::Netstat, "TcpExt", "ListenOverflows", 12);
    assert_eq!(full.place(), at(Place::ListenQueue, "b"));

    let (place, _, evidence) = limited(&story(spec(), failed(FailureKind::Reset, 5_000)));
    assert_eq!(place, Place::NotKnown);
    assert_eq!(evidence, [Evidence::Failures { failed_by: FailureKind::Reset, count: 5_000 }]);
    assert_eq!(limited(&story(spec(), failed(FailureKind::Reset, 5))).0, Place::Connections, "too few to matter");
}

#[test]
fn a_packet_filter_that_takes_first_packets_is_the_limit() {
    let filtered_with = |result, syns| {
        let story = story(spec(), result).counted(A, Source::Netstat, "TcpExt", "TCPSynRetrans", syns);
        let story = story.counted(B, Source::Snmp, "Ip", "InReceives", 1_000);
        story.counted(B, Source::Snmp, "Ip", "InDelivers", 960)
    };
    let filtered = |syns| filtered_with(result(), syns);
    let (place, endpoint, evidence) = limited(&filtered(40));
    assert_eq!((place, endpoint.as_deref()), (Place::PacketFilter, Some("b")));
    assert!(matches!(&evidence[0], Evidence::Counter { counter } if counter.name == "TCPSynRetrans"), "{evidence:?}");
    assert_eq!(limited(&filtered(0)).0, Place::Connections, "what it took were no connections");
    let failed = |kind| TransactionsResult { failed: vec![Failed { kind, count: 500 }], ..result() };
    assert_eq!(limited(&filtered_with(failed(FailureKind::Timeout), 40)).0, Place::PacketFilter, "given up");
    assert_eq!(limited(&filtered_with(failed(FailureKind::Reset), 40)).0, Place::NotKnown, "a filter is silent");
}
