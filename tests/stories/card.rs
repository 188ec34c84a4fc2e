//! Health of a card: two virtual ports are none, and a fault is found all the same.

use std::fs;

use crate::{planted::Bad, program::Desk};

const BED: &str = "ports";

const SHORT: [&str; 6] = ["--set", "repeats=1", "--set", "goodput.duration=1 s", "--set", "packets.duration=1 s"];

#[test]
fn virtual_ports_leave_the_question_open_and_small_frames_answer_it() {
    let desk = Desk::new();
    let _bed = desk.bed(BED, &[]);
    let verify = |status: i32, more: &[&str]| {
        let done = desk.run(&[&["verify", "card", "--bed", BED], &SHORT[..], more].concat());
        assert_eq!(done.status, status, "{}", done.err);
        done
    };
    let out = desk.path("report");
    let told = verify(4, &["--out", out.to_str().unwrap(), "--format", "html,md"]).out;
    assert!(told.contains("Not decided. ") && told.contains("b: virtual port. Use --bed ports:IF1,IF2"), "{told}");
    assert!(told.contains("MTU 9000: packets up to 9000 B pass"), "{told}");
    let page = fs::read_to_string(out.join("report.md")).unwrap();
    assert!(page.contains("Not decided") && page.contains("Checks of the card"), "{page}");
    let row = |words: &str| page.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}: {page}"));
    assert!(!row("TCP forward, MTU 1500").contains("MTU 9000"), "a row for each check: {page}");
    assert!(row("TCP reverse, MTU 9000").ends_with("| as above |"), "an advice is said once: {page}");

    // A port that says 9000 and carries less, like a switch between without jumbo frames.
    let bad = Bad::new(&desk, BED);
    bad.at("b", "nft add table netdev f");
    bad.at("b", "nft add chain netdev f i { type filter hook ingress device lab-b priority 0 ; policy accept ; }");
    bad.at("b", "nft add rule netdev f i ip length 2000-9000 ip protocol udp drop");
    // Trials with frames that do not pass are not run; what is not fine counts for more.
    let found = verify(3, &["--json"]).json();
    assert_eq!(found["card"]["health"], "not-fine", "{}", found["card"]);
    let checks = found["card"]["checks"].as_array().unwrap();
    let bad: Vec<_> = checks.iter().filter(|check| check["health"] == "not-fine").collect();
    assert!(bad.iter().all(|check| check["kind"] == "mtu" && check["mtu"] == 9000), "{bad:?}");
    assert_eq!(bad.len(), 1, "{bad:?}");
}
