//! Both sides against each other over loopback, without privileges.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    thread,
};

use model::{
    IpVersion, Mtu, Nanos, PathSpec, SideSetup, fixture,
    trial::{Leg, Refusal},
};

use super::{
    far::Far,
    message::{LENGTH, Message},
    near::Near,
};
use crate::{Control, Prepared, ProbeError, control::NoWindow};

const LOOPBACK: [&str; 2] = ["127.0.0.1", "::1"];

fn spec(local: IpAddr) -> PathSpec {
    PathSpec { ip: IpVersion::of(local), mtu: None, timeout: Nanos::from_millis(200), hops: 0 }
}

fn setup(local: IpAddr, peer: Option<SocketAddr>) -> SideSetup {
    SideSetup { local, ..fixture::setup(IpVersion::of(local), peer) }
}

#[test]
fn loopback_takes_the_largest_packet_there_is() {
    for address in LOOPBACK {
        let local = address.parse().expect("an address");
        let mut far = Far::prepare(&setup(local, None)).expect("binds");
        let near = Near::prepare(&spec(local), &setup(local, far.address())).expect("binds");
        let serving = Control::default();
        let result = thread::scope(|scope| {
            let served = scope.spawn(|| far.serve(&serving));
            let result = near.measure(&Control::default(), &NoWindow);
            serving.stop();
            served.join().expect("joins").expect("serves");
            result.expect("a figure")
        });
        let largest = Leg { mtu: Some(Mtu(65_535)), refusal: Refusal::Largest, routers: Some(0) };
        assert_eq!((&result.forward, &result.reverse), (&largest, &largest));
        assert_eq!(result.packets, 4, "the smallest and the largest, each way");
        assert_eq!(result.devices.iter().map(|device| device.name.as_str()).collect::<Vec<_>>(), ["lo"]);
    }
}

#[test]
fn a_far_side_that_never_answers_is_an_error() {
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let peer = deaf.local_addr().expect("bound");
    let near = Near::prepare(&spec(peer.ip()), &setup(peer.ip(), Some(peer))).expect("binds");
    assert!(matches!(near.measure(&Control::default(), &NoWindow), Err(ProbeError::NothingPasses { .. })));
}

#[test]
fn strangers_who_say_hello_are_not_served() {
    let local = LOOPBACK[0].parse().expect("an address");
    let mut far = Far::prepare(&setup(local, None)).expect("binds");
    let stranger = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let mut hello = [0; LENGTH];
    for strange in [&b"wpMT"[..], &8_u32.to_be_bytes()] {
        Message::Hello { id: 1 }.write(0, &mut hello);
        hello[..4].copy_from_slice(strange);
        stranger.send_to(&hello, far.address().expect("bound")).expect("sent");
    }
    let near = Near::prepare(&spec(local), &setup(local, far.address())).expect("binds");
    let serving = Control::default();
    thread::scope(|scope| {
        let served = scope.spawn(|| far.serve(&serving));
        let result = near.measure(&Control::default(), &NoWindow);
        serving.stop();
        served.join().expect("joins").expect("serves");
        assert_eq!(result.expect("a figure").forward.mtu, Some(Mtu(65_535)));
    });
}

#[test]
fn a_stopped_search_gives_up_at_once() {
    let deaf = UdpSocket::bind("127.0.0.1:0").expect("loopback");
    let peer = deaf.local_addr().expect("bound");
    let near = Near::prepare(&spec(peer.ip()), &setup(peer.ip(), Some(peer))).expect("binds");
    let control = Control::default();
    control.stop();
    assert!(matches!(near.measure(&control, &NoWindow), Err(ProbeError::Cancelled)));
}
