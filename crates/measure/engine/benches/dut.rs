//! The XDP router beside a bare redirect, `xdp-forward` and the kernel's forwarding; results go to `docs/benchmarks.md`. Needs root,
//! and the peers of the benchmark `packets`.
//!
//! Three namespaces in a row: a sender of live frames on the first core, a device under test whose receiving port is served by a
//! thread of its own on the second one (threaded NAPI), and a program that drops what arrives, on the second core too.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

#[path = "../../../../benches/bench/page.rs"]
mod page;
#[path = "../../../../benches/bench/pairs.rs"]
mod pairs;
#[path = "tools/mod.rs"]
mod tools;

use std::{
    env, fs,
    io::Write,
    net::{IpAddr, Ipv4Addr},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64},
    thread,
    time::{Duration, Instant},
};

use frame::{Compiled, Place};
use kernel::{ethtool, link, namespace, sysctl};
use model::{LinkEnd, Mac, Mtu, Nanos, Stream, router::Mode, stream::Values};
use wireproof_engine::{Job, Live, Sender};
use xdp::{Router, bare};

use self::{
    page::COMPARISONS,
    pairs::{Want, compare},
    tools::Running,
};

/// Name of the interface of both testers.
const PORT: &str = "wp0";
/// Cores of the sender, and of the device with the receiver.
const CORES: [usize; 2] = [0, 1];
/// Counting time of each run of a pair.
const COUNTED: Duration = Duration::from_secs(2);
/// Time in which a device starts.
const STARTS: Duration = Duration::from_secs(1);

fn main() {
    // `cargo test --benches` and similar start a benchmark only to see that it starts.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let tools = env::var("WIREPROOF_PEER_XDP_TOOLS")
        .expect("WIREPROOF_PEER_XDP_TOOLS names a folder of built xdp-tools sources");
    let mut text = COMPARISONS.to_owned();
    let mut add = |line: String| {
        println!("{line}");
        text += &line;
        text.push('\n');
    };
    let least = |ratio| Want { ratio, or_more: true };
    let title = |what: &str| format!("64 B, IPv4, one destination, {what}");
    let ours = |destinations| forwarded(destinations, |bed| Box::new(bed.router()));
    let program =
        |words: &'static [&'static str]| forwarded(1, |bed| Box::new(Running::start(&tools, &bed.between, words)));
    let bare = || program(&["xdp-bench", "redirect-map", "to-a", "to-b", "-m", "native"]);
    add(compare(
        title("beside a redirect that looks nothing up"),
        "xdp-bench redirect-map",
        "Mpps",
        least(0.8),
        || ours(1),
        bare,
    )
    .line());
    for (mode, title_of_mode) in [("full", "beside rules and routes"), ("direct", "beside one table of routes")] {
        let theirs = || match mode {
            "full" => program(&["xdp-forward", "load", "-f", "fib", "-F", "full", "to-a", "to-b"]),
            _ => program(&["xdp-forward", "load", "-f", "fib", "-F", "direct", "to-a", "to-b"]),
        };
        add(compare(title(title_of_mode), "xdp-forward", "Mpps", least(1.0), || ours(1), theirs).line());
    }
    let kernel = || forwarded(1, |_| Box::new(()));
    add(compare(title("beside the kernel's forwarding"), "kernel", "Mpps", least(5.0), || ours(1), kernel).line());
    for (destinations, words) in [(1_000, "1,000 destinations"), (100_000, "100,000 destinations")] {
        let title = format!("64 B, IPv4, {words}, beside one");
        add(compare(title, "one destination", "Mpps", least(1.0 / 1.5), || ours(destinations), || ours(1)).line());
    }
    text += "\nFrames that reach the receiver in a second while the sender offers more than the device forwards. All devices receive in a thread of \
        their own\n(threaded NAPI) on the same core, on which the receiver drops what arrives; the sender has the other core. The ratio therefore \
        contains the\nreceiver's part. A destination has a route of its own.\n";
    page::write("dut", &["xdp-tools".to_owned()], &text);
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

/// Millions of frames per second that arrive through a device, which is taken away when what `device` gives is dropped.
fn forwarded(destinations: u32, device: impl FnOnce(&Bed) -> Box<dyn Send>) -> f64 {
    let bed = Bed::up(destinations);
    let _drop = namespace::within(&bed.testers[1], || bare::Drop::attach(PORT)).unwrap().unwrap();
    let _device = device(&bed);
    thread::sleep(STARTS);
    let mut live = namespace::within(&bed.testers[0], || Live::new(job(&bed, destinations), 256)).unwrap().unwrap();
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let send = || live.send(&AtomicBool::new(false), &AtomicU64::new(0)).unwrap();
            namespace::within(&bed.testers[0], send).unwrap()
        });
        thread::sleep(Duration::from_millis(250));
        let (before, start) = (received(&bed), Instant::now());
        thread::sleep(COUNTED);
        let mpps = (received(&bed) - before) as f64 / start.elapsed().as_secs_f64() / 1e6;
        let sent = sending.join().unwrap();
        assert!(sent.streams[0].frames > 0);
        mpps
    })
}

/// Frames that XDP received at the far end so far.
fn received(bed: &Bed) -> u64 {
    let counters = namespace::within(&bed.testers[1], || ethtool::statistics(PORT)).unwrap().unwrap();
    counters.iter().filter(|(name, _)| name.ends_with("xdp_packets")).map(|(_, frames)| frames).sum()
}

fn job(bed: &Bed, destinations: u32) -> Job {
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
        loads: vec![stream.load],
        line: None,
        cpus: vec![CORES[0]],
        token: 7,
        duration: Nanos::from_millis((COUNTED.as_millis() + 500) as u64),
        most: None,
    }
}
