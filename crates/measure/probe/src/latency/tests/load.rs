//! Under load.

use std::net::TcpListener;

use model::{Direction, SideFigures};

use super::*;
use crate::latency::reply_tracker::Trace;

/// Intended and received times of each reply.
#[derive(Default)]
struct Times(Vec<(Nanos, Nanos)>);

impl Trace for Times {
    fn replied(&mut self, intended: Nanos, received: Nanos) {
        self.0.push((intended, received));
    }
}

#[test]
fn every_kind_of_load_keeps_count_of_each_message() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        for mode in [WaitMode::Spin, WaitMode::Block, WaitMode::BusyPoll] {
            let ip = IpVersion::V4;
            let spec = LatencySpec { rate: Some(PacketRate(2000)), ..spec(protocol, ip, mode) };
            let (result, answered) = measure(&spec, &setup(ip, None));
            assert_eq!((answered, result.sent, result.missing()), (210, 200, 0));
            assert_eq!((result.rtt_ns.n, result.variation.rtt_ns.n, result.overflowed), (200, 199, 0));
            assert_eq!(result.one_way.expect("one clock").reverse_ns.n, 200);
            let pacing = result.pacing.expect("under load");
            assert_eq!((pacing.intended_gap_ns, pacing.gap_ns.n, pacing.behind_ns.n), (500_000.0, 199, 200));
            assert!(result.intended_pps == Some(2000.0) && result.achieved_pps > 0.0);
        }
    }
}

#[test]
fn replies_that_do_not_come_do_not_hold_the_schedule_up() {
    let deaf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = LatencySpec {
        rate: Some(PacketRate(10_000)),
        timeout: Nanos::from_millis(20),
        ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Spin)
    };
    let client = Client::prepare(&spec, &setup(IpVersion::V4, deaf.local_addr().ok())).expect("client");
    let (result, ()) = client.measure(&Control::default(), &NoWindow, ()).expect("result");
    assert_eq!((result.sent, result.lost, result.rtt_ns.n, result.rtt_ns.max), (200, Some(200), 200, None));
}

#[test]
fn over_tcp_what_is_not_there_in_time_is_late_and_never_lost() {
    let deaf = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = LatencySpec {
        rate: Some(PacketRate(10_000)),
        timeout: Nanos::from_millis(20),
        ..spec(Protocol::Tcp, IpVersion::V4, WaitMode::Spin)
    };
    let client = Client::prepare(&spec, &setup(IpVersion::V4, deaf.local_addr().ok())).expect("client");
    let (result, ()) = client.measure(&Control::default(), &NoWindow, ()).expect("result");
    assert_eq!((result.sent, result.lost, result.late, result.rtt_ns.n), (200, Some(0), 200, 200));
}

#[test]
fn a_stopped_load_gives_up_at_once() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        let ip = IpVersion::V4;
        let amount = Amount::Duration(Nanos(3_600_000_000_000));
        let spec = LatencySpec { rate: Some(PacketRate(1)), amount, ..spec(protocol, ip, WaitMode::Block) };
        let server = Server::prepare(&spec, &setup(ip, None)).expect("server");
        let client = Client::prepare(&spec, &setup(ip, server.address())).expect("client");
        let control = Control::default();
        thread::scope(|scope| {
            let measuring = scope.spawn(|| client.measure(&control, &NoWindow, ()));
            thread::sleep(Duration::from_millis(50));
            control.stop();
            assert!(matches!(measuring.join().expect("joins"), Err(ProbeError::Cancelled)));
        });
    }
}

/// Answers as a server does, but stops for a while in the middle.
fn serve_with_a_stop(socket: &UdpSocket, messages: u64, stop_after: u64, stop: Duration) {
    let mut buffer = [0; 2048];
    for number in 0..messages {
        if number == stop_after {
            thread::sleep(stop);
        }
        let (length, peer) = socket.recv_from(&mut buffer).expect("receives");
        socket.send_to(&buffer[..length], peer).expect("answers");
    }
}

/// The percentile of a plain list, in thousandths.
fn exact(sorted: &[u64], per_mille: usize) -> u64 {
    sorted[(sorted.len() * per_mille).div_ceil(1000) - 1]
}

#[test]
fn a_far_side_that_stops_is_seen_by_all_who_were_to_leave_meanwhile() {
    const STOP: Duration = Duration::from_millis(100);
    let spec = LatencySpec {
        // So slow that the far side's socket buffer holds what comes meanwhile.
        rate: Some(PacketRate(1000)),
        amount: Amount::Count(1200),
        timeout: Nanos(10_000_000_000),
        ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Spin)
    };
    let far = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    far.set_read_timeout(Some(Duration::from_secs(20))).expect("settable");
    let client = Client::prepare(&spec, &setup(IpVersion::V4, far.local_addr().ok())).expect("client");
    let (result, times) = thread::scope(|scope| {
        scope.spawn(|| serve_with_a_stop(&far, 1210, 500, STOP));
        client.measure(&Control::default(), &NoWindow, Times::default()).expect("result")
    });
    assert_eq!((result.sent, result.lost, result.late), (1200, Some(0), 0));
    let mut waits: Vec<u64> = times.0.iter().map(|(intended, received)| received.0 - intended.0).collect();
    waits.sort_unstable();
    let figures = [(result.rtt_ns.p50, 500), (result.rtt_ns.p90, 900), (result.rtt_ns.p99, 990)];
    for (figure, per_mille) in figures {
        let (figure, exact) = (figure.expect("supported"), exact(&waits, per_mille));
        assert!(figure.abs_diff(exact) * 1000 <= exact, "p{per_mille}: {figure} for {exact}");
    }
    assert_eq!(result.rtt_ns.max, waits.last().copied());
    // A hundred messages were to leave within the stop, and the first waited for nearly all of it; a loop that waits for
    // its replies would have seen one.
    assert!(result.rtt_ns.p99.expect("supported") >= 80_000_000, "{:?}", result.rtt_ns);
    assert!(waits.iter().filter(|wait| **wait >= 50_000_000).count() >= 45);
    // The times are those of the schedule, to the nanosecond.
    let first = times.0[0].0;
    assert!(times.0.iter().zip(0u64..).all(|((intended, _), number)| intended.0 == first.0 + number * 1_000_000));
}

#[test]
fn tcp_goes_beside_the_messages_each_way_that_is_asked_for() {
    for (direction, ways) in [(Direction::Forward, [true, false]), (Direction::Both, [true, true])] {
        let spec = LatencySpec {
            rate: Some(PacketRate(100)),
            amount: Amount::Duration(Nanos::from_secs(1)),
            tcp_load: Some(direction),
            ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Block)
        };
        let far = setup(IpVersion::V4, None);
        let server = Box::new(Server::prepare(&spec, &far).expect("server"));
        let client = Client::prepare(&spec, &SideSetup { peer: server.address(), ..far }).expect("client");
        let serving = Control::default();
        let (near, far) = thread::scope(|scope| {
            let served = scope.spawn(|| server.run(&serving, &NoWindow));
            let near = Box::new(client).run(&Control::default(), &NoWindow).expect("measured");
            serving.stop();
            (near, served.join().expect("joins").expect("serves"))
        });
        let SideFigures::LatencyNear { result, load: Some(near) } = near else { panic!("{near:?}") };
        let SideFigures::LatencyFar { answered, load: Some(far), .. } = far else { panic!("{far:?}") };
        assert_eq!((result.sent, result.missing(), answered), (100, 0, 110));
        assert_eq!([near.sent.is_some(), near.received.is_some()], ways);
        assert_eq!([far.received.is_some(), far.sent.is_some()], ways);
        let received = far.received.expect("forward");
        assert_eq!(received.total_bytes, near.sent.expect("forward").total_bytes, "all of it has arrived");
        assert!(received.counted_s >= 1.1 && !received.ended_early, "as long as warm-up and messages");
    }
}

#[test]
fn a_load_that_nobody_accepts_fails_the_trial() {
    let spec = LatencySpec {
        rate: Some(PacketRate(100)),
        amount: Amount::Duration(Nanos::from_secs(1)),
        tcp_load: Some(Direction::Reverse),
        ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Block)
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let client = Client::prepare(&spec, &setup(IpVersion::V4, listener.local_addr().ok())).expect("client");
    drop(listener);
    let outcome = Box::new(client).run(&Control::default(), &NoWindow);
    assert!(matches!(outcome, Err(ProbeError::Socket { .. })), "{outcome:?}");
}
