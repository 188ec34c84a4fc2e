//! Live frames beside a bare loop and `xdp-trafficgen udp`, all on two cores, with one receive queue each.
//!
//! The driver of the receiver counts all of them over the same time in the middle of a run.

use std::{
    env,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use frame::{Compiled, Place};
use kernel::{cpu, ethtool};
use model::{Mtu, Nanos, Stream, stream::Mac};
use stats::median;
use wireproof_engine::{Counter, Job, Live, Receiver, ReceiverOptions, Sender};
use xdp::{bare, interrupt::Interruptible};

use crate::{
    page::COMPARISONS,
    pairs::{Want, compare},
    tools::Running,
    wire::Wire,
};

const CORES: [usize; 2] = [0, 1];
/// Batch size of live frames and of the bare loop.
const BATCH: u32 = 64;
/// Counting time of each run of a pair.
const COUNTED: Duration = Duration::from_secs(2);
/// Line rate of 10GbE for frames of 64 bytes, in Mpps.
const LINE_RATE: f64 = 14.88;

/// Results as Markdown, and the peers.
pub(crate) fn measure() -> (String, Vec<String>) {
    let mut text = COMPARISONS.to_owned();
    let numbered = || ours(&Stream::default(), 256, false, COUNTED).mpps;
    let mut add = |line: String| {
        println!("{line}");
        text += &line;
        text.push('\n');
    };
    let least = |ratio| Want { ratio, or_more: true };
    let title = |what: &str| format!("64 B, numbered and verified, {what}");
    add(compare(title("beside a loop that numbers nothing"), "bare", "Mpps", least(0.95), numbered, bare_loop).line());
    let peers = match env::var("WIREPROOF_PEER_XDP_TOOLS") {
        Ok(tools) => {
            let theirs = || trafficgen(&tools);
            add(compare(title("two threads"), "xdp-trafficgen udp", "Mpps", least(1.0), numbered, theirs).line());
            vec!["xdp-tools".to_owned()]
        }
        Err(_) => {
            let why = "set WIREPROOF_PEER_XDP_TOOLS to a folder of built xdp-tools sources";
            add(format!("| {} | | xdp-trafficgen udp | Mpps | | | | NOT RUN: {why} |", title("two threads")));
            Vec::new()
        }
    };
    text += "\nCounted at the receiver; a synchronous loop: each frame is received on the core that sent it, in its system call.\n";
    text += "xdp-trafficgen sends one stream without numbers, received by `xdp-bench drop`.\n\n";
    text += "| what | | unit | mark | |\n|---|---|---|---|---|\n";
    let mut add = |what: &str, value: f64, unit: &str, mark: f64, or_more: bool| {
        let met = if or_more { value >= mark } else { value <= mark };
        let sign = if or_more { "≥" } else { "≤" };
        let line = format!("| {what} | {value:.3} | {unit} | {sign} {mark} | {} |", if met { "met" } else { "missed" });
        println!("{line}");
        text += &line;
        text.push('\n');
    };
    let long = ours(&Stream::default(), 256, false, Duration::from_secs(30));
    add("64 B, numbered and verified, 30 s", long.mpps, "Mpps", LINE_RATE, true);
    add("… of these lost", long.lost as f64, "frames", 0.0, false);
    let flows = |flows| Stream { flows: Some(flows), ..Stream::default() };
    let often = |stream: &Stream, every, per_flow| {
        let runs: Vec<f64> = (0..5).map(|_| ours(stream, every, per_flow, COUNTED).mpps).collect();
        median(&runs).unwrap()
    };
    add("64 B, time in every frame", often(&Stream::default(), 1, false), "Mpps", 9.8, true);
    add("64 B, a sequence for each of 1,000,000 flows", often(&flows(1_000_000), 256, true), "Mpps", 5.2, true);
    let rates = [1, 1_000, 1_000_000].map(|count| often(&flows(count), 256, false));
    for (count, rate) in ["1", "1,000", "1,000,000"].iter().zip(rates) {
        add(
            &format!("64 B, computed flows: {count}, time that a frame takes to that of 1"),
            rates[0] / rate,
            "×",
            1.3,
            false,
        );
    }
    add("attaching the receiver, loading a sender, and both gone", attached(), "ms", 200.0, false);
    (text, peers)
}

/// Result of one of our runs.
struct Run {
    mpps: f64,
    lost: u64,
}

/// A job with one stream on both cores.
pub(crate) fn job(stream: &Stream, time: Duration) -> Job {
    let place = Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().unwrap(),
        destination: "198.18.0.2".parse().unwrap(),
        mtu: Mtu(1500),
    };
    Job {
        first: 0,
        interface: "wp0".to_owned(),
        streams: vec![Compiled::new(stream, &place).unwrap()],
        loads: vec![stream.load],
        line: None,
        cpus: CORES.to_vec(),
        token: 7,
        duration: Nanos(time.as_nanos() as u64),
        most: None,
    }
}

fn ours(stream: &Stream, time_every: u64, per_flow: bool, time: Duration) -> Run {
    let wire = Wire::with_queues("bench", 2);
    let job = job(stream, time + Duration::from_millis(500));
    let what = ReceiverOptions { per_flow, ..job.receiver_options() };
    let receiver = wire.at_b(|| Receiver::attach("wp0", &what)).unwrap();
    let mut live = wire.at_a(|| Live::new(job, time_every)).unwrap();
    let (sent, mpps) = thread::scope(|scope| {
        let sending = scope.spawn(|| wire.at_a(|| live.send(&AtomicBool::new(false), &AtomicU64::new(0)).unwrap()));
        let mpps = arriving(&wire, time);
        (sending.join().unwrap(), mpps)
    });
    let numbered: u64 = sent.streams[0].numbered.iter().map(|(_, frames)| frames).sum();
    let received: u64 = receiver.read().unwrap().numbered.iter().map(|sequence| sequence.frames).sum();
    Run { mpps, lost: numbered - received }
}

fn bare_loop() -> f64 {
    let wire = Wire::with_queues("bench", 2);
    let _drop = wire.at_b(|| bare::Drop::attach("wp0")).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let start = |cpu: usize| {
            let (wire, stop, tell) = (&wire, &stop, tell.clone());
            scope.spawn(move || {
                wire.at_a(|| {
                    cpu::pin_current_thread(cpu).unwrap();
                    tell.send(Interruptible::current()).unwrap();
                    let sender = bare::Sender::load("wp0", vec![0xff; 60]).unwrap();
                    while !stop.load(Relaxed) {
                        sender.run(u32::MAX, BATCH).unwrap();
                    }
                });
            })
        };
        let threads = CORES.map(start);
        let interruptible: Vec<Interruptible> = told.iter().take(CORES.len()).collect();
        let mpps = arriving(&wire, COUNTED);
        stop.store(true, Relaxed);
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            interruptible.iter().for_each(|thread| drop(thread.interrupt()));
            thread::sleep(Duration::from_millis(1));
        }
        mpps
    })
}

fn trafficgen(tools: &str) -> f64 {
    let wire = Wire::with_queues("bench", 2);
    let start = |namespace: &str, words: &[&str]| Running::start(tools, namespace, words);
    let _sink = start(&wire.b, &["xdp-bench", "drop", "wp0", "-m", "native"]);
    thread::sleep(Duration::from_secs(1));
    // More than it reaches: like ours, it allocates its pages once.
    let words = ["xdp-trafficgen", "udp", "wp0", "-t", "2", "-n", "400000000", "-m", "02:00:00:00:00:02"];
    let _generator = start(&wire.a, &words);
    thread::sleep(Duration::from_secs(1));
    arriving(&wire, COUNTED)
}

/// Millions of frames per second that XDP receives at b, over this time.
pub(crate) fn arriving(wire: &Wire, time: Duration) -> f64 {
    let counted = || -> u64 {
        let counters = wire.at_b(|| ethtool::statistics("wp0")).unwrap();
        counters.iter().filter(|(name, _)| name.ends_with("xdp_packets")).map(|(_, frames)| frames).sum()
    };
    thread::sleep(Duration::from_millis(250));
    let (before, start) = (counted(), Instant::now());
    thread::sleep(time);
    (counted() - before) as f64 / start.elapsed().as_secs_f64() / 1e6
}

/// Median time to attach, in milliseconds.
fn attached() -> f64 {
    let wire = Wire::with_queues("bench", 2);
    let job = job(&Stream::default(), Duration::from_secs(1));
    let what = job.receiver_options();
    let times = (0..9).map(|_| {
        let start = Instant::now();
        let receiver = wire.at_b(|| Receiver::attach("wp0", &what)).unwrap();
        let live = wire.at_a(|| Live::new(job.clone(), 256)).unwrap();
        drop((receiver, live));
        start.elapsed().as_secs_f64() * 1e3
    });
    median(&times.collect::<Vec<_>>()).unwrap()
}
