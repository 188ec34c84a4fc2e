//! A bypassed program gets the results that it gets through the kernel.

mod common;
#[path = "common/wire.rs"]
mod wire;

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use common::{Echo, library, program, told};
use grant::launch::Event;
use model::bypass::{Agreement, Claim, Reason};
use wire::{ECHO, OWN, Wire};

/// Known differences: spinning programs use CPU time.
const DIFFERENT: [&str; 2] = ["calm", "crowd"];

/// A part of the program, not bypassed.
fn plain(wire: &Wire, part: &str, version: usize) -> Command {
    let mut command = wire.command(0, program());
    command.args([part, OWN[version], ECHO[version]]);
    command
}

/// The same, bypassed.
fn bypassed(wire: &Wire, part: &str, version: usize, launcher: &str, wait: &str) -> Command {
    let mut command = wire.command(0, "env");
    let load = format!("LD_PRELOAD={}", library().display());
    command.args([load, format!("WIREPROOF_BYPASS={launcher}"), format!("WIREPROOF_BYPASS_WAIT={wait}")]);
    command.arg(program()).args([part, OWN[version], ECHO[version]]);
    command
}

/// Output of a part with the bypass, and the records of its sockets.
fn past(wire: &Wire, part: &str, version: usize, wait: &str) -> (String, Vec<Claim>) {
    let (launcher, events) = wire.launcher();
    let with = told(&mut bypassed(wire, part, version, launcher.name(), wait));
    launcher.end().expect("it ends");
    let claims = events.iter().filter_map(|event| match event {
        Event::Ended(claim) => Some(claim),
        _ => None,
    });
    (with, claims.collect())
}

/// Output of a part without and with the bypass, and the records of its sockets.
fn compared(wire: &Wire, part: &str, version: usize, wait: &str) -> (String, String, Vec<Claim>) {
    let without = told(&mut plain(wire, part, version));
    let (with, claims) = past(wire, part, version, wait);
    (without, with, claims)
}

/// Differences in a part with the bypass.
fn faults(wire: &Wire, part: &str, version: usize, waits: &[&str]) -> Vec<String> {
    let without = told(&mut plain(wire, part, version));
    assert!(without.ends_with("exit status: 0\n"), "{part}: {without}");
    waits.iter().filter_map(|wait| fault(wire, part, version, wait, &without)).collect()
}

fn fault(wire: &Wire, part: &str, version: usize, wait: &str, without: &str) -> Option<String> {
    let (with, claims) = past(wire, part, version, wait);
    let sockets = || claims.iter().flat_map(|claim| &claim.sockets);
    let past: u64 = sockets().map(|socket| socket.past.received + socket.past.sent).sum();
    if without != with {
        let differs = without.lines().zip(with.lines()).find(|(without, with)| without != with);
        return Some(format!("{part}, {wait}: {differs:?}\n--- through:\n{without}\n--- past:\n{with}"));
    }
    (past == 0).then(|| format!("{part}, {wait}: nothing went past the kernel: {claims:?}"))
}

fn are_the_same(wire: &Wire, parts: &[&str], version: usize, waits: &[&str]) {
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[version]);
    let faults: Vec<String> = parts.iter().flat_map(|part| faults(wire, part, version, waits)).collect();
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), parts.len(), faults.join("\n"));
}

/// Compares each third of the parts beside the others, as they mostly wait.
fn are_the_same_in_third(third: usize) {
    let parts: Vec<&str> = common::PARTS.into_iter().filter(|part| !DIFFERENT.contains(part)).collect();
    let parts: Vec<&str> = parts.into_iter().skip(third).step_by(3).collect();
    are_the_same(&Wire::up(&format!("third{third}")), &parts, 0, &["sleep", "spin"]);
}

#[test]
fn who_waits_in_the_kernel_is_woken_when_another_thread_goes_past_it() {
    let wire = Wire::up("woken");
    are_the_same(&wire, &["woken", "alike", "naps"], 0, &["sleep", "spin", "auto"]);
}

#[test]
fn a_first_third_of_the_parts_answers_as_through_the_kernel() {
    are_the_same_in_third(0);
}

#[test]
fn a_second_third_of_the_parts_answers_as_through_the_kernel() {
    are_the_same_in_third(1);
}

#[test]
fn a_last_third_of_the_parts_answers_as_through_the_kernel() {
    are_the_same_in_third(2);
}

#[test]
fn parts_answer_as_through_the_kernel_over_ipv6() {
    let parts = ["data", "flags", "options", "control", "errors", "pointers", "polls", "epolls", "beside"];
    are_the_same(&Wire::up("six"), &parts, 1, &["auto"]);
}

#[test]
fn whoever_sleeps_does_sleep_after_others_were_cancelled() {
    are_the_same(&Wire::up("calm"), &["calm", "crowd"], 0, &["sleep"]);
}

#[test]
fn thousands_that_share_their_ports_are_taken_in_no_time() {
    let wire = Wire::up("many");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "many", 0, "auto");
    assert_eq!(without, with, "{claims:?}");
}

#[test]
fn what_a_path_takes_is_told_as_its_routes_say() {
    let wire = Wire::up("mtus");
    are_the_same(&wire, &["mtus"], 0, &["auto"]);
    are_the_same(&wire, &["mtus"], 1, &["auto"]);
}

#[test]
fn who_jumps_out_of_what_does_not_wait_is_told_of_it() {
    let wire = Wire::up("leaps");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "leaps", 0, "auto");
    assert_eq!(without, with);
    let fates: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).map(|socket| socket.fate).collect();
    assert_eq!(fates.first(), Some(&Err(Reason::Jump)), "{fates:?}");
}

#[test]
fn a_signal_stack_that_is_gone_after_a_jump_is_not_read() {
    let wire = Wire::up("stacks");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "unmapped", 0, "auto");
    assert_eq!(without, with);
    let fates: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).map(|socket| socket.fate).collect();
    assert_eq!(fates.first(), Some(&Err(Reason::Jump)), "{fates:?}");
}

#[test]
fn calls_by_number_go_past_the_kernel_too() {
    let wire = Wire::up("number");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "by_syscall", 0, "auto");
    assert_eq!(without, with);
    let through: Vec<[u64; 2]> = claims
        .iter()
        .flat_map(|claim| &claim.sockets)
        .map(|socket| [socket.through.sent, socket.through.received])
        .collect();
    // First datagrams that confirm the neighbour, or bind a socket.
    assert!(through.iter().all(|[sent, received]| *sent <= 1 && *received <= 1), "{through:?}, {claims:#?}");
}

#[test]
fn nobody_sleeps_beside_what_is_ready_and_nothing_is_left_by_who_takes_all() {
    let wire = Wire::up("ready");
    are_the_same(&wire, &["rearmed", "turns", "drained", "reopened"], 0, &["sleep", "auto"]);
}

#[test]
fn who_was_refused_goes_past_the_kernel_once_it_can() {
    let wire = Wire::up("refused");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "refused", 0, "sleep");
    assert_eq!(without, with);
    let past: Vec<u64> =
        claims.iter().map(|claim| claim.sockets.iter().map(|socket| socket.past.received).sum()).collect();
    assert!(
        past.len() == 2 && past[1] >= 4,
        "received past the kernel by those who had a claim: {past:?}, {claims:#?}"
    );
}

#[test]
fn who_gave_up_peer_and_port_goes_past_the_kernel_again() {
    let wire = Wire::up("unbound");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "unbound", 0, "auto");
    assert_eq!(without, with);
    let sockets: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).collect();
    let [socket] = &sockets[..] else { panic!("one: {sockets:?}") };
    assert_eq!(socket.fate, Ok(()));
    let [past, through] = [socket.past, socket.through].map(|counted| (counted.sent, counted.received));
    assert!(past.1 >= 20 && past.0 + through.0 == past.1 + through.1, "{past:?}, {through:?}");
}

#[test]
fn what_several_that_were_forked_receive_on_is_the_kernels() {
    let wire = Wire::up("prefork");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, _) = compared(&wire, "preforked", 0, "auto");
    assert_eq!(without, "the others got nearly all\nexit status: 0\n");
    assert_eq!(without, with);
    // One is forked later.
    let (without, with, claims) = compared(&wire, "hired", 0, "auto");
    assert_eq!(without, with);
    let sockets: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).collect();
    let [socket] = &sockets[..] else { panic!("one: {sockets:?}") };
    assert!(socket.fate == Err(Reason::Inherited) && socket.past.received > 10, "{socket:?}");
}

#[test]
fn what_a_daemon_has_from_its_parent_goes_past_the_kernel() {
    let wire = Wire::up("daemon");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (without, with, claims) = compared(&wire, "daemons", 0, "auto");
    assert_eq!(without, with);
    let sockets: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).collect();
    let [socket] = &sockets[..] else { panic!("one: {sockets:?}") };
    assert!(socket.fate.is_ok() && socket.past.received > socket.through.received, "{socket:?}");
}

#[test]
fn a_bad_pointer_is_refused_as_the_kernel_does() {
    are_the_same(&Wire::up("bad"), &["pointers"], 0, &["auto"]);
}

#[test]
fn memory_that_another_thread_unmaps_is_refused_as_the_kernel_does() {
    are_the_same(&Wire::up("vanish"), &["vanishes"], 0, &["sleep", "spin", "auto"]);
}

#[test]
fn a_client_that_asks_once_goes_past_the_kernel() {
    let wire = Wire::up("once");
    for (version, address) in ECHO.into_iter().enumerate() {
        let _echo = Echo::by(&mut wire.command(1, program()), address);
        let (without, with, claims) = compared(&wire, "once", version, "auto");
        assert_eq!(without, with);
        let sockets: Vec<_> = claims.iter().flat_map(|claim| &claim.sockets).collect();
        let [socket] = &sockets[..] else { panic!("one: {sockets:?}") };
        assert_eq!((socket.past.sent, socket.past.received), (1, 1), "{socket:?}");
    }
}

#[test]
fn what_waits_at_a_fork_is_shared_by_parent_and_child() {
    let wire = Wire::up("handed");
    are_the_same(&wire, &["handed"], 0, &["auto"]);
    are_the_same(&wire, &["handed"], 1, &["sleep"]);
}

#[test]
fn what_waits_when_a_program_becomes_another_is_for_that_one() {
    let wire = Wire::up("replaced");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[1]);
    let (without, with, claims) = compared(&wire, "replaced", 1, "auto");
    assert_eq!(without, with);
    let counted = |claim: &Claim| (claim.witnessed.handed_back, claim.sockets[0].dropped, claim.agreement());
    assert_eq!(claims.iter().map(counted).collect::<Vec<_>>(), [(4, 0, Agreement::Agree), (0, 0, Agreement::Agree)]);
}

#[test]
fn who_sleeps_gives_the_queues_up_when_its_launcher_ends() {
    let wire = Wire::up("given");
    let _echo = Echo::by(&mut wire.command(1, program()), ECHO[0]);
    let (launcher, _events) = wire.launcher();
    let mut sleeper =
        bypassed(&wire, "sleeps", 0, launcher.name(), "sleep").stdout(Stdio::null()).spawn().expect("it is executable");
    thread::sleep(Duration::from_millis(1500));
    assert!(launcher.is_held());
    launcher.end().expect("it ends");
    thread::sleep(Duration::from_millis(500));
    let faults = faults(&wire, "copies", 0, &["sleep"]);
    assert!(sleeper.try_wait().expect("it is ours").is_none(), "it slept meanwhile");
    assert!(sleeper.wait().expect("it is ours").success());
    assert!(faults.is_empty(), "{faults:?}");
}
