//! Each JSON document keeps to its schema, and a failure is a document too.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    program::{Desk, Done, WIREPROOF, done, text},
    rfc2544,
};

/// All schemas, and the names of those that were used.
pub(crate) struct Schemas {
    all: Value,
    used: RefCell<BTreeSet<String>>,
}

impl Schemas {
    pub(crate) fn of(desk: &Desk) -> Self {
        Self { all: desk.run(&["schema", "all"]).json(), used: RefCell::default() }
    }

    pub(crate) fn holds(&self, name: &str, document: &Value) {
        let validator = jsonschema::validator_for(&self.all[name]).unwrap();
        let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}\n{document:#}");
        let version = document["schema"].as_str().unwrap();
        assert!(version.starts_with("wireproof"), "{name} has no name and version of its shape: {version}");
        self.used.borrow_mut().insert(name.to_owned());
    }
}

#[test]
fn every_document_keeps_to_its_schema() {
    let desk = Desk::new();
    let schemas = Schemas::of(&desk);
    let holds = |name: &str, words: &[&str]| {
        let done = desk.run(&[words, &["--json"]].concat());
        assert_eq!(done.status, 0, "{words:?}: {}", done.err);
        schemas.holds(name, &done.json());
        done.json()
    };
    let run = holds("run", &["latency", "--count", "200", "--frame-sizes", "64", "--repeats", "1"]);
    let key = &run["summary"]["key_figures"][0];
    assert!(key["metric"] == "rtt_p50" && key["median"].as_f64() > Some(500.0), "{key}");
    let planned = holds("dry-run", &["verify", "certify", "--dry-run"]);
    assert!(planned["steps"].as_array().unwrap().len() > 5 && planned["seconds"].as_f64() > Some(60.0), "{planned:#}");
    let report = desk.path("report");
    assert_eq!(desk.run(&["report", "last", "--quiet", "--out", text(&report)]).status, 0);
    assert_eq!(holds("check", &["report", "--check", text(&report)])["in_order"], true);
    let runs = holds("runs", &["runs"]);
    let figures = &runs["runs"][0]["read"]["configurations"][0]["figures"];
    assert!(figures[0]["median"].as_f64() > Some(500.0), "{runs:#}");
    holds("baseline", &["baseline", "set", "last"]);
    assert_eq!(holds("baseline", &["baseline", "show"])["baselines"].as_array().unwrap().len(), 1);
    let compared = desk.run(&["compare", "last", "last", "--json"]);
    schemas.holds("compare", &compared.json());
    let iperf3 = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/result/import/tests/files/iperf3-tcp.json");
    holds("import", &["import", iperf3, "--name", "by-iperf3"]);
    assert_eq!(holds("references", &["references"])["left_out"], serde_json::json!([]));
    holds("inspect", &["inspect"]);
    let [goals, trials] = rfc2544::files(&desk);
    holds("rfc2544-classify", &["rfc2544", "classify", "--goals", text(&goals), "--trials", text(&trials)]);
    let rate = ["--rate", "1 kpps..2 kpps", "--frame-sizes", "64", "--duration", "300 ms", "--quiet"];
    assert_eq!(desk.run(&[&["rfc2544", "--tests", "throughput"], &rate[..]].concat()).status, 0);
    assert_eq!(holds("rfc2544-table", &["rfc2544", "table", "last"])["rows"].as_array().unwrap().len(), 1);

    let standing = desk.bed("shape", &[]);
    assert_eq!(holds("bed", &["bed", "list"])["beds"][0]["name"], "shape");
    let file = desk.path("frames.pcapng");
    let at = |words: &[&str]| {
        let mut command = Command::new(WIREPROOF);
        command.args(["bed", "exec", "shape", "a", "--", WIREPROOF]).args(words).stdin(Stdio::null());
        let done = done(command.output().unwrap());
        assert_eq!(done.status, 0, "{words:?}: {}", done.err);
        done
    };
    let packets = |what: &str, words: &[&str]| {
        let done = at(&[&["packets", what, "lab-a"], words, &["--json"]].concat());
        schemas.holds(&format!("packets-{what}"), &done.json());
    };
    packets("capture", &[text(&file), "--time", "100 ms"]);
    packets("receive", &["--duration", "100 ms"]);
    packets("send", &["--to", "198.18.0.2", "--count", "100"]);
    let watched = at(&["watch", "--count", "2", "--interval", "50 ms", "--json"]).out;
    assert!(watched.lines().count() >= 2, "{watched}");
    watched.lines().for_each(|line| schemas.holds("watch", &serde_json::from_str(line).unwrap()));
    drop(standing);
    desk.run(&["bed", "up", "shape"]);
    let down = holds("clean", &["bed", "down", "shape"]);
    assert!(down["undone"].as_array().unwrap().iter().any(|it| it == "namespace wpshape-a"), "{down}");
    holds("clean", &["clean"]);

    let doctor = desk.run(&["doctor", "--json"]).json();
    schemas.holds("doctor", &doctor);
    let of = |check: &str| doctor["checks"].as_array().unwrap().iter().find(|it| it["check"] == check).unwrap().clone();
    assert!(of("cores")["finding"]["count"].as_u64() >= Some(1), "{doctor:#}");
    assert_eq!(
        (&of("user")["finding"]["kind"], &of("lab-bed")["finding"]["kind"]),
        (&"root".into(), &"lab-made".into())
    );
    assert_eq!(of("store")["finding"]["path"], text(&desk.path("runs.db")));
    schemas.holds("error", &desk.run(&["report", "nonsense", "--json"]).json());

    // The stories of bypass, of the router, of a path to any host and of tuning hold those of theirs.
    let is_here = |name: &&String| {
        !["bypass", "path", "router", "tune", "tune-plan", "tune-undone", "tuning-effect"].contains(&name.as_str())
    };
    let known: BTreeSet<String> = schemas.all.as_object().unwrap().keys().filter(is_here).cloned().collect();
    assert_eq!(*schemas.used.borrow(), known);
}

#[test]
fn a_failure_is_one_json_document_on_standard_output_too() {
    let desk = Desk::new();
    let schemas = Schemas::of(&desk);
    let fails = |words: &[&str], status: i32, kind: &str, says: &str, advice: &str| {
        let done: Done = desk.run(&[words, &["--json"]].concat());
        done.fails(status, &[says]);
        let document = done.json();
        schemas.holds("error", &document);
        assert_eq!((&document["exit_status"], &document["kind"]), (&status.into(), &kind.into()), "{document:#}");
        assert!(document["message"].as_str().unwrap().contains(says), "{document:#}");
        assert!(document["advice"].as_str().unwrap_or_default().contains(advice), "{document:#}");
    };
    fails(&["runs"], 1, "store", "there is no store", "wireproof verify");
    fails(&["verfy"], 2, "usage", "unrecognized subcommand", "'verify'");
    fails(&["verify", "no-such-plan"], 2, "usage", "no-such-plan", "soak");
    fails(&["bed", "down", "nowhere"], 1, "bed", "there is no bed \"nowhere\"", "wireproof bed up");
    fails(&["goodput", "--mtus", "1000"], 2, "usage", "takes IPv6 addresses away", "");
    fails(&["watch", "nowhere0"], 2, "usage", "nowhere0", "");
    fails(&["latency", "--bed", "nowhere"], 1, "bed", "no bed \"nowhere\"", "wireproof bed up");
    let quiet = desk.run(&["report", "nonsense"]);
    assert_eq!((quiet.status, quiet.out.as_str()), (1, ""), "without --json nothing is printed");
    let help = desk.run(&["runs", "--help", "--json"]);
    assert!(help.status == 0 && help.out.contains("Usage"), "{}", help.out);
}

#[test]
fn the_history_is_exported_as_csv_with_a_row_for_each_figure() {
    let desk = Desk::new();
    let words = ["latency", "--count", "200", "--frame-sizes", "64", "--repeats", "2", "--quiet"];
    assert_eq!(desk.run(&words).status, 0);
    let done = desk.run(&["runs", "--csv"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let mut lines = done.out.lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |column: &str| columns.iter().position(|it| *it == column).unwrap();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let median = rows.iter().find(|row| row[at("figure")] == "rtt_p50").unwrap();
    assert_eq!((median[at("unit")], median[at("figure_trials")], median[at("plan")]), ("ns", "2", "latency"));
    assert!(median[at("median")].parse::<f64>().unwrap() > 500.0, "{}", done.out);
    assert!(rows.iter().all(|row| row.len() == columns.len()), "{}", done.out);
    desk.run(&["runs", "--csv", "--json"]).fails(2, &["cannot be used with"]);
}
