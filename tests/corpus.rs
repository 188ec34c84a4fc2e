//! All inputs that fuzzing keeps, asked as ordinary tests: what once broke stays mended.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "what fuzzes calls them from another crate")]
mod targets;

fn each_of(target: &str, ask: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let inputs: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(inputs.len() > 2, "{} holds {} inputs", folder.display(), inputs.len());
    for input in inputs {
        println!("{}", input.display());
        ask(&fs::read(input).unwrap());
    }
}

#[test]
fn frames_that_fuzzing_keeps_are_read() {
    each_of("frame", targets::frame);
}

#[test]
fn stream_files_that_fuzzing_keeps_are_read() {
    each_of("stream", targets::stream);
}

#[test]
fn files_of_goals_and_trials_that_fuzzing_keeps_are_read() {
    each_of("trials", targets::trials);
}

#[test]
fn datagrams_that_fuzzing_keeps_are_read() {
    each_of("datagram", targets::datagram);
}

#[test]
fn frames_for_sockets_that_fuzzing_keeps_are_read() {
    each_of("input", targets::input);
}

#[test]
fn captures_that_fuzzing_keeps_are_read() {
    each_of("pcap", targets::pcap);
}

#[test]
fn outputs_of_freebsd_that_fuzzing_keeps_are_read() {
    each_of("freebsd", targets::freebsd);
}

#[test]
fn heads_of_http_that_fuzzing_keeps_are_read() {
    each_of("http", targets::http);
}

#[test]
fn tables_of_firmware_that_fuzzing_keeps_are_read() {
    each_of("firmware", targets::firmware);
}

#[test]
fn profiles_that_fuzzing_keeps_are_read() {
    each_of("profile", targets::profile);
}

#[test]
fn outputs_of_other_tools_that_fuzzing_keeps_are_read() {
    each_of("import", targets::import);
}

#[test]
fn messages_that_fuzzing_keeps_are_read() {
    each_of("message", targets::message);
}

#[test]
fn plans_that_fuzzing_keeps_are_read() {
    each_of("plan", targets::plan);
}

#[test]
fn logos_that_fuzzing_keeps_are_read() {
    each_of("svg", targets::svg);
}

#[test]
fn sums_of_files_that_fuzzing_keeps_are_read() {
    each_of("sums", targets::sums);
}

#[test]
fn files_of_programs_that_fuzzing_keeps_are_read() {
    each_of("image", targets::image);
}

#[test]
fn lines_of_transfers_that_fuzzing_keeps_are_read() {
    each_of("transfer", targets::transfer);
}

#[test]
fn answers_of_irqbalance_that_fuzzing_keeps_are_read() {
    each_of("irqbalance", targets::irqbalance);
}
