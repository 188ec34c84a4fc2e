//! Correctness of devices that forward: those of the labs pass, and faults that are planted in them are found.

use serde_json::Value;

use crate::{
    machine::Snapshot,
    planted::Bad,
    program::{Desk, Done},
};

const BED: &str = "forwards";

/// Checks that every device passes, whether it routes or bridges.
const ALWAYS: [&str; 10] = [
    "delivery",
    "duplicates",
    "order",
    "lengths",
    "payload",
    "hop-limit",
    "mac-addresses",
    "traffic-class",
    "other-fields",
    "fragments",
];

fn checks(trial: &Value) -> Vec<Value> {
    trial["checks"].as_array().unwrap_or_else(|| panic!("{trial:#}")).clone()
}

/// Names of the checks of a trial with this outcome.
fn with_outcome(trial: &Value, outcome: &str) -> Vec<String> {
    let of = checks(trial).into_iter().filter(|check| check["outcome"] == outcome);
    of.map(|check| check["check"].as_str().unwrap().to_owned()).collect()
}

fn check(trial: &Value, name: &str) -> Value {
    let found = checks(trial).into_iter().find(|check| check["check"] == name);
    found.unwrap_or_else(|| panic!("{name}: {trial:#}"))
}

fn trials(done: &Done) -> Vec<Value> {
    assert!([0, 3].contains(&done.status), "{}", done.err);
    done.json()["trials"].as_array().unwrap().clone()
}

fn assert_right(trial: &Value, routed: bool) {
    assert_eq!(with_outcome(trial, "failed"), Vec::<String>::new(), "{:#}", trial["checks"]);
    let passed = with_outcome(trial, "passed");
    assert!(ALWAYS.iter().all(|name| passed.iter().any(|it| it == name)), "{:#}", trial["checks"]);
    let of_routers = ["time-exceeded", "unreachable"];
    assert!(of_routers.iter().all(|name| passed.iter().any(|it| it == name) == routed), "{:#}", trial["checks"]);
    assert_eq!(passed.iter().any(|it| it == "vlan"), !routed, "{:#}", trial["checks"]);
    let is_v4 = trial["ip"] == "4" || trial["ip"] == 4;
    assert_eq!(passed.iter().any(|it| it == "bad-checksum"), routed && is_v4, "{:#}", trial["checks"]);
    assert_eq!(trial["routed"], routed);
}

#[test]
fn devices_of_the_labs_forward_correctly() {
    let desk = Desk::new();
    let before = Snapshot::take();
    for (bed, routed) in [("lab:router", true), ("lab:xdp-router", true), ("lab:bridge", false), ("lab", false)] {
        let done = desk.run(&["forwarding", "--bed", bed, "--json"]);
        assert_eq!(done.status, 0, "{bed}: {} {}", done.err, done.out);
        let trials = trials(&done);
        assert_eq!(trials.len(), 2, "{bed}: IPv4 and IPv6");
        trials.iter().for_each(|trial| assert_right(trial, routed));
        assert_eq!(done.json()["summary"]["tally"]["pass"], 2, "{bed}: {:#}", done.json()["summary"]);
    }
    before.assert_same();
    let said = desk.run(&["report", "last"]).out;
    assert!(said.contains("Correctness of forwarding"), "{said}");
    let said = desk.run(&["report", "last", "--lang", "ja"]).out;
    assert!(said.contains("転送の正しさ"), "{said}");
}

/// A fault, planted at a device of this layout by a script.
struct Planted {
    layout: &'static str,
    ip: &'static str,
    script: &'static str,
    undo: &'static str,
    /// Checks that have to fail. Others may fail too: a fault may show in several places.
    found: &'static [&'static str],
    /// Words of the first fault of the first of them.
    says: &'static [&'static str],
}

/// A hook of the forwarded IPv4 packets.
const FORWARD: &str =
    "nft add table ip f; nft add chain ip f c '{ type filter hook forward priority 0; }'; nft add rule ip f c ";

const PLANTED: &[Planted] = &[
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "nft add table ip f; nft add chain ip f c '{ type filter hook prerouting priority 0; }'; nft add rule ip f c ip ttl set 65",
        undo: "nft delete table ip f",
        found: &["hop-limit", "time-exceeded"],
        says: &["\"hop-limit\"", "\"found\":\"64\""],
    },
    Planted {
        layout: "lab:router",
        ip: "6",
        script: "nft add table ip6 f; nft add chain ip6 f c '{ type filter hook prerouting priority 0; }'; nft add rule ip6 f c ip6 hoplimit set 65",
        undo: "nft delete table ip6 f",
        found: &["hop-limit", "time-exceeded"],
        says: &["\"hop-limit\"", "\"found\":\"64\""],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "FORWARD ip dscp set cs0",
        undo: "nft delete table ip f",
        found: &["traffic-class"],
        says: &["\"dscp\"", "\"found\":\"0\""],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "FORWARD ip id set 7",
        undo: "nft delete table ip f",
        found: &["other-fields"],
        says: &["\"identification\"", "\"found\":\"7\""],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "FORWARD ip length 1000 @th,256,8 set 0x5a",
        undo: "nft delete table ip f",
        found: &["payload"],
        says: &["\"payload-byte\"", "0x5a @ 24"],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "FORWARD ip length 700-800 drop",
        undo: "nft delete table ip f",
        found: &["lengths"],
        says: &["\"shortest\":700", "\"longest\":800"],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "ip link set to-b mtu 1400",
        undo: "ip link set to-b mtu 1500",
        found: &["lengths"],
        says: &["\"shortest\":1401", "\"longest\":1500"],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "nft add table ip f; nft add chain ip f c '{ type filter hook output priority 0; }'; nft add rule ip f c ip protocol icmp drop",
        undo: "nft delete table ip f",
        found: &["time-exceeded", "unreachable"],
        says: &["\"unanswered\""],
    },
    Planted {
        layout: "lab:router",
        ip: "4",
        script: "nft add table netdev f; nft add chain netdev f c '{ type filter hook ingress device to-a priority 0; }'; nft add rule netdev f c udp dport != 0 dup to to-a",
        undo: "nft delete table netdev f",
        found: &["returned"],
        says: &["\"came-back\""],
    },
    Planted {
        layout: "lab:bridge",
        ip: "4",
        script: "nft add table netdev f; nft add chain netdev f c '{ type filter hook ingress device to-a priority 0; }'; nft add rule netdev f c udp dport != 0 numgen random mod 5 0 dup to to-b",
        undo: "nft delete table netdev f",
        found: &["duplicates"],
        says: &["\"twice\""],
    },
    Planted {
        layout: "lab:bridge",
        ip: "4",
        script: "nft add table bridge f; nft add chain bridge f c '{ type filter hook forward priority 0; }'; nft add rule bridge f c ip protocol udp ip ttl set 63",
        undo: "nft delete table bridge f",
        found: &["hop-limit"],
        says: &["\"hop-limit\"", "\"found\":\"63\"", "\"expected\":\"64\""],
    },
    Planted {
        layout: "lab:bridge",
        ip: "4",
        script: "nft add table bridge f; nft add chain bridge f c '{ type filter hook forward priority 0; }'; nft add rule bridge f c ip protocol udp ether saddr set 02:00:00:00:77:01",
        undo: "nft delete table bridge f",
        found: &["mac-addresses"],
        says: &["\"source-mac\"", "02:00:00:00:77:01"],
    },
];

#[test]
fn faults_that_are_planted_in_a_device_are_found() {
    let desk = Desk::new();
    for layout in ["lab:router", "lab:bridge"] {
        let _bed = desk.bed(BED, &["--bed", layout]);
        let bad = Bad::new(&desk, BED);
        let device = layout.trim_start_matches("lab:");
        for fault in PLANTED.iter().filter(|fault| fault.layout == layout) {
            let script = fault.script.replace("FORWARD ", FORWARD);
            bad.script(device, &script);
            let done = desk.run(&["forwarding", "--bed", BED, "--ip", fault.ip, "--json"]);
            bad.script(device, fault.undo);
            assert_eq!(done.status, 3, "{script}: {} {}", done.err, done.out);
            let trial = trials(&done).remove(0);
            let failed = with_outcome(&trial, "failed");
            assert!(
                fault.found.iter().all(|name| failed.iter().any(|it| it == name)),
                "{script}: {:#}",
                trial["checks"]
            );
            let first = check(&trial, fault.found[0])["fault"].to_string();
            assert!(fault.says.iter().all(|words| first.contains(words)), "{script}: {first}");
        }
    }
}

#[test]
fn frames_that_overtake_each_other_are_found() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &["--bed", "lab:router"]);
    let bad = Bad::new(&desk, BED);
    // The second of two consecutive frames on a slow path falls behind later ones.
    bad.at("a", "tc qdisc add dev lab-a root handle 1: htb default 10");
    bad.at("a", "tc class add dev lab-a parent 1: classid 1:10 htb rate 90gbit quantum 60000");
    bad.at("a", "tc class add dev lab-a parent 1: classid 1:20 htb rate 200kbit burst 20 quantum 1500");
    bad.tc("reorder", 100);
    let done = desk.run(&["forwarding", "--bed", BED, "--ip", "4", "--json"]);
    let trial = trials(&done).remove(0);
    assert!(with_outcome(&trial, "failed").contains(&"order".to_owned()), "{:#}", trial["checks"]);
    assert_eq!(check(&trial, "order")["fault"]["kind"], "out-of-order", "{:#}", trial["checks"]);
}

#[test]
fn a_smaller_link_behind_a_router_is_told_with_its_mtu() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &["--bed", "lab:router"]);
    let bad = Bad::new(&desk, BED);
    bad.at("router", "ip link set to-b mtu 1400");
    bad.at("b", "ip link set lab-b mtu 1400");
    let run = || desk.run(&["forwarding", "--bed", BED, "--json"]);
    let right = run();
    assert_eq!(right.status, 0, "{} {}", right.err, right.out);
    trials(&right).iter().for_each(|trial| assert_eq!(check(trial, "too-big")["outcome"], "passed", "{trial:#}"));

    bad.script(
        "router",
        "nft add table inet f; nft add chain inet f c '{ type filter hook output priority 0; }'; \
         nft add rule inet f c icmp code frag-needed drop; nft add rule inet f c icmpv6 type packet-too-big drop",
    );
    let silent = run();
    assert_eq!(silent.status, 3, "{} {}", silent.err, silent.out);
    for trial in trials(&silent) {
        assert_eq!(with_outcome(&trial, "failed"), ["too-big"], "{:#}", trial["checks"]);
        assert_eq!(check(&trial, "too-big")["fault"]["kind"], "unanswered");
    }
    let allowed = desk.run(&["forwarding", "--bed", BED, "--max-failed", "1"]);
    assert_eq!(allowed.status, 0, "{}", allowed.err);
    assert!(allowed.out.contains("no answer to 3 packets"), "{}", allowed.out);
}

#[test]
fn checks_that_cannot_be_are_refused_with_advice() {
    let desk = Desk::new();
    desk.run(&["forwarding", "--frames", "5"]).fails(2, &["frames = 5", "10 and 100000"]);
    desk.run(&["forwarding", "--frames", "-5"]).fails(2, &["a whole number, like 1000"]);
    desk.run(&["forwarding", "--duration", "1 s"]).fails(2, &["--duration"]);
}
