//! Kept beds.

use std::{fs, path::Path, process::Command};

use crate::{
    machine::Snapshot,
    program::{Desk, SMALL, text},
};

#[test]
fn a_bed_stands_is_used_and_taken_down() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let standing = desk.bed("story", &["--mtu", "9000"]);
    assert!(desk.run(&["bed", "list"]).out.contains("wpstory-a"));
    desk.run(&["bed", "up", "story"]).fails(1, &["there is a bed \"story\" already", "bed down story"]);

    let ping = desk.run(&["bed", "exec", "story", "a", "--", "ip", "-o", "link", "show", "lab-a"]);
    assert!(ping.out.contains("mtu 9000"), "{} {}", ping.out, ping.err);
    let sys = desk.run(&["bed", "exec", "story", "b", "--", "ls", "/sys/class/net"]);
    assert_eq!(sys.out, "lab-b\nlo\n", "/sys shows the namespace's interfaces, not the host's");
    let status = desk.run(&["bed", "exec", "story", "a", "--", "sh", "-c", "exit 7"]).status;
    assert_eq!(status, 7, "the program's status is passed on");
    desk.run(&["bed", "exec", "story", "c", "--", "true"]).fails(1, &["no endpoint \"c\"", "a and b"]);
    desk.run(&["bed", "exec", "story", "a", "--", "no-such-program"]).fails(1, &["cannot run no-such-program"]);

    // A crash elsewhere and its cleanup do not affect a kept bed.
    assert_eq!(desk.run(&["clean"]).status, 0);
    let verify = desk.run(&["verify", text(&desk.plan(SMALL)), "--bed", "story", "--json"]);
    assert_eq!(verify.status, 0, "{}", verify.err);
    let doubts = verify.json()["trials"][0]["doubts"].to_string();
    assert!(!doubts.contains("shared-core") && !doubts.contains("not-pinned"), "each end has its core: {doubts}");
    desk.run(&["latency", "--bed", "story", "--mtu", "1500"]).fails(2, &["stands with MTU 9000"]);
    assert!(desk.run(&["bed", "list"]).out.contains("story"), "a run on a standing bed leaves it standing");

    let down = desk.run(&["bed", "down", "story"]);
    assert_eq!(down.status, 0, "{}", down.err);
    for undone in ["namespace wpstory-a", "address 198.18.0.1/24 on wpstory-a", "address 2001:2::2/64 on wpstory-b"] {
        assert!(down.out.contains(&format!("undone: {undone}")), "{}", down.out);
    }
    desk.run(&["bed", "down", "story"]).fails(1, &["there is no bed \"story\""]);
    drop(standing);
    before.assert_same();
}

#[test]
fn processes_in_a_bed_end_with_it() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let standing = desk.bed("busy", &[]);
    let mut sleeper = desk.start(&["bed", "exec", "busy", "a", "--", "sleep", "600"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    drop(standing);
    assert!(!sleeper.wait().unwrap().success());
    before.assert_same();
}

#[test]
fn a_namespace_of_somebody_else_is_left_alone() {
    let desk = Desk::new();
    let foreign = "wptaken-b";
    assert!(Command::new("ip").args(["netns", "add", foreign]).status().unwrap().success());
    let before = Snapshot::take();
    let up = desk.run(&["bed", "up", "taken"]);
    before.assert_same();
    let removed = Command::new("ip").args(["netns", "del", foreign]).status().unwrap();
    assert!(removed.success());
    up.fails(1, &[foreign, "has been undone"]);
}

#[test]
fn a_record_of_another_version_stops_no_run_and_is_named_by_clean() {
    let desk = Desk::new();
    let record = Path::new("/var/lib/wireproof/ledger/later.jsonl");
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let change = serde_json::json!({"entry": {"seq": 1, "boot_id": boot.trim(), "change": {"change": "of-later"}}});
    fs::write(record, format!("{change}\n")).unwrap();
    let run = desk.run(&["path", "--repeats", "1"]);
    let clean = desk.run(&["clean"]);
    fs::remove_file(record).unwrap();
    assert_eq!(run.status, 0, "{}", run.err);
    let named: Vec<&str> = run.err.lines().filter(|line| line.contains("later.jsonl")).collect();
    let [line] = named.as_slice() else { panic!("one line names it: {}", run.err) };
    assert!(line.contains("remove the file: wireproof then forgets what the file records"), "{line}");
    clean.fails(1, &["line 1 of", "later.jsonl", "remove the file"]);
}
