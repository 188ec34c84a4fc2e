//! UDP: our datagrams beside iperf3's, flat out, counted where they arrive, in alternating runs on one bed and the same cores.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench datagrams`, on a machine that does nothing else. The newest
//! iperf3, which has `--gsro`, is no package yet: its path is taken from `WIREPROOF_PEER_IPERF3`.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/page.rs"]
mod page;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;

use std::{cell::RefCell, env};

use page::COMPARISONS;
use pairs::{Want, compare};
use peers::{Bed, ours};

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let bed = Bed::up();
    let mut peers = vec![page::version("iperf3")];
    let mut text = COMPARISONS.to_owned();
    for payload in [1472, 100] {
        let ours = || our_datagrams(payload, "mmsg");
        let theirs = || iperf3_datagrams(&bed, "iperf3", payload, &[]);
        text += &row(&format!("{payload} B, without GSO/GRO"), 1.5, ours, theirs);
    }
    match env::var("WIREPROOF_PEER_IPERF3") {
        Ok(newest) => {
            peers.push(format!("{} (newest)", page::version(&newest)));
            let ours = || our_datagrams(1472, "gso");
            let theirs = || iperf3_datagrams(&bed, &newest, 1472, &["--gsro"]);
            text += &row("1472 B, with GSO/GRO", 1.0, ours, theirs);
        }
        Err(_) => text += &not_run("1472 B, with GSO/GRO", "set WIREPROOF_PEER_IPERF3 to an iperf3 that has --gsro"),
    }
    text += "\nGoodput at the receiver: 4 s after 1 s of warm-up. Lost: median share of the datagrams sent, over the whole transfer \
        (iperf3: without its warm-up).\nOurs: `wireproof goodput --protocol udp --batch mmsg --datagram 1472`, which asks for socket buffers of \
        8 MiB; iperf3: `-u -b 0 -l 1472 -t 4 -O 1`, with\nthe kernel's buffers.\n";
    page::write("datagrams", &peers, &text);
}

/// Counts of a receiver.
#[derive(Clone, Copy, Debug)]
struct Datagrams {
    /// Payload, in Gbit/s.
    gbps: f64,
    /// Share of those sent that did not come, in percent.
    lost_percent: f64,
}

/// Our datagrams flat out.
fn our_datagrams(payload: u32, batch: &str) -> Datagrams {
    let payload_words = payload.to_string();
    let words = ["goodput", "--protocol", "udp", "--duration", "4 s", "--set", "goodput.warmup=1 s", "--batch", batch];
    let document = ours(&[words.as_slice(), &["--datagram", &payload_words]].concat());
    let trial = &document["trials"][0];
    let (sent, lost) = (trial["flows"][0]["datagrams_sent"].as_f64().unwrap(), trial["lost"].as_f64().unwrap());
    Datagrams { gbps: trial["goodput_bps"]["mean"].as_f64().unwrap() / 1e9, lost_percent: 100.0 * lost / sent }
}

/// Counts of iperf3's receiver for its datagrams, flat out.
fn iperf3_datagrams(bed: &Bed, program: &str, payload: u32, more: &[&str]) -> Datagrams {
    let payload = payload.to_string();
    let document = bed.iperf3(program, &[&["-u", "-b", "0", "-l", &payload], more].concat());
    let received = &document["end"]["sum_received"];
    Datagrams {
        gbps: received["bits_per_second"].as_f64().unwrap() / 1e9,
        lost_percent: received["lost_percent"].as_f64().unwrap(),
    }
}

/// One row of the table, with what each side lost.
fn row(what: &str, least: f64, ours: impl Fn() -> Datagrams, theirs: impl Fn() -> Datagrams) -> String {
    let lost = RefCell::new([Vec::new(), Vec::new()]);
    let noted = |side: usize, run: &dyn Fn() -> Datagrams| {
        let datagrams = run();
        lost.borrow_mut()[side].push(datagrams.lost_percent);
        datagrams
    };
    let title = format!("UDP {what}");
    let want = Want { ratio: least, or_more: true };
    let comparison = compare(title, "iperf3", "Gbit/s", want, || noted(0, &ours).gbps, || noted(1, &theirs).gbps);
    let [ours, theirs] = lost.into_inner().map(|lost| stats::median(&lost).unwrap());
    let line = format!("{}\n| … of it lost | {ours:.3} | {theirs:.3} | % | | | | |\n", comparison.line());
    print!("{line}");
    line
}

fn not_run(what: &str, why: &str) -> String {
    let line = format!("| UDP {what} | | iperf3 | Gbit/s | | | | NOT RUN: {why} |\n");
    print!("{line}");
    line
}
