//! Sockets: our latency and goodput beside sockperf's and iperf3's, in alternating runs on one bed and the same cores.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench sockets`, on a machine that does nothing else. TCP goodput is also
//! compared with the iperf3 that `WIREPROOF_PEER_IPERF3` names.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/footprint.rs"]
mod footprint;
#[path = "bench/page.rs"]
mod page;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;
#[path = "bench/sockperf.rs"]
mod sockperf;

use std::{env, fs};

use footprint::{Footprint, footprint};
use page::COMPARISONS;
use pairs::{Comparison, Want, compare};
use peers::{Bed, ours};
use sockperf::{Wait, our_rtt_us, sockperf_rtt_us, sockperf_server};

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let bed = Bed::up();
    let mut rows = Vec::new();
    for (protocol, frame) in [("udp", 64), ("udp", 1518), ("tcp", 128), ("tcp", 1518)] {
        for wait in [Wait::Spin, Wait::Block] {
            let title = format!("RTT p50, {protocol}, {frame} B, {}", wait.words());
            let ours = || our_rtt_us(protocol, frame, wait);
            let theirs = || {
                // Its server spins too: it must not share the core with ours.
                let _server = sockperf_server(protocol, wait);
                sockperf_rtt_us(protocol, frame, wait)
            };
            rows.push(shown(compare(title, "sockperf", "µs", Want { ratio: 1.0, or_more: false }, ours, theirs)));
        }
    }
    let mut peers = vec![page::version("sockperf"), page::version("iperf3")];
    let mut programs = vec![("iperf3", "iperf3".to_owned())];
    if let Ok(newest) = env::var("WIREPROOF_PEER_IPERF3") {
        peers.push(format!("{} (newest)", page::version(&newest)));
        programs.push(("newest iperf3", newest));
    }
    for congestion in available_congestion_controls() {
        for streams in [1, 2, 4] {
            for (peer, program) in &programs {
                let title = format!("goodput, tcp {congestion}, MTU 1500, streams: {streams}");
                let ours = || our_goodput_gbps(congestion, streams);
                let theirs = || iperf3_goodput_gbps(&bed, program, congestion, streams);
                rows.push(shown(compare(title, peer, "Gbit/s", Want { ratio: 1.0, or_more: true }, ours, theirs)));
            }
        }
    }
    drop(bed);
    if programs.len() == 1 {
        println!("the newest iperf3: NOT RUN: set WIREPROOF_PEER_IPERF3 to it");
    }
    let costs = footprint();
    costs.iter().for_each(|cost| println!("{}", cost.line()));
    write(&peers, &rows, &costs);
}

/// Compared controls that this kernel has.
fn available_congestion_controls() -> impl Iterator<Item = &'static str> {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").unwrap();
    ["cubic", "bbr"].into_iter().filter(move |name| known.split_whitespace().any(|word| word == *name))
}

/// Our goodput in Gbit/s.
fn our_goodput_gbps(congestion: &str, streams: u16) -> f64 {
    let streams = streams.to_string();
    let words = ["goodput", "--duration", "4 s", "--set", "goodput.warmup=1 s", "--congestion", congestion];
    let document = ours(&[words.as_slice(), &["--streams", &streams]].concat());
    document["trials"][0]["goodput_bps"]["mean"].as_f64().unwrap() / 1e9
}

/// iperf3's TCP goodput at the receiver in Gbit/s.
fn iperf3_goodput_gbps(bed: &Bed, program: &str, congestion: &str, streams: u16) -> f64 {
    let document = bed.iperf3(program, &["-C", congestion, "-P", &streams.to_string()]);
    document["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e9
}

fn shown(row: Comparison) -> Comparison {
    println!("{}", row.line());
    row
}

fn write(peers: &[String], rows: &[Comparison], costs: &[Footprint]) {
    let mut text = COMPARISONS.to_owned();
    for row in rows {
        text += &(row.line() + "\n");
    }
    text += "\nRTT is sockperf's `--full-rtt`; both programs use the same payload sizes (frame less headers and FCS, TCP timestamps off).\n\
             goodput: 4 s counted at the receiver after 1 s of warm-up.\n\n\
             What wireproof itself costs:\n\n| what | | unit | mark | |\n|---|---|---|---|---|\n";
    for cost in costs {
        text += &(cost.line() + "\n");
    }
    page::write("sockets", peers, &text);
}
