//! Inspection of drivers of real cards: what they are set to is read as it is, and the printed commands mend it.

use serde_json::Value;

use crate::{lab::Lab, machine::Machine};

/// Findings of these checks that are worse than worth knowing: check and command.
fn faults(machine: &mut Machine, words: &str, checks: &[&str]) -> Vec<(String, String)> {
    let document = machine.wireproof(&format!("inspect --json {words}")).json();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let is_asked = |finding: &&Value| checks.contains(&finding["check"].as_str().unwrap_or_default());
    let is_bad = |finding: &&Value| finding["severity"] == "warn" || finding["severity"] == "fail";
    let findings = document["findings"].as_array().expect("a list").iter();
    findings.filter(is_asked).filter(is_bad).map(|it| (text(&it["check"]), text(&it["mend"]))).collect()
}

#[test]
fn rings_offloads_and_coalescing_of_a_card_are_judged_and_mended_by_the_printed_commands() {
    const CHECKS: [&str; 3] = ["ring-receive", "offload-off", "coalescing-latency"];
    let mut lab = Lab::new();
    let cards = lab.pair("e1000e", ["e1", "e2"]);
    let mut machine = lab.boot("inspect", &cards);
    machine.sh("ip link set e1 up; ip link set e2 up").ok();
    machine.until("grep -qx 1 /sys/class/net/e1/carrier");
    let data = "--dev e1 --goal throughput";
    machine.sh("ethtool -G e1 rx 256; ethtool -K e1 gro on gso on tso on rx on tx on").ok();
    assert_eq!(faults(&mut machine, data, &CHECKS), []);

    machine.sh("ethtool -G e1 rx 80; ethtool -K e1 tso off gro off").ok();
    let found = faults(&mut machine, data, &CHECKS);
    let names: Vec<&str> = found.iter().map(|(check, _)| check.as_str()).collect();
    assert_eq!(names, ["ring-receive", "offload-off", "offload-off"], "{found:?}");
    for (_, mend) in &found {
        machine.sh(mend).ok();
    }
    assert_eq!(faults(&mut machine, data, &CHECKS), [], "mended by {found:?}");
    let quick = "--dev e1 --goal latency";
    let found = faults(&mut machine, quick, &["coalescing-latency"]);
    assert_eq!(found.len(), 1, "the driver of a fresh e1000e adapts its interrupts: {found:?}");

    let document = machine.wireproof("inspect --dev e1 --json").json();
    let hops = document["ports"][0]["interface"]["card"]["hops"].as_array().expect("a list");
    assert!(!hops.is_empty(), "e1000e is a card of PCI Express: {document:#}");
    let sizes = &document["ports"][0]["interface"]["settings"]["pci"][0]["sizes"];
    assert!(sizes["payload"].as_u64() >= Some(128), "{document:#}");
}
