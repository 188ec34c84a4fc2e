//! Tests of a device by RFC 2544, and trials that were recorded elsewhere, classified by the goals of RFC 9971.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    program::{Desk, text},
};

const GOALS: &str = r#"
[[goal]]
name = "RFC2544"
final_trial_duration = "60s"
duration_sum = "60s"
loss_ratio = 0
exceed_ratio = 0

[[goal]]
name = "TST009"
final_trial_duration = "60s"
duration_sum = "120s"
loss_ratio = 0.0
exceed_ratio = "50 %"
"#;

/// The throughput is 1,000,000; one trial of the second goal is missing.
const TRIALS: &str =
    "load,duration,loss_ratio\n1000000,60,0\n1004000,1,0\n1004000,60,0\n1004000,60,1e-6\n1010000,60,0.01\n";

/// A search for the throughput of a device that ends at its highest load, in a second.
pub(crate) const QUICK: [&str; 10] = [
    "rfc2544",
    "--tests",
    "throughput",
    "--rate",
    "5 kpps..20 kpps",
    "--frame-sizes",
    "128",
    "--duration",
    "300 ms",
    "--json",
];

/// Files of goals and of trials.
pub(crate) fn files(desk: &Desk) -> [PathBuf; 2] {
    [("goals.toml", GOALS), ("trials.csv", TRIALS)].map(|(name, content)| {
        let path = desk.path(name);
        fs::write(&path, content).unwrap();
        path
    })
}

#[test]
fn recorded_trials_are_classified_for_each_goal_as_text_and_json() {
    let desk = Desk::new();
    let [goals, trials] = files(&desk);
    let words = ["rfc2544", "classify", "--goals", text(&goals), "--trials", text(&trials)];
    let shown = desk.run(&words);
    assert_eq!(shown.status, 0, "{}", shown.err);
    for line in [
        "RFC2544: final duration 60 s, sum 60 s, loss 0 %,",
        "1,000,000",
        "Relevant lower bound 1,000,000, relevant upper bound 1,004,000 (difference 0.40 %)\nConditional throughput 1,000,000",
        "Irregular result: no load is an upper bound",
    ] {
        assert!(shown.out.contains(line), "{line}\n{}", shown.out);
    }
    let document = desk.run(&[&words[..], &["--json"]].concat()).json();
    let classified = |goal: usize| -> Vec<&str> {
        let loads = document["goals"][goal]["loads"].as_array().unwrap();
        loads.iter().map(|load| load["classification"].as_str().unwrap()).collect()
    };
    assert_eq!(classified(0), ["lower", "upper", "upper"], "{document:#}");
    assert_eq!(classified(1), ["lower", "lower", "undecided"], "{document:#}");
    let [regular, irregular] = [0, 1].map(|goal| &document["goals"][goal]["result"]);
    assert_eq!((&regular["irregular"], &regular["conditional_throughput"]), (&Value::Null, &1e6.into()));
    assert_eq!(irregular["irregular"], "no_upper_bound");
    let japanese = desk.run(&[&words[..], &["--lang", "ja"]].concat()).out;
    assert!(japanese.contains("条件付きスループット 1,000,000"), "{japanese}");
}

#[test]
fn wrong_goals_and_trials_are_explained() {
    let desk = Desk::new();
    let path = desk.path("file");
    let right = files(&desk);
    let classify = |goals: &Path, trials: &Path| {
        desk.run(&["rfc2544", "classify", "--goals", text(goals), "--trials", text(trials)])
    };
    let with_goals = |content: &str| {
        fs::write(&path, content).unwrap();
        classify(&path, &right[1])
    };
    with_goals("").fails(2, &["0 goals"]);
    with_goals(&format!("{GOALS}width = 0")).fails(2, &["goal \"TST009\": width is 0"]);
    with_goals(&GOALS.replace("loss_ratio = 0\n", "loss_ratio = 1\n")).fails(2, &["goal \"RFC2544\": loss_ratio is 1"]);
    with_goals(&GOALS.replace("duration_sum = \"60s\"", "duration_sum = 60")).fails(2, &["line 5", "\"10 s\""]);
    let with_trials = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        classify(&right[0], &path)
    };
    with_trials(b"").fails(2, &["there is no trial"]);
    with_trials(b"load,duration,loss_ratio\n1,1,2\n").fails(2, &["line 2: loss_ratio \"2\""]);
    with_trials(b"load,duration,loss_ratio\n1,1,\xff\n").fails(2, &["line 2 is not UTF-8"]);
    classify(&right[0], "/dev/zero".as_ref()).fails(2, &["at most 8 MiB"]);
    classify(&desk.path("absent"), &right[1]).fails(2, &["absent"]);
    desk.run(&["rfc2544", "classify", "--goals", text(&right[0])]).fails(2, &["--trials"]);
}

#[test]
fn the_loads_of_a_stored_run_are_classified() {
    let desk = Desk::new();
    let goals = desk.path("goals.toml");
    let goal = GOALS.split("\n\n").next().unwrap();
    fs::write(&goals, goal.replace("60s", "100 ms").replace("loss_ratio = 0", "loss_ratio = 0.5")).unwrap();
    let classify = || desk.run(&["rfc2544", "classify", "--goals", text(&goals), "--run", "last", "--json"]);
    classify().fails(1, &["no store"]);
    let measure = |words: &[&str]| desk.run(&[words, &["--repeats", "1", "--quiet", "--json"]].concat()).json();
    measure(&["latency", "--count", "100", "--frame-sizes", "64"]);
    classify().fails(2, &["has no trial at a load that its sender reached"]);
    let run =
        measure(&["packets", "--frame-sizes", "64,128", "--rate", "500 pps..1 kpps step 500 pps", "--duration", "1 s"]);
    let document = classify().json();
    let goals = document["goals"].as_array().unwrap();
    assert_eq!(goals.len(), 2, "{document:#}");
    let trials = in_time(&run);
    for (goal, size) in goals.iter().zip([128, 64]) {
        assert_eq!(goal["configuration"], format!("packets IPv4 {size} B"));
        let loads: Vec<f64> = trials.iter().filter(|(of, _)| *of == size).map(|(_, load)| *load).collect();
        let classified = goal["loads"].as_array().unwrap();
        assert!(classified.iter().all(|it| it["classification"] == "lower"), "{document:#}");
        assert!(classified.iter().map(|it| it["load"].as_f64().unwrap()).eq(loads), "{document:#}");
        assert_eq!(goal["result"]["irregular"], "no_upper_bound");
    }
}

/// Frame size and load of each trial whose sender was not too slow, as happens beside others.
fn in_time(run: &Value) -> Vec<(u64, f64)> {
    let is_slow = |trial: &&Value| trial["doubts"].as_array().unwrap().iter().any(|it| it["kind"] == "sender-too-slow");
    let trials = run["trials"].as_array().unwrap().iter().filter(|trial| !is_slow(trial));
    let streams = trials.map(|trial| &trial["streams"][0]);
    streams.map(|it| (it["frame_size"].as_u64().unwrap(), it["intended_pps"].as_f64().unwrap())).collect()
}

#[test]
fn a_plan_searches_for_the_highest_load_and_its_trials_are_classified() {
    let desk = Desk::new();
    let plan = desk.plan(
        "name = \"search\"\n[[packets]]\nframe_sizes = [64]\nengine = \"udp\"\nrate = \"1 kpps..2 kpps\"\nsearch = \"mlr\"\n\
         duration = \"300 ms\"\n[[packets.goal]]\nname = \"half\"\ninitial_trial_duration = \"100 ms\"\n\
         final_trial_duration = \"300 ms\"\nduration_sum = \"300 ms\"\nloss_ratio = 0.5\nexceed_ratio = 0\n",
    );
    let done = desk.run(&["verify", text(&plan), "--quiet", "--json"]);
    assert_eq!(done.status, 0, "{}", done.err);
    // The highest load upholds the goal: a trial of each stage.
    let trials = in_time(&done.json());
    assert_eq!(trials.len(), 2, "{}", done.out);
    let goals = desk.path("goals.toml");
    let goal = fs::read_to_string(&plan).unwrap().split("[[packets.goal]]").nth(1).unwrap().to_owned();
    fs::write(&goals, format!("[[goal]]{goal}")).unwrap();
    let classified = desk.run(&["rfc2544", "classify", "--goals", text(&goals), "--run", "last", "--json"]).json();
    let result = &classified["goals"][0]["result"];
    assert_eq!(
        (&result["relevant_lower_bound"], &result["irregular"]),
        (&trials[1].1.into(), &"no_upper_bound".into())
    );
    let search = &done.json()["searches"][0];
    assert_eq!((&search["unit"], &search["goals"][0]["goal"]["name"]), (&"pps".into(), &"half".into()));
    let shares = fs::read_to_string(&plan).unwrap().replace("1 kpps..2 kpps", "100 %");
    let shares = desk.run(&["verify", text(&desk.plan(&shares)), "--quiet"]);
    shares.fails(2, &["this interface has none: write pps or bit/s instead"]);
    let wrong = desk.plan("name = \"t\"\n[[packets]]\nframe_sizes = [64]\nduration = \"1 s\"\nsearch = \"mlr\"\n");
    desk.run(&["verify", text(&wrong)]).fails(2, &["[[packets]] number 1", "lowest and its highest load"]);
}

/// Datagrams and transactions, whose highest loads uphold their goals.
const RATES: &str = r#"
name = "rates"
[[goodput]]
protocol = "udp"
duration = "1 s"
warmup = "100 ms"
rate = "10 Mbit/s..20 Mbit/s"
search = "mlr"
[[goodput.goal]]
name = "half"
final_trial_duration = "1 s"
duration_sum = "1 s"
loss_ratio = 0.5
exceed_ratio = 0
[[transactions]]
kind = "rr"
duration = "1 s"
warmup = "100 ms"
rate = "1 ktps"
search = "binary"
[[transactions.goal]]
name = "half"
final_trial_duration = "1 s"
duration_sum = "1 s"
loss_ratio = 0.5
exceed_ratio = 0
"#;

#[test]
fn datagrams_and_transactions_are_searched_by_their_rates() {
    let desk = Desk::new();
    let plan = desk.plan(RATES);
    let foreseen = desk.run(&["verify", text(&plan), "--dry-run"]);
    assert!(
        foreseen.out.contains("Search from ") && foreseen.out.contains("with the longest searches"),
        "{}",
        foreseen.out
    );
    let out = desk.path("out");
    let done = desk.run(&["verify", text(&plan), "--quiet", "--json", "--out", text(&out)]);
    assert_eq!(done.status, 0, "{}", done.err);
    let document = done.json();
    for (search, (section, unit, highest)) in
        [("goodput.1", "bit/s", 20e6), ("transactions.1", "tps", 1e3)].iter().enumerate()
    {
        let search = &document["searches"][search];
        assert_eq!((&search["section"], &search["unit"]), (&(*section).into(), &(*unit).into()), "{document:#}");
        let result = &search["goals"][0]["result"];
        assert_eq!(
            (&result["irregular"], &result["relevant_lower_bound"]),
            (&"no_upper_bound".into(), &(*highest).into())
        );
    }
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("Searches for the highest load") && page.contains("Course of the search"));
}

#[test]
fn the_tester_is_searched_first_without_the_router() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let goodput = RATES.split("[[transactions]]").next().unwrap();
    let plan = desk.plan(goodput.replace("name = \"rates\"", "name = \"rates\"\ntester_first = true"));
    desk.run(&["verify", text(&plan), "--quiet"])
        .fails(2, &["\"lab\" is not known without a device", "like lab:router"]);
    let done = desk.run(&["verify", text(&plan), "--bed", "lab:router", "--quiet", "--json"]);
    assert_eq!(done.status, 0, "{}", done.err);
    let search = &done.json()["searches"][0];
    let lower = |of: &Value| of["relevant_lower_bound"].clone();
    assert_eq!((lower(&search["tester"][0]), lower(&search["goals"][0]["result"])), (20e6.into(), 20e6.into()));
    assert_eq!(search["vouched"], serde_json::json!([true]));
    before.assert_same();
}

/// All tests at one small load, in a few seconds.
const SHORT: [&str; 16] = [
    "--rate",
    "1 kpps..10 kpps",
    "--frame-sizes",
    "128",
    "--duration",
    "300 ms",
    "--latency-duration",
    "300 ms",
    "--latency-repeats",
    "2",
    "--burst-repeats",
    "1",
    "--set",
    "rfc2544.longest_burst=100 ms",
    "--lang",
    "en",
];

#[test]
fn a_router_is_tested_in_a_few_seconds_and_the_report_names_each_shortcut() {
    Desk::tell_alone(|desk| {
        let done = desk.run(&[&["rfc2544", "--bed", "lab:router", "--json"][..], &SHORT].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        assert!(done.err.contains("RFC 6815") && !done.err.contains("tester itself"), "{}", done.err);
        let run = done.json();
        let tests = &run["rfc2544"][0];
        let kinds: Vec<&str> =
            tests["deviations"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
        for kind in ["simulated", "short-trials", "short-loss-trials", "few-latency-trials", "few-bursts", "few-sizes"]
        {
            assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
        }
        assert!(!kinds.contains(&"no-device"), "{kinds:?}");
        let size = &tests["sizes"][0];
        assert_eq!(size["frame_size"], 128, "{size:#}");
        let throughput = &size["throughput"];
        let load = throughput["load_pps"].as_f64().unwrap_or_else(|| panic!("{size:#}"));
        assert!((1e3..=10e3).contains(&load), "{throughput:#}");
        assert_eq!(throughput["ports"].as_array().unwrap().len(), 2);
        let latency = &size["latency"][0];
        assert_eq!((&latency["trials"], &latency["load_pps"]), (&2.into(), &load.into()), "{size:#}");
        assert!(latency["mean_ns"].as_f64() > Some(100.0), "{latency:#}");
        assert!(size["loss"].as_array().unwrap().len() >= 2, "{size:#}");
        assert_eq!(size["back_to_back"]["repeats"], 1, "{size:#}");
        let command = run["run"]["command"].as_array().unwrap();
        assert!(command.iter().any(|word| word == "rfc2544"), "{command:?}");

        let out = desk.path("report");
        let report = desk.run(&["report", "last", "--format", "md,csv", "--out", text(&out), "--lang", "ja"]);
        assert_eq!(report.status, 0, "{}", report.err);
        assert!(report.out.contains("スループット"), "{}", report.out);
        let pages = fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path());
        let page = pages.into_iter().find(|path| path.extension().is_some_and(|it| it == "md")).unwrap();
        let page = fs::read_to_string(page).unwrap();
        for words in ["RFC 2544 の試験", "RFC 6815", "60 s ではなく 300 ms", "バックツーバック"] {
            assert!(page.contains(words), "{words}: {page}");
        }
    });
}

#[test]
fn a_reset_and_an_overload_of_a_router_are_timed() {
    Desk::tell_alone(|desk| {
        // The router's link goes down for half a second; the program runs the command in its own namespace.
        let down = "ns=$(ip netns list | grep -o 'wp[^ ]*-router') && ip -n $ns link set to-b down && sleep 0.5 && ip -n $ns link set to-b up";
        let words = ["rfc2544", "--bed", "lab:router", "--tests", "recovery,reset", "--recovery-repeats", "1"];
        let more = ["--reset-duration", "6 s", "--reset-by", down, "--json"];
        let done = desk.run(&[&words[..], &SHORT, &more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        assert!(done.err.contains("The reset command runs") && !done.err.contains("failed"), "{}", done.err);
        let size = &done.json()["rfc2544"][0]["sizes"][0];
        let reset = &size["reset"];
        assert_eq!((&reset["is_seen"], &reset["is_back"]), (&true.into(), &true.into()), "{reset:#}");
        let by = |key: &str| reset[key].as_f64().unwrap_or_else(|| panic!("{reset:#}"));
        assert!((0.4..4.0).contains(&by("by_time_s")) && (by("by_loss_s") - by("by_time_s")).abs() < 0.3, "{reset:#}");
        let recovery = &size["recovery"];
        assert_eq!((&recovery["trials"], &recovery["not_recovered"]), (&1.into(), &0.into()), "{recovery:#}");
        assert_eq!(recovery["overload_pps"].as_f64(), recovery["after_pps"].as_f64().map(|after| 2.0 * after));

        let quick = ["--rate", "5 kpps", "--duration", "200 ms", "--reset-duration", "1 s", "--frame-sizes", "64"];
        let by_hand =
            desk.run(&[&["rfc2544", "--bed", "lab:router", "--tests", "reset", "--json"][..], &quick].concat());
        assert_eq!(by_hand.status, 0, "{}", by_hand.err);
        assert!(by_hand.err.contains("Reset the device now"), "{}", by_hand.err);
        assert_eq!(by_hand.json()["rfc2544"][0]["sizes"][0]["reset"]["is_seen"], false);
        desk.run(&["rfc2544", "--reset-by", "true"]).fails(2, &["--tests reset"]);
    });
}

#[test]
fn the_throughput_is_held_against_the_tester_without_the_router() {
    Desk::tell_alone(|desk| {
        let words = ["rfc2544", "--bed", "lab:router", "--tests", "throughput", "--rate", "1 kpps..5 kpps", "--json"];
        let more = ["--frame-sizes", "64", "--duration", "300 ms", "--set", "tester_first=true"];
        let done = desk.run(&[&words[..], &more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let size = &done.json()["rfc2544"][0]["sizes"][0];
        assert_eq!((&size["tester_pps"], &size["is_vouched"]), (&5000.0.into(), &true.into()), "{size:#}");
    });
}

#[test]
fn frames_go_to_256_networks_that_a_router_knows() {
    let desk = Desk::new();
    let words = ["rfc2544", "--tests", "throughput", "--rate", "1 kpps..5 kpps", "--networks", "256", "--frame-sizes"];
    let more = ["--duration", "500 ms", "--directions", "both", "--json"];
    for (bed, ip, size) in [("lab:router", "4", "64"), ("lab:xdp-router", "6", "128")] {
        let done = desk.run(&[&words[..], &[size, "--bed", bed, "--ip", ip], &more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let tests = &done.json()["rfc2544"][0];
        assert_eq!(tests["sizes"][0]["throughput"]["load_pps"], 5000.0, "{tests:#}");
        assert!(!tests["deviations"].to_string().contains("few-networks"), "{tests:#}");
    }
}

#[test]
fn a_mix_of_frame_sizes_is_tested_after_the_sizes() {
    Desk::tell_alone(|desk| {
        let words = ["rfc2544", "--bed", "lab:router", "--tests", "throughput,loss", "--rate", "1 kpps..5 kpps"];
        let more = ["--frame-sizes", "128", "--imix", "--duration", "300 ms", "--json"];
        let done = desk.run(&[&words[..], &more].concat());
        assert_eq!(done.status, 0, "{}", done.err);
        let tests = &done.json()["rfc2544"][0];
        let [one, mix] = tests["sizes"].as_array().unwrap().as_slice() else { panic!("{tests:#}") };
        assert_eq!((&one["frame_size"], &one["mix"]), (&128.into(), &Value::Null), "{one:#}");
        assert_eq!((&mix["frame_size"], &mix["mix"], &mix["sent_size"]), (&Value::Null, &"imix".into(), &362.into()));
        assert_eq!(mix["throughput"]["load_pps"], 5000.0, "{mix:#}");
        // Layer 1: 361.8 bytes and 20 around each frame.
        let forwarded = mix["throughput"]["forwarded_l1_bps"].as_f64().unwrap();
        assert!((forwarded / (5000.0 * 8.0 * 381.83) - 1.0).abs() < 0.02, "{mix:#}");
        let report = desk.run(&["report", "last"]);
        let is_mix = |line: &str| line.trim_start().starts_with("IMIX") && line.contains("≥ 5.0 kpps");
        assert!(report.out.lines().any(is_mix), "{}", report.out);
    });
}

#[test]
fn a_load_may_rise_before_its_frames_count() {
    Desk::tell_alone(|desk| {
        let words = [
            "rfc2544",
            "--bed",
            "lab:router",
            "--tests",
            "throughput",
            "--rate",
            "1 kpps..10 kpps",
            "--ramp",
            "500 ms",
        ];
        let more = ["--frame-sizes", "128", "--duration", "300 ms", "--json"];
        for engine in ["live", "af_packet"] {
            let done = desk.run(&[&words[..], &more, &["--engine", engine]].concat());
            assert_eq!(done.status, 0, "{}", done.err);
            let run = done.json();
            let tests = &run["rfc2544"][0];
            assert!(tests["deviations"].to_string().contains("\"ramp\""), "{tests:#}");
            let throughput = &tests["sizes"][0]["throughput"];
            let figure = |key: &str| throughput[key].as_f64().unwrap_or_else(|| panic!("{tests:#}"));
            assert_eq!(figure("load_pps"), 10_000.0, "{throughput:#}");
            assert!((figure("forwarded_pps") / 10_000.0 - 1.0).abs() < 0.02, "{throughput:#}");
            let trial =
                run["trials"].as_array().unwrap().iter().find(|trial| trial["number"] == throughput["trial"]).unwrap();
            let sent = |name: &str| {
                let streams = trial["streams"].as_array().unwrap_or_else(|| panic!("{trial:#}"));
                streams.iter().find(|stream| stream["stream"] == name).unwrap_or_else(|| panic!("{trial:#}"))["sent"]
                    .clone()
            };
            // 10 steps of 50 ms, of which the last one has half the load.
            assert!(sent("ramp").as_f64().is_some_and(|frames| (490.0..=500.0).contains(&frames)), "{trial:#}");
        }
    });
}

#[test]
fn a_bed_without_a_device_measures_the_tester_and_says_so() {
    let desk = Desk::new();
    let words =
        ["rfc2544", "--tests", "loss", "--rate", "10 kpps", "--frame-sizes", "64", "--duration", "200 ms", "--json"];
    let done = desk.run(&words);
    assert_eq!(done.status, 0, "{}", done.err);
    assert!(done.err.contains("the tester itself is measured"), "{}", done.err);
    let tests = &done.json()["rfc2544"][0];
    assert_eq!(tests["deviations"][0]["kind"], "no-device");
    assert_eq!(tests["sizes"][0]["throughput"], Value::Null);
}

#[test]
fn tests_that_cannot_be_are_refused_before_anything_is_sent() {
    let desk = Desk::new();
    let run = |words: &[&str]| desk.run(&[&["rfc2544"][..], words].concat());
    run(&["--tests", "throughput,jitter"]).fails(2, &["\"jitter\" is not a test of RFC 2544", "back-to-back"]);
    run(&["--tests", ""]).fails(2, &["is not a test of RFC 2544"]);
    run(&["--tests", "loss,loss"]).fails(2, &["tests names each test once"]);
    run(&["--frame-sizes", "64,9018"]).fails(2, &["9018 does not fit MTU 1500"]);
    run(&["--rate", "10 %"]).fails(2, &["no highest load", "10 Gbit/s L1"]);
    run(&["--goals", text(&desk.path("absent"))]).fails(2, &["absent"]);
    let no_goals = desk.path("goals.toml");
    fs::write(&no_goals, "name = \"x\"\n").unwrap();
    run(&["--goals", text(&no_goals)]).fails(2, &["goals.toml", "name"]);
    run(&["--directions", "three"]).fails(2, &["write one or both"]);
    run(&["--count", "5"]).fails(2, &["[[latency]]"]);
}
