//! Transactions: round trips beside sockperf's, HTTP requests beside those of wrk and ab against nginx, in alternating runs on one
//! bed and the same cores; and what many connections and a server that stops come to.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench transactions`, on a machine that does nothing else.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/footprint.rs"]
mod footprint;
#[path = "bench/nginx.rs"]
mod nginx;
#[path = "bench/page.rs"]
mod page;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;
#[path = "bench/sockperf.rs"]
mod sockperf;

use std::{
    env, fs,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use footprint::{Footprint, watch};
use nginx::Nginx;
use page::COMPARISONS;
use pairs::{Want, compare};
use peers::{Bed, NAME, ours, output, pinned_in};
use sockperf::{Wait, sockperf_rtt_us, sockperf_server};

/// A frame whose TCP payload is 64 bytes.
const FRAME: u32 = 122;

/// Requests to nginx.
#[derive(Clone, Copy)]
struct Asked {
    connections: u16,
    new_connections: bool,
    wait: Wait,
}

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let bed = Bed::up();
    reuse_ports();
    let mut text = COMPARISONS.to_owned();
    for wait in [Wait::Block, Wait::Spin] {
        text += &round_trips(wait);
    }
    for connections in [1, 64] {
        for new_connections in [false, true] {
            let asked = Asked { connections, new_connections, wait: Wait::Block };
            text += &requests(asked, "wrk", wrk);
            text += &requests(asked, "ab", ab);
        }
    }
    text += &requests(Asked { connections: 64, new_connections: false, wait: Wait::Spin }, "wrk", wrk);
    text += "\nRound trips: 64 B of payload each way, `wireproof transactions --kind rr` and `sockperf ping-pong --tcp --full-rtt`. HTTP: a page of \
        1 KiB from\nnginx, one process on the second core, with the same configuration for all three clients, each a thread on the \
        first core;\nnew connections: each request has `Connection: close`. wrk ends such a connection itself, wireproof and ab wait\nfor nginx's end of it. Ports are taken again after a second (`tcp_tw_reuse`).\n\
        A client that sleeps is woken by the core on which the response arrives: in the lab that is nginx's, which has no time left with 64\nconnections. wireproof and wrk sleep as often, \
        once for two to four responses; with `--mode spin` wireproof does not sleep.\n";
    text += "\n| what | value | unit | mark | |\n|---|---|---|---|---|\n";
    for row in [many_connections(), stopped_server()] {
        println!("{}", row.line());
        text += &format!("{}\n", row.line());
    }
    drop(bed);
    page::write("transactions", &[page::version("sockperf"), wrk_version(), ab_version()], &text);
}

/// wrk ends connections itself: the ports of its earlier runs would be missing in the later ones.
fn reuse_ports() {
    for setting in ["net.ipv4.tcp_tw_reuse=1", "net.ipv4.ip_local_port_range=1024 65535"] {
        output(pinned_in("a", "0").args(["sysctl", "--quiet", "--write", setting]));
    }
}

/// Our transactions.
fn transactions(words: &[&str]) -> Value {
    ours(&[&["transactions", "--duration", "2 s"], words].concat())["trials"][0].take()
}

/// The word of `--mode`.
fn mode(wait: Wait) -> &'static str {
    if wait == Wait::Spin { "spin" } else { "block" }
}

/// p50 of a round trip beside sockperf's.
fn round_trips(wait: Wait) -> String {
    let ours = || {
        let trial = transactions(&["--kind", "rr", "--request", "64", "--response", "64", "--mode", mode(wait)]);
        trial["response_ns"]["p50"].as_f64().unwrap() / 1e3
    };
    let theirs = || {
        let _server = sockperf_server("tcp", wait);
        sockperf_rtt_us("tcp", FRAME, wait)
    };
    let title = format!("TCP round trip, p50, {}", wait.words());
    let row = compare(title, "sockperf", "µs", Want { ratio: 1.0, or_more: false }, ours, theirs).line() + "\n";
    print!("{row}");
    row
}

/// Requests a second beside another client's.
fn requests(asked: Asked, peer: &'static str, theirs: impl Fn(Asked) -> f64) -> String {
    let kind = if asked.new_connections { "new connections" } else { "keep-alive" };
    let spins = if asked.wait == Wait::Spin { ", `--mode spin`" } else { "" };
    let title = format!("HTTP, {kind}, {} at a time{spins}", asked.connections);
    let want = Want { ratio: 1.0, or_more: true };
    let theirs = || {
        let _nginx = Nginx::start();
        theirs(asked)
    };
    let row = compare(title, peer, "requests/s", want, || our_requests(asked), theirs).line() + "\n";
    print!("{row}");
    row
}

fn our_requests(asked: Asked) -> f64 {
    let connections = asked.connections.to_string();
    let path = "/index.html 1 KiB";
    let words = [
        "--kind",
        "http",
        "--server",
        "nginx",
        "--path",
        path,
        "--mode",
        mode(asked.wait),
        "--connections",
        &connections,
    ];
    let new = if asked.new_connections { ["--new-connections"].as_slice() } else { &[] };
    transactions(&[&words, new].concat())["transactions_per_s"].as_f64().unwrap()
}

fn wrk(asked: Asked) -> f64 {
    let mut client = pinned_in("a", "0");
    client.args(["wrk", "-t1", "-d2s", &format!("-c{}", asked.connections)]);
    if asked.new_connections {
        client.args(["-H", "Connection: close"]);
    }
    number_behind(&output(client.arg(Nginx::url())), "Requests/sec:")
}

fn ab(asked: Asked) -> f64 {
    let mut client = pinned_in("a", "0");
    // -t implies -n 50000 where that is not given behind it.
    client.args(["ab", "-q", "-t2", "-n10000000", &format!("-c{}", asked.connections)]);
    if !asked.new_connections {
        client.arg("-k");
    }
    number_behind(&output(client.arg(Nginx::url())), "Requests per second:")
}

/// The number behind this label.
fn number_behind(text: &str, label: &str) -> f64 {
    let rest = text.lines().find_map(|line| line.trim().strip_prefix(label)).unwrap_or_else(|| panic!("{text}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

/// Largest memory of the controller and both ends with 10,000 connections.
fn many_connections() -> Footprint {
    let folder = env::temp_dir().join(format!("wireproof-transactions-{}", std::process::id()));
    let words =
        ["transactions", "--kind", "rr", "--connections", "10000", "--duration", "4 s", "--repeats", "1", "--quiet"];
    let (_, memory) = watch(&[&words, &["--bed", NAME, "--cpus", "0,1"][..]].concat(), &folder);
    let _ = fs::remove_dir_all(&folder);
    Footprint::new("10,000 connections: memory of controller and agents (PSS)", memory, "MiB", 200.0)
}

/// How much shorter than the 100 ms for which the server stood still the longest response is, where 10,000 a second are due.
fn stopped_server() -> Footprint {
    let document = thread::scope(|scope| {
        let words = ["transactions", "--kind", "rr", "--connections", "8", "--rate", "10 ktps", "--duration", "5 s"];
        let measuring = scope.spawn(move || ours(&words));
        thread::sleep(Duration::from_secs(3));
        let agents = agents_at("b");
        assert!(!agents.is_empty(), "the far end has no agent");
        signal("-STOP", &agents);
        thread::sleep(Duration::from_millis(100));
        signal("-CONT", &agents);
        measuring.join().unwrap()
    });
    let response = &document["trials"][0]["response_ns"];
    let [p99, longest] = ["p99", "max"].map(|of| response[of].as_f64().unwrap() / 1e6);
    println!("the server stood still for 100 ms of 5 s: p99 of the responses {p99:.1} ms, the longest {longest:.1} ms");
    Footprint::new("server stopped for 100 ms: what the longest response lacks of that", 100.0 - longest, "ms", 1.0)
}

/// Processes of wireproof at this end of the bed.
fn agents_at(end: &str) -> Vec<String> {
    let pids = output(Command::new("ip").args(["netns", "pids", &format!("wp{NAME}-{end}")]));
    pids.split_whitespace().map(str::to_owned).collect()
}

fn signal(name: &str, pids: &[String]) {
    assert!(Command::new("kill").arg(name).args(pids).stdout(Stdio::null()).status().unwrap().success());
}

fn wrk_version() -> String {
    // It prints its version and how to use it, and says that it failed.
    let said = Command::new("wrk").arg("-v").output().unwrap();
    String::from_utf8_lossy(&said.stdout).split(" [").next().unwrap_or_default().to_owned()
}

fn ab_version() -> String {
    let said = output(Command::new("ab").arg("-V"));
    said.lines().next().unwrap_or_default().trim_start_matches("This is ").to_owned()
}
