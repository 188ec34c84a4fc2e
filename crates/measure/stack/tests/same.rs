//! The same calls have the same results on a kernel socket and on a bypassed one. Needs root, and fails without.
#![allow(unsafe_code, reason = "the calls of a program, as libc has them")]

#[path = "same/cases.rs"]
mod cases;
#[path = "same/ends.rs"]
mod ends;
#[path = "same/paths.rs"]
mod paths;
#[path = "same/ports.rs"]
mod ports;
#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

use cases::{CASES, Case};
use ends::{Ends, Near, Version, address};
use grant::{Control, Grant};
use model::bypass::Wait;
use wire::{PORT, Wire};
use wireproof_stack::Stack;

/// All cases over one version, first with the kernel's socket, then with a bypassed one.
fn all_are_the_same(test: &str, version: Version) {
    let wire = Wire::up(test);
    address(&wire);
    are_the_same(&wire, version, &CASES);
}

fn are_the_same(wire: &Wire, version: Version, cases: &[Case]) {
    let run = |stack: Option<&Stack>| -> Vec<Vec<String>> {
        cases.iter().map(|case| Ends::open(wire, version, case.connected, stack).run(case.script)).collect()
    };
    let plain = wire.at_a(|| run(None));
    let (_attachment, grant) = wire.at_a(|| Grant::make(&[PORT.to_owned()])).expect("veth has native XDP");
    let page = Control::open(grant.control.file().expect("made here").try_clone_to_owned().expect("dup"))
        .expect("the same page");
    let stack = wire.at_a(|| Stack::new(grant, Wait::Auto)).expect("descriptors");
    let past = wire.at_a(|| run(Some(&stack)));
    let records = page.records();
    for (((case, plain), past), record) in cases.iter().zip(plain).zip(past).zip(&records) {
        assert_eq!(plain, past, "{}", case.name);
        assert_eq!(record.fate, Ok(()), "{}", case.name);
        let [sent, received] = [record.past.sent, record.past.received].map(|count| count > 0);
        assert_eq!((sent, received), (case.sends_past, case.receives_past), "{}: {record:?}", case.name);
    }
    assert!(records.len() >= cases.len());
}

#[test]
fn calls_on_sockets_of_ipv4_have_the_same_results() {
    all_are_the_same("v4", Version::V4);
}

#[test]
fn calls_on_sockets_of_ipv6_have_the_same_results() {
    all_are_the_same("v6", Version::V6);
}

#[test]
fn calls_on_sockets_of_ipv6_that_hear_ipv4_have_the_same_results() {
    all_are_the_same("both", Version::Both);
}

#[test]
fn packets_are_cut_and_may_be_cut_as_the_kernel_does() {
    for (test, version, by) in [
        ("path4", Version::V4, "mtu"),
        ("path6", Version::V6, "mtu"),
        ("pathb", Version::Both, "mtu"),
        ("lock4", Version::V4, "mtu lock"),
        ("lock6", Version::V6, "mtu lock"),
    ] {
        let wire = Wire::up(test);
        address(&wire);
        paths::narrow(&wire, by);
        are_the_same(&wire, version, &paths::CASES);
    }
}

#[test]
fn of_several_sockets_on_a_port_the_same_ones_hear() {
    let wire = Wire::up("ports");
    address(&wire);
    let far = ports::far(&wire);
    let run = |stack: Option<&Stack>| -> Vec<String> {
        (0..400).map(|seed| ports::heard(&wire, &far, seed, stack)).collect()
    };
    let plain = wire.at_a(|| run(None));
    let (_attachment, grant) = wire.at_a(|| Grant::make(&[PORT.to_owned()])).expect("veth has native XDP");
    let stack = wire.at_a(|| Stack::new(grant, Wait::Auto)).expect("descriptors");
    let past = wire.at_a(|| run(Some(&stack)));
    let differ: Vec<_> = plain.iter().zip(&past).filter(|(plain, past)| plain != past).collect();
    assert!(differ.is_empty(), "{} differ: {differ:#?}", differ.len());
}

#[test]
fn a_socket_that_was_not_opened_is_the_kernels() {
    let wire = Wire::up("none");
    address(&wire);
    let (_attachment, grant) = wire.at_a(|| Grant::make(&[PORT.to_owned()])).expect("veth has native XDP");
    let stack = wire.at_a(|| Stack::new(grant, Wait::Auto)).expect("descriptors");
    let ends = wire.at_a(|| Ends::open(&wire, Version::V4, true, Some(&stack)));
    let Near::Past { id, .. } = ends.near else { panic!("it goes past") };
    stack.close(id);
    stack.close(id);
    assert_eq!(ends.near.raw_send(b"x"), None, "by the kernel");
    assert_eq!(ends.near.raw_receive(libc::MSG_DONTWAIT), None, "by the kernel");
}
