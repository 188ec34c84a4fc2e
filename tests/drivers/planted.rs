//! Path faults by netem, and foreign traffic by pktgen: both are modules that not every kernel has.

use serde_json::Value;

use crate::{lab::Lab, machine::Machine};

/// A machine with a kept bed.
struct Planted {
    machine: Machine,
    _lab: Lab,
}

impl Planted {
    fn new() -> Self {
        let lab = Lab::new();
        let mut machine = lab.boot("planted", &[]);
        machine.wireproof("bed up faulty").ok();
        Self { machine, _lab: lab }
    }

    /// The only trial of a run with this netem at the output of an end.
    fn with(&mut self, end: &str, netem: &str, words: &str) -> Value {
        let at = format!("tc -netns wpfaulty-{end} qdisc");
        self.machine.sh(&format!("{at} add dev lab-{end} root netem {netem}")).ok();
        let trial = self.measure(words);
        self.machine.sh(&format!("{at} del dev lab-{end} root")).ok();
        trial
    }

    fn measure(&mut self, words: &str) -> Value {
        let done = self.machine.wireproof(&format!("{words} --bed faulty --repeats 1 --json")).ok();
        done.json()["trials"][0].clone()
    }
}

const ROUND_TRIPS: &str = "latency --mode block --frame-sizes 128 --set latency.warmup=10";
const DATAGRAMS: &str = "goodput --protocol udp --batch mmsg --rate '2 Mbit/s' --datagram 500 --duration '2 s'";

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn a_delay_is_found_on_the_way_that_has_it() {
    let mut planted = Planted::new();
    let patient = format!("{ROUND_TRIPS} --count 100 --set 'latency.timeout=\"5 s\"'");
    let trial = planted.with("b", "delay 50ms", &patient);
    let least = |way: &str| number(&trial["one_way_ns"][way]["min"]);
    assert!(number(&trial["rtt_ns"]["min"]) >= 50_000_000, "{}", trial["rtt_ns"]);
    assert!(least("reverse_ns") >= 50_000_000 && least("forward_ns") < 50_000_000, "{}", trial["one_way_ns"]);
    assert_eq!((number(&trial["lost"]), number(&trial["late"])), (0, 0));

    // Longer than the timeout of a reply.
    let hasty = format!("{ROUND_TRIPS} --count 10 --set 'latency.timeout=\"200 ms\"'");
    let late = planted.with("b", "delay 600ms", &hasty);
    assert_eq!(number(&late["late"]) + number(&late["lost"]), 10, "{late}");

    let none = planted.measure(&patient);
    assert_eq!((number(&none["lost"]), number(&none["late"])), (0, 0));
    assert!(number(&none["rtt_ns"]["min"]) < 50_000_000, "{}", none["rtt_ns"]);
}

#[test]
fn loss_copies_and_damage_are_counted_and_placed() {
    let mut planted = Planted::new();
    let lost = planted.with("a", "loss 10%", DATAGRAMS);
    let (sent, missing) = (number(&lost["datagrams_sent"]), number(&lost["lost"]));
    // One in ten of 1000 datagrams: five standard deviations either way.
    assert!(sent >= 900 && missing * 20 > sent && missing * 20 < sent * 3, "{missing} of {sent}");
    assert_eq!(number(&lost["loss_at"]["qdisc"]), missing, "{}", lost["loss_at"]);

    let copied = planted.with("a", "duplicate 100%", DATAGRAMS);
    assert_eq!(copied["duplicated"], copied["datagrams_received"], "each came twice");
    assert_eq!(number(&copied["lost"]), 0);

    let damaged = planted.with("a", "corrupt 20%", DATAGRAMS);
    assert!(number(&damaged["lost"]) > 0 && number(&damaged["corrupt"]) == 0, "{}", damaged["lost"]);
    assert!(damaged["counters"].to_string().contains("InCsumErrors"), "{}", damaged["counters"]);

    let turned = planted.with("a", "delay 5ms reorder 50% gap 5", DATAGRAMS);
    assert!(number(&turned["reordered"]) > 0 && number(&turned["lost"]) == 0, "{}", turned["reordered"]);

    let none = planted.measure(DATAGRAMS);
    for count in ["lost", "duplicated", "reordered", "corrupt"] {
        assert_eq!(number(&none[count]), 0, "{count} when nothing is planted any more");
    }
}

#[test]
fn traffic_of_others_stands_in_the_counters_and_not_in_the_figures() {
    let mut planted = Planted::new();
    planted.machine.sh("modprobe pktgen").ok();
    // The port "discard", without a receiver.
    let mac = planted.machine.sh("ip netns exec wpfaulty-b cat /sys/class/net/lab-b/address").ok().out;
    let tell =
        |file: &str, words: &str| format!("ip netns exec wpfaulty-a sh -c 'echo {words} >/proc/net/pktgen/{file}'");
    planted.machine.sh(&tell("kpktgend_0", "add_device lab-a")).ok();
    let settings = ["count 0", "ratep 500", "dst 198.18.0.2", "udp_dst_min 9", "udp_dst_max 9"];
    for setting in settings.iter().chain([&format!("dst_mac {}", mac.trim()).as_str()]) {
        planted.machine.sh(&tell("lab-a", setting)).ok();
    }
    let others = planted.machine.start(&tell("pgctrl", "start"));
    planted.machine.until("ip netns exec wpfaulty-a grep -q 'Running: lab-a' /proc/net/pktgen/kpktgend_0");
    let trial = planted.measure(DATAGRAMS);
    planted.machine.sh(&tell("pgctrl", "stop")).ok();
    planted.machine.end_of(others).ok();
    assert_eq!((number(&trial["lost"]), number(&trial["corrupt"])), (0, 0), "{trial}");
    let refused = trial["counters"].to_string();
    assert!(refused.contains("NoPorts"), "pktgen's datagrams found no socket: {refused}");
}
