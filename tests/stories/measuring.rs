//! Measurements, from the command line to the report.

use std::process::Stdio;

use serde_json::Value;

use crate::{
    machine::Snapshot,
    program::{Desk, SMALL, WIREPROOF, done, text, without_caller},
};

#[test]
fn verify_measures_stores_and_reports_and_leaves_the_machine_as_it_was() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let out = desk.path("out");
    let verify = desk.run(&["verify", text(&desk.plan(SMALL)), "--out", text(&out), "--json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);

    let document = verify.json();
    assert_schema(&desk, &document);
    assert_eq!(document["trials"].as_array().unwrap().len(), 8);
    assert_eq!(document["run"]["partial"], false);
    for trial in document["trials"].as_array().unwrap() {
        assert_plausible(trial);
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 2_000_000);
    for outside in ["src=", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "the report needs no network and no other file: {outside}");
    }
    let kept: Value = serde_json::from_str(&std::fs::read_to_string(out.join("report.json")).unwrap()).unwrap();
    assert_eq!(kept, document);
    before.assert_same();

    let runs = desk.runs();
    assert_eq!(runs.len(), 1);
    let again = desk.run(&["report", "last", "--json", "--out", text(&desk.path("again"))]);
    assert_eq!(again.json(), document, "what is stored is what was printed");
    let japanese = desk.run(&["report", "last", "--lang", "ja", "--out", text(&desk.path("ja"))]);
    assert!(japanese.out.contains("模擬環境"), "{}", japanese.out);
    assert!(std::fs::read_to_string(desk.path("ja").join("report.html")).unwrap().contains("往復遅延時間"));

    let forms = desk.path("forms");
    desk.run(&["report", "last", "--format", "md,csv,pdf", "--out", text(&forms)]);
    assert!(std::fs::read_to_string(forms.join("report.md")).unwrap().starts_with("# "));
    assert!(std::fs::read_to_string(forms.join("report.csv")).unwrap().lines().count() > 8);
    assert!(std::fs::read(forms.join("report.pdf")).unwrap().starts_with(b"%PDF-"));
    assert!(!forms.join("report.html").exists() && !forms.join("report.json").exists());
}

#[test]
fn single_probes_take_their_parameters_from_the_command_line() {
    let desk = Desk::new();
    let words = ["latency", "--protocol", "tcp", "--ip", "6", "--mode", "block", "--frame-sizes", "128,1518"];
    let more = ["--count", "300", "--repeats", "1", "--cpus", "1,0", "--set", "latency.warmup=10", "--json"];
    let latency = desk.run(&[words.as_slice(), more.as_slice()].concat());
    assert_eq!(latency.status, 0, "{}", latency.err);
    let document = latency.json();
    let trials = document["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 2);
    assert_eq!(trials[1]["payload_size"], 1518 - 78, "{}", trials[1]);
    assert_eq!((&trials[0]["ip"], &trials[0]["sent"]), (&6.into(), &300.into()));

    let words = ["throughput", "--duration", "1 s", "--streams", "2", "--repeats", "1", "--mtu", "9000", "--json"];
    let goodput = desk.run(&words);
    assert_eq!(goodput.status, 0, "{}", goodput.err);
    assert!(goodput.err.contains("RFC 1242"), "the alias says what throughput means: {}", goodput.err);
    let trial = &goodput.json()["trials"][0];
    assert_eq!((&trial["probe"], &trial["mtu"], &trial["streams"]), (&"goodput".into(), &9000.into(), &2.into()));
}

/// The clock of a time namespace stands for that of a machine that has been up for 300 days.
#[test]
fn a_machine_that_has_been_up_for_most_of_a_year_is_measured() {
    let desk = Desk::new();
    let mut command = without_caller("unshare".as_ref());
    command.args(["--time", "--fork", "--monotonic", "25920000", WIREPROOF, "--store", text(&desk.path("runs.db"))]);
    command.args(["latency", "--frame-sizes", "64", "--count", "200", "--repeats", "1", "--json"]);
    let latency = done(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(latency.status, 0, "{}", latency.err);
    assert_eq!(latency.json()["trials"][0]["sent"], 200, "{}", latency.out);
}

#[test]
fn limits_decide_the_exit_status() {
    let desk = Desk::new();
    let plan = |repeats: u32, limit: &str| {
        format!(
            "name = \"limits\"\nrepeats = {repeats}\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\ncount = 1000\n\
             warmup = 10\n[[limits]]\nmetric = \"rtt_p50\"\n{limit}\n"
        )
    };
    for (repeats, limit, status, verdict) in [
        (6, "at_most = \"1 s\"", 0, "PASS"),
        (6, "at_most = \"1 ns\"", 3, "FAIL"),
        (3, "at_most = \"1 s\"", 4, "INCONCLUSIVE"),
        (1, "at_most = \"1 s\"\nframe_size = 999", 4, "NOT RUN"),
    ] {
        let verify = desk.run(&["verify", text(&desk.plan(plan(repeats, limit))), "--json"]);
        assert_eq!(verify.status, status, "{limit}: {}", verify.err);
        assert_eq!(verify.json()["run"]["verdict"], verdict);
        assert_schema(&desk, &verify.json());
    }
}

#[test]
fn a_dry_run_says_what_would_happen_and_does_nothing() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let dry = desk.run(&["verify", "--dry-run"]);
    assert_eq!(dry.status, 0, "{}", dry.err);
    for words in ["veth pair", "latency, UDP IPv4, spin, 64 B", "3 × ", "about"] {
        assert!(dry.out.contains(words), "{words}: {}", dry.out);
    }
    let limits = desk.run(&["verify", "certify", "--dry-run"]);
    for words in ["Limits:\n", "at most 20 % worse than rx2540-exanic-2015", "(cannot be judged on this bed)"] {
        assert!(limits.out.contains(words), "{words}: {}", limits.out);
    }
    let words = ["goodput", "--mtus", "1500,9000", "--dry-run", "--lang", "ja"];
    let japanese = desk.run(&words);
    assert!(
        japanese.out.contains("wp<id>-b/lab-b MTU 9000") && japanese.out.contains("元へ戻します"),
        "{}",
        japanese.out
    );
    let json = desk.run(&[&words[..4], &["--json"]].concat()).json();
    assert_eq!((&json["steps"][1]["times"], json["seconds"].as_f64().unwrap() > 60.0), (&3.into(), true), "{json}");
    assert_eq!(json["changes_for_trials"].as_array().unwrap().len(), 4);
    assert!(!desk.path("runs.db").exists());
    before.assert_same();
}

#[test]
fn long_plans_can_be_tried_out_in_seconds() {
    let desk = Desk::new();
    let certify = ["latency.count=1000", "goodput.duration=1 s"];
    let soak = ["latency.duration=1 s", "goodput.duration=1 s"];
    for (plan, sets, trials) in [
        ("certify", certify.as_slice(), 1 + 16 + 5),
        ("loopback", &certify[1..], 2 * 6 + 1),
        ("soak", soak.as_slice(), 3),
    ] {
        let sets: Vec<&str> = sets.iter().chain(&["repeats=1"]).flat_map(|set| ["--set", *set]).collect();
        let verify = desk.run(&[&["verify", plan, "--json", "--quiet"], sets.as_slice()].concat());
        // One trial of each is inconclusive.
        assert_eq!(verify.status, 4, "{plan}: {}", verify.err);
        let document = verify.json();
        assert_schema(&desk, &document);
        assert_eq!(document["trials"].as_array().unwrap().len(), trials, "{plan}");
        assert!(document["limits"].as_array().unwrap().len() >= 2, "{plan}");
    }
}

pub(crate) fn assert_schema(desk: &Desk, document: &Value) {
    let schema = desk.run(&["schema"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

fn assert_plausible(trial: &Value) {
    if trial["probe"] == "latency" {
        let rtt = &trial["rtt_ns"];
        assert!(rtt["min"].as_u64().unwrap() > 500, "no kernel answers in less: {trial}");
        assert!(rtt["min"].as_u64() <= rtt["p50"].as_u64() && rtt["p50"].as_u64() <= rtt["max"].as_u64(), "{trial}");
        assert_eq!(trial["lost"], 0);
    } else {
        let bps = &trial["goodput_bps"];
        assert!(bps["mean"].as_f64().unwrap() > 1e8, "{trial}");
        assert!(trial["intervals"].as_array().unwrap().len() == 1, "{trial}");
    }
}
