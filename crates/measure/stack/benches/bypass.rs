//! Round trips over bypassed sockets, beside raw AF_XDP and the kernel's own sockets; results go to
//! `docs/benchmarks.md`.
//!
//! The bed is one veth pair between two namespaces; both ends spin on a core of their own. Needs root and two cores.
//!
//! Names as arguments (`raw`, `stack`, `kernel`, or `look` alone) limit the benchmark to these, measured once and
//! printed.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

#[path = "../../../../benches/bench/page.rs"]
mod page;
#[path = "../../../../benches/bench/pairs.rs"]
mod pairs;
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

use pairs::{Comparison, Want, compare};
use pingpong::round_trips;
use raw::Raw;
use stack::Past;
use stats::TimeHistogram;
use wire::Wire;

/// Round trips per measurement.
const COUNT: u64 = 200_000;
const SIZES: [usize; 2] = [64, 1518];
/// Headers and frame check sequence.
const AROUND: usize = 46;

fn main() {
    // `cargo test --benches` and similar start a benchmark only to see that it starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let names: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if names.is_empty() {
        return write();
    }
    if names == ["look"] {
        return println!("{:.1} ns", look_ns());
    }
    for size in SIZES {
        for name in &names {
            let measure = match name.as_str() {
                "raw" => raw,
                "stack" => stack,
                "kernel" => kernel,
                other => panic!("no \"{other}\" is measured here"),
            };
            println!("{name}, {size} B: {:?}", measure(size - AROUND).summary());
        }
    }
}

fn write() {
    let p50 = |measure: fn(usize) -> TimeHistogram, size: usize| {
        move || measure(size - AROUND).summary().p50.unwrap() as f64 / 1e3
    };
    let mut text = page::COMPARISONS.to_owned();
    for size in SIZES {
        let ratio = |ratio| Want { ratio, or_more: false };
        let (title, unit) = (format!("RTT p50, udp, {size} B, sockets past the kernel"), "µs");
        let ours = || p50(stack, size);
        text += &shown(compare(title.clone(), "AF_XDP alone", unit, ratio(1.25), ours(), p50(raw, size)));
        text += &shown(compare(title, "kernel", unit, ratio(1.0), ours(), p50(kernel, size)));
    }
    let look = look_ns();
    let met = if look < 30.0 { "met" } else { "missed" };
    text += &format!(
        "\nA look that finds nothing, without waiting: {look:.1} ns (mark < 30, {met}).\n\nBoth ends of each row are of the same kind, connected and \
         spinning. AF_XDP alone sends frames whose headers stand ready, and writes and\nreads 8 bytes of them; our sockets copy and sum the whole \
         payload. A veth pair has no card, bus or wire.\n"
    );
    page::write("bypass", &[], &text);
}

fn shown(row: Comparison) -> String {
    println!("{}", row.line());
    row.line() + "\n"
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

/// Cost in nanoseconds of a poll that finds nothing: the median of many rounds, with the kernel asked as often as
/// always.
fn look_ns() -> f64 {
    const LOOKS: u32 = 100_000;
    let wire = Wire::up("look");
    plain::address(&wire);
    let [near, _far] = plain::sockets(&wire);
    let past = Past::open(&wire, true, near);
    let rounds: Vec<f64> = (0..51).map(|_| past.look_ns(LOOKS)).collect();
    stats::median(&rounds).unwrap()
}
