//! Wrong arguments, plans and places: one paragraph with advice, and an unchanged machine.

use std::fs;

use crate::{
    machine::Snapshot,
    program::{Desk, SMALL, text},
};

#[test]
fn wrong_words_end_with_status_two_and_say_what_is_right() {
    let desk = Desk::new();
    for (words, says) in [
        (vec!["verfy"], "verify"),
        (vec!["latency", "--protocol", "sctp"], "use udp or tcp"),
        (vec!["latency", "--ip", "5"], "use 4 or 6"),
        (vec!["latency", "--count", "0"], "a whole number, 1 or more"),
        (vec!["latency", "--count", "many"], "a whole number, 1 or more"),
        (vec!["latency", "--rate", "0"], "sends nothing"),
        (vec!["transfer", "--size", "0"], "between 1 B and"),
        (vec!["goodput", "--duration", "10"], "has no unit"),
        (vec!["goodput", "--duration", "10 parsecs"], "unknown unit"),
        (vec!["goodput", "--duration", "100 ms"], "too short"),
        (vec!["goodput", "--streams", "0"], "a whole number from 1 to 128"),
        (vec!["goodput", "--mtus", "1500,9k"], "a whole number, like 1500"),
        (vec!["transactions", "--connections", "-5"], "a whole number, like 100"),
        (vec!["goodput", "--repeats", "-1"], "a whole number from 1 to 10000"),
        (vec!["verify", "--set", "repeats=4294967295", "--dry-run"], "10000 at the most"),
        (vec!["verify", "/dev/zero"], "at most 1 MiB"),
        (vec!["goodput", "--mtu", "80", "--dry-run"], "MTU of 88 or more"),
        (vec!["latency", "--cpus", "1"], "like 0,1"),
        (vec!["latency", "--bed", "lab:nowhere"], "this version has no bed"),
        (vec!["latency", "--bed", "ports:eth1,eth1"], "names one port twice"),
        (vec!["latency", "--set", "latency.cuont=3"], "did you mean count?"),
        (vec!["latency", "--mode", "spinn"], "did you mean spin?"),
        (vec!["latency", "--bed", "lab:brige"], "did you mean lab:bridge?"),
        (vec!["latency", "--set", "nonsense"], "KEY=VALUE"),
        (vec!["verify", "no-such-plan"], "soak, qos, dut, rfc2544, latency"),
        (vec!["verify", "cerify"], "did you mean certify?"),
        (vec!["goodput", "--set", "goodput.duration=10"], "write it like \"10 s\""),
        (vec!["bed", "up", "Bad_Name"], "cannot name a bed"),
        (vec!["bed", "up", "good", "--bed", "lab:senders=2"], "measure with --bed lab:senders=2"),
        (vec!["verify", "--lang", "de"], "use en or ja"),
        (vec!["bypass", "nc", "-lu", "7000"], "bypass -- nc -lu 7000"),
    ] {
        desk.run(&words).fails(2, &[says]);
    }
}

#[test]
fn wrong_plans_are_explained_by_line_and_column() {
    let desk = Desk::new();
    let verify = |toml: &[u8]| desk.run(&["verify", text(&desk.plan(toml))]);
    let with = |from: &str, to: &str| SMALL.replacen(from, to, 1);
    verify(b"name = \"\xff\"").fails(2, &["line 1", "UTF-8"]);
    verify(with("protocol", "protocl").as_bytes()).fails(2, &["line 5, column 1", "protocl", "expected one of"]);
    verify(with("\"1 s\"", "\"1 Gbit/s\"").as_bytes()).fails(2, &["unknown unit \"Gbit/s\"", "10 s"]);
    verify(with("count = 2000", "count = 0").as_bytes())
        .fails(2, &["line 7", "a whole number from 1: write it like 6"]);
    verify(with("[64, 1518]", "[]").as_bytes()).fails(2, &["[[latency]] number 1", "frame_sizes is empty"]);
    verify(with("\"small\"", "\"a\\u001b[31mb\"").as_bytes()).fails(2, &["no control characters"]);
    verify(b"").fails(2, &["missing field `name`"]);
}

#[test]
fn what_the_bed_cannot_have_is_said_before_anything_is_measured() {
    let desk = Desk::new();
    let before = Snapshot::take();
    desk.run(&["latency", "--frame-sizes", "60"]).fails(2, &["too small", "64 bytes"]);
    desk.run(&["latency", "--frame-sizes", "1519"]).fails(2, &["does not fit MTU 1500", "1518 bytes"]);
    desk.run(&["goodput", "--protocol", "udp", "--datagram", "1473"]).fails(2, &["fragments", "1472 bytes fit"]);
    desk.run(&["goodput", "--mtus", "1000"]).fails(2, &["takes IPv6 addresses away under an MTU of 1280"]);
    desk.run(&["goodput", "--rate", "1 Gbit/s"]).fails(2, &["rate is for datagrams"]);
    desk.run(&["goodput", "--congestion", "nosuch"]).fails(2, &["\"nosuch\"", "cubic"]);
    desk.run(&["goodput", "--protocol", "udp", "--rate", "0 bit/s"]).fails(2, &["sends nothing"]);
    desk.run(&["goodput", "--protocol", "udp", "--rate", "1 bit/s"]).fails(2, &["not every stream would send"]);
    desk.run(&["goodput", "--protocol", "udp", "--rate", "9 Tbit/s"]).fails(2, &["which no clock could pace"]);
    desk.run(&["latency", "--rate", "0 pps"]).fails(2, &["sends nothing"]);
    desk.run(&["latency", "--rate", "101 Mpps"]).fails(2, &["than any clock could pace"]);
    desk.run(&["latency", "--wrap", "no-such-wrapper"]).fails(2, &["no program \"no-such-wrapper\""]);
    desk.run(&["latency", "--rate", "1 kpps", "--stamps"]).fails(2, &["take either them or the rate away"]);
    desk.run(&["latency", "--count", "5", "--duration", "1 s"]).fails(2, &["write only one of them"]);
    desk.run(&["latency", "--ip", "6", "--mtu", "1000", "--frame-sizes", "128"]).fails(2, &["no IPv6 address"]);
    desk.run(&["latency", "--mtu", "20"]).fails(2, &["MTU from 68"]);
    desk.run(&["latency", "--dry-run", "--frame-sizes", "9018"]).fails(2, &["does not fit MTU 1500"]);
    desk.run(&["latency", "--cpus", "0,4095"]).fails(2, &["core 4095 cannot be used"]);
    desk.run(&["latency", "--cpus", "0,4095", "--dry-run"]).fails(2, &["core 4095 cannot be used"]);
    desk.run(&["latency", "--bed", "nowhere"]).fails(1, &["no bed \"nowhere\"", "bed up"]);
    assert!(desk.runs().is_empty());
    before.assert_same();
}

#[test]
fn a_store_that_cannot_be_used_is_explained_before_anything_is_measured() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let store = desk.path("runs.db");
    fs::write(&store, "this is not a database, it only looks like a file").unwrap();
    desk.run(&["latency"]).fails(1, &["runs.db", "--store"]);
    assert_eq!(fs::read_to_string(&store).unwrap().len(), 49, "somebody's file is not touched");
    fs::remove_file(&store).unwrap();

    assert_eq!(desk.run(&["latency", "--count", "100", "--repeats", "1"]).status, 0);
    // SQLite keeps the schema's version at byte 60 of its file, big-endian (sqlite.org, file format, 1.3).
    let mut bytes = fs::read(&store).unwrap();
    bytes[60..64].copy_from_slice(&999_u32.to_be_bytes());
    fs::write(&store, bytes).unwrap();
    desk.run(&["latency"]).fails(1, &["newer", "--store"]);
    before.assert_same();
}

#[test]
fn reports_of_runs_that_are_not_there_are_refused() {
    let desk = Desk::new();
    desk.run(&["report", "last"]).fails(1, &["there is no store", "wireproof verify"]);
}
