//! Requests and their responses, over real connections and with real servers.

use std::{fs, process::Command};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    planted::Bad,
    program::{Desk, Done, done, text},
    waiting::soon,
};

const BED: &str = "served";

/// Each kind once.
const ALL: &str = r#"
name = "served"
[[transactions]]
kind = "rr"
duration = "1 s"
warmup = "100 ms"
[[transactions]]
kind = "rr"
protocol = "udp"
ip = 6
mode = "spin"
connections = [4]
duration = "1 s"
warmup = "100 ms"
[[transactions]]
kind = "crr"
request = 1
response = 2000
connections = [8]
duration = "1 s"
warmup = "100 ms"
[[transactions]]
kind = "http"
paths = ["/index.html 0 B", "/a/b.bin 100 KiB"]
connections = [16]
duration = "1 s"
warmup = "100 ms"
[[transactions]]
kind = "http"
server = "nginx"
connections = [1, 16]
duration = "1 s"
warmup = "100 ms"
[[transactions]]
kind = "http"
server = "nginx"
new_connections = true
rate = "500 tps"
connections = [16]
duration = "1 s"
warmup = "100 ms"
[[limits]]
metric = "transaction_rate"
at_least = "1 tps"
[[limits]]
metric = "failed"
at_most = "0 %"
"#;

fn trials(done: &Done) -> Vec<Value> {
    assert!([0, 4].contains(&done.status), "{}", done.err);
    done.json()["trials"].as_array().unwrap().clone()
}

fn count(trial: &Value, figure: &str) -> u64 {
    trial[figure].as_u64().unwrap_or_else(|| panic!("{figure}: {trial}"))
}

/// A trial of one second.
fn transactions(desk: &Desk, more: &[&str]) -> Value {
    let words = ["transactions", "--bed", BED, "--repeats", "1", "--duration", "1 s", "--cpus", "0,1", "--json"];
    trials(&desk.run(&[&words[..], more].concat())).remove(0)
}

fn place(trial: &Value) -> &str {
    trial["limited_by"]["place"].as_str().unwrap_or_else(|| panic!("{trial}"))
}

fn failed_by(trial: &Value, kind: &str) -> u64 {
    let failed = trial["failed"].as_array().unwrap().iter().find(|failed| failed["kind"] == kind);
    failed.map_or(0, |failed| failed["count"].as_u64().unwrap())
}

/// A veth has no queue to poll until it receives by NAPI.
#[test]
fn busy_polling_without_a_queue_is_a_doubt() {
    let desk = Desk::new();
    for kind in ["rr", "crr"] {
        let words =
            ["transactions", "--kind", kind, "--mode", "busy-poll", "--duration", "1 s", "--repeats", "1", "--json"];
        let done = desk.run(&words);
        assert_eq!(done.status, 0, "{}", done.err);
        let trial = &done.json()["trials"][0];
        assert!(trial["doubts"].to_string().contains("nothing-to-poll"), "{kind}: {}", trial["doubts"]);
    }
}

#[test]
fn each_kind_is_measured_reported_and_compared_and_nothing_is_left() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let (plan, out) = (desk.plan(ALL), desk.path("out"));
    let done = desk.run(&["verify", text(&plan), "--json", "--out", text(&out), "--format", "html,md,csv,json"]);
    before.assert_same();
    let all = trials(&done);
    assert_eq!(all.len(), 7);
    for trial in &all {
        let completed = count(trial, "completed");
        assert!(completed > 0 && count(trial, "failures") == 0, "{trial}");
        let per_second = trial["transactions_per_s"].as_f64().unwrap();
        assert!((per_second - completed as f64 / trial["counted_s"].as_f64().unwrap()).abs() < 1.0, "{trial}");
        let p50 = trial["response_ns"]["p50"].as_u64().unwrap();
        assert!(p50 > 1_000 && p50 < 1_000_000_000, "{trial}");
        assert!(trial["client"]["sent_packets"].as_f64().unwrap() > 0.4, "{}", trial["client"]);
        // The kernel samples busy time at ticks: a server that rests between 500 requests a second may meet none of them.
        let least = if trial["intended_per_s"].is_null() { 100.0 } else { 0.0 };
        assert!(trial["server_end"]["cpu_ns"].as_f64().unwrap() >= least, "{}", trial["server_end"]);
    }
    // A connection from before the counted time may have its transaction within it.
    let connects = |trial: &Value| 2 * count(trial, "connected") > count(trial, "completed");
    let connecting: Vec<bool> = all.iter().map(connects).collect();
    assert_eq!(connecting, [false, false, true, false, false, false, true], "a connection for each, or none");
    assert!(all[3]["server"].as_str().unwrap().starts_with("wireproof "), "{}", all[3]["server"]);
    assert!(all[4]["server"].as_str().unwrap().starts_with("nginx/"), "{}", all[4]["server"]);
    // Two paths in turn: half of the bodies are 100 KiB, and so take several packets.
    assert!(all[3]["client"]["received_packets"].as_f64().unwrap() > 1.0, "{}", all[3]["client"]);

    let page = fs::read_to_string(out.join("report.html")).unwrap();
    for words in ["Transactions (requests and responses)", "Distribution of response times", "no coordinated omission"]
    {
        assert!(page.contains(words), "{words}");
    }
    let table = fs::read_to_string(out.join("report.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains("response_p99_ns") && table.lines().count() == 8, "{table}");
    let ja = desk.run(&["report", "--lang", "ja", "--out", text(&desk.path("ja"))]);
    assert!(ja.err.contains("トランザクション") || ja.out.contains("トランザクション"), "{}{}", ja.out, ja.err);

    assert_eq!(trials(&desk.run(&["verify", text(&plan), "--json", "--quiet"])).len(), 7);
    let ids: Vec<String> = desk.runs().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    let compared = desk.run(&["compare", &ids[1], &ids[0]]);
    assert!(compared.out.contains("ktps") && compared.out.contains("Time p99"), "{}", compared.out);
}

#[test]
fn a_run_of_transactions_that_was_killed_comes_to_its_end() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let section = "[[transactions]]\nkind = \"http\"\nserver = \"nginx\"\nconnections = [4]\nduration = \"1 s\"\n";
    let plan = desk.plan(format!("name = \"again\"\nrepeats = 3\n{section}"));
    let mut run = desk.start(&["verify", text(&plan), "--quiet"]);
    let known = || desk.path("runs.db").exists() && desk.runs().first().is_some_and(|run| run["trials"] != 0);
    assert!(soon(known), "a trial does not come");
    run.kill().unwrap();
    run.wait().unwrap();
    let all = trials(&desk.run(&["resume", "last", "--json"]));
    assert_eq!(all.iter().map(|trial| count(trial, "number")).collect::<Vec<_>>(), [1, 2, 3]);
    before.assert_same();
}

#[test]
fn what_transactions_run_short_of_is_named() {
    Desk::tell_alone(|desk| {
        let _bed = desk.bed(BED, &[]);
        let bad = Bad::new(desk, BED);
        let kept = desk.undisturbed(|| transactions(desk, &["--kind", "rr", "--rate", "500 tps"]));
        assert_eq!(place(&kept), "intended load", "{}", kept["limited_by"]);

        bad.sysctl("a", "net.ipv4.ip_local_port_range", "40000 40019");
        let ports = transactions(desk, &["--kind", "crr", "--connections", "64"]);
        assert_eq!(place(&ports), "ephemeral ports", "{}", ports["limited_by"]);
        assert!(failed_by(&ports, "no-port") > 0 && count(&ports, "ports") == 20, "{}", ports["failed"]);
        bad.sysctl("a", "net.ipv4.ip_local_port_range", "32768 60999");

        bad.sysctl("b", "net.core.somaxconn", "1");
        let queue = transactions(desk, &["--kind", "crr", "--connections", "256"]);
        assert_eq!((place(&queue), count(&queue, "backlog")), ("listen queue", 1), "{}", queue["limited_by"]);
        bad.sysctl("b", "net.core.somaxconn", "4096");

        let free = transactions(desk, &["--kind", "crr", "--connections", "64"]);
        assert!(!["ephemeral ports", "listen queue"].contains(&place(&free)), "{}", free["limited_by"]);
    });
}

#[test]
fn want_of_file_descriptors_is_named() {
    let desk = Desk::new();
    let words = ["transactions", "--connections", "200", "--repeats", "1", "--duration", "1 s", "--json"];
    let command = desk.command(&words);
    let mut limited = Command::new("prlimit");
    limited.arg("--nofile=100:100").arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let trial = trials(&done(limited.output().unwrap())).remove(0);
    assert_eq!(place(&trial), "file descriptors", "{}", trial["limited_by"]);
    assert!(failed_by(&trial, "no-descriptor") > 0, "{}", trial["failed"]);
}

#[test]
fn transactions_that_cannot_be_are_refused_with_advice() {
    let desk = Desk::new();
    let refused = |words: &[&str], says: &[&str]| desk.run(&[&["transactions"], words].concat()).fails(2, says);
    refused(&["--connections", "0"], &["connections", "at least 1"]);
    refused(&["--connections", "20000"], &["connections", "10000"]);
    refused(&["--kind", "crr", "--protocol", "udp"], &["over TCP", "rr"]);
    refused(&["--path", "/a 1 KiB"], &["paths is for HTTP", "kind = \"http\""]);
    refused(&["--kind", "http", "--path", "/../a 1 KiB"], &["not the path of a file"]);
    refused(&["--kind", "http", "--request", "64"], &["those of rr and crr"]);
    refused(&["--rate", "10 kpps"], &["tps, ktps, Mtps"]);
}
