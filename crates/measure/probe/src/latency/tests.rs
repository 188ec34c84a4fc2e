//! Both sides against each other over loopback: real sockets. Busy polling alone needs root.

mod load;

use std::{
    io::{self, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    thread,
    time::Duration,
};

use kernel::clock;
use model::{
    Amount, FrameSize, IpVersion, LatencyResult, LatencySpec, Nanos, PacketRate, Protocol, SideSetup, Stack, WaitMode,
    fixture::setup, trial::StageName,
};

use super::{Client, Server, message};
use crate::{Control, Prepared, ProbeError, control::NoWindow};

pub(super) fn spec(protocol: Protocol, ip: IpVersion, mode: WaitMode) -> LatencySpec {
    LatencySpec {
        protocol,
        ip,
        stack: Stack::Kernel,
        mode,
        frame_size: FrameSize(128),
        amount: Amount::Count(200),
        warmup: 10,
        timeout: Nanos::from_millis(500),
        rate: None,
        stamps: false,
        tcp_load: None,
    }
}

#[test]
fn every_kind_of_ping_pong_counts_each_round_trip() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        for ip in [IpVersion::V4, IpVersion::V6] {
            for mode in [WaitMode::Spin, WaitMode::Block, WaitMode::BusyPoll] {
                let (result, answered) = measure(&spec(protocol, ip, mode), &setup(ip, None));
                assert_eq!(answered, 210);
                assert_eq!((result.sent, result.lost, result.late), (200, Some(0), 0));
                assert_eq!((result.rtt_ns.n, result.variation.rtt_ns.n), (200, 199));
                assert!(result.rtt_ns.min <= result.rtt_ns.p50 && result.rtt_ns.p50 <= result.rtt_ns.max);
                assert_eq!((result.pacing, result.intended_pps, result.napi), (None, None, None));
                assert_eq!(result.segments, (protocol == Protocol::Tcp).then_some(210), "a segment for each message");
            }
        }
    }
}

#[test]
fn a_trial_of_a_duration_ends_with_it() {
    for (protocol, rate) in [(Protocol::Udp, None), (Protocol::Tcp, None), (Protocol::Udp, Some(PacketRate(1000)))] {
        let amount = Amount::Duration(Nanos::from_millis(100));
        let spec = LatencySpec { amount, rate, ..spec(protocol, IpVersion::V4, WaitMode::Block) };
        let began = clock::now();
        let (result, answered) = measure(&spec, &setup(IpVersion::V4, None));
        assert!(clock::now().0 - began.0 >= 99_000_000, "the last message under load is due at 99 ms");
        assert!(result.sent > 0 && answered == result.sent + spec.warmup);
        assert!(rate.is_none() || result.sent == 100);
    }
}

#[test]
fn one_way_delays_are_there_where_one_clock_and_room_for_stamps_are() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        let spec = spec(protocol, IpVersion::V4, WaitMode::Spin);
        let (result, _) = measure(&spec, &setup(IpVersion::V4, None));
        let one_way = result.one_way.expect("one clock");
        assert_eq!((one_way.forward_ns.n, one_way.reverse_ns.n), (200, 200));
        // One reading of the far side divides each RTT in two, so that the parts make up the whole.
        let parts = one_way.forward_ns.mean.expect("all came") + one_way.reverse_ns.mean.expect("all came");
        assert!((parts - result.rtt_ns.mean.expect("all came")).abs() < 1.0);
        assert_eq!(result.variation.forward_ns.expect("one clock").n, 199);

        let (result, _) = measure(&spec, &SideSetup { same_clock: false, ..setup(IpVersion::V4, None) });
        assert_eq!((result.one_way, result.variation.forward_ns), (None, None));
        let small = LatencySpec { frame_size: FrameSize(64), ..spec };
        let (result, _) = measure(&small, &setup(IpVersion::V4, None));
        assert_eq!((result.one_way, result.rtt_ns.n), (None, 200));
    }
}

#[test]
fn stamps_split_each_round_trip() {
    for (ip, mode) in [(IpVersion::V4, WaitMode::Spin), (IpVersion::V6, WaitMode::Block)] {
        let spec = LatencySpec { stamps: true, warmup: 100, ..spec(Protocol::Udp, ip, mode) };
        let (result, answered) = measure(&spec, &setup(ip, None));
        assert_eq!((answered, result.lost, result.hardware_stamps), (300, Some(0), false));
        let names = [StageName::NearSend, StageName::WireAndFar, StageName::NearReceive];
        assert_eq!(result.stages.iter().map(|stage| stage.stage).collect::<Vec<_>>(), names);
        for stage in &result.stages {
            assert!(
                stage.time_ns.n > 0 && stage.time_ns.n <= 200 && stage.time_ns.min <= result.rtt_ns.max,
                "{stage:?}"
            );
        }
    }
}

/// Both sides against each other: the near side's figures, and how many messages the far side answered.
fn measure(spec: &LatencySpec, far: &SideSetup) -> (LatencyResult, u64) {
    let server = Server::prepare(spec, far).expect("server");
    let near = SideSetup { peer: server.address(), ..far.clone() };
    let serving = Control::default();
    thread::scope(|scope| {
        let answered = scope.spawn(|| server.serve(&serving));
        let client = Client::prepare(spec, &near).expect("client");
        let (result, ()) = client.measure(&Control::default(), &NoWindow, ()).expect("result");
        serving.stop();
        (result, answered.join().expect("joins").expect("serves").answered)
    })
}

#[test]
fn replies_that_never_come_are_lost_and_stay_in_the_sample() {
    let deaf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = LatencySpec {
        amount: Amount::Count(3),
        warmup: 0,
        timeout: Nanos::from_millis(20),
        ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Spin)
    };
    let peer = deaf.local_addr().expect("bound");
    let client = Client::prepare(&spec, &setup(IpVersion::V4, Some(peer))).expect("client");
    let result = client.measure(&Control::default(), &NoWindow, ()).expect("result").0;
    assert_eq!((result.lost, result.rtt_ns.n, result.rtt_ns.max), (Some(3), 3, None));
}

#[test]
fn strangers_who_find_the_port_are_not_answered() {
    for mode in [WaitMode::Spin, WaitMode::Block] {
        let server = Server::prepare(&spec(Protocol::Udp, IpVersion::V4, mode), &setup(IpVersion::V4, None));
        let server = server.expect("server");
        let [own, other] = [(); 2].map(|()| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
            socket.set_read_timeout(Some(Duration::from_millis(200))).expect("settable");
            socket.connect(server.address().expect("bound")).expect("connects");
            socket
        });
        let message = |number| {
            let mut message = [0; 82];
            message::put_number(&mut message, 7, number);
            message
        };
        // All of it is there before the server looks.
        for strange in [&b"GET / HTTP/1.0"[..], &[0; 82], &[], &message(0)[..81]] {
            other.send(strange).expect("sent");
        }
        own.send(&message(3)).expect("sent");
        other.send(&message(4)).expect("sent");
        own.send(&message(5)).expect("sent");
        let control = Control::default();
        thread::scope(|scope| {
            let serving = scope.spawn(|| server.serve(&control));
            let mut came = [0; 100];
            for number in [3, 5] {
                let length = own.recv(&mut came).expect("answered");
                assert_eq!(message::read(&came[..length], 7, false).number, number);
            }
            other.send(&message(6)).expect("sent, to a socket that is another's now");
            assert!(other.recv(&mut came).is_err(), "a stranger was answered");
            control.stop();
            assert_eq!(serving.join().expect("joins").expect("serves").answered, 2);
        });
    }
}

#[test]
fn strangers_who_connect_first_do_not_keep_the_client_out() {
    let spec = spec(Protocol::Tcp, IpVersion::V4, WaitMode::Block);
    let setup = setup(IpVersion::V4, None);
    let server = Server::prepare(&spec, &setup).expect("server");
    let near = SideSetup { peer: server.address(), ..setup };
    let mut strangers = [(); 3].map(|()| TcpStream::connect(near.peer.expect("bound")).expect("it listens"));
    strangers[0].write_all(&[0; 82]).expect("sent");
    strangers[1].write_all(b"wpgr").expect("sent");
    let serving = Control::default();
    thread::scope(|scope| {
        let answered = scope.spawn(|| server.serve(&serving));
        let client = Client::prepare(&spec, &near).expect("client");
        let result = client.measure(&Control::default(), &NoWindow, ());
        serving.stop();
        assert_eq!(result.expect("measured").0.rtt_ns.n, 200);
        assert_eq!(answered.join().expect("joins").expect("serves").answered, 210);
    });
}

#[test]
fn a_stopped_client_gives_up_at_once() {
    let deaf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = spec(Protocol::Udp, IpVersion::V4, WaitMode::Block);
    let peer = deaf.local_addr().expect("bound");
    let client = Client::prepare(&spec, &setup(IpVersion::V4, Some(peer))).expect("client");
    let control = Control::default();
    control.stop();
    assert!(matches!(client.measure(&control, &NoWindow, ()), Err(ProbeError::Cancelled)));
}

#[test]
fn a_program_that_sends_all_back_is_an_echo() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        let spec = spec(protocol, IpVersion::V4, WaitMode::Block);
        let peer = match protocol {
            Protocol::Udp => {
                let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
                let address = socket.local_addr().expect("bound");
                thread::spawn(move || {
                    let mut message = [0; 2000];
                    while let Ok((length, from)) = socket.recv_from(&mut message) {
                        let _ = socket.send_to(&message[..length], from);
                    }
                });
                address
            }
            Protocol::Tcp => {
                let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
                let address = listener.local_addr().expect("bound");
                thread::spawn(move || {
                    let (mut stream, _) = listener.accept().expect("a stream");
                    let mut back = stream.try_clone().expect("cloned");
                    io::copy(&mut stream, &mut back)
                });
                address
            }
        };
        let setup = SideSetup { agentless_peer: true, ..setup(IpVersion::V4, Some(peer)) };
        let client = Client::prepare(&spec, &setup).expect("connected");
        let (result, ()) = client.measure(&Control::default(), &NoWindow, ()).expect("measured");
        assert_eq!((result.sent, result.lost, result.late, result.rtt_ns.n), (200, Some(0), 0, 200));
        assert_eq!(result.one_way, None, "nobody stamps there");
        assert_eq!(result.segments, (protocol == Protocol::Tcp).then_some(210), "there is no greeting");
    }
}
