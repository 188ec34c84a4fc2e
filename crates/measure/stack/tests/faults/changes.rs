//! Neighbours, routes and links that change.

use std::{
    io::IoSlice,
    net::{SocketAddr, UdpSocket},
    os::fd::{AsFd, OwnedFd},
};

use model::bypass::{Reason, Wait};
use rustix::net::{AddressFamily, SocketType, bind, socket};
use wireproof_stack::{Outcome, Outgoing, SocketId};

use crate::{
    crowds::take,
    ends::{Ends, Near, Version, named},
    past::{Past, soon},
    wire::PORT,
};

/// Whether a datagram bypasses the kernel and arrives.
fn goes_past(ends: &Ends<'_>) -> bool {
    ends.near.raw_send(b"past") == Some(4) && ends.far.recv(&mut [0; 8]).is_ok()
}

/// Sends as a program does: through the kernel if the stack leaves it to that.
fn goes(ends: &Ends<'_>) -> bool {
    ends.near.raw_send(b"goes").is_some() || ends.near.socket().send(b"goes").is_ok()
}

#[test]
fn a_neighbour_that_changes_is_followed() {
    let past = Past::open("neigh", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| goes_past(ends)));
        past.ip(&past.wire.b, &format!("link set {PORT} address 02:00:00:00:77:77"));
        past.ip(&past.wire.a, &format!("neigh replace 198.18.0.2 lladdr 02:00:00:00:77:77 dev {PORT} nud reachable"));
        assert!(goes_past(ends), "to the new address");
        past.ip(&past.wire.a, &format!("neigh replace 198.18.0.2 lladdr 02:00:00:00:77:77 dev {PORT} nud stale"));
        assert_eq!(ends.near.raw_send(b"x"), None, "one goes through the kernel, which asks the neighbour then");
        assert!(goes_past(ends), "the others do not wait for that");
        past.ip(&past.wire.a, &format!("neigh flush dev {PORT}"));
        assert_eq!(ends.near.raw_send(b"x"), None, "nobody knows it");
        assert!(soon(|| goes(ends) && ends.near.raw_send(b"y").is_some()), "the kernel has found it again");
    });
}

#[test]
fn a_route_that_changes_is_followed() {
    let past = Past::open("route", Wait::Auto);
    past.connected(|ends| {
        let Near::Past { stack, id, .. } = &ends.near else { panic!("it goes past") };
        let name = named("198.18.9.9:9".parse().expect("an address"));
        let send = |length: usize| {
            let payload = vec![0; length];
            let pieces = [IoSlice::new(&payload)];
            let message = Outgoing { name: &name, ..Outgoing::new(&pieces) };
            stack.send(*id, &message, 0)
        };
        assert!(soon(|| goes_past(ends)));
        assert_eq!(send(1200), Outcome::Kernel, "no route");
        past.ip(&past.wire.a, &format!("route add 198.18.9.0/24 via 198.18.0.2 dev {PORT}"));
        assert!(soon(|| send(1200) == Outcome::Done(1200)));
        past.ip(&past.wire.a, &format!("route change 198.18.9.0/24 via 198.18.0.2 dev {PORT} mtu 1000"));
        assert_eq!((send(1200), send(900)), (Outcome::Kernel, Outcome::Done(900)));
        past.ip(&past.wire.a, "route del 198.18.9.0/24");
        let tunnel = "encap ip id 7 dst 198.18.0.2 via 198.18.0.2";
        past.ip(&past.wire.a, &format!("route add 198.18.9.0/24 {tunnel} dev {PORT}"));
        assert_eq!(send(900), Outcome::Kernel, "the kernel packs it into another packet");
        past.ip(&past.wire.a, "route del 198.18.9.0/24");
        past.ip(&past.wire.a, "route add blackhole 198.18.9.0/24");
        assert_eq!(send(900), Outcome::Kernel, "its error is the kernel's to tell");
    });
}

#[test]
fn a_link_that_is_down_is_left_to_the_kernel_until_it_is_up() {
    let past = Past::open("down", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| goes_past(ends)));
        past.ip(&past.wire.a, &format!("link set {PORT} down"));
        assert_eq!(ends.near.raw_send(b"x"), None);
        assert!(ends.near.socket().send(b"x").is_err(), "the kernel says so");
        assert_eq!(ends.near.raw_receive(libc::MSG_DONTWAIT), Some(Err(libc::EAGAIN)));
        past.ip(&past.wire.a, &format!("link set {PORT} up"));
        assert!(soon(|| goes(ends) && goes_past(ends)));
        assert!(ends.far.send(b"back").is_ok() && soon(|| ends.near.raw_receive(0) == Some(Ok(4))));
    });
}

#[test]
fn a_socket_that_is_opened_while_its_link_is_down_goes_past_the_kernel_once_it_is_up() {
    let past = Past::open("early", Wait::Auto);
    past.wire.at_a(|| {
        let bound = |at: &str| UdpSocket::bind(at).expect("it is free");
        let [near, any] = ["198.18.0.1:7009", "0.0.0.0:7010"].map(bound);
        let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7009))).expect("it is free");
        past.page.set_gone(0, true);
        past.ip(&past.wire.a, &format!("link set {PORT} down"));
        let ids = [&near, &any].map(|socket| past.stack.open_for_later(socket.as_fd()).expect("it waits for it"));
        let record = |id: SocketId| past.stack.record(id).expect("it is open");
        for (id, socket) in ids.iter().zip([&near, &any]) {
            assert_eq!(record(*id).fate, Err(Reason::InterfaceGone));
            past.stack.refresh(*id, socket.as_fd()).expect("it still waits");
        }
        past.ip(&past.wire.a, &format!("link set {PORT} up"));
        past.page.set_gone(0, false);
        for (id, port) in ids.into_iter().zip([7009, 7010]) {
            assert!(soon(|| {
                far.send_to(b"x", Version::V4.at(1, port)).expect("on the link");
                take(&past.stack, id) > 0 && record(id).past.received > 0
            }));
            assert_eq!(record(id).fate, Ok(()));
        }
    });
}

#[test]
fn a_socket_of_an_address_that_is_to_come_goes_past_the_kernel_then_and_one_of_another_interface_does_not() {
    let past = Past::open("tocome", Wait::Auto);
    past.wire.at_a(|| {
        let [elsewhere, near] = ["127.0.0.1:7009", "198.18.0.4:7009"].map(|at| {
            let fd: OwnedFd = socket(AddressFamily::INET, SocketType::DGRAM, None).expect("a socket");
            kernel::socket::set_option(&fd, libc::SOL_IP, libc::IP_FREEBIND, 1).expect("settable");
            bind(&fd, &at.parse::<SocketAddr>().expect("an address")).expect("it may be");
            fd
        });
        assert_eq!(past.stack.open_for_later(elsewhere.as_fd()), Err(Reason::OtherInterface));
        let id = past.stack.open_for_later(near.as_fd()).expect("it waits for it");
        let record = |id: SocketId| past.stack.record(id).expect("it is open");
        assert_eq!(record(id).fate, Err(Reason::OtherInterface));
        past.ip(&past.wire.a, &format!("address add 198.18.0.4/24 dev {PORT}"));
        let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 0))).expect("it is free");
        assert!(soon(|| {
            far.send_to(b"x", Version::V4.at(4, 7009)).expect("on the link");
            take(&past.stack, id) > 0 && record(id).past.received > 0
        }));
        assert_eq!(record(id).fate, Ok(()));
    });
}

#[test]
fn a_link_that_goes_down_before_anybody_says_so_loses_datagrams_and_nothing_else() {
    let past = Past::open("sudden", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| goes_past(ends)));
        kernel::link::set_down(&past.wire.a, PORT).expect("it is there");
        for _ in 0..10_000 {
            ends.near.raw_send(b"lost");
        }
        past.ip(&past.wire.a, &format!("link set {PORT} up"));
        while ends.far.recv(&mut [0; 8]).is_ok() {}
        assert!(soon(|| goes(ends) && goes_past(ends)));
    });
}

#[test]
fn an_interface_that_is_gone_leaves_its_sockets_to_the_kernel() {
    let past = Past::open("gone", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| goes_past(ends)));
        past.page.set_gone(0, true);
        assert_eq!(ends.near.raw_send(b"x"), None);
        assert!(past.page.records()[0].fate.is_err());
        let other = past.bound(7009);
        assert_eq!(past.stack.open(std::os::fd::AsFd::as_fd(&other)), Err(Reason::InterfaceGone));
        past.ip(&past.wire.b, &format!("link del {PORT}"));
        assert_eq!(ends.near.raw_send(b"x"), None);
        assert_eq!(ends.near.raw_receive(libc::MSG_DONTWAIT), Some(Err(libc::EAGAIN)));
    });
}

#[test]
fn an_address_that_comes_and_goes_is_heard_while_it_is_there() {
    let past = Past::open("address", Wait::Auto);
    past.wire.at_a(|| {
        let ends = Ends::open(&past.wire, Version::V4, false, Some(&past.stack));
        past.ip(&past.wire.a, &format!("address add 198.18.0.3/24 dev {PORT}"));
        assert_eq!(ends.near.raw_receive(libc::MSG_DONTWAIT), Some(Err(libc::EAGAIN)), "changes are followed");
        let before = past.page.records()[0].past.received;
        ends.far.send_to(b"new", Version::V4.at(3, 7001)).expect("on the link");
        assert!(soon(|| ends.near.raw_receive(libc::MSG_DONTWAIT) == Some(Ok(3))));
        assert_eq!(past.page.records()[0].past.received, before + 1);
    });
}
