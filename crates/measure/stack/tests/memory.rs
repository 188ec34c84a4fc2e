//! Sending and receiving allocate no memory, as programs call them anywhere, even while they hold the allocator's lock.
//! Sockets leak none.
//!
//! Apart from the other tests, whose memory would be counted too. Needs root, and fails without.
#![allow(unsafe_code, reason = "an allocator that counts")]

#[path = "same/ends.rs"]
#[allow(dead_code, reason = "each test takes a part of it")]
mod ends;
#[path = "faults/past.rs"]
#[allow(dead_code, reason = "each test takes a part of it")]
mod past;
#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    fs,
    net::SocketAddr,
    os::fd::AsFd,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use kernel::socket::set_option;
use model::bypass::{Reason, Wait};
use past::{Past, soon};
use rustix::net::{AddressFamily, SocketType, bind, socket};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work; the thread's counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn datagrams_take_no_memory() {
    let _turn = turn();
    let past = Past::open("memory", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| ends.near.raw_send(b"first").is_some()));
        while ends.far.recv(&mut [0; 8]).is_err() {}
        let before = COUNT.get();
        let mut buffer = [0; 64];
        for round in 0..3000 {
            assert_eq!(ends.near.raw_send(b"there"), Some(5), "round {round}");
            ends.far.recv(&mut buffer).expect("it came");
            // Some datagrams wait in the queue, and some are received directly.
            ends.far.send(b"back").expect("on the link");
            if round % 3 == 0 {
                past.stack.pump();
            }
            assert_eq!(ends.near.raw_receive(0), Some(Ok(4)));
            assert_eq!(ends.near.raw_receive(libc::MSG_DONTWAIT), Some(Err(libc::EAGAIN)));
        }
        assert_eq!(COUNT.get() - before, 0);
    });
}

#[test]
fn looking_who_has_a_port_too_takes_no_memory() {
    let _turn = turn();
    let past = Past::open("looking", Wait::Auto);
    past.connected(|ends| {
        let sharing = |address: [u8; 4]| {
            let fd = socket(AddressFamily::INET, SocketType::DGRAM, None).expect("a socket");
            set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1).expect("settable");
            bind(&fd, &SocketAddr::from((address, 7016))).expect("it may be shared");
            fd
        };
        let own = [(); 40].map(|()| sharing([198, 18, 0, 1]));
        let _others = [(); 40].map(|()| sharing([127, 0, 0, 1]));
        let ids: Vec<_> = own.iter().map(|fd| past.stack.open_for_later(fd.as_fd()).expect("it can go past")).collect();
        let is_past = |fate| ids.iter().all(|id| past.stack.record(*id).expect("it is open").fate == fate);
        let seconds = |count: u64| {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(1500 * count) {
                // Any use triggers the periodic checks; the first datagram goes through the kernel.
                let _ = ends.near.raw_send(b"there");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        seconds(1);
        let before = COUNT.get();
        seconds(2);
        assert_eq!(COUNT.get() - before, 0);
        // A kernel socket on the port takes the flows of all of them while it exists.
        let other = sharing([198, 18, 0, 1]);
        let before = COUNT.get();
        seconds(1);
        assert!(is_past(Err(Reason::SharedPort)));
        drop(other);
        seconds(1);
        assert!(is_past(Ok(())));
        assert_eq!(COUNT.get() - before, 0);
    });
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/statm").expect("readable");
    status.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number") * 4
}

#[test]
fn a_million_that_come_and_go_leave_nothing() {
    let _turn = turn();
    let past = Past::open("million", Wait::Auto);
    past.connected(|ends| {
        let socket = past.bound(7012);
        let round = |count: u32| {
            for _ in 0..count {
                let id = past.stack.open(socket.as_fd()).expect("it can go past");
                past.stack.close(id);
            }
        };
        round(10_000);
        let before = resident_kib();
        round(990_000);
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 4096, "{grown} KiB more");
        ends.near.socket().set_read_timeout(Some(Duration::from_secs(1))).expect("settable");
        ends.far.send(b"still").expect("on the link");
        assert_eq!(ends.near.raw_receive(0), Some(Ok(5)));
    });
}
