//! The XDP router beside a bare redirect, `xdp-forward` and the kernel's forwarding; results go to `docs/benchmarks.md`. Needs root;
//! `xdp-forward` is that of the benchmark `packets`. A row takes up to five minutes: `WIREPROOF_BENCH_ROWS` names those of one piece.
//!
//! Three namespaces in a row: a sender of live frames on the first core, a device under test whose receiving port is served by a
//! thread of its own on the second one (threaded NAPI), and a program that drops what arrives, on the second core too.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

#[path = "../../../../benches/bench/page.rs"]
mod page;
#[path = "../../../../benches/bench/pairs.rs"]
mod pairs;
#[path = "../../../../benches/bench/pieces.rs"]
mod pieces;
#[path = "tools/mod.rs"]
mod tools;

use std::{
    env, fs,
    io::Write,
    net::{IpAddr, Ipv4Addr},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64},
    thread,
    time::Duration,
};

use frame::{Compiled, Place};
use kernel::{ethtool, link, namespace, sysctl};
use model::{
    LinkEnd, Mac, Mtu, Nanos, PacketRate, Stream,
    router::Mode,
    stream::{Load, Rate, Values},
};
use wireproof_engine::{Job, Live, Sender};
use xdp::{Router, bare};

use self::{
    page::COMPARISONS,
    pairs::{Want, compare},
    pieces::Pieces,
    tools::Running,
};

/// Name of the interface of both testers.
const PORT: &str = "wp0";
/// Cores of the sender, and of the device with the receiver.
const CORES: [usize; 2] = [0, 1];
/// Folder of the sources of xdp-tools.
const TOOLS: &str = "WIREPROOF_PEER_XDP_TOOLS";
/// Duration of the overload that a search begins with, and of its trials.
const OVERLOAD: Duration = Duration::from_secs(1);
const TRIAL: Duration = Duration::from_millis(300);
/// Time for the last frames to arrive.
const DRAIN: Duration = Duration::from_millis(50);
/// Steps of a search, each of which halves what is left; trials of a load, of which one without loss is enough.
const STEPS: usize = 7;
const TRIES: usize = 2;
/// Time in which a device starts.
const STARTS: Duration = Duration::from_secs(1);

/// Rows by their names for `WIREPROOF_BENCH_ROWS`.
const ROWS: [&str; 6] = ["redirect", "full", "direct", "kernel", "thousand", "many"];

fn main() {
    // `cargo test --benches` and similar start a benchmark only to see that it starts.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let mut pieces = Pieces::open("dut", &ROWS);
    let least = |ratio| Want { ratio, or_more: true };
    let title = |what: &str| format!("64 B, IPv4, zero loss, one destination, {what}");
    let ours = |destinations| lossless(destinations, |bed| Box::new(bed.router()));
    let redirect = || lossless(1, |bed| Box::new(bed.redirect()));
    let beside_redirect = title("beside a redirect that looks nothing up");
    pieces
        .row("redirect", || compare(beside_redirect, "bare redirect", "Mpps", least(0.8), || ours(1), redirect).line());
    let tools = env::var(TOOLS).ok();
    for (row, title_of_mode) in [("full", "beside rules and routes"), ("direct", "beside one table of routes")] {
        let title = title(title_of_mode);
        pieces.row(row, || {
            let Some(tools) = &tools else { return not_run(&title) };
            let words = ["xdp-forward", "load", "-f", "fib", "-F", row, "to-a", "to-b"];
            let theirs = || lossless(1, |bed| Box::new(Running::start(tools, &bed.between, &words)));
            compare(title, "xdp-forward", "Mpps", least(1.0), || ours(1), theirs).line()
        });
    }
    let kernel = || lossless(1, |_| Box::new(()));
    let beside_kernel = title("beside the kernel's forwarding");
    pieces.row("kernel", || compare(beside_kernel, "kernel", "Mpps", least(5.0), || ours(1), kernel).line());
    for (row, destinations, words) in
        [("thousand", 1_000, "1,000 destinations"), ("many", 100_000, "100,000 destinations")]
    {
        let title = format!("64 B, IPv4, zero loss, {words}, beside one");
        let many = || ours(destinations);
        pieces.row(row, || compare(title, "one destination", "Mpps", least(1.0 / 1.5), many, || ours(1)).line());
    }
    let text = COMPARISONS.to_owned()
        + &pieces.table(&ROWS)
        + "\nThe highest load of which all frames arrive in one of two trials of 300 ms, found by halving from what arrives of an overload. All devices receive \
           in a thread\nof their own (threaded NAPI) on the same core, on which the receiver drops what arrives; the sender has the other core. The ratio therefore \
           contains the\nreceiver's part. A destination has a route of its own. Rows are measured in pieces (`WIREPROOF_BENCH_ROWS=redirect,kernel`).\n";
    let peers: Vec<String> = tools.iter().map(|_| "xdp-tools".to_owned()).collect();
    page::write("dut", &peers, &text);
}

/// The row of a peer that is not there.
fn not_run(title: &str) -> String {
    format!("| {title} | NOT RUN: set {TOOLS} to a folder of built xdp-tools sources | | | | | ≥ 1.00 | |")
}

/// Two testers and the device between them.
struct Bed {
    testers: [String; 2],
    between: String,
}

impl Bed {
    fn up(destinations: u32) -> Self {
        let name = |node: &str| format!("wpbench{}-{node}", std::process::id());
        let bed = Self { testers: [name("a"), name("b")], between: name("r") };
        for node in bed.testers.iter().chain([&bed.between]) {
            namespace::create(node).unwrap();
            namespace::within(node, || sysctl::write("net.ipv6.conf.all.disable_ipv6", "1")).unwrap().unwrap();
        }
        namespace::within(&bed.between, || sysctl::write("net.ipv4.ip_forward", "1")).unwrap().unwrap();
        for (side, tester) in bed.testers.iter().enumerate() {
            let ends = [(tester, PORT), (&bed.between, port(side))]
                .map(|(namespace, interface)| LinkEnd { namespace: namespace.clone(), interface: interface.into() });
            link::create_veth(&ends[0], &ends[1], Mtu(1500)).unwrap();
            for end in &ends {
                link::set_up(&end.namespace, &end.interface).unwrap();
            }
            for end in &ends {
                // A veth takes frames of XDP only while its other end receives by NAPI.
                namespace::within(&end.namespace, || ethtool::set_gro(&end.interface, true)).unwrap().unwrap();
            }
        }
        bed.ip("address add 198.18.0.1/24 dev to-a");
        bed.ip("address add 198.18.1.1/24 dev to-b");
        bed.ip(&format!(
            "neighbour replace 198.18.1.2 lladdr {} dev to-b nud permanent",
            bed.mac(&bed.testers[1], PORT)
        ));
        bed.add_routes(destinations);
        bed.pin_device();
        bed
    }

    /// A route of its own for each destination.
    fn add_routes(&self, destinations: u32) {
        let mut batch = Command::new("ip");
        let mut batch = batch.args(["-n", &self.between, "-batch", "-"]).stdin(Stdio::piped()).spawn().unwrap();
        let lines: String = (0..destinations)
            .map(|number| format!("route add {} via 198.18.1.2\n", Ipv4Addr::from(FIRST + number)))
            .collect();
        batch.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        assert!(batch.wait().unwrap().success());
    }

    /// Has the receiving port served by a thread of its own, on the core of the device.
    fn pin_device(&self) {
        let enable = "echo 1 > /sys/class/net/to-a/threaded";
        let done = Command::new("ip").args(["netns", "exec", &self.between, "sh", "-c", enable]).status().unwrap();
        assert!(done.success());
        for process in fs::read_dir("/proc").unwrap().flatten() {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            if name.starts_with("napi/to-a-") {
                let (core, pid) = (CORES[1].to_string(), process.file_name());
                let pinned = Command::new("taskset").arg("-pc").arg(core).arg(pid).stdout(Stdio::null()).status();
                assert!(pinned.unwrap().success());
            }
        }
    }

    fn router(&self) -> Router {
        let mut router = Router::load().unwrap();
        let macs = [0, 1].map(|side| self.mac(&self.between, port(side)));
        let attach = || {
            for (side, mac) in macs.into_iter().enumerate() {
                router.attach(port(side), mac, Mode::Native).unwrap();
            }
            router.start().unwrap();
            router
        };
        namespace::within(&self.between, attach).unwrap()
    }

    fn redirect(&self) -> bare::Redirect {
        namespace::within(&self.between, || bare::Redirect::attach(port(0), port(1))).unwrap().unwrap()
    }

    fn ip(&self, words: &str) {
        let done = Command::new("ip").args(["-n", &self.between]).args(words.split(' ')).status().unwrap();
        assert!(done.success(), "ip {words}");
    }

    fn mac(&self, namespace: &str, interface: &str) -> Mac {
        let links = namespace::within(namespace, link::list).unwrap().unwrap();
        links.iter().find(|link| link.name == interface).unwrap().mac.parse().unwrap()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        for name in self.testers.iter().chain([&self.between]) {
            let _ = namespace::delete(name);
        }
    }
}

/// The first destination, 198.18.64.0.
const FIRST: u32 = 0xc612_4000;

fn port(side: usize) -> &'static str {
    ["to-a", "to-b"][side]
}

/// Highest load without loss of a device in millions of frames per second, which is taken away when what `device` gives is dropped.
fn lossless(destinations: u32, device: impl FnOnce(&Bed) -> Box<dyn Send>) -> f64 {
    let bed = Bed::up(destinations);
    let _drop = namespace::within(&bed.testers[1], || bare::Drop::attach(PORT)).unwrap().unwrap();
    let _device = device(&bed);
    thread::sleep(STARTS);
    let (_, arrived) = sent_and_arrived(&bed, destinations, None, OVERLOAD);
    assert!(arrived > 0, "the device forwards nothing");
    let overloaded = arrived as f64 / OVERLOAD.as_secs_f64();
    let (mut lower, mut upper) = (0.0, overloaded);
    for _ in 0..STEPS {
        let load = (lower + upper) / 2.0;
        let is_lossless = |_| {
            let (sent, arrived) = sent_and_arrived(&bed, destinations, Some(load), TRIAL);
            sent > 0 && arrived >= sent
        };
        if (0..TRIES).any(is_lossless) { lower = load } else { upper = load }
    }
    lower / 1e6
}

/// Frames that were sent at this load, or flat out, and frames that arrived.
fn sent_and_arrived(bed: &Bed, destinations: u32, load: Option<f64>, time: Duration) -> (u64, u64) {
    let job = job(bed, destinations, load, time);
    let send = || Live::new(job, 256).unwrap().send(&AtomicBool::new(false), &AtomicU64::new(0)).unwrap();
    let before = received(bed);
    let sent = namespace::within(&bed.testers[0], send).unwrap();
    thread::sleep(DRAIN);
    (sent.streams[0].frames, received(bed) - before)
}

/// Frames that XDP received at the far end so far.
fn received(bed: &Bed) -> u64 {
    let counters = namespace::within(&bed.testers[1], || ethtool::statistics(PORT)).unwrap().unwrap();
    counters.iter().filter(|(name, _)| name.ends_with("xdp_packets")).map(|(_, frames)| frames).sum()
}

fn job(bed: &Bed, destinations: u32, load: Option<f64>, time: Duration) -> Job {
    let address = |number: u32| IpAddr::from(Ipv4Addr::from(FIRST + number));
    let destination_ip = match destinations {
        1 => Values::One(address(0)),
        _ => Values::Range { first: address(0), last: address(destinations - 1), step: 1 },
    };
    let stream = Stream { destination_ip: Some(destination_ip), ..Stream::default() };
    let place = Place {
        source_mac: bed.mac(&bed.testers[0], PORT),
        next_hop_mac: bed.mac(&bed.between, port(0)),
        source: "198.18.0.2".parse().unwrap(),
        destination: address(0),
        mtu: Mtu(1500),
    };
    Job {
        first: 0,
        interface: PORT.to_owned(),
        streams: vec![Compiled::new(&stream, &place).unwrap()],
        loads: vec![
            load.map_or(stream.load, |pps| Load { rate: Rate::Packets(PacketRate(pps as u64)), ..stream.load }),
        ],
        line: None,
        cpus: vec![CORES[0]],
        token: 7,
        duration: Nanos::from_millis(time.as_millis() as u64),
        most: None,
    }
}
