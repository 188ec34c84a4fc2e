//! Bypassed programs: sockperf and iperf3, as they are, under `wireproof bypass` and without it, in alternating runs on one bed and
//! the same cores; and what the library costs a program that is not bypassed.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench programs`, on a machine that does nothing else. Beside sockperf stands what
//! AF_XDP alone does, on the same cores and in turn.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/page.rs"]
mod page;
#[path = "bench/pairs.rs"]
mod pairs;
#[path = "bench/peers.rs"]
mod peers;
#[path = "../crates/measure/stack/benches/bypass/pingpong.rs"]
mod pingpong;
#[path = "../crates/measure/stack/benches/bypass/raw.rs"]
mod raw;
#[path = "../crates/machine/xdp/tests/wire/mod.rs"]
mod wire;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use page::COMPARISONS;
use pairs::{Comparison, Want, compare, compare_often};
use peers::{Bed, SERVER, WIREPROOF, output, pinned_in};
use pingpong::round_trips;
use raw::Raw;
use serde_json::Value;
use wire::Wire;

const PORT: &str = "11111";

/// Way of running a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Datapath {
    Kernel,
    Bypass,
}

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let bed = Bed::up();
    let mut text = COMPARISONS.to_owned();
    for (frame, options, words, ratio) in [
        (64, ["--nonblocked"].as_slice(), "non-blocking", 1.0 / 3.5),
        (1518, &["--nonblocked"], "non-blocking", 1.0 / 3.5),
        (64, &[], "blocking", 0.2),
    ] {
        for (figure, figure_words) in [("percentile 50.000", "p50"), ("avg-latency", "average")] {
            if figure_words == "average" && (frame, words) != (64, "non-blocking") {
                continue;
            }
            let title = format!("sockperf ping-pong, udp, {frame} B, {words}, RTT/2 {figure_words}");
            let want = Want { ratio, or_more: false };
            let measure = |way| move || half_rtt_us(way, frame, options, figure);
            text += &shown(compare(
                title,
                "without bypass",
                "µs",
                want,
                measure(Datapath::Bypass),
                measure(Datapath::Kernel),
            ));
        }
    }
    for frame in [64, 1518] {
        let title = format!("sockperf ping-pong, udp, {frame} B, non-blocking, RTT p50");
        let want = Want { ratio: 1.25, or_more: false };
        let ours = || 2.0 * half_rtt_us(Datapath::Bypass, frame, &["--nonblocked"], "percentile 50.000");
        text += &shown(compare(title, "AF_XDP alone", "µs", want, ours, || raw_rtt_us(frame)));
    }
    let want = Want { ratio: 1.5, or_more: true };
    let title = "iperf3, udp, 1472 B, received".to_owned();
    let measure = |way| move || iperf3_gbps(way);
    text +=
        &shown(compare(title, "without bypass", "Gbit/s", want, measure(Datapath::Bypass), measure(Datapath::Kernel)));
    drop(bed);
    for (protocol, amount) in [("tcp", "4G"), ("udp", "1G")] {
        let want = Want { ratio: 1.03, or_more: false };
        let title = format!("iperf3, {protocol} over loopback, time for {amount}B, under the library and not bypassed");
        let measure = |under_library| move || transfer_s(under_library, protocol, amount);
        text += &shown(compare_often(30, title, "without it", "s", want, measure(true), measure(false)));
    }
    text += &start_up();
    text += "\nBoth ends of each row are run the same way: unchanged programs from Debian's packages, `wireproof bypass --spin -- PROGRAM` with bypass. \
             RTT/2 as\nsockperf prints it. A veth pair has no card, bus or wire.\n";
    page::write("programs", &[page::version("sockperf"), page::version("iperf3")], &text);
}

fn shown(row: Comparison) -> String {
    println!("{}", row.line());
    row.line() + "\n"
}

/// A program at one end of the bed, on one core.
fn program(way: Datapath, end: &str, cpu: &str) -> Command {
    let mut command = pinned_in(end, cpu);
    if way == Datapath::Bypass {
        command.args([WIREPROOF, "bypass", "--spin", "--quiet", "--"]);
    }
    command
}

/// A server, which is asked to end, and then waited for: what it leaves behind would be in the next one's way.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn half_rtt_us(way: Datapath, frame: u32, options: &[&str], figure: &str) -> f64 {
    let mut server = program(way, "b", "1");
    server.args(["sockperf", "server", "-i", SERVER, "-p", PORT]).args(options);
    let server = Server(server.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    thread::sleep(Duration::from_millis(700));
    let mut client = program(way, "a", "0");
    client.args(["sockperf", "ping-pong", "-i", SERVER, "-p", PORT, "-t", "1", "-m", &(frame - 46).to_string()]);
    let text = output(client.args(options));
    drop(server);
    let line = text.lines().find(|line| line.contains(figure)).unwrap_or_else(|| panic!("{text}"));
    let number = line.rsplit("====> avg-latency=").next().unwrap().rsplit("= ").next().unwrap();
    let end = number.trim().find(|c: char| c != '.' && !c.is_ascii_digit()).unwrap_or(number.trim().len());
    number.trim()[..end].parse().unwrap_or_else(|_| panic!("{line}"))
}

/// The median round trip over AF_XDP with nothing around it, of frames of the same size.
fn raw_rtt_us(frame: u32) -> f64 {
    const COUNT: u64 = 200_000;
    let wire = Wire::up("raw");
    // Without headers and frame check sequence.
    let payload = frame as usize - 46;
    let times = round_trips(&wire, Raw::open(&wire, true), Raw::open(&wire, false), payload, COUNT);
    times.summary().p50.unwrap() as f64 / 1e3
}

fn iperf3_gbps(way: Datapath) -> f64 {
    let mut server = program(way, "b", "1");
    let mut server = server.args(["iperf3", "-s", "-1"]).stdout(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(700));
    let mut client = program(way, "a", "0");
    let text = output(client.args(["iperf3", "-c", SERVER, "-u", "-b", "0", "-l", "1472", "-t", "2", "-O", "1", "-J"]));
    server.wait().unwrap();
    let document: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
    let sum = &document["end"]["sum"];
    let lost = sum["lost_percent"].as_f64().unwrap();
    sum["bits_per_second"].as_f64().unwrap() * (1.0 - lost / 100.0) / 1e9
}

/// The library stands beside the program.
fn library() -> String {
    Path::new(WIREPROOF).with_file_name("libwireproof_preload.so").display().to_string()
}

/// How long iperf3 takes for a transfer that has nothing to do with us.
fn transfer_s(under_library: bool, protocol: &str, amount: &str) -> f64 {
    let command = |core: &str| {
        let mut command = Command::new("taskset");
        command.args(["-c", core, "iperf3"]).stdout(Stdio::null());
        if under_library {
            command.env("LD_PRELOAD", library());
        }
        command
    };
    let mut server = command("1").args(["-s", "-1", "-p", "5299"]).spawn().unwrap();
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    let mut client = command("0");
    client.args(["-c", "127.0.0.1", "-p", "5299", "-n", amount]);
    if protocol == "udp" {
        client.args(["-u", "-b", "0", "-l", "1472"]);
    }
    assert!(client.status().unwrap().success());
    let took = begun.elapsed().as_secs_f64();
    server.wait().unwrap();
    took
}

/// Cost of beginning: a program that does nothing, under `wireproof bypass` in a namespace of its own with a bed's interface, and alone.
fn start_up() -> String {
    let bed = Bed::up();
    let time = |way| {
        let begun = Instant::now();
        output(program(way, "a", "0").arg("true"));
        begun.elapsed().as_secs_f64() * 1e3
    };
    let differences: Vec<f64> = (0..21).map(|_| time(Datapath::Bypass) - time(Datapath::Kernel)).collect();
    drop(bed);
    let cost = stats::median(&differences).unwrap();
    let met = if cost < 100.0 { "met" } else { "missed" };
    println!("start-up: {cost:.1} ms");
    format!(
        "\nStarting and ending `wireproof bypass` around a program that does nothing: {cost:.1} ms (mark < 100, {met}).\n"
    )
}
