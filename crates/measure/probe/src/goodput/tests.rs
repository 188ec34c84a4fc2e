//! Both sides against each other over loopback: real sockets, no privileges.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use model::{
    Batch, BitRate, Bytes, Direction, GoodputSide, GoodputSpec, IpVersion, Mtu, Nanos, PayloadSize, Protocol,
    ReceiveMethod, SendMethod, Side, SideFigures, SideSetup, fixture,
    trial::{GoodputReceived, GoodputSent},
};

use socket2::{Domain, Socket, Type};

use super::{
    far::Far,
    hello::{DataDirection, Hello},
    prepare,
    tcp::set_options,
};
use crate::{Control, Prepared, ProbeError, control::NoWindow, greeting::greet};

fn spec(protocol: Protocol) -> GoodputSpec {
    GoodputSpec { duration: Nanos::from_secs(1), warmup: Nanos::from_millis(50), ..fixture::goodput(protocol) }
}

fn tcp() -> GoodputSpec {
    spec(Protocol::Tcp)
}

/// Paced, and slow enough for a busy machine.
fn udp() -> GoodputSpec {
    GoodputSpec { rate: Some(BitRate(10_000_000)), datagram: Some(PayloadSize(1000)), ..spec(Protocol::Udp) }
}

fn setup(spec: &GoodputSpec, peer: Option<SocketAddr>) -> SideSetup {
    fixture::setup(spec.ip, peer)
}

fn prepared(spec: &GoodputSpec) -> [Box<dyn Prepared>; 2] {
    let far = prepare(spec, Side::Far, &setup(spec, None)).expect("far side");
    let near = prepare(spec, Side::Near, &setup(spec, far.address())).expect("near side");
    [near, far]
}

fn run(side: Box<dyn Prepared>, control: &Control) -> Result<GoodputSide, ProbeError> {
    match side.run(control, &NoWindow)? {
        SideFigures::Goodput(side) => Ok(*side),
        other => panic!("{other:?}"),
    }
}

/// Results of both sides: near, far.
fn measure(spec: &GoodputSpec) -> [GoodputSide; 2] {
    let sides = prepared(spec);
    thread::scope(|scope| {
        sides
            .map(|side| scope.spawn(|| run(side, &Control::default())))
            .map(|side| side.join().expect("joins").expect("measured"))
    })
}

/// Bytes sent and received each way, after checks that hold for any transfer.
fn flows(spec: &GoodputSpec) -> Vec<(GoodputSent, GoodputReceived)> {
    let [near, far] = measure(spec);
    let mut flows = Vec::new();
    for (goes, from, to) in [(spec.sends_forward(), &near, &far), (spec.sends_back(), &far, &near)] {
        assert_eq!((from.sent.is_some(), to.received.is_some()), (goes, goes));
        if let (Some(sent), Some(received)) = (&from.sent, &to.received) {
            assert_eq!(received.intervals_bps.len(), 1);
            assert!(received.counted_bytes > 0 && received.counted_bytes < received.total_bytes, "{received:?}");
            flows.push((sent.clone(), received.clone()));
        }
    }
    flows
}

const DIRECTIONS: [Direction; 3] = [Direction::Forward, Direction::Reverse, Direction::Both];

#[test]
fn tcp_counts_the_same_bytes_at_both_ends_whichever_way() {
    for direction in DIRECTIONS {
        for (sent, received) in flows(&GoodputSpec { direction, streams: 3, ..tcp() }) {
            assert_eq!(sent.total_bytes, received.total_bytes);
            assert_eq!(sent.tcp.len(), 3);
            for connection in &sent.tcp {
                let seconds = &connection.seconds;
                let lengths = [seconds.retransmits.len(), seconds.rtt_us.len(), seconds.cwnd_segments.len()];
                assert_eq!(lengths, [1; 3], "beside each whole second");
                assert!(seconds.cwnd_segments[0] > 0 && seconds.rtt_us[0] > 0, "{seconds:?}");
            }
            assert_eq!((sent.buffer, received.buffer), (None, None));
        }
    }
}

#[test]
fn tcp_does_as_asked() {
    let asked = GoodputSpec { congestion: Some("reno".to_owned()), window: Some(Bytes(100_000)), ..tcp() };
    for (send, receive) in [
        (SendMethod::Write, ReceiveMethod::Truncate),
        (SendMethod::ZeroCopy, ReceiveMethod::Read),
        (SendMethod::Sendfile, ReceiveMethod::Read),
    ] {
        let (sent, received) = flows(&GoodputSpec { send, receive, ..asked.clone() }).remove(0);
        assert_eq!(sent.total_bytes, received.total_bytes, "{send} {receive}");
        assert_eq!((sent.buffer, received.buffer), (asked.window, asked.window));
        assert_eq!(sent.tcp[0].congestion, "reno");
        assert!(sent.buffer_full > 0);
        // Loopback always copies in the end.
        let copied = sent.zero_copied.map(|reports| (reports.zero_copied == 0, reports.copied > 0));
        assert_eq!(copied, (send == SendMethod::ZeroCopy).then_some((true, true)));
    }
}

#[test]
fn a_bed_has_a_congestion_control_that_a_spec_can_replace() {
    let used = |asked: Option<&str>, of_bed: &str| {
        let spec = GoodputSpec { congestion: asked.map(str::to_owned), ..tcp() };
        let setup = SideSetup { congestion: Some(of_bed.to_owned()), ..setup(&spec, None) };
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        set_options(&socket, &spec, &setup, ([127, 0, 0, 1], 0).into()).expect("settable");
        let name = socket.tcp_congestion().expect("readable");
        String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned()
    };
    let default = kernel::sysctl::read("net.ipv4.tcp_congestion_control").expect("readable");
    assert_eq!(used(None, "reno"), "reno");
    assert_eq!(used(Some("reno"), "cubic"), "reno");
    assert_eq!(used(Some("default"), "reno"), default.trim());
    assert_eq!(used(None, "nosuch"), default.trim(), "a kernel without it");
}

#[test]
fn an_unknown_congestion_control_is_refused_with_those_there_are() {
    let spec = GoodputSpec { congestion: Some("nosuch".to_owned()), ..tcp() };
    let error = prepare(&spec, Side::Far, &setup(&spec, None)).err().expect("refused").to_string();
    assert!(error.contains("\"nosuch\"") && error.contains("cubic"), "{error}");
}

#[test]
fn paced_datagrams_all_arrive_once_and_in_order_whichever_way() {
    for batch in [Batch::Mmsg, Batch::Gso] {
        for direction in DIRECTIONS {
            for (sent, received) in flows(&GoodputSpec { direction, batch, streams: 2, ..udp() }) {
                let (out, arrived) = (sent.datagrams.expect("udp"), received.datagrams.expect("udp"));
                assert_eq!((arrived.received, arrived.overflowed), (out.sent, 0), "{batch} {direction}");
                assert_eq!((arrived.duplicated, arrived.reordered, arrived.corrupt), (0, 0, 0));
                assert_eq!((sent.total_bytes, received.total_bytes), (out.sent * 1000, out.sent * 1000));
                assert_eq!((out.payload_size, out.intended_bps), (PayloadSize(1000), Some(10e6)));
                let pacing = out.pacing.expect("paced");
                assert_eq!(pacing.behind_ns.n, pacing.gap_ns.n + 2);
            }
        }
    }
}

#[test]
fn flat_out_every_datagram_that_is_missing_was_dropped_by_the_full_buffer() {
    for (batch, datagram) in [(Batch::Mmsg, Some(1472)), (Batch::Mmsg, Some(16)), (Batch::Gso, Some(100))] {
        let spec = GoodputSpec { batch, datagram: datagram.map(PayloadSize), ..spec(Protocol::Udp) };
        let (sent, received) = flows(&spec).remove(0);
        let (out, arrived) = (sent.datagrams.expect("udp"), received.datagrams.expect("udp"));
        assert_eq!((arrived.duplicated, arrived.reordered, arrived.corrupt), (0, 0, 0));
        assert_eq!((out.intended_bps, out.pacing), (None, None));
        // Large datagrams are dropped as one.
        assert_eq!(arrived.received == out.sent, arrived.overflowed == 0, "{arrived:?}");
        if batch == Batch::Mmsg {
            assert_eq!(arrived.received + arrived.overflowed, out.sent);
        }
    }
}

#[test]
fn a_tiny_buffer_overflows_and_all_that_is_lost_is_counted() {
    let spec = GoodputSpec { window: Some(Bytes(4096)), datagram: Some(PayloadSize(1472)), ..spec(Protocol::Udp) };
    let (sent, received) = flows(&spec).remove(0);
    let (out, arrived) = (sent.datagrams.expect("udp"), received.datagrams.expect("udp"));
    assert_eq!(received.buffer, spec.window);
    assert!(arrived.overflowed > 0, "{arrived:?}");
    assert_eq!(arrived.overflowed, out.sent - arrived.received);
}

#[test]
fn both_protocols_run_over_ipv6_and_datagrams_fill_the_mtu() {
    for protocol in [tcp(), GoodputSpec { datagram: None, ..udp() }] {
        let (sent, received) = flows(&GoodputSpec { ip: IpVersion::V6, ..protocol }).remove(0);
        assert_eq!(sent.total_bytes, received.total_bytes);
        // The loopback's MTU is more than IP can fill.
        assert!(sent.datagrams.is_none_or(|datagrams| datagrams.payload_size == PayloadSize(65_487)));
    }
}

#[test]
fn datagrams_that_cannot_be_had_are_refused() {
    for (size, batch) in [(15, Batch::Mmsg), (1473, Batch::Gso)] {
        let spec = GoodputSpec { datagram: Some(PayloadSize(size)), batch, ..udp() };
        let setup = SideSetup { mtu: Mtu(1500), ..setup(&spec, Some(([127, 0, 0, 1], 9).into())) };
        let error = prepare(&spec, Side::Near, &setup).err().expect("refused");
        assert!(matches!(error, ProbeError::Unable { .. }), "{error}");
    }
}

#[test]
fn whoever_connects_without_a_greeting_is_ignored() {
    let spec = GoodputSpec { duration: Nanos::from_secs(1), ..tcp() };
    let far = prepare(&spec, Side::Far, &setup(&spec, None)).expect("far side");
    let mut stranger = TcpStream::connect(far.address().expect("listens")).expect("connects");
    stranger.write_all(b"GET / HTTP/1.0\r\n\r\n").expect("sent");
    let near = prepare(&spec, Side::Near, &setup(&spec, far.address())).expect("near side");
    thread::scope(|scope| {
        let far = scope.spawn(|| run(far, &Control::default()));
        let sent = run(near, &Control::default()).expect("measured").sent.expect("it sent");
        let received = far.join().expect("joins").expect("measured").received.expect("it received");
        assert_eq!(sent.total_bytes, received.total_bytes);
    });
}

#[test]
fn strangers_neither_join_nor_hold_nor_end_a_trial() {
    for spec in [tcp(), udp(), GoodputSpec { direction: Direction::Reverse, ..udp() }] {
        let far = prepare(&spec, Side::Far, &setup(&spec, None)).expect("far side");
        let peer = far.address().expect("it listens");
        let connect = || TcpStream::connect(peer).expect("it listens");
        let silent = [(); 20].map(|()| connect());
        // Greetings without the token, and connections of the trial that nobody waits for.
        let mut hostile = [(); 4].map(|()| connect());
        for (stream, said) in hostile.iter_mut().zip([&b"wpgd\x01\0\0\0"[..], b"wpgd\0\0\0\0", &[0; 12], b"wpgr"]) {
            stream.write_all(said).expect("sent");
        }
        let unexpected =
            [Hello { way: DataDirection::Forward, value: 9 }, Hello { way: DataDirection::Reverse, value: 9 }]
                .map(|hello| hello.purpose())
                .into_iter()
                .chain([u32::MAX]);
        let unexpected: Vec<_> = unexpected.map(|purpose| (connect(), purpose)).collect();
        unexpected.iter().for_each(|(stream, purpose)| greet(stream, 7, *purpose).expect("sent"));
        let near = prepare(&spec, Side::Near, &setup(&spec, far.address())).expect("near side");
        let copy = connect();
        greet(&copy, 7, Hello { way: DataDirection::Forward, value: 0 }.purpose()).expect("sent");
        let began = Instant::now();
        thread::scope(|scope| {
            let far = scope.spawn(|| run(far, &Control::default()));
            let near = run(near, &Control::default()).expect("measured");
            let far = far.join().expect("joins").expect("measured");
            let (sent, received) = (near.sent.or(far.sent), near.received.or(far.received));
            assert_eq!(sent.expect("sent").total_bytes, received.expect("received").total_bytes);
        });
        assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
        drop((silent, hostile, copy));
    }
}

#[test]
fn datagrams_of_strangers_count_for_nothing() {
    let spec = udp();
    let far = Far::prepare(&spec, &setup(&spec, None), 0).expect("far side");
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    for (_, sockets) in &far.sockets {
        for socket in sockets {
            let to = socket.socket().local_addr().expect("bound");
            for strange in [&[1; 1000][..], b"x", &[0; 3000]] {
                stranger.send_to(strange, to).expect("sent");
            }
        }
    }
    let near = prepare(&spec, Side::Near, &setup(&spec, far.address())).expect("near side");
    thread::scope(|scope| {
        let far = scope.spawn(|| run(Box::new(far), &Control::default()));
        let sent = run(near, &Control::default()).expect("measured").sent.expect("it sent");
        let received = far.join().expect("joins").expect("measured").received.expect("it received");
        let (sent, arrived) = (sent.datagrams.expect("udp"), received.datagrams.expect("udp"));
        assert_eq!((arrived.received, arrived.corrupt), (sent.sent, 0));
    });
}

#[test]
fn each_second_is_told_by_the_receiver_as_it_passes() {
    let [near, far] = prepared(&tcp());
    let (near_control, far_control) = (Control::default(), Control::default());
    thread::scope(|scope| {
        let far = scope.spawn(|| run(far, &far_control));
        run(near, &near_control).expect("measured");
        let received = far.join().expect("joins").expect("measured").received.expect("it received");
        assert_eq!(far_control.take_seconds(), received.intervals_bps);
    });
    assert!(near_control.take_seconds().is_empty());
}

#[test]
fn data_that_ends_early_is_said_to() {
    for spec in [tcp(), udp()] {
        let [near, far] = prepared(&spec);
        thread::scope(|scope| {
            let far = scope.spawn(|| run(far, &Control::default()));
            stopped_soon(near, &Control::default(), Duration::from_secs(5));
            let outcome = far.join().expect("joins");
            match spec.protocol {
                Protocol::Tcp => assert!(outcome.expect("measured").received.expect("it received").ended_early),
                Protocol::Udp => assert!(matches!(outcome, Err(ProbeError::PeerClosed { .. })), "{outcome:?}"),
            }
        });
    }
}

#[test]
fn each_side_can_be_stopped_in_every_state() {
    // More than any machine needs to see it; waiting to the end would take far longer.
    const SOON: Duration = Duration::from_secs(5);
    for like in [tcp(), udp(), GoodputSpec { rate: None, ..udp() }, GoodputSpec { rate: Some(BitRate(1)), ..udp() }] {
        for direction in DIRECTIONS {
            let spec = GoodputSpec { duration: Nanos::from_secs(60), direction, ..like.clone() };
            // Alone: a far side that nobody connects to, a near side that nobody serves.
            let control = Control::default();
            let far = prepare(&spec, Side::Far, &setup(&spec, None)).expect("far side");
            stopped_soon(far, &control, SOON);
            let [near, _far] = prepared(&spec);
            stopped_soon(near, &Control::default(), SOON);
            // Both, in the middle.
            let sides = prepared(&spec);
            thread::scope(|scope| {
                for side in sides {
                    scope.spawn(|| stopped_soon(side, &Control::default(), SOON));
                }
            });
        }
    }
}

fn stopped_soon(side: Box<dyn Prepared>, control: &Control, soon: Duration) {
    thread::scope(|scope| {
        let running = scope.spawn(|| run(side, control));
        thread::sleep(Duration::from_millis(200));
        let asked = Instant::now();
        control.stop();
        let outcome = running.join().expect("joins");
        assert!(outcome.is_err(), "{outcome:?}");
        assert!(asked.elapsed() < soon, "{:?}", asked.elapsed());
    });
}

/// A program of a far host at a free port and the next ones, which are served in turn.
fn program(streams: u16, serve: impl Fn(TcpStream) + Clone + Send + 'static) -> SocketAddr {
    let listen = |port: u16| (0..streams).map(|next| TcpListener::bind(("127.0.0.1", port + next)).ok()).collect();
    let any = || TcpListener::bind(("127.0.0.1", 0)).expect("loopback").local_addr().expect("bound");
    let tries = (0..100).map(|_| any()).filter(|address| address.port() < 60_000);
    let found = tries.map(|address| (address, listen(address.port())));
    let (address, listeners): (SocketAddr, Vec<TcpListener>) =
        found.filter_map(|(address, all): (_, Option<Vec<_>>)| Some((address, all?))).next().expect("free ports");
    for listener in listeners {
        let serve = serve.clone();
        thread::spawn(move || serve(listener.accept().expect("a stream").0));
    }
    address
}

fn beside(spec: &GoodputSpec, peer: SocketAddr) -> Result<GoodputSide, ProbeError> {
    let setup = SideSetup { agentless_peer: true, ..setup(spec, Some(peer)) };
    run(prepare(spec, Side::Near, &setup).expect("near side"), &Control::default())
}

#[test]
fn beside_a_program_that_counts_nothing_the_near_side_counts_what_is_acknowledged() {
    let spec = GoodputSpec { streams: 2, ..tcp() };
    let taken = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&taken);
    let peer = program(2, move |mut stream| {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            counter.fetch_add(length as u64, Relaxed);
        }
    });
    let side = beside(&spec, peer).expect("measured");
    let (sent, received) = (side.sent.expect("sent"), side.received.expect("counted"));
    assert_eq!((sent.total_bytes, received.total_bytes), (taken.load(Relaxed), sent.total_bytes));
    assert_eq!((sent.tcp.len(), received.intervals_bps.len()), (2, 1));
    assert!(received.counted_bytes > 0 && received.counted_bytes < received.total_bytes, "{received:?}");
    // Data under way at the edges of the second is counted elsewhere.
    let mean = |bytes: u64, seconds: f64| bytes as f64 / seconds;
    let (out, back) =
        (mean(sent.counted_bytes, sent.counted_s.expect("known")), mean(received.counted_bytes, received.counted_s));
    assert!((out - back).abs() < 0.1 * out, "{out} {back}");
}

#[test]
fn data_of_a_program_without_end_is_broken_off_behind_the_counted_time() {
    let spec = GoodputSpec { direction: Direction::Reverse, streams: 2, ..tcp() };
    let (broken, is_broken) = mpsc::channel();
    let peer = program(2, move |mut stream| {
        while stream.write_all(&[0; 16 << 10]).is_ok() {}
        broken.send(()).expect("somebody waits");
    });
    let side = beside(&spec, peer).expect("measured");
    let (sent, received) = (side.sent.expect("as received"), side.received.expect("counted"));
    assert_eq!((sent.counted_s, sent.total_bytes), (None, received.total_bytes), "nobody knows what was sent");
    assert!(received.counted_bytes > 0 && !received.ended_early, "{received:?}");
    for _ in 0..2 {
        is_broken.recv_timeout(Duration::from_secs(10)).expect("the stream breaks");
    }
}

#[test]
fn a_program_that_goes_or_never_comes_is_an_error() {
    let peer = program(1, |mut stream| drop(stream.read(&mut [0; 1000])));
    assert!(matches!(beside(&tcp(), peer), Err(ProbeError::Socket { .. })), "it has gone");
    let nobody = TcpListener::bind("127.0.0.1:0").expect("loopback").local_addr().expect("bound");
    let setup = SideSetup { agentless_peer: true, ..setup(&tcp(), Some(nobody)) };
    let error = prepare(&tcp(), Side::Near, &setup).err().expect("nobody listens").to_string();
    assert!(error.starts_with(&format!("connect to {nobody}")), "{error}");
}
