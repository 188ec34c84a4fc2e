//! Throughputs of a device over cores, in one table.

use std::process::Command;

use serde_json::Value;

use crate::{
    machine::Snapshot,
    other_host::signal,
    program::{Desk, done, text},
    rfc2544::QUICK,
    waiting::soon,
};

/// A quick search with these numbers of cores for the device.
fn series<'w>(counts: &'w str, more: &[&'w str]) -> Vec<&'w str> {
    let search = QUICK.iter().take_while(|word| **word != "--duration").copied();
    search.chain(["--bed", "lab:router", "--lang", "en", "--dut-cpus", counts]).chain(more.iter().copied()).collect()
}

fn cores(table: &Value) -> Vec<u64> {
    table["rows"].as_array().unwrap().iter().map(|row| row["cores"].as_u64().unwrap()).collect()
}

#[test]
fn a_series_over_cores_makes_one_table_and_stored_runs_make_it_again() {
    Desk::tell_alone(|desk| {
        let before = Snapshot::take();
        let out = desk.path("out");
        let made = desk.run(&series("1,2", &["--duration", "300 ms", "--out", text(&out), "--json"]));
        assert_eq!(made.status, 0, "{}", made.err);
        assert!(made.err.contains("Run 2 of 2, with --dut-cpus 2"), "{}", made.err);
        let table = made.json();
        assert_eq!((&table["schema"], cores(&table)), (&"wireproof-rfc2544-table/1".into(), vec![1, 2]), "{table:#}");
        let row = &table["rows"][0];
        assert_eq!((&row["device"], &row["is_bounded"]), (&"lab:router".into(), &false.into()), "{row:#}");
        let rate = |key: &str| row[key].as_f64().unwrap_or_else(|| panic!("{row:#}"));
        assert!((rate("sum_pps") / rate("forwarded_pps") - 2.0).abs() < 0.05, "{row:#}");
        assert!(out.join("cores-1/report.html").exists() && out.join("cores-2/report.html").exists());

        let ids: Vec<String> = desk.runs().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
        let again = |more: &[&str]| {
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            let shown = desk.run(&[&["rfc2544", "table"], &ids[..], more].concat());
            assert_eq!(shown.status, 0, "{}", shown.err);
            shown
        };
        assert_eq!(again(&["--json"]).json(), table, "whatever the order of the runs");
        assert!(again(&["--lang", "en"]).out.contains("≥ 0.0200"), "{}", again(&[]).out);
        assert!(again(&["--format", "md"]).out.lines().nth(2).unwrap().starts_with("| lab:router |"));
        let csv = again(&["--format", "csv"]).out;
        assert!(csv.starts_with("run,device,machine,") && csv.lines().count() == 3, "{csv}");
        // Each run says how it is made alone.
        let report = desk.run(&["report", &ids[0], "--json"]).json();
        let command = report["run"]["command"].as_array().unwrap();
        assert_eq!(command[command.len() - 2..], ["--dut-cpus", "2"], "{command:?}");

        let other = desk.run(&["latency", "--count", "100", "--frame-sizes", "64", "--repeats", "1", "--quiet"]);
        assert_eq!(other.status, 0, "{}", other.err);
        desk.run(&["rfc2544", "table", "last"]).fails(2, &["has no results of RFC 2544"]);
        before.assert_same();
    });
}

#[test]
fn a_series_that_is_stopped_says_what_it_has_and_how_to_go_on() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let series = desk.start(&series("1,2", &["--duration", "5 s"]));
    let has_trials = || desk.path("runs.db").exists() && desk.runs().iter().any(|run| run["trials"].as_u64() > Some(0));
    assert!(soon(has_trials), "the first run has a trial");
    signal(series.id(), "-INT");
    let stopped = done(series.wait_with_output().unwrap());
    assert_eq!(stopped.status, 130, "{}", stopped.err);
    let id = desk.runs()[0]["id"].as_str().unwrap().to_owned();
    for words in [
        format!("Runs so far: --dut-cpus 1: {id}"),
        format!("wireproof resume {id}"),
        "Measure the rest of the series with “wireproof".to_owned(),
        "--frame-sizes 128 --bed lab:router".to_owned(),
        "--dut-cpus 2”".to_owned(),
    ] {
        assert!(stopped.err.contains(&words), "{words}: {}", stopped.err);
    }
    assert!(stopped.out.contains("run not finished"), "{}", stopped.out);
    before.assert_same();
}

#[test]
fn a_store_that_is_gone_hides_no_run_before() {
    let desk = Desk::new();
    let (store, out) = (desk.path("runs.db"), desk.path("out"));
    let running = desk.start(&series("1,2", &["--duration", "300 ms", "--out", text(&out)]));
    assert!(soon(|| out.join("cores-1/report.html").exists()), "the first run has ended");
    let id = desk.runs().last().unwrap()["id"].as_str().unwrap().to_owned();
    std::fs::rename(&store, desk.path("moved.db")).unwrap();
    std::fs::create_dir(&store).unwrap();
    let ended = done(running.wait_with_output().unwrap());
    ended.fails(1, &[&format!("Runs so far: --dut-cpus 1: {id}"), "--dut-cpus 2”"]);
    assert!(ended.out.contains("≥ 0.0200"), "{}", ended.out);
}

#[test]
fn a_series_that_cannot_be_made_is_refused_before_its_first_run() {
    let desk = Desk::new();
    let refused = |words: &[&str], status: i32, says: &[&str]| {
        desk.run(words).fails(status, says);
        assert!(!desk.path("runs.db").exists() || desk.runs().is_empty(), "{words:?}");
    };
    refused(&series("1,4096", &[]), 2, &["4096"]);
    refused(&series("1,1", &[]), 2, &["each of them once"]);
    refused(&["latency", "--bed", "lab:router", "--dut-cpus", "1,2"], 2, &["only tests of RFC 2544"]);
    refused(&series("1,2", &["--dry-run"]), 2, &["--dry-run shows one run"]);
    // A disk with room for one run, and not for two.
    let disk = desk.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=10m", "none", text(&disk)]).status();
    assert!(mounted.unwrap().success());
    let store = disk.join("runs.db");
    let full = Command::new(crate::program::WIREPROOF)
        .args(series("1,2", &["--duration", "300 ms", "--store", text(&store)]))
        .output();
    let full = done(full.unwrap());
    full.fails(1, &["the store and the report may need", "KiB"]);
    assert!(Command::new("umount").arg(&disk).status().unwrap().success());
}
