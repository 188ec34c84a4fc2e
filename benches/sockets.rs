//! Sockets: our latency and goodput beside sockperf's and iperf3's, in alternating runs on one bed and the same cores.
//!
//! Writes `docs/benchmarks.md`. Run it with `./x bench sockets`, on a machine that does nothing else.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/footprint.rs"]
mod footprint;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;

use std::{fmt::Write as _, fs, process::Command};

use footprint::{Footprint, footprint};
use pairs::{Comparison, Want, compare};
use peers::{Bed, Wait};

/// Alternating pairs for each row.
const PAIRS: usize = 10;

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let bed = Bed::up();
    let mut rows = Vec::new();
    for (protocol, frame) in [("udp", 64), ("udp", 1518), ("tcp", 128), ("tcp", 1518)] {
        for wait in [Wait::Spin, Wait::Block] {
            let title = format!("RTT p50, {protocol}, {frame} B, {}", wait.words());
            let ours = || bed.our_rtt_us(protocol, frame, wait);
            let theirs = || {
                // Its server spins too: it must not share the core with ours.
                let _server = bed.sockperf_server(protocol, wait);
                bed.sockperf_rtt_us(protocol, frame, wait)
            };
            rows.push(shown(compare(title, "sockperf", "µs", Want::AtMost(1.0), PAIRS, ours, theirs)));
        }
    }
    for streams in [1, 2] {
        let title = format!("goodput, tcp, MTU 1500, streams: {streams}");
        let ours = || bed.our_goodput_gbps(streams);
        let theirs = || bed.iperf3_goodput_gbps(streams);
        rows.push(shown(compare(title, "iperf3", "Gbit/s", Want::AtLeast(1.0), PAIRS, ours, theirs)));
    }
    drop(bed);
    let costs = footprint();
    costs.iter().for_each(|cost| println!("{}", cost.line()));
    write(&rows, &costs);
}

fn shown(row: Comparison) -> Comparison {
    println!("{}", row.line());
    row
}

fn write(rows: &[Comparison], costs: &[Footprint]) {
    let mut text = String::from(
        "# Benchmarks\n\nWritten by `./x bench sockets`. Each row: ten alternating pairs on one lab bed (two namespaces, one veth \
         pair), both programs on the same two\ncores; medians, and the median of the ratios pair by pair with its 95 % interval \
         (order statistics). A figure here holds for this machine; what\ncarries over is the ratio.\n\n",
    );
    writeln!(
        text,
        "Machine: {}. Peers: {}, {}.\n",
        machine(),
        first_line("sockperf", "--version"),
        first_line("iperf3", "--version")
    )
    .unwrap();
    text += "| what | wireproof | peer | unit | ratio | 95 % interval | mark | |\n|---|---|---|---|---|---|---|---|\n";
    for row in rows {
        text += &(row.line() + "\n");
    }
    text += "\nRTT is sockperf's `--full-rtt`; both programs use the same payload sizes (frame less headers and FCS, TCP timestamps off).\n\
             goodput: 4 s counted at the receiver after 1 s of warm-up.\n";
    text += "\n## What wireproof itself costs\n\n| what | | unit | mark | |\n|---|---|---|---|---|\n";
    for cost in costs {
        text += &(cost.line() + "\n");
    }
    fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/benchmarks.md"), text).unwrap();
}

fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let cores = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    format!(
        "{} ({cores} cores), Linux {}",
        model.trim_start_matches(['\t', ':', ' ']),
        read("/proc/sys/kernel/osrelease").trim()
    )
}

fn first_line(program: &str, argument: &str) -> String {
    let output = Command::new(program).arg(argument).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}
