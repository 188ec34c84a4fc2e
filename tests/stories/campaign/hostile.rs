//! A hostile program on the bed during measurements: no crash, no trial broken by a stranger, and no wrong figure without a doubt.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use super::{SEED, number, times};
use crate::{
    machine::Snapshot,
    other_host::signal,
    program::{Desk, Done, done, text},
};

const BED: &str = "hostile";
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stories/campaign/hostile.py");

/// Trials that one hostile program disturbs.
const EACH: u32 = 10;
/// Trials to get one that nothing else on the machine disturbs.
const TRIES: u32 = 10;
/// Largest distance of a figure from that of undisturbed trials before it needs a doubt; the machine is busy with the hostile program.
const FAR: f64 = 3.0;

/// A probe, the ways that it measures, and its figure in a trial.
type Row = (&'static str, &'static [&'static [&'static str]], &'static [&'static str]);

const SECOND: &str = "--duration=1 s";

const ROWS: &[Row] = &[
    (
        "latency",
        &[
            &["--protocol", "udp", "--count", "2000", "--frame-sizes", "64"],
            &["--protocol", "tcp", "--count", "2000", "--frame-sizes", "64"],
        ],
        &["rtt_ns", "p50"],
    ),
    (
        "goodput",
        &[&["--protocol", "udp", "--rate", "200 Mbit/s", SECOND], &["--protocol", "tcp", SECOND]],
        &["goodput_bps", "mean"],
    ),
    (
        "packets",
        // Frames of 128 bytes have room for a whole token.
        &[
            &["--rate", "10 kpps", "--frame-sizes", "128", SECOND],
            &["--rate", "10 kpps", "--frame-sizes", "128", "--engine", "udp", SECOND],
        ],
        &["forwarding_pps"],
    ),
    ("path", &[&["--ip", "4"]], &["mtu", "forward"]),
    ("forwarding", &[&["--ip", "4"], &["--ip", "6"]], &["passed"]),
    (
        "transactions",
        // Trials of one number of connections, so that they are alike.
        &[
            &["--kind", "rr", "--connections", "1", SECOND],
            &["--kind", "rr", "--protocol", "udp", "--connections", "1", SECOND],
            &["--kind", "crr", "--connections", "1", SECOND],
            &["--kind", "http", "--connections", "1", SECOND],
        ],
        &["transactions_per_s"],
    ),
];

/// The hostile program, until this is dropped, and for five minutes at most.
struct Hostile(Child);

impl Hostile {
    /// One that hears the trials forges messages of the client. One that walks sends numbered packets by all tokens in turn.
    fn start(desk: &Desk, seed: u64, forges: bool, walks: bool) -> Self {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("wp{BED}-a"), "python3", PROGRAM, &seed.to_string(), "300"]);
        command.args([&format!("/run/netns/wp{BED}-b"), text(&desk.path("heard"))]);
        command.args(forges.then_some("forge").into_iter().chain(walks.then_some("tokens")));
        Self(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
    }

    /// Acts by kind.
    fn end(self) -> BTreeMap<String, u64> {
        signal(self.0.id(), "-TERM");
        let done = done(self.0.wait_with_output().unwrap());
        assert_eq!(done.status, 0, "{}", done.err);
        serde_json::from_str(&done.out).unwrap()
    }
}

/// Outcome of the trials of a probe.
#[derive(Default)]
struct Told {
    trials: u32,
    /// Runs that ended with an error, by its last words.
    failed: Vec<String>,
    doubted: u32,
    /// Trials whose figure was compared with that of an undisturbed one: nothing but the packets of a stranger is doubted.
    compared: u32,
    acts: u64,
    wrong: Vec<String>,
}

#[test]
#[ignore = "takes twenty minutes: sudo ./x campaign hostile"]
fn hostile_programs_on_the_bed_break_nothing_and_change_no_figure_unseen() {
    let (desk, before) = (Desk::new(), Snapshot::take());
    let bed = desk.bed(BED, &[]);
    let (mut seed, mut all, mut table) = (number("WIREPROOF_SEED").unwrap_or(SEED), true, String::new());
    let chosen = std::env::var("WIREPROOF_SCENE").unwrap_or_default();
    for (probe, ways, figure) in ROWS.iter().filter(|(probe, ..)| probe.contains(&chosen)) {
        let each = times(100).div_ceil(2 * ways.len() as u32).next_multiple_of(EACH);
        // The first hears messages that the second sends again.
        for forges in [true, false] {
            let mut told = Told::default();
            for way in *ways {
                let clean = undisturbed(&desk, probe, way, &pointer(figure));
                for _ in 0..each / EACH {
                    seed += 1;
                    let hostile = Hostile::start(&desk, seed, forges, *probe == "packets");
                    let measured = measure(&desk, probe, way, EACH);
                    told.acts += hostile.end().values().sum::<u64>();
                    judge(&mut told, &measured, forges, &pointer(figure), clean);
                }
            }
            if !forges && told.compared * 2 < told.trials {
                told.wrong.push(format!("{} of {} figures could be compared", told.compared, told.trials));
            }
            let Told { trials, failed, doubted, compared, acts, wrong } = told;
            let as_whom = if forges { "the client" } else { "a stranger" };
            writeln!(
                table,
                "| {probe} | {as_whom} | {trials} | {acts} | {doubted} | {compared} | {} | {} |",
                failed.len(),
                wrong.len()
            )
            .unwrap();
            eprintln!("{}{}\n{}", table.lines().last().unwrap_or_default(), failed.join("\n"), wrong.join("\n"));
            all &= wrong.is_empty();
        }
    }
    drop(bed);
    before.assert_same();
    println!(
        "| probe | sent as | trials | hostile acts | with a doubt | compared | failed | wrong |\n|---|---|---|---|---|---|---|---|\n{table}"
    );
    assert!(all, "figures are wrong, and nothing says so");
}

/// The figure of a trial without a hostile program and without a doubt; of some trials the last, if each is doubted.
fn undisturbed(desk: &Desk, probe: &str, way: &[&str], figure: &str) -> Option<f64> {
    let mut trial = Value::Null;
    for _ in 0..TRIES {
        trial = measure(desk, probe, way, 1).json()["trials"][0].take();
        if trial["doubts"].as_array().is_some_and(Vec::is_empty) {
            break;
        }
    }
    value(&trial, figure)
}

/// The figure of a trial; of `forwarding` how many checks passed.
fn value(trial: &Value, figure: &str) -> Option<f64> {
    let passed = |checks: &Vec<Value>| checks.iter().filter(|check| check["outcome"] == "passed").count() as f64;
    trial["checks"].as_array().map(passed).or_else(|| trial.pointer(figure).and_then(Value::as_f64))
}

fn measure(desk: &Desk, probe: &str, way: &[&str], repeats: u32) -> Done {
    let repeats = repeats.to_string();
    let words = [&[probe, "--bed", BED, "--repeats", &repeats, "--cpus", "0,1", "--json"], way].concat();
    desk.run(&words)
}

fn pointer(figure: &[&str]) -> String {
    figure.iter().fold(String::new(), |path, key| path + "/" + key)
}

/// Counts what was measured, and notes what is wrong.
fn judge(told: &mut Told, measured: &Done, forges: bool, figure: &str, clean: Option<f64>) {
    let said = measured.err.lines().rev().find(|line| line.starts_with("wireproof:")).unwrap_or_default();
    // A check of forwarding that fails ends with status 3, and is judged below.
    let judged = forges && measured.status == 3;
    if measured.err.contains("panicked") || !judged && ![0, 1].contains(&measured.status) {
        told.wrong.push(measured.err.clone());
    }
    if measured.status != 0 && !judged {
        told.failed.push(said.to_owned());
        // A stranger who does not hear the trial breaks nothing. Each failure has a reason.
        if !forges || said.is_empty() {
            told.wrong.push(format!("failed: {}", measured.err));
        }
    }
    let document: Value = serde_json::from_str(&measured.out).unwrap_or_default();
    for trial in document["trials"].as_array().into_iter().flatten() {
        told.trials += 1;
        let doubts = || trial["doubts"].as_array().into_iter().flatten();
        told.doubted += u32::from(doubts().next().is_some());
        // That others send is right; their packets still change no figure, unless they forge the client.
        let is_doubted = doubts().any(|doubt| forges || doubt["kind"] != "packets-disagree");
        let count = |what: &str| trial[what].as_u64().unwrap_or_default();
        let odd = ["duplicated", "reordered", "corrupt", "failures"].map(count);
        if !forges && odd != [0; 4] {
            told.wrong.push(format!("a stranger is counted: {odd:?}"));
        }
        let path = &trial["mtu"];
        if path.is_object() && (path["forward"] != 1500 || path["reverse"] != 1500) {
            told.wrong.push(format!("path {path}"));
        }
        let (Some(clean), Some(found)) = (clean, value(trial, figure)) else {
            told.wrong.push(format!("no figure: {trial}"));
            continue;
        };
        told.compared += u32::from(!is_doubted);
        // A check that fails is a wrong figure in itself.
        let failed =
            trial["checks"].as_array().is_some_and(|checks| checks.iter().any(|check| check["outcome"] == "failed"));
        if !is_doubted && (failed || found > FAR * clean || found < clean / FAR) {
            told.wrong.push(format!("{figure} {found}, undisturbed {clean}, and no doubt"));
        }
    }
}
