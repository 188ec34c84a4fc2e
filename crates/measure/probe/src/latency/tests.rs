//! Both sides against each other over loopback: real sockets, no privileges.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket},
    thread,
};

use model::{FrameSize, IpVersion, LatencySpec, Mtu, Nanos, Protocol, WaitMode};

use super::{Client, Server};
use crate::{Control, ProbeError, control::NoWindow};

const LOOPBACK_MTU: Mtu = Mtu(65_536);

fn spec(protocol: Protocol, ip: IpVersion, mode: WaitMode) -> LatencySpec {
    LatencySpec {
        protocol,
        ip,
        mode,
        frame_size: FrameSize(128),
        count: 200,
        warmup: 10,
        timeout: Nanos::from_millis(500),
    }
}

fn loopback(ip: IpVersion) -> IpAddr {
    match ip {
        IpVersion::V4 => Ipv4Addr::LOCALHOST.into(),
        IpVersion::V6 => Ipv6Addr::LOCALHOST.into(),
    }
}

#[test]
fn every_kind_of_ping_pong_counts_each_round_trip() {
    for protocol in [Protocol::Udp, Protocol::Tcp] {
        for ip in [IpVersion::V4, IpVersion::V6] {
            for mode in [WaitMode::Spin, WaitMode::Block] {
                let spec = spec(protocol, ip, mode);
                let server = Server::prepare(&spec, loopback(ip), LOOPBACK_MTU).expect("server");
                let address = server.address();
                let serving = Control::default();
                thread::scope(|scope| {
                    let answered = scope.spawn(|| server.serve(&serving));
                    let client = Client::prepare(&spec, loopback(ip), address, LOOPBACK_MTU).expect("client");
                    let result = client.run(&Control::default(), &NoWindow).expect("result");
                    serving.stop();
                    assert_eq!(answered.join().expect("joins").expect("serves"), 210);
                    assert_eq!((result.sent, result.lost, result.late), (200, 0, 0));
                    assert_eq!(result.rtt_ns.n, 200);
                    assert!(result.rtt_ns.min <= result.rtt_ns.p50 && result.rtt_ns.p50 <= result.rtt_ns.max);
                });
            }
        }
    }
}

#[test]
fn replies_that_never_come_are_lost_and_stay_in_the_sample() {
    let deaf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = LatencySpec {
        count: 3,
        warmup: 0,
        timeout: Nanos::from_millis(20),
        ..spec(Protocol::Udp, IpVersion::V4, WaitMode::Spin)
    };
    let peer = deaf.local_addr().expect("bound");
    let client = Client::prepare(&spec, Ipv4Addr::LOCALHOST.into(), peer, LOOPBACK_MTU).expect("client");
    let result = client.run(&Control::default(), &NoWindow).expect("result");
    assert_eq!((result.lost, result.rtt_ns.n, result.rtt_ns.max), (3, 3, None));
}

#[test]
fn a_stopped_client_gives_up_at_once() {
    let deaf = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("binds");
    let spec = spec(Protocol::Udp, IpVersion::V4, WaitMode::Block);
    let peer = deaf.local_addr().expect("bound");
    let client = Client::prepare(&spec, Ipv4Addr::LOCALHOST.into(), peer, LOOPBACK_MTU).expect("client");
    let control = Control::default();
    control.stop();
    assert!(matches!(client.run(&control, &NoWindow), Err(ProbeError::Cancelled)));
}
