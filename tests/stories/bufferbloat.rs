//! Latency under load: a queue that is too deep has a bad grade, a short one a good grade.

use serde_json::Value;

use crate::{
    planted::Bad,
    program::{Desk, Done},
};

const BED: &str = "bloated";

/// The bottleneck, with a queue that lasts this long.
fn shape(bad: &Bad<'_>, latency: &str) {
    for (end, interface) in [("a", "lab-a"), ("b", "lab-b")] {
        let shaper = format!("tbf rate 20mbit burst 3200 latency {latency}");
        bad.at(end, &format!("tc qdisc replace dev {interface} root {shaper}"));
    }
}

fn measure(desk: &Desk) -> Done {
    let quick = ["--set", "repeats=1", "--set", "latency.duration=4 s"];
    let done = desk.run(&[&["verify", "bufferbloat", "--bed", BED, "--json"][..], &quick].concat());
    assert_eq!(done.status, 0, "{}", done.err);
    done
}

fn grade(run: &Value) -> &str {
    run["bufferbloat"][0]["grade"].as_str().unwrap_or_else(|| panic!("{}", run["bufferbloat"]))
}

#[test]
fn a_deep_queue_is_graded_badly_and_a_short_one_well() {
    Desk::tell_alone(tell);
}

fn tell(desk: &Desk) {
    let _bed = desk.bed(BED, &[]);
    let bad = Bad::new(desk, BED);
    shape(&bad, "300ms");
    let deep = measure(desk).json();
    assert!(["C", "D", "F"].contains(&grade(&deep)), "{}", deep["bufferbloat"]);
    let loads = deep["bufferbloat"][0]["loads"].as_array().unwrap();
    let directions: Vec<_> = loads.iter().map(|load| load["direction"].as_str().unwrap()).collect();
    assert_eq!(directions, ["forward", "reverse", "both"]);
    for load in loads {
        let [increase, goodput] = ["increase_ns", "goodput_bps"].map(|key| load[key].as_f64().unwrap());
        assert!(increase > 60e6, "{load}");
        assert!((10e6..20e6).contains(&goodput), "TCP fills 20 Mbit/s: {load}");
    }
    let told = deep["trials"].as_array().unwrap().iter().filter(|trial| trial["tcp_load"].is_string());
    let ways: Vec<usize> = told.map(|trial| trial["load"].as_array().unwrap().len()).collect();
    assert_eq!(ways, [1, 1, 2], "an entry for each direction of the load");

    // Some packets for each connection: in a shorter queue of its own host a connection may never find room, and the kernel ends it.
    shape(&bad, "20ms");
    let short_queue = measure(desk).json();
    assert!(["A+", "A", "B"].contains(&grade(&short_queue)), "{}", short_queue["bufferbloat"]);

    let [deep, short_queue] = [&deep, &short_queue].map(|run| run["run"]["id"].as_str().unwrap());
    let report = desk.run(&["report", deep, "--out", desk.path("deep").to_str().unwrap(), "--format", "html,md,csv"]);
    assert_eq!(report.status, 0, "{}", report.err);
    let compared = desk.run(&["compare", deep, short_queue]);
    assert!(compared.out.contains("RTT under load"), "{}", compared.out);
}
