//! Searches for the highest load that meets a goal, over simulated devices: the sum of the durations of their trials,
//! beside the implementation that RFC 9971 names, MLRsearch 1.2.1, and
//! beside halving. Nothing is timed; all figures follow from the seeds.
//!
//! Writes its part of `docs/benchmarks.md`. Run it with `./x bench search`; `WIREPROOF_PEER_MLRSEARCH` is the folder that holds
//! this Python package.

#![allow(clippy::unwrap_used, reason = "a benchmark that cannot be made shall stop")]

#[path = "bench/page.rs"]
mod page;
#[path = "../crates/base/procedure/src/search/simulated.rs"]
mod simulated;

use std::{
    env,
    ffi::OsString,
    io::{BufRead, BufReader, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use model::search::{Goal, parse_goals};
use procedure::search::{BinarySearch, MlrSearch, Outcome, Search};
use simulated::{Device, KINDS, Kind, MAX_LOAD, MIN_LOAD};

const SEEDS: u64 = 200;
const PEER: &str = "WIREPROOF_PEER_MLRSEARCH";

const SHORT: &str = r#"
[[goal]]
name = "no loss"
final_trial_duration = "1 s"
duration_sum = "21 s"
loss_ratio = 0
exceed_ratio = 0.5

[[goal]]
name = "0.5 % loss"
final_trial_duration = "1 s"
duration_sum = "21 s"
loss_ratio = 0.005
exceed_ratio = 0.5
"#;

const RFC2544: &str = r#"
[[goal]]
name = "RFC 2544"
initial_trial_duration = "1 s"
final_trial_duration = "60 s"
duration_sum = "60 s"
loss_ratio = 0
exceed_ratio = 0
"#;

/// Bounds of a goal.
type Bounds = [Option<f64>; 2];

/// Totals of searches of one kind.
#[derive(Default)]
struct Tally {
    seconds: f64,
    /// Searches whose bounds all lie where the truth is, not further apart than the width.
    right: u64,
}

fn main() {
    // `cargo test --benches` and the like start benchmarks to see whether they start.
    if !env::args().any(|arg| arg == "--bench") {
        return;
    }
    let peer = env::var_os(PEER);
    let both = [Kind::HardLimit, Kind::Buffering];
    let rows =
        [(SHORT, "two goals, 1 s trials, 21 s each", &KINDS[..]), (RFC2544, "RFC 2544, from 1 s to 60 s", &both[..])];
    let mut text = "| device, goals | wireproof | MLRsearch | ratio | mark | | halving | ratio | mark | |\n".to_owned();
    text += "|---|---|---|---|---|---|---|---|---|---|\n";
    for (goals, name, kinds) in rows {
        let goals = parse_goals(goals).unwrap();
        let mut peer = peer.as_ref().map(|folder| Peer::start(folder.clone(), &goals));
        for kind in kinds {
            let line = row(&format!("{kind:?}, {name}"), *kind, &goals, peer.as_mut());
            println!("{line}");
            text += &(line + "\n");
        }
    }
    text += &format!(
        "\nMean seconds of all trials of a search, over {SEEDS} seeds; in brackets, the share of searches whose bounds lie around the true load \
         and are as close as the width asks. Capacities from 0.1 to 12 million, searched from {MIN_LOAD} to {MAX_LOAD}. Halving searches each \
         goal alone, and ends a load as soon as it is decided.\n"
    );
    let peers = peer.map(|_| "MLRsearch 1.2.1".to_owned());
    page::write("search", peers.as_slice(), &text);
}

fn row(name: &str, kind: Kind, goals: &[Goal], mut peer: Option<&mut Peer>) -> String {
    let (mut ours, mut theirs, mut halving) = (Tally::default(), Tally::default(), Tally::default());
    for seed in 0..SEEDS {
        let device = Device::new(kind, seed);
        let mut mlr = MlrSearch::new(goals.to_vec(), MIN_LOAD, MAX_LOAD).unwrap();
        ours.add(&device, goals, |device| searched(&mut mlr, device));
        halving.add(&device, goals, |device| {
            let each = goals.iter().map(|goal| {
                let mut search = BinarySearch::new(goal.clone(), MIN_LOAD, MAX_LOAD).unwrap();
                searched(&mut search, &mut device.clone())
            });
            each.fold((0.0, vec![]), |(sum, all), (seconds, bounds)| (sum + seconds, [all, bounds].concat()))
        });
        if let Some(peer) = &mut peer {
            theirs.add(&device, goals, |device| peer.search(device));
        }
    }
    let shown = |tally: &Tally| {
        let share = 100.0 * tally.right as f64 / SEEDS as f64;
        format!("{:.1} s ({share:.1} %)", tally.seconds / SEEDS as f64)
    };
    let against = |other: &Tally, mark: f64| {
        let ratio = ours.seconds / other.seconds;
        format!("{ratio:.3} | ≤ {mark:.2} | {}", if ratio <= mark { "met" } else { "missed" })
    };
    let of_peer = match peer {
        Some(_) => format!("{} | {}", shown(&theirs), against(&theirs, 1.0)),
        None => "NOT RUN | | ≤ 1.00 |".to_owned(),
    };
    format!("| {name} | {} | {of_peer} | {} | {} |", shown(&ours), shown(&halving), against(&halving, 0.25))
}

impl Tally {
    fn add(&mut self, device: &Device, goals: &[Goal], search: impl FnOnce(&mut Device) -> (f64, Vec<Bounds>)) {
        let (seconds, bounds) = search(&mut device.clone());
        self.seconds += seconds;
        let is_right = |(goal, bounds): (&Goal, &Bounds)| {
            let [Some(lower), Some(upper)] = *bounds else { return false };
            let [least, most] = device.true_interval(goal.loss_ratio.0, goal.final_trial_duration.as_secs_f64());
            lower <= most && upper >= least && (upper - lower) / upper <= goal.width.0 + 1e-9
        };
        self.right += u64::from(goals.iter().zip(&bounds).all(is_right));
    }
}

/// Sum of the durations, and the bounds of each goal.
fn searched(search: &mut dyn Search, device: &mut Device) -> (f64, Vec<Bounds>) {
    let mut sum = 0.0;
    while let Some(input) = search.ask() {
        let seconds = input.duration.as_secs_f64();
        sum += seconds;
        search.take(Outcome::Loss(device.loss_ratio(input.load as f64, seconds)));
    }
    let bounds = |it: model::search::AssessedGoal| [it.result.relevant_lower_bound, it.result.relevant_upper_bound];
    (sum, search.results().into_iter().map(bounds).collect())
}

/// The Python package in a process of its own.
struct Peer {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start(folder: OsString, goals: &[Goal]) -> Self {
        let mut command = Command::new("python3");
        command.args(["-c", include_str!("search.py")]).env("PYTHONPATH", folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut input = child.stdin.take().unwrap();
        writeln!(input, "{}", serde_json::Value::from_iter(goals.iter().map(in_its_words))).unwrap();
        Self { child, input, output }
    }

    fn search(&mut self, device: &mut Device) -> (f64, Vec<Bounds>) {
        writeln!(self.input, "search {MIN_LOAD} {MAX_LOAD}").unwrap();
        let mut sum = 0.0;
        loop {
            let line = self.output.next().expect("MLRsearch ended").unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            let number = |word: &str| word.parse::<f64>().ok();
            if let ["trial", load, seconds] = *words {
                let (load, seconds) = (number(load).unwrap(), number(seconds).unwrap());
                sum += seconds;
                writeln!(self.input, "{}", device.loss_ratio(load, seconds)).unwrap();
            } else {
                assert_eq!(words[0], "done", "{line}");
                return (sum, words[1..].chunks(2).map(|bounds| [number(bounds[0]), number(bounds[1])]).collect());
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A goal in the words of the package; what it has no word for is as the package has it by default.
fn in_its_words(goal: &Goal) -> serde_json::Value {
    let initial = goal.initial_trial_duration.unwrap_or(goal.final_trial_duration);
    serde_json::json!({
        "loss_ratio": goal.loss_ratio.0,
        "exceed_ratio": goal.exceed_ratio.0,
        "relative_width": goal.width.0,
        "initial_trial_duration": initial.as_secs_f64(),
        "final_trial_duration": goal.final_trial_duration.as_secs_f64(),
        "duration_sum": goal.duration_sum.as_secs_f64(),
    })
}
