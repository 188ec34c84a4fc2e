//! Engines that write frames in user space: AF_XDP beside `xdp-trafficgen xsk-udp`, AF_PACKET beside `trafgen`, with
//! one receiver that drops in the driver. Also how well AF_XDP keeps a schedule.

use std::{
    env,
    io::Write as _,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use kernel::{cpu, namespace};
use model::Stream;
use wireproof_engine::{AfPacket, Job, Mode, Sender, Xsk};
use xdp::bare;

use crate::{
    live::{arriving, job},
    page::COMPARISONS,
    pairs::{Comparison, Want, compare},
    wire::Wire,
};

/// Counting time of each run of a pair.
const COUNTED: Duration = Duration::from_millis(1500);
/// Longer than any run of a pair.
const LONG: Duration = Duration::from_secs(60);

/// Our frame for trafgen: 64 bytes with FCS.
const TRAFGEN: &str = "{ 2,0,0,0,0,2, 2,0,0,0,0,1, 8,0, 0x45,0,0,46, 0,0,0,0, 64,17,0xae,0x97, 198,18,0,1, 198,18,0,2, \
    0xc0,0x20,0xc0,0x21, 0,26,0,0, fill(0,18) }\n";

/// Results as Markdown, and the peers.
pub(crate) fn measure() -> (String, Vec<String>) {
    let wire = Wire::with_queues("bench", 2);
    let _drop = wire.at_b(|| bare::Drop::attach("wp0")).unwrap();
    let xsk = |cpus: &[usize]| our_mpps(&wire, || xsk_on(cpus, "flat out", LONG));
    let (mut text, mut peers) = (COMPARISONS.to_owned(), vec!["trafgen".to_owned()]);
    let mut add = |row: Comparison| {
        println!("{}", row.line());
        text += &(row.line() + "\n");
    };
    let least = |ratio| Want { ratio, or_more: true };
    if let Ok(tools) = env::var("WIREPROOF_PEER_XDP_TOOLS") {
        let program = format!("{tools}/xdp-trafficgen/xdp-trafficgen");
        let theirs = || their_mpps(&wire, &[&program, "xsk-udp", "wp0", "--quiet"]);
        for (title, cpus) in [("one core", vec![1]), ("two cores, a queue each, beside one", vec![1, 0])] {
            let title = format!("64 B, AF_XDP in copy mode, {title}");
            add(compare(title, "xdp-trafficgen xsk-udp", "Mpps", least(1.5), || xsk(&cpus), theirs));
        }
        peers.push("xdp-tools".to_owned());
    }
    let mut frame = tempfile::NamedTempFile::new().unwrap();
    frame.write_all(TRAFGEN.as_bytes()).unwrap();
    let words = ["trafgen", "--out", "wp0", "--cpus", "1", "--in", frame.path().to_str().unwrap()];
    let af_packet = || our_mpps(&wire, || AfPacket::open(job_on(&[1], "flat out", LONG)).unwrap());
    let title = "64 B, AF_PACKET, one core".to_owned();
    add(compare(title, "trafgen", "Mpps", least(1.1), af_packet, || their_mpps(&wire, &words)));
    text += "\nAF_XDP's times between frames, one core: by how much they differ from the schedule's. Taken away is the share of time that a loop on \
             this core, which only reads the clock, misses in pieces of more than 1 µs; where that is 1 % or more, p99 says nothing of the engine.\n\n\
             | rate | p50, ns | p99, ns | p99.9, ns | taken away | p50 ≤ 100, p99 ≤ 1,000 |\n|---|---|---|---|---|---|\n";
    for load in ["100 kpps".to_owned(), format!("{:.0} kpps", xsk(&[1]) * 500.0)] {
        let row = pacing(&wire, &load);
        println!("{row}");
        text += &(row + "\n");
    }
    (text, peers)
}

fn job_on(cpus: &[usize], load: &str, time: Duration) -> Job {
    let stream = Stream { load: load.parse().unwrap(), ..Stream::default() };
    Job { cpus: cpus.to_vec(), ..job(&stream, time) }
}

fn xsk_on(cpus: &[usize], load: &str, time: Duration) -> Xsk {
    Xsk::open(job_on(cpus, load, time), Mode::Copy).unwrap()
}

fn our_mpps<S: Sender>(wire: &Wire, open: impl Fn() -> S + Sync) -> f64 {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let sending = scope.spawn(|| wire.at_a(|| open().send(&stop, &AtomicU64::new(0)).unwrap()));
        let mpps = arriving(wire, COUNTED);
        stop.store(true, Relaxed);
        sending.join().unwrap();
        mpps
    })
}

/// Restarted if it sends nothing, as `xsk-udp` sometimes does.
fn their_mpps(wire: &Wire, words: &[&str]) -> f64 {
    let mut runs = (0..3).map(|_| their_run(wire, words));
    runs.find(|mpps| *mpps > 0.0).unwrap_or_else(|| panic!("{words:?} sends nothing"))
}

fn their_run(wire: &Wire, words: &[&str]) -> f64 {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{}", wire.a)).args(["taskset", "--cpu-list", "1"]).args(words);
    let mut peer = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    thread::sleep(Duration::from_millis(500));
    let mpps = arriving(wire, COUNTED);
    // With all its children; its queue is free a moment later.
    namespace::end_processes_in(&wire.a).unwrap();
    peer.wait().unwrap();
    thread::sleep(Duration::from_millis(200));
    mpps
}

/// A row about the pacing at this rate.
fn pacing(wire: &Wire, load: &str) -> String {
    let send = || xsk_on(&[1], load, Duration::from_secs(10)).send(&AtomicBool::new(false), &AtomicU64::new(0));
    let mut sent = wire.at_a(send).unwrap();
    let errors = sent.streams.remove(0).pacing.unwrap().errors.summary();
    let (p50, p99, p999) = (errors.p50.unwrap(), errors.p99.unwrap(), errors.p999.unwrap());
    let away = thread::scope(|scope| scope.spawn(taken_away).join().unwrap());
    let p99_says = away < 0.01;
    let word = match (p50 <= 100, p99 <= 1000) {
        (true, true) => "met",
        (true, false) if !p99_says => "p50 met, p99 not to be judged",
        _ => "missed",
    };
    format!("| {load} | {p50} | {p99} | {p999} | {:.2} % | {word} |", away * 100.0)
}

/// Share of time in which a busy loop does not run.
fn taken_away() -> f64 {
    cpu::pin_current_thread(1).unwrap();
    let (start, mut last, mut away) = (Instant::now(), Instant::now(), Duration::ZERO);
    while start.elapsed() < Duration::from_secs(5) {
        let now = Instant::now();
        away += Some(now - last).filter(|gap| *gap > Duration::from_micros(1)).unwrap_or_default();
        last = now;
    }
    away.as_secs_f64() / start.elapsed().as_secs_f64()
}
