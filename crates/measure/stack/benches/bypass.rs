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
        for (name, measure) in [("raw", raw as fn(usize) -> TimeHistogram), ("stack", stack), ("kernel", kernel)] {
            if is_wanted(name) {
                show(name, frame, &measure(payload));
            }
        }
    }
}

/// By their names behind `--bench`; without any, all of them.
fn is_wanted(name: &str) -> bool {
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    names.is_empty() || names.iter().any(|wanted| wanted == name)
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
