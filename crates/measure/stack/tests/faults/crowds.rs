//! Many datagrams, many sockets.

use std::{io::IoSlice, net::UdpSocket, os::fd::AsFd, time::Duration};

use kernel::socket::set_option;
use model::bypass::{Reason, Wait};
use rustix::net::{AddressFamily, SocketType, bind, socket};
use wireproof_stack::{Incoming, Outcome, Outgoing, SocketId, Stack};

use crate::{
    ends::{Near, Version, named},
    past::{Past, soon},
    wire::Wire,
};

/// Receives all waiting datagrams of a socket; returns their number.
pub(crate) fn take(stack: &Stack, id: SocketId) -> usize {
    let mut count = 0;
    let mut buffer = [0; 64];
    let mut message =
        || stack.receive(id, &mut Incoming::new(&mut [std::io::IoSliceMut::new(&mut buffer)]), libc::MSG_DONTWAIT);
    // Every so many datagrams the kernel is asked, which may have none.
    let mut misses = 0;
    while misses < 3 {
        match message() {
            Outcome::Done(_) => count += 1,
            _ => misses += 1,
        }
    }
    count
}

#[test]
fn what_finds_the_ring_full_is_lost_and_the_rest_comes() {
    let past = Past::open("full", Wait::Auto);
    past.connected(|ends| {
        let Near::Past { stack, id, .. } = &ends.near else { panic!("it goes past") };
        for round in 0..20 {
            for _ in 0..3000 {
                ends.far.send(b"flood").expect("on the link");
            }
            let count = take(stack, *id);
            assert!((200..3000).contains(&count), "round {round}: {count}");
        }
        ends.far.send(b"after").expect("on the link");
        assert!(soon(|| ends.near.raw_receive(libc::MSG_DONTWAIT) == Some(Ok(5))));
    });
}

#[test]
fn a_socket_that_is_not_read_loses_its_own_datagrams_alone() {
    let past = Past::open("queue", Wait::Auto);
    past.connected(|ends| {
        let idle = past.bound(7005);
        set_option(&idle, libc::SOL_SOCKET, libc::SO_RCVBUF, 20_000).expect("settable");
        let idle_id = past.stack.open(idle.as_fd()).expect("it can go past");
        let other = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7006))).expect("it is free");
        for _ in 0..200 {
            for _ in 0..10 {
                other.send_to(b"nobody reads it", Version::V4.at(1, 7005)).expect("on the link");
            }
            ends.far.send(b"x").expect("on the link");
            assert_eq!(ends.near.raw_receive(0), Some(Ok(1)));
        }
        let record = past.page.records().into_iter().find(|it| it.local == Some(Version::V4.at(1, 7005)));
        let dropped = record.expect("it is written down").dropped as usize;
        let taken = take(&past.stack, idle_id);
        assert_eq!(dropped + taken, 2000, "each is somewhere");
        assert!((40_000 / 1000..40_000 / 700).contains(&taken), "as many as its room holds: {taken}");
    });
}

#[test]
fn many_sockets_that_are_not_read_leave_a_place_for_one_that_is() {
    let past = Past::open("places", Wait::Auto);
    past.connected(|ends| {
        let idle: Vec<UdpSocket> = (7100..7123).map(|port| past.bound(port)).collect();
        let ids: Vec<SocketId> =
            idle.iter().map(|socket| past.stack.open(socket.as_fd()).expect("it can go past")).collect();
        let other = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7006))).expect("it is free");
        for port in 7100..7123 {
            for _ in 0..400 {
                other.send_to(b"nobody reads it", Version::V4.at(1, port)).expect("on the link");
                past.stack.pump();
            }
        }
        let came = (0..50).filter(|_| {
            ends.far.send(b"x").expect("on the link");
            soon(|| past.stack.pump() || ends.near.raw_receive(libc::MSG_PEEK | libc::MSG_DONTWAIT) == Some(Ok(1)));
            ends.near.raw_receive(libc::MSG_DONTWAIT) == Some(Ok(1))
        });
        assert_eq!(came.count(), 50);
        let dropped: u64 = past.page.records().iter().map(|record| record.dropped).sum();
        let taken: Vec<usize> = ids.iter().map(|id| take(&past.stack, *id)).collect();
        assert_eq!(dropped as usize + taken.iter().sum::<usize>(), 23 * 400, "each is somewhere");
        assert!(taken.iter().all(|count| *count > 100), "each has its share: {taken:?}");
    });
}

#[test]
fn what_waited_in_the_kernel_comes_before_what_comes_past_it() {
    let past = Past::open("order", Wait::Auto);
    past.wire.at_a(|| {
        let socket = past.bound(7014);
        let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7015))).expect("it is free");
        let send = |numbers: std::ops::Range<u8>| {
            numbers.for_each(|number| _ = far.send_to(&[number], Version::V4.at(1, 7014)).expect("on the link"));
        };
        send(0..100);
        let id = past.stack.open(socket.as_fd()).expect("it can go past");
        send(100..250);
        let mut came = Vec::new();
        let receive = |flags: i32| {
            let mut byte = [0];
            let mut pieces = [std::io::IoSliceMut::new(&mut byte)];
            let outcome = past.stack.receive(id, &mut Incoming::new(&mut pieces), libc::MSG_DONTWAIT | flags);
            (outcome == Outcome::Done(1)).then_some(byte[0])
        };
        soon(|| {
            let peeked = receive(libc::MSG_PEEK);
            came.extend(receive(0).inspect(|number| assert_eq!(Some(*number), peeked)));
            came.len() == 250
        });
        assert_eq!(came, (0..250).collect::<Vec<u8>>());
        let record = past.stack.record(id).expect("it is open");
        assert_eq!((record.through.received, record.past.received), (100, 150));
    });
}

#[test]
fn many_are_sent_by_one_call() {
    let past = Past::open("batch", Wait::Auto);
    past.connected(|ends| {
        let Near::Past { stack, id, .. } = &ends.near else { panic!("it goes past") };
        assert!(soon(|| ends.near.raw_send(b"first") == Some(5)));
        ends.far.recv(&mut [0; 8]).expect("it came");
        let payloads: Vec<[u8; 2]> = (0..64).map(|number| [number, 7]).collect();
        let pieces: Vec<[IoSlice<'_>; 1]> = payloads.iter().map(|payload| [IoSlice::new(payload)]).collect();
        let messages = pieces.iter().map(|pieces| Outgoing::new(pieces));
        let mut told = Vec::new();
        let sent = stack.send_many(*id, messages, 0, |number, bytes| told.push((number, bytes)));
        assert_eq!(sent, (64, None));
        assert_eq!(told, (0..64).map(|number| (number, 2)).collect::<Vec<_>>());
        for payload in &payloads {
            let mut buffer = [0; 8];
            assert_eq!((ends.far.recv(&mut buffer).expect("it came"), buffer[..2].to_vec()), (2, payload.to_vec()));
        }
        let bad = Outgoing { name: &[1], ..Outgoing::new(&[]) };
        let messages = pieces[..2].iter().map(|pieces| Outgoing::new(pieces)).chain([bad]);
        assert_eq!(stack.send_many(*id, messages, 0, |_, _| ()), (2, Some(Outcome::Kernel)));
    });
}

/// A socket that shares its port.
fn sharing(port: u16) -> UdpSocket {
    let fd = socket(AddressFamily::INET, SocketType::DGRAM, None).expect("a socket");
    set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, 1).expect("settable");
    bind(&fd, &Version::V4.at(1, port)).expect("it may be shared");
    fd.into()
}

#[test]
fn sockets_that_share_a_port_share_what_comes() {
    let past = Past::open("share", Wait::Auto);
    past.wire.at_a(|| {
        let sockets = [(); 3].map(|()| sharing(7010));
        let ids = sockets.each_ref().map(|socket| past.stack.open_for_later(socket.as_fd()).expect("it can go past"));
        for port in 20_000..20_120 {
            let from = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, port))).expect("it is free");
            from.send_to(b"x", Version::V4.at(1, 7010)).expect("on the link");
        }
        let counts = ids.map(|id| take(&past.stack, id));
        assert_eq!(counts.iter().sum::<usize>(), 120);
        assert!(counts.iter().all(|count| *count > 15), "{counts:?}");
    });
}

#[test]
fn a_port_that_another_process_shares_stays_with_the_kernel() {
    let past = Past::open("foreign", Wait::Auto);
    past.wire.at_a(|| {
        let own = sharing(7011);
        let id = past.stack.open(own.as_fd()).expect("it is ours alone");
        past.stack.close(id);
        drop(own);
        let foreign = sharing(7011);
        let child = Child::begin();
        drop(foreign);
        let other = sharing(7011);
        assert_eq!(past.stack.open(other.as_fd()), Err(Reason::SharedPort));
        let id = past.stack.open_for_later(other.as_fd()).expect("it is known");
        assert_eq!(past.stack.record(id).expect("it is open").fate, Err(Reason::SharedPort));
        past.stack.close(id);
        drop(child);
        let id = past.stack.open(other.as_fd()).expect("it has gone");
        assert_eq!(past.stack.record(id).expect("it is open").fate, Ok(()));
    });
}

#[test]
fn what_the_kernel_would_give_to_another_socket_of_the_process_is_its() {
    let past = Past::open("beside", Wait::Auto);
    past.wire.at_a(|| {
        let fate = |id| past.stack.record(id).expect("it is open").fate;
        let listener = sharing(7013);
        let id = past.stack.open(listener.as_fd()).expect("it is alone");
        assert_eq!(fate(id), Ok(()));
        // A connected kernel socket for another peer.
        let beside = sharing(7013);
        set_option(&beside, libc::SOL_SOCKET, libc::SO_MARK, 1).expect("settable");
        beside.connect(Version::V4.at(2, 7014)).expect("on the link");
        assert_eq!(past.stack.open(beside.as_fd()), Err(Reason::Mark));
        assert_eq!(fate(id), Err(Reason::SharedPort));
        let peer = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7014))).expect("it is free");
        peer.send_to(b"x", Version::V4.at(1, 7013)).expect("on the link");
        beside.set_read_timeout(Some(Duration::from_secs(2))).expect("settable");
        assert_eq!(beside.recv(&mut [0; 4]).expect("the kernel gives it what is for it"), 1);
        assert_eq!(take(&past.stack, id), 0);
        // Datagrams that the listener would not receive anyway do not affect its flows.
        let connected = sharing(7013);
        connected.connect(Version::V4.at(2, 7015)).expect("on the link");
        let connected_id = past.stack.open(connected.as_fd()).expect("it fits better than both");
        assert_eq!(fate(connected_id), Ok(()));
        set_option(&beside, libc::SOL_SOCKET, libc::SO_MARK, 0).expect("settable");
        let beside_id = past.stack.open(beside.as_fd()).expect("it can go past now");
        assert_eq!([id, connected_id, beside_id].map(fate), [Ok(()); 3]);
        past.stack.leave(beside_id, Reason::Stdio);
        assert_eq!([id, connected_id].map(fate), [Err(Reason::SharedPort), Ok(())]);
        drop(beside);
        assert!(soon(|| {
            take(&past.stack, id);
            fate(id) == Ok(())
        }));
    });
}

#[test]
fn a_port_that_another_process_shares_later_is_the_kernels_as_long() {
    let past = Past::open("later", Wait::Auto);
    past.wire.at_a(|| {
        let own = sharing(7012);
        let id = past.stack.open(own.as_fd()).expect("it is ours alone");
        let fate = || past.stack.record(id).expect("it is open").fate;
        let to = Version::V4.at(2, 9);
        let name = named(to);
        // Any use triggers the periodic checks.
        let uses = || {
            let sent = past.stack.send(id, &Outgoing { name: &name, ..Outgoing::new(&[IoSlice::new(b"x")]) }, 0);
            if sent == Outcome::Kernel {
                // An ICMP error for an earlier datagram may be pending by now.
                let _ = own.send_to(b"x", to);
            }
            sent
        };
        assert!(soon(|| uses() == Outcome::Done(1)));
        assert_eq!(fate(), Ok(()));
        let foreign = sharing(7012);
        let child = Child::begin();
        drop(foreign);
        assert!(soon(|| {
            uses();
            fate() == Err(Reason::SharedPort)
        }));
        assert_eq!(uses(), Outcome::Kernel);
        drop(child);
        assert!(soon(|| uses() == Outcome::Done(1)), "it has gone");
        assert_eq!(fate(), Ok(()));
    });
}

#[test]
fn a_port_that_another_process_shares_at_first_is_ours_once_it_has_gone() {
    let past = Past::open("first", Wait::Auto);
    past.wire.at_a(|| {
        let foreign = sharing(7013);
        let child = Child::begin();
        drop(foreign);
        let own = sharing(7013);
        let id = past.stack.open_for_later(own.as_fd()).expect("it waits for it");
        let fate = || past.stack.record(id).expect("it is open").fate;
        let comes = || {
            let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 0))).expect("it is free");
            far.send_to(b"x", Version::V4.at(1, 7013)).expect("on the link");
            take(&past.stack, id) > 0 && past.stack.record(id).expect("it is open").past.received > 0
        };
        assert_eq!(fate(), Err(Reason::SharedPort));
        // Options change meanwhile.
        past.stack.refresh(id, own.as_fd()).expect("it still waits");
        assert!(!comes());
        drop(child);
        assert!(soon(comes), "it has gone");
        assert_eq!(fate(), Ok(()));
    });
}

/// A forked process that shares all descriptors, until this is dropped.
struct Child(libc::pid_t);

impl Child {
    fn begin() -> Self {
        // SAFETY: the child only calls async-signal-safe functions.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: as above; it ends when its parent does at the latest.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                libc::pause();
                libc::_exit(0);
            }
        }
        Self(child)
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // SAFETY: it is our child.
        unsafe {
            libc::kill(self.0, libc::SIGKILL);
            libc::waitpid(self.0, std::ptr::null_mut(), 0);
        }
    }
}

#[test]
fn a_full_table_takes_no_more_and_is_empty_again_afterwards() {
    let past = Past::open("table", Wait::Auto);
    past.wire.at_a(|| {
        let socket = past.bound(7013);
        // Each peer is a flow of its own.
        let fill = || {
            let mut ids = Vec::new();
            for port in 1..=6000 {
                socket.connect(Version::V4.at(2, port)).expect("on the link");
                match past.stack.open(socket.as_fd()) {
                    Ok(id) => ids.push(id),
                    Err(reason) => {
                        assert_eq!(reason, Reason::TableFull);
                        break;
                    }
                }
            }
            ids
        };
        let first = fill();
        assert!((1000..5000).contains(&first.len()), "{}", first.len());
        for id in &first {
            past.stack.close(*id);
        }
        assert_eq!(fill().len(), first.len());
    });
}

#[test]
fn after_one_that_is_refused_the_next_one_of_a_thousand_goes_past() {
    let past = Past::open("thousand", Wait::Auto);
    past.wire.at_a(|| {
        let socket = past.bound(7017);
        for _ in 0..1030 {
            past.stack.open(socket.as_fd()).expect("one more user of its flow");
        }
        let elsewhere = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        assert_eq!(past.stack.open(elsewhere.as_fd()), Err(Reason::OtherInterface));
        past.stack.open(socket.as_fd()).expect("it can go past");
    });
}

#[test]
fn all_queues_of_an_interface_are_used() {
    let past = Past::over(Wire::with_queues("queues", 2), Wait::Sleep);
    past.wire.at_a(|| {
        let sockets = [7030, 7031, 7032, 7033].map(|port| past.bound(port));
        let ids = sockets.each_ref().map(|socket| past.stack.open(socket.as_fd()).expect("it can go past"));
        let fars =
            [0, 1, 2, 3].map(|port| past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7040 + port))).expect("free"));
        for far in &fars {
            for (number, id) in ids.iter().enumerate() {
                far.send_to(b"x", Version::V4.at(1, 7030 + number as u16)).expect("on the link");
                let mut buffer = [0; 8];
                let mut message = [std::io::IoSliceMut::new(&mut buffer)];
                assert_eq!(past.stack.receive(*id, &mut Incoming::new(&mut message), 0), Outcome::Done(1));
            }
        }
        let name = named(Version::V4.at(2, 7040));
        for id in ids {
            let pieces = [IoSlice::new(b"back")];
            let message = Outgoing { name: &name, ..Outgoing::new(&pieces) };
            assert!(soon(|| past.stack.send(id, &message, 0) == Outcome::Done(4)));
            assert_eq!(fars[0].recv(&mut [0; 8]).expect("it came"), 4);
        }
        let received: u64 = past.page.records().iter().map(|record| record.past.received).sum();
        assert_eq!(received, 16);
    });
}

#[test]
fn threads_that_do_all_of_it_at_once_do_not_meet() {
    const TIME: Duration = Duration::from_secs(1);
    let past = Past::open("threads", Wait::Auto);
    past.wire.at_a(|| {
        let over = std::sync::atomic::AtomicBool::new(false);
        let is_over = || over.load(std::sync::atomic::Ordering::Relaxed);
        std::thread::scope(|scope| {
            for number in 0..4_u16 {
                let (past, is_over) = (&past, &is_over);
                let socket = past.bound(7050 + number);
                let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7060 + number))).expect("it is free");
                socket.connect(Version::V4.at(2, 7060 + number)).expect("on the link");
                far.connect(Version::V4.at(1, 7050 + number)).expect("on the link");
                scope.spawn(move || {
                    let mut count = 0;
                    while !is_over() {
                        let id = past.stack.open(socket.as_fd()).expect("it can go past");
                        let near = Near::Past { socket: socket.try_clone().expect("dup"), stack: &past.stack, id };
                        for _ in 0..50 {
                            near.raw_send(b"there");
                            far.send(&number.to_ne_bytes()).expect("on the link");
                            count += u64::from(near.raw_receive(libc::MSG_DONTWAIT) == Some(Ok(2)));
                        }
                        past.stack.close(id);
                    }
                    assert!(count > 100, "{count}");
                });
            }
            scope.spawn(|| {
                while !is_over() {
                    let asleep = past.stack.fall_asleep();
                    past.stack.pump();
                    past.page.change();
                    std::thread::sleep(Duration::from_millis(1));
                    past.stack.wake_up(asleep);
                }
            });
            std::thread::sleep(TIME);
            over.store(true, std::sync::atomic::Ordering::Relaxed);
        });
    });
}
