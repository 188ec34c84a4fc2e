//! Two hosts without a common wire: a switch or a router is between them.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    other_host::{NEAR, OtherHost, WIRE},
    program::{Desk, Done, done},
};

/// The namespace between them.
const MIDDLE: &str = "wptest-middle";

struct Story {
    before: Snapshot,
    state: Vec<String>,
    host: OtherHost,
    desk: Desk,
}

impl Story {
    /// The hosts' wire is cut, and both ends go to a machine in the middle: port1 faces the first host.
    fn new() -> Self {
        let desk = Desk::new();
        let host = OtherHost::with_tmp("size=1g");
        ip(&format!("netns add {MIDDLE}"));
        ip(&format!("-n {NEAR} link del wire-n"));
        for (port, name, namespace) in [("port1", "wire-n", NEAR), ("port2", "wire-f", "wptest-far-host")] {
            ip(&format!("link add {name} netns {namespace} type veth peer name {port} netns {MIDDLE}"));
            ip(&format!("-n {namespace} link set {name} up"));
            ip(&format!("-n {MIDDLE} link set {port} up"));
        }
        let mut story = Self { before: Snapshot::take(), state: vec![], host, desk };
        story.state = story.settled(&[]);
        story
    }

    /// Addresses, routes and MTUs of both hosts, once the kernel has added its own addresses; the expected ones if they
    /// come within a while.
    fn settled(&self, expected: &[String]) -> Vec<String> {
        let looks = |namespace: &str| {
            let look = |words: &str| {
                let words = format!("-n {namespace} {words}");
                done(Command::new("ip").args(words.split(' ')).output().unwrap()).out
            };
            look("-o address") + &look("-o link") + &look("route show table all") + &look("-6 route show table all")
        };
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let seen = looks(NEAR) + &looks("wptest-far-host");
            let mut lines: Vec<String> = seen.lines().map(str::to_owned).collect();
            lines.sort();
            let is_settled = !seen.contains("tentative") && seen.matches("inet6 fe80::").count() == 4;
            if is_settled && (expected.is_empty() || lines == expected) || Instant::now() > until {
                return lines;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn middle(&self, line: &str) {
        let done = done(Command::new("ip").args(["netns", "exec", MIDDLE]).args(line.split(' ')).output().unwrap());
        assert_eq!(done.status, 0, "{line}: {}", done.err);
    }

    fn start(&self, words: &[&str], query: &str) -> Child {
        let ssh = self.host.ssh();
        let words = [words, &["--ssh", &ssh]].concat();
        self.host.command(&self.desk, &words, "root", query).stdin(Stdio::null()).spawn().unwrap()
    }

    fn run(&self, words: &[&str], query: &str) -> Done {
        done(self.start(words, query).wait_with_output().unwrap())
    }

    fn assert_same(&self) {
        assert_eq!(self.settled(&self.state), self.state, "the hosts are not as they were");
        self.before.assert_same();
    }
}

impl Drop for Story {
    fn drop(&mut self) {
        // The failure of a story says more than this could.
        let _ = Command::new("ip").args(["netns", "del", MIDDLE]).status();
    }
}

fn ip(words: &str) {
    let done = done(Command::new("ip").args(words.split(' ')).output().unwrap());
    assert_eq!(done.status, 0, "ip {words}: {}", done.err);
}

/// A short measurement.
const LOOK: [&str; 8] = ["latency", "--count", "200", "--repeats", "1", "--frame-sizes", "128", "--json"];

#[test]
fn a_router_between_two_hosts_is_configured_as_it_is_said_and_the_hosts_are_given_back() {
    let story = Story::new();
    let bed = "dev=wire-f&near-dev=wire-n,routed";
    let dry = story.run(&[&LOOK[..], &["--dry-run"]].concat(), bed);
    assert_eq!(dry.status, 0, "{}", dry.err);
    let dry = dry.json();
    let changes = dry["changes"].to_string();
    assert!(changes.contains("far-host: route to 198.18.0.0/24 via 198.19.0.1 at wire-f"), "{changes}");
    story.assert_same();

    story.run(&LOOK, bed).fails(1, &["does not forward", "no device has 198.18.0.1"]);
    story.assert_same();
    for line in dry["dut_commands"].as_array().unwrap() {
        story.middle(line.as_str().unwrap().split('#').next().unwrap().trim().replace("PORT", "port").as_str());
    }
    for version in ["4", "6"] {
        let measured = story.run(&[&LOOK[..], &["--ip", version]].concat(), bed);
        assert_eq!(measured.status, 0, "{}", measured.err);
        let bed = &measured.json()["bed"];
        assert_eq!(bed["endpoints"][0]["addresses"], serde_json::json!(["198.18.0.2", "2001:2::2"]));
        assert_eq!(bed["endpoints"][1]["addresses"], serde_json::json!(["198.19.0.2", "2001:2:0:1::2"]));
        story.assert_same();
    }

    // An existing route to the same network stays, whether it is equal or not.
    story.host.set("ip addr add 198.19.0.2/24 dev wire-f");
    story.host.set("ip route add 198.18.0.0/24 via 198.19.0.1 dev wire-f");
    let own = story.settled(&[]);
    let measured = story.run(&LOOK, "dev=wire-f&near-dev=wire-n,via=198.18.0.1/24,198.19.0.1/24");
    assert_eq!(measured.status, 0, "{}", measured.err);
    let mut after = story.settled(&own);
    after.retain(|line| own.contains(line));
    assert_eq!(after, own);
}

#[test]
fn an_mtu_that_the_path_between_two_hosts_refuses_is_told_and_both_are_given_back() {
    let story = Story::new();
    // A switch that only forwards standard frame sizes.
    for line in
        ["link add br0 type bridge", "link set port1 master br0", "link set port2 master br0", "link set br0 up"]
    {
        story.middle(&format!("ip {line}"));
    }
    let bed = format!("{WIRE}&near-dev=wire-n&near-addr=198.18.101.1/24");
    let plan = story.desk.plan(
        "name = \"mtus\"\n[[goodput]]\nprotocol = \"udp\"\nrate = \"10 Mbit/s\"\nduration = \"1 s\"\nmtus = [1500, 9000]\n",
    );
    let run = story.run(&["verify", plan.to_str().unwrap(), "--json"], &bed);
    assert_eq!(run.status, 4, "{}", run.err);
    let document = run.json();
    let shown = |trial: &Value| match trial["probe"].as_str().unwrap() {
        "path" => (trial["mtu_set"].clone(), trial["mtu"]["forward"].clone(), trial["mtu"]["reverse"].clone()),
        _ => (trial["mtu"].clone(), Value::Null, Value::Null),
    };
    let trials: Vec<_> = document["trials"].as_array().unwrap().iter().map(shown).collect();
    let path = |set: u32| (set.into(), 1500.into(), 1500.into());
    assert_eq!(trials, [path(1500), (1500.into(), Value::Null, Value::Null), path(9000)], "nothing is sent at 9000");
    let doubts = document["run"]["doubts"].to_string();
    assert!(doubts.contains("mtu-disproved") && doubts.contains("MTU 9000 over IPv4"), "{doubts}");
    story.assert_same();
}

#[test]
fn an_mtu_that_an_interface_of_a_host_refuses_is_told_and_both_are_given_back() {
    let story = Story::new();
    // An interface limited by the one below it, although its driver would accept more.
    story.host.set("ip link add narrow link wire-f type macvlan mode bridge");
    story.host.set("ip link set narrow up");
    let before = Snapshot::take();
    let bed = "dev=narrow&addr=198.18.101.2/24&near-dev=wire-n&near-addr=198.18.101.1/24";
    story
        .run(&[&LOOK[..], &["--mtu", "9000"]].concat(), bed)
        .fails(1, &["cannot set up the bed", "root@198.18.100.2", "MTU 9000", "narrow", "has been undone"]);
    before.assert_same();
    assert!(!story.host.prints(&["ip", "-o", "addr"]).contains("198.18.101.2"));
    let near = done(Command::new("ip").args(["-n", NEAR, "-o", "addr", "show", "wire-n"]).output().unwrap()).out;
    let link = done(Command::new("ip").args(["-n", NEAR, "-o", "link", "show", "wire-n"]).output().unwrap()).out;
    assert!(!near.contains("198.18.101.1/") && link.contains("mtu 1500"), "{near}{link}");

    let small = format!("{WIRE}&near-dev=wire-n&near-addr=198.18.101.1/24&near-addr=2001:2::1/64");
    story.run(&[&LOOK[..], &["--mtu", "1000"]].concat(), &small).fails(1, &["--mtu 1000", "2001:2::1", "1280 or more"]);
}
