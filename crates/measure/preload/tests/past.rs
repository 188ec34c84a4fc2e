//! Past the kernel, a program must get the answers that it gets through it.

mod common;
#[path = "common/wire.rs"]
mod wire;

use std::process::Command;

use common::{Echo, library, program, told};
use stack::launch::{Claim, Event};
use wire::{ECHO, OWN, Wire};

/// One part of the program, as it is.
fn plain(wire: &Wire, part: &str, version: usize) -> Command {
    let mut command = wire.command(0, program());
    command.args([part, OWN[version], ECHO[version]]);
    command
}

/// The same past the kernel.
fn bypassed(wire: &Wire, part: &str, version: usize, launcher: &str, wait: &str) -> Command {
    let mut command = wire.command(0, "env");
    let load = format!("LD_PRELOAD={}", library().display());
    command.args([load, format!("WIREPROOF_BYPASS={launcher}"), format!("WIREPROOF_BYPASS_WAIT={wait}")]);
    command.arg(program()).args([part, OWN[version], ECHO[version]]);
    command
}

/// What a part says without and with, and what became of its sockets.
fn compared(wire: &Wire, part: &str, version: usize, wait: &str) -> (String, String, Vec<Claim>) {
    let without = told(&mut plain(wire, part, version));
    let (launcher, events) = wire.launcher();
    let with = told(&mut bypassed(wire, part, version, launcher.name(), wait));
    launcher.end().expect("it ends");
    let claims = events.iter().filter_map(|event| match event {
        Event::Ended(claim) => Some(claim),
        _ => None,
    });
    (without, with, claims.collect())
}

#[track_caller]
fn is_the_same(wire: &Wire, part: &str, version: usize, wait: &str) {
    let (without, with, claims) = compared(wire, part, version, wait);
    let differs = without.lines().zip(with.lines()).find(|(without, with)| without != with);
    assert!(without.ends_with("exit status: 0\n"), "{part}: {without}");
    assert!(without == with, "{part}, {wait}: {differs:?}\n--- through:\n{without}\n--- past:\n{with}");
    let past: u64 =
        claims.iter().flat_map(|claim| &claim.sockets).map(|socket| socket.past.received.min(socket.past.sent)).sum();
    assert!(past > 0, "{part}, {wait}: nothing went past the kernel: {claims:?}");
}

fn every_part(wait: &str) {
    let wire = Wire::up(wait);
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    for part in common::PARTS.iter().filter(|part| **part != "pointers") {
        is_the_same(&wire, part, 0, wait);
    }
}

#[test]
fn every_part_answers_as_through_the_kernel_asleep() {
    every_part("sleep");
}

#[test]
fn every_part_answers_as_through_the_kernel_awake() {
    every_part("spin");
}

#[test]
fn parts_answer_as_through_the_kernel_over_ipv6() {
    let wire = Wire::up("six");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[1]);
    for part in ["data", "flags", "options", "control", "errors", "polls", "epolls"] {
        is_the_same(&wire, part, 1, "auto");
    }
}
