//! Cables between ports, detected by frames.

use std::process::Command;

use crate::program::{Desk, done};

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
    let inner = desk.command(&["doctor", "--cabling"]);
    let mut command = Command::new("ip");
    command.args(["netns", "exec", Host::NAME]).arg(inner.get_program()).args(inner.get_args());
    let said = done(command.output().unwrap());
    assert_eq!(said.status, 0, "{}", said.err);
    for line in [
        "p1: speed not known, cabled to p2",
        "p4: speed not known, cabled to p3",
        "used: left alone; in use (198.18.9.1/24)",
    ] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    assert!(said.out.contains("198.18.9.1/24"), "{}", said.out);
    assert_eq!(host.links(), before);
}
