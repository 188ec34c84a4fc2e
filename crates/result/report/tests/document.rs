//! The JSON document keeps its shape.

mod fixture;

use model::{Assessment, LimitOutcome, Run};
use serde_json::Value;
use wireproof_report::{Document, Material, SHAPES};

fn document(run: &Run, outcomes: &[LimitOutcome]) -> Document {
    Document::of(&Material::of(run, &fixture::assessed(run, outcomes)))
}

fn as_json(document: &Document) -> Value {
    serde_json::to_value(document).expect("a document is JSON")
}

#[test]
fn every_document_fits_the_schema() {
    let shape = SHAPES.iter().find(|shape| shape.name == "run").expect("a run has a shape");
    let validator = jsonschema::validator_for(&(shape.schema)()).expect("the schema is a schema");
    let (limited, outcomes) = fixture::run_with_limits();
    let comparisons = fixture::comparisons(&limited);
    let assessment = Assessment { comparisons: Some(comparisons), ..fixture::assessed(&limited, &outcomes) };
    let material = Material::of(&limited, &assessment);
    let beside = as_json(&Document::of(&material));
    assert_eq!(beside["comparisons"][0]["rows"][0]["match"], "differs");
    assert_eq!(beside["comparisons"][0]["rows"][0]["theirs"]["value"], "1.174333 us");
    assert_eq!(beside["comparisons"][0]["not_compared"][0]["why"], "frame-size");
    for document in [
        Document::of(&material),
        document(&fixture::run(), &[]),
        document(&limited, &outcomes),
        document(&fixture::interrupted_run(), &[]),
        document(&fixture::wide_run(), &[]),
        document(&fixture::searching_run(), &[]),
    ] {
        let errors: Vec<String> = validator.iter_errors(&as_json(&document)).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    let mut broken = as_json(&document(&fixture::run(), &[]));
    broken["trials"][0]["protocol"] = "sctp".into();
    assert!(!validator.is_valid(&broken), "the schema accepts an unknown protocol");
}

#[test]
fn names_are_those_that_other_programs_rely_on() {
    let (run, outcomes) = fixture::run_with_limits();
    let json = as_json(&document(&run, &outcomes));
    assert_eq!(json["schema"], "wireproof/1");
    assert_eq!(json["run"]["id"], "20261121-101500-3fa9");
    assert_eq!(json["run"]["plan"], "quick");
    assert_eq!(json["run"]["bed"], "lab");
    assert_eq!(json["run"]["simulated"], true);
    assert_eq!(json["run"]["verdict"], "FAIL");
    assert_eq!(json["run"]["partial"], false);
    assert_eq!(json["environment"]["before"]["hosts"][0]["hostname"], "bench1");

    let latency = &json["trials"][0];
    assert_eq!(latency["probe"], "latency");
    assert_eq!((&latency["protocol"], &latency["ip"], &latency["stack"]), (&"udp".into(), &4.into(), &"kernel".into()));
    assert_eq!((&latency["mode"], &latency["frame_size"]), (&"spin".into(), &64.into()));
    assert!(latency["rtt_ns"]["p50"].is_u64() && latency["intended_pps"].is_null());
    assert!(latency["limited_by"].is_null() || latency["limited_by"]["evidence"].is_string());

    let goodput = &json["trials"][11];
    assert_eq!(goodput["probe"], "goodput");
    for field in ["mean", "max", "min"] {
        assert!(goodput["goodput_bps"][field].is_f64(), "goodput_bps {field}");
    }
    assert_eq!(goodput["intervals"].as_array().map(Vec::len), Some(5));
    assert!(goodput["cpu"][0].is_f64() && goodput["lost"].is_null());
    assert!(goodput["loss_at"].is_object());
    assert_eq!(goodput["counters"][0]["endpoint"], "a");
    let doubt = &json["trials"][2]["doubts"][0];
    assert_eq!(doubt["kind"], "steal");
    assert!(doubt["advice"].as_str().is_some_and(|advice| advice.contains("1.5 %")));
}

#[test]
fn a_search_has_its_trials_and_the_bounds_of_each_goal() {
    let json = as_json(&document(&fixture::searching_run(), &[]));
    let search = &json["searches"][1];
    assert_eq!(
        (&search["section"], &search["repeat"], &search["method"]),
        (&"packets.1".into(), &2.into(), &"mlr".into())
    );
    assert_eq!((&search["configuration"], &search["unit"]), (&"packets IPv4 64 B".into(), &"pps".into()));
    assert_eq!(
        json["searches"][0]["trials"][0],
        serde_json::json!({
            "number": 1, "load": 10e6, "duration_s": 1.0, "loss_ratio": null
        })
    );
    let result = &search["goals"][0]["result"];
    assert!(result["irregular"].is_null() && result["conditional_throughput"].is_f64(), "{result}");
    assert!(as_json(&document(&fixture::run(), &[])).get("searches").is_none());
}

#[test]
fn what_the_sample_does_not_carry_is_absent() {
    let json = as_json(&document(&fixture::interrupted_run(), &[]));
    assert_eq!(json["run"]["partial"], true);
    assert!(json["run"]["verdict"].is_null() && json["environment"]["after"].is_null());
    assert!(json["trials"][3]["rtt_ns"].get("max").is_none());
    assert!(json["trials"][3]["rtt_ns"].get("p50").is_some());
}

/// The first trial of a kind that has a value at a key.
fn trial_with<'a>(json: &'a Value, key: &str, value: &Value) -> &'a Value {
    let mut trials = json["trials"].as_array().into_iter().flatten();
    trials.find(|trial| trial[key] == *value).unwrap_or_else(|| panic!("no trial with {key} = {value}"))
}

#[test]
fn loads_flows_and_paths_have_their_names() {
    let json = as_json(&document(&fixture::wide_run(), &[]));
    let loaded = trial_with(&json, "intended_pps", &100_000.0.into());
    assert_eq!((&loaded["frame_size"], &loaded["wire_size"]), (&64.into(), &84.into()));
    for time in ["/pacing/gap_ns/p99", "/pacing/behind_ns/p50", "/ipdv_ns/rtt_ns/p50"] {
        assert!(loaded.pointer(time).is_some_and(Value::is_u64), "{time}");
    }
    let stamped = trial_with(&json, "stamps", &true.into());
    assert_eq!((&stamped["frame_size"], &stamped["frame_size_asked"]), (&70.into(), &64.into()));
    assert_eq!(stamped["stages"][1]["stage"], "wire-and-far");

    let udp = trial_with(&json, "datagram_size", &1024.into());
    assert!(udp["lost"].as_u64().is_some_and(|lost| lost > 0) && udp["retransmits"].is_null());
    assert_eq!((&udp["batch"], &udp["intended_bps"]), (&"mmsg".into(), &2e9.into()));
    let both = trial_with(&json, "direction", &"both".into());
    assert_eq!((&both["from"], &both["flows"][1]["from"]), (&"a".into(), &"b".into()));
    assert_eq!(both["flows"][1]["tcp"].as_array().map(Vec::len), Some(4));
    let cut_off = json["trials"].as_array().and_then(|trials| trials.iter().rfind(|trial| trial["probe"] == "goodput"));
    let cut_off = cut_off.expect("there are transfers");
    assert!(cut_off["sent_bps"].is_null() && cut_off["goodput_bps"]["mean"].is_f64());

    let path = trial_with(&json, "destination", &"2001:2::2".into());
    assert_eq!(path["mtu"], serde_json::json!({ "forward": 1400, "reverse": 1500 }));
    assert_eq!(path["refusals"]["forward"]["why"], "too-big");
    assert_eq!(path["devices"][1]["master"], "br0");
    assert!(path.get("culprit").is_some());
    assert_eq!(path["hops"], serde_json::json!([]));
}
