//! Blocked calls, and the events that end them.

use std::{
    net::UdpSocket,
    os::fd::AsFd,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use model::bypass::{Reason, Wait};

use crate::{
    ends::{Ends, Near, Version},
    past::Past,
};

const WAITS: [(Wait, &str); 3] = [(Wait::Spin, "spin"), (Wait::Sleep, "sleep"), (Wait::Auto, "auto")];

#[test]
fn whoever_waits_gets_what_comes_also_when_another_takes_it_in() {
    for (wait, name) in WAITS {
        let past = Past::open(&format!("gets{name}"), wait);
        past.wire.at_a(|| {
            let sockets = [7020, 7021].map(|port| past.bound(port));
            let ids = sockets.each_ref().map(|socket| past.stack.open(socket.as_fd()).expect("it can go past"));
            let far = past.wire.at_b(|| UdpSocket::bind(Version::V4.at(2, 7022))).expect("it is free");
            let (told, heard) = mpsc::channel();
            thread::scope(|scope| {
                for (number, (id, socket)) in ids.into_iter().zip(sockets).enumerate() {
                    let (told, stack) = (told.clone(), &past.stack);
                    scope.spawn(move || {
                        let near = Near::Past { socket, stack, id };
                        for _ in 0..100 {
                            assert_eq!(near.raw_receive(0), Some(Ok(1)));
                            told.send(number).expect("somebody listens");
                        }
                    });
                }
                for round in 0..100 {
                    for number in [0, 1] {
                        far.send_to(b"x", Version::V4.at(1, 7020 + number)).expect("on the link");
                        let came = heard.recv_timeout(Duration::from_secs(5));
                        assert_eq!(came, Ok(number as usize), "{name}, round {round}");
                    }
                }
            });
        });
    }
}

#[test]
fn what_comes_through_the_kernel_wakes_too() {
    for (wait, name) in WAITS {
        let past = Past::open(&format!("kernel{name}"), wait);
        past.connected(|ends| {
            let far = &ends.far;
            thread::scope(|scope| {
                scope.spawn(|| {
                    thread::sleep(Duration::from_millis(30));
                    // Sent in fragments.
                    far.send(&[7; 3000]).expect("on the link");
                });
                ends.near.socket().set_read_timeout(None).expect("settable");
                assert_eq!(ends.near.raw_receive(libc::MSG_TRUNC), Some(Ok(3000)), "{name}");
            });
            assert_eq!(past.page.records()[0].through.received, 1);
        });
    }
}

extern "C" fn nothing(_signal: i32) {}

fn handle(signal: i32, flags: i32) {
    // SAFETY: zeros are a valid action; the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        action.sa_flags = flags;
        assert_eq!(libc::sigaction(signal, &action, std::ptr::null_mut()), 0);
    }
}

/// Result of a waiting call that a signal interrupts, with a datagram later.
fn received_amid(ends: &Ends<'_>, signal: i32) -> Option<Result<usize, i32>> {
    // SAFETY: it names the calling thread, which waits for the other one.
    let this = unsafe { libc::pthread_self() };
    thread::scope(|scope| {
        scope.spawn(move || {
            thread::sleep(Duration::from_millis(50));
            // SAFETY: the thread exists.
            unsafe { libc::pthread_kill(this, signal) };
            thread::sleep(Duration::from_millis(50));
            ends.far.send(b"later").expect("on the link");
        });
        ends.near.raw_receive(0)
    })
}

#[test]
fn signals_interrupt_as_their_handlers_say() {
    for (wait, name) in WAITS {
        let past = Past::open(&format!("signal{name}"), wait);
        past.connected(|ends| {
            let socket = ends.near.socket();
            socket.set_read_timeout(None).expect("settable");
            handle(libc::SIGUSR1, libc::SA_RESTART);
            assert_eq!(received_amid(ends, libc::SIGUSR1), Some(Ok(5)), "{name}: the call goes on");
            handle(libc::SIGUSR1, 0);
            assert_eq!(received_amid(ends, libc::SIGUSR1), Some(Err(libc::EINTR)), "{name}");
            assert_eq!(ends.near.raw_receive(0), Some(Ok(5)));
            handle(libc::SIGUSR1, libc::SA_RESTART);
            socket.set_read_timeout(Some(Duration::from_secs(5))).expect("settable");
            assert_eq!(received_amid(ends, libc::SIGUSR1), Some(Err(libc::EINTR)), "{name}: with a timeout");
            assert_eq!(ends.near.raw_receive(0), Some(Ok(5)));
        });
    }
}

#[test]
fn a_child_goes_through_the_kernel_and_its_parent_past_it() {
    let past = Past::open("fork", Wait::Auto);
    past.connected(|ends| {
        let Near::Past { stack, id, socket } = &ends.near else { panic!("it goes past") };
        // SAFETY: the child allocates no memory and takes no lock.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let forked = stack.open(socket.as_fd()) == Err(Reason::Forked)
                && ends.near.raw_send(b"x").is_none()
                && ends.near.raw_receive(0).is_none()
                && !stack.pump()
                && !stack.readable(*id);
            stack.close(*id);
            // SAFETY: the child ends here.
            unsafe { libc::_exit(i32::from(!forked)) };
        }
        let mut status = 0;
        // SAFETY: it is our child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert_eq!(status, 0);
        ends.far.send(b"parent").expect("on the link");
        assert_eq!(ends.near.raw_receive(0), Some(Ok(6)));
    });
}

#[test]
fn a_look_that_finds_nothing_costs_next_to_nothing() {
    let past = Past::open("cheap", Wait::Spin);
    past.connected(|ends| {
        ends.near.socket().set_nonblocking(true).expect("settable");
        ends.near.refresh();
        let nanos = (0..20).map(|_| {
            let begun = Instant::now();
            for _ in 0..10_000 {
                assert_eq!(ends.near.raw_receive(0), Some(Err(libc::EAGAIN)));
            }
            begun.elapsed().as_nanos() / 10_000
        });
        let least = nanos.min().expect("some");
        println!("{least} ns");
        // The target is 30 ns; the kernel's own call takes several times that. Tests are built without full
        // optimisation.
        assert!(least < 1_500, "{least} ns");
    });
}
