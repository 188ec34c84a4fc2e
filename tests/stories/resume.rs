//! Resuming interrupted runs.

use std::process::Command;

use serde_json::Value;

use crate::{
    machine::Snapshot,
    program::{Desk, text},
    waiting::soon,
};

/// Six short trials with different configurations, none of which ends at once.
const SLOW: &str = r#"
name = "slow"
repeats = 3
[[latency]]
protocol = "udp"
frame_sizes = [64]
duration = "700 ms"
warmup = 10
[[goodput]]
protocol = "tcp"
duration = "1 s"
warmup = "100 ms"
"#;

fn trials(desk: &Desk) -> u64 {
    if desk.path("runs.db").exists() { desk.runs().first().map_or(0, |run| run["trials"].as_u64().unwrap()) } else { 0 }
}

/// Waits until the running run has this many trials.
fn wait_for(desk: &Desk, wanted: u64) {
    assert!(soon(|| trials(desk) >= wanted), "{wanted} trials do not come");
}

fn kill(pid: u32) {
    assert!(Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_run_that_was_killed_twice_comes_to_its_end() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let plan = desk.plan(SLOW);
    let mut run = desk.start(&["verify", text(&plan), "--quiet"]);
    wait_for(&desk, 2);
    kill(run.id());
    run.wait().unwrap();
    let mut again = desk.start(&["resume", "--quiet"]);
    wait_for(&desk, 4);
    kill(again.id());
    again.wait().unwrap();

    let known = desk.run(&["report", "--json", "--quiet"]).json();
    assert_eq!(known["run"]["partial"], true);
    let out = desk.path("out");
    let done = desk.run(&["resume", "last", "--json", "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    let document = done.json();
    let numbers: Vec<_> =
        document["trials"].as_array().unwrap().iter().map(|it| it["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
    // Finished trials are unchanged to the last bit.
    assert_eq!(document["trials"].as_array().unwrap()[..3], known["trials"].as_array().unwrap()[..3]);
    let entry = &document["run"];
    assert_eq!((&entry["partial"], entry["resumed"].as_array().unwrap().len()), (&false.into(), 2), "{entry}");
    let command = serde_json::json!(["wireproof", "verify", "plan.toml"]);
    assert_eq!(entry["command"], command, "it repeats the whole run, and names no file of its user");
    let doubts = entry["doubts"].to_string();
    for absent in ["interrupted", "failed", "environment-changed", "other-build"] {
        assert!(!doubts.contains(absent), "{absent}: {doubts}");
    }
    assert!(!document["trials"].to_string().contains("unfinished"));
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Resumed") && page.contains("was interrupted and resumed"));
    assert_eq!(desk.runs()[0]["partial"], false);
    desk.run(&["resume"]).fails(1, &["is complete", "6 trials"]);
    before.assert_same();
}

/// Eight trials at the highest load, which upholds the goal.
const SEARCH: &str = r#"
name = "search"
[[packets]]
frame_sizes = [64]
engine = "udp"
rate = "1 kpps..2 kpps"
search = "mlr"
duration = "500 ms"
[[packets.goal]]
name = "half"
final_trial_duration = "500 ms"
duration_sum = "4 s"
loss_ratio = 0.5
exceed_ratio = 0
"#;

#[test]
fn a_search_that_was_interrupted_goes_on_to_its_result() {
    let desk = Desk::new();
    let plan = desk.plan(SEARCH);
    let mut run = desk.start(&["verify", text(&plan), "--quiet"]);
    wait_for(&desk, 3);
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    let known = desk.run(&["report", "--json", "--quiet"]).json();
    let half_way = &known["searches"][0];
    assert_eq!(
        (&known["run"]["partial"], &half_way["goals"][0]["result"]["irregular"]),
        (&true.into(), &"no_bounds".into())
    );
    let done = desk.run(&["resume", "--json", "--quiet"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let document = done.json();
    let whole = |of: &Value| of["searches"][0]["trials"].as_array().unwrap().clone();
    let (before, after) = (whole(&known), whole(&document));
    assert_eq!(after[..before.len()], before[..], "what was kept is not measured again");
    let counted = after.iter().filter(|trial| !trial["loss_ratio"].is_null());
    assert_eq!((before.len() < after.len(), counted.count()), (true, 8), "{document:#}");
    let result = &document["searches"][0]["goals"][0]["result"];
    assert_eq!((&result["irregular"], &result["relevant_lower_bound"]), (&"no_upper_bound".into(), &2000.0.into()));
    assert_eq!(document["run"]["partial"], false);
}

#[test]
fn a_run_that_is_under_way_is_left_alone() {
    let desk = Desk::new();
    let mut run = desk.start(&["goodput", "--duration", "100 s", "--repeats", "1", "--quiet"]);
    wait_for(&desk, 1);
    let pid = format!("(pid {})", run.id());
    desk.run(&["resume"]).fails(1, &["is under way", &pid]);
    assert!(run.try_wait().unwrap().is_none(), "it goes on");
    assert!(Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
}

#[test]
fn a_run_whose_bed_is_gone_or_that_is_not_there_is_refused() {
    let desk = Desk::new();
    desk.run(&["resume"]).fails(1, &["there is no store"]);
    let standing = desk.bed("gone", &[]);
    let plan = desk.plan(SLOW);
    let mut run = desk.start(&["verify", text(&plan), "--bed", "gone", "--quiet"]);
    wait_for(&desk, 1);
    kill(run.id());
    run.wait().unwrap();
    drop(standing);
    let unsaid = desk.run(&["resume"]);
    unsaid.fails(2, &["was begun with --bed gone;", "resume --bed gone"]);
    assert!(!unsaid.err.contains("there is no bed"), "{}", unsaid.err);
    desk.run(&["resume", "--bed", "gone"]).fails(1, &["there is no bed \"gone\""]);
    desk.run(&["resume", "nonsense"]).fails(1, &["there is no run \"nonsense\""]);
}

/// Assigns the run "interrupted" of a store to the machine of its latest run.
const OURS: &str = r#"
import json, sqlite3, sys
with sqlite3.connect(sys.argv[1]) as store:
    (latest,) = store.execute("SELECT body FROM run ORDER BY started DESC LIMIT 1").fetchone()
    host = json.loads(latest)["before"]["hosts"][0]
    id, body = store.execute("SELECT id, body FROM run WHERE plan = 'interrupted'").fetchone()
    run = json.loads(body)
    for what in ["hostname", "product", "cpu_model", "architecture"]:
        run["before"]["hosts"][0][what] = host[what]
    store.execute("UPDATE run SET body = ? WHERE id = ?", [json.dumps(run), id])
    print(id, end="")
"#;

#[test]
fn a_run_of_an_earlier_day_comes_to_its_end() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let store = std::fs::File::create(desk.path("runs.db")).unwrap();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/everything/runs.db.gz");
    assert!(Command::new("gzip").args(["-dc", golden]).stdout(store).status().unwrap().success());
    let looked = desk.run(&["latency", "--count", "100", "--frame-sizes", "64", "--repeats", "1", "--quiet"]);
    assert_eq!(looked.status, 0, "{}", looked.err);
    let taken = Command::new("python3").args(["-c", OURS, text(&desk.path("runs.db"))]).output().unwrap();
    let id = String::from_utf8(taken.stdout).unwrap();
    assert!(taken.status.success(), "{}", String::from_utf8_lossy(&taken.stderr));

    let out = desk.path("out");
    let known = desk.run(&["report", &id, "--json", "--quiet", "--out", text(&out)]).json();
    assert_eq!(known["trials"].as_array().unwrap().len(), 2);
    let done = desk.run(&["resume", &id, "--json", "--quiet", "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    let document = done.json();
    let trials = document["trials"].as_array().unwrap();
    assert_eq!((trials.len(), &trials[..2]), (6, known["trials"].as_array().unwrap().as_slice()));
    assert_eq!(document["run"]["partial"], false);
    assert!(document["run"]["doubts"].to_string().contains("other-build"), "{}", document["run"]["doubts"]);
    before.assert_same();
}
