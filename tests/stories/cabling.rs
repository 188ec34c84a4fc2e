//! Cables between ports, detected by frames.

use std::{collections::BTreeSet, process::Command};

use serde_json::Value;

use crate::{
    program::{Desk, done},
    schemas::Schemas,
};

/// A network namespace that stands for a machine with its own ports.
struct Host;

impl Host {
    const NAME: &str = "wptest-cabled";

    fn new() -> Self {
        ip(&["netns", "add", Self::NAME]);
        Self
    }

    fn ip(&self, words: &str) {
        ip(&[&["-n", Self::NAME], words.split(' ').collect::<Vec<_>>().as_slice()].concat());
    }

    fn links(&self) -> String {
        let output = Command::new("ip").args(["-n", Self::NAME, "-o", "addr"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        ip(&["netns", "del", Self::NAME]);
    }
}

fn ip(words: &[&str]) {
    assert!(Command::new("ip").args(words).status().unwrap().success(), "ip {words:?}");
}

#[test]
fn doctor_says_which_idle_ports_are_cabled_together_and_leaves_them_as_they_were() {
    let (desk, host) = (Desk::new(), Host::new());
    for (a, b) in [("p1", "p2"), ("p3", "p4"), ("used", "peer")] {
        host.ip(&format!("link add {a} type veth peer name {b}"));
    }
    host.ip("addr add 198.18.9.1/24 dev used");
    let before = host.links();
    let ask = |words: &[&str]| {
        let inner = desk.command(words);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", Host::NAME]).arg(inner.get_program()).args(inner.get_args());
        let said = done(command.output().unwrap());
        assert_eq!(said.status, 0, "{}", said.err);
        said
    };
    let said = ask(&["doctor", "--cabling"]);
    for [a, b] in [["p1", "p2"], ["p3", "p4"]] {
        let line = |a, b| said.out.matches(&format!("{a} and {b}: cabled together, speed not known")).count();
        assert_eq!(line(a, b) + line(b, a), 1, "{}", said.out);
    }
    assert!(said.out.contains("used: left alone; in use (198.18.9.1/24)"), "{}", said.out);
    let document = ask(&["doctor", "--cabling", "--json"]).json();
    Schemas::of(&desk).holds("doctor", &document);
    let findings: Vec<_> = document["checks"].as_array().unwrap().iter().map(|check| &check["finding"]).collect();
    let pair = |found: &Value| -> BTreeSet<String> { serde_json::from_value(found["ports"].clone()).unwrap() };
    let mut pairs: Vec<_> = findings.iter().filter(|it| it["kind"] == "cable").map(|it| pair(it)).collect();
    pairs.sort();
    assert_eq!(pairs, [["p1", "p2"], ["p3", "p4"]].map(|pair| pair.map(str::to_owned).into()), "each pair once");
    assert!(findings.iter().any(|it| it["kind"] == "left-alone" && it["port"] == "used"), "{document:#}");
    assert_eq!(host.links(), before);
}
