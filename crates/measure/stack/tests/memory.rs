//! The way of datagrams takes no memory: programs call it from wherever they are, also while they hold the allocator's lock. Needs root, and
//! fails without.
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
};

use past::{Past, soon};
use wireproof_stack::Wait;

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does it; a thread's own count takes no memory.
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

#[test]
fn datagrams_take_no_memory() {
    let past = Past::open("memory", Wait::Auto);
    past.connected(|ends| {
        assert!(soon(|| ends.near.raw_send(b"first").is_some()));
        while ends.far.recv(&mut [0; 8]).is_err() {}
        let before = COUNT.get();
        let mut buffer = [0; 64];
        for round in 0..3000 {
            assert_eq!(ends.near.raw_send(b"there"), Some(5), "round {round}");
            ends.far.recv(&mut buffer).expect("it came");
            // Some wait in the queue, and some come straight.
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
