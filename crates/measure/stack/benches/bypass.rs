//! Past the kernel: round trips over AF_XDP with nothing around it, over our sockets, and over the kernel's own, on one veth pair between two
//! namespaces, both ends spinning on their own core. Needs root and two cores.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

#[path = "bypass/pingpong.rs"]
mod pingpong;
#[path = "bypass/plain.rs"]
mod plain;
#[path = "bypass/raw.rs"]
mod raw;
#[path = "bypass/stack.rs"]
mod stack;
#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

use pingpong::round_trips;
use raw::Raw;
use stack::Past;
use stats::TimeHistogram;
use wire::Wire;

/// Round trips of each measurement.
const COUNT: u64 = 200_000;

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    for frame in [64, 1518] {
        // Headers and frame check sequence.
        let payload = frame - 46;
        show("raw", frame, &raw(payload));
        show("stack", frame, &stack(payload));
        show("kernel", frame, &kernel(payload));
    }
}

fn raw(payload: usize) -> TimeHistogram {
    let wire = Wire::up("raw");
    round_trips(&wire, Raw::open(&wire, true), Raw::open(&wire, false), payload, COUNT)
}

fn stack(payload: usize) -> TimeHistogram {
    let wire = Wire::up("stack");
    plain::address(&wire);
    let [near, far] = plain::sockets(&wire);
    plain::acquaint(&near, &far);
    round_trips(&wire, Past::open(&wire, true, near), Past::open(&wire, false, far), payload, COUNT)
}

fn kernel(payload: usize) -> TimeHistogram {
    let wire = Wire::up("plain");
    plain::address(&wire);
    let [near, far] = plain::sockets(&wire);
    round_trips(&wire, near, far, payload, COUNT)
}

fn show(what: &str, frame: usize, times: &TimeHistogram) {
    let summary = times.summary();
    println!("{what}, {frame} B: {summary:?}");
}
