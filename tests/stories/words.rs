//! Documentation that the program prints of itself: help, man pages, completions, schema.

use std::time::Instant;

use crate::program::Desk;

#[test]
fn completions_man_pages_and_schema_are_there() {
    let desk = Desk::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.run(&["completions", shell]).out.contains("wireproof"));
    }
    let man = desk.path("man");
    assert_eq!(desk.run(&["man", man.to_str().unwrap()]).status, 0);
    let page = std::fs::read_to_string(man.join("wireproof-latency.1")).unwrap();
    assert!(page.contains("frame\\-sizes"), "{page}");
    assert_eq!(desk.run(&["schema"]).json()["title"], "Document");
}

#[test]
fn help_names_every_command_a_user_needs() {
    let desk = Desk::new();
    let help = desk.run(&["--help"]).out;
    let words = "verify latency goodput bed bypass runs report compare baseline inspect doctor watch clean schema completions man";
    for command in words.split(' ') {
        assert!(help.contains(&format!("\n  {command} ")), "{command}: {help}");
    }
    let path = desk.run(&["path", "--help"]).out;
    assert!(path.contains("--mtus") && !path.contains("--streams") && !path.contains("--count"), "{path}");
    assert!(help.contains("\n  resume "), "{help}");
    assert!(!help.contains("agent"), "what users do not start is not shown: {help}");
}

#[test]
fn the_doctor_looks_the_machine_over() {
    let desk = Desk::new();
    let begun = Instant::now();
    let doctor = desk.run(&["doctor", "--json"]);
    assert_eq!(doctor.status, 0, "{}", doctor.err);
    let checks = doctor.json()["checks"].as_array().unwrap().clone();
    for name in ["store", "user", "kernel", "cores", "clock", "lab-bed"] {
        assert!(checks.iter().any(|check| check["check"] == name), "{name}: {checks:?}");
    }
    let engines: Vec<_> =
        checks.iter().filter(|check| check["check"] == "engine").map(|check| &check["finding"]).collect();
    for (engine, found) in ["live", "xsk", "af_packet", "udp"].iter().zip(&engines) {
        assert_eq!((&found["kind"], &found["engine"]), (&"engine-tried".into(), &(*engine).into()), "{engines:?}");
        assert!(found["sent"] == found["received"] && found["sent"].as_u64() > Some(0), "{engines:?}");
    }
    assert!(engines.len() == 5 && engines[4]["engine"] == "pktgen", "{engines:?}");
    assert!(begun.elapsed().as_secs() < 30);
}
