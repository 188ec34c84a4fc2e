//! Killed and stopped programs and launchers, and two at a time.

use std::{fs, thread::sleep, time::Duration};

use serde_json::Value;

use super::{ASK, ECHO, with_lab};
use crate::{
    machine::children,
    other_host::signal,
    program::{WIREPROOF, text},
    waiting::soon,
};

#[test]
fn a_launcher_that_is_killed_leaves_nothing_in_the_driver() {
    with_lab(|lab| {
        let started = lab.start("a", &["--", "sh", "-c", "echo ready; exec sleep 60"]);
        assert!(lab.has_xdp("a"));
        let program = children(started.child.id());
        signal(started.child.id(), "-KILL");
        lab.waits_until_no_xdp("a");
        assert_eq!(program.len(), 1, "the program goes on");
        signal(program[0], "-KILL");
        assert_eq!(started.ended().status, -1);
        assert_eq!(
            lab.bypass("a", &["--", "sh", "-c", "ip link show lab-a | grep -q xdp"]).status,
            0,
            "the next one works"
        );
        assert_eq!(lab.exec("a", &[WIREPROOF, "clean"]).status, 0);
    });
}

#[test]
fn a_program_whose_launcher_was_killed_goes_on_through_the_kernel() {
    with_lab(|lab| {
        let address = lab.address("b");
        let ask = |count: &str| lab.exec("a", &["python3", "-c", ASK, &address, count]).out;
        let echo = lab.start("b", &["--", "python3", "-c", ECHO, &address, "300"]);
        assert_eq!(ask("100"), "all came back\n");
        signal(echo.child.id(), "-KILL");
        lab.waits_until_no_xdp("b");
        sleep(Duration::from_millis(150));
        assert_eq!(ask("100"), "all came back\n");
        // It has given up the queues, so the next program gets them meanwhile.
        let other = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 0)); s.setblocking(False); s.connect(s.getsockname()); s.send(b'x')
";
        let next = lab.bypass("b", &["--stats", "--json", "--", "python3", "-c", other, &address]);
        let account: Value = serde_json::from_str(&next.err).expect(&next.err);
        assert_eq!(account["programs"][0]["sockets"][0]["bypassed"], true, "{account:#}");
        assert_eq!(ask("100"), "all came back\n");
        let echo = echo.ended();
        assert_eq!((echo.out.as_str(), echo.err.as_str()), ("done\n", ""), "nothing went wrong in it");
    });
}

/// Sends once a file is there.
const LATE: &str = "
import os, socket, sys, time
print('ready', flush=True)
while not os.path.exists(sys.argv[2]): time.sleep(0.05)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (sys.argv[1], 9))
";

#[test]
fn a_program_that_a_stopped_launcher_did_not_answer_is_told_of() {
    with_lab(|lab| {
        let go = lab.desk.path("go");
        let started = lab.start("a", &["--stats", "--", "python3", "-c", LATE, &lab.address("b"), text(&go)]);
        assert_eq!(started.line, "ready\n");
        let [program] = children(started.child.id())[..] else { panic!("one") };
        signal(started.child.id(), "-STOP");
        let threads = || fs::read_dir(format!("/proc/{}/task", started.child.id())).unwrap();
        let is_stopped =
            |thread: fs::DirEntry| fs::read_to_string(thread.path().join("stat")).unwrap().contains(") T ");
        assert!(soon(|| threads().all(|thread| is_stopped(thread.unwrap()))));
        fs::write(&go, "").unwrap();
        assert!(soon(|| fs::read_to_string(format!("/proc/{program}/stat")).unwrap().contains(") Z ")));
        signal(started.child.id(), "-CONT");
        let told = format!(" (pid {program}): through the kernel: it ended before it was answered\n");
        let are_unknown = "datagrams of sockets above that stayed with the kernel are among them";
        started.ended().fails(0, &[told.as_str(), are_unknown]);
    });
}

#[test]
fn a_program_that_is_killed_leaves_nothing_and_the_next_one_works() {
    with_lab(|lab| {
        let address = lab.address("b");
        let begin = |count: &str| lab.start("b", &["--stats", "--json", "--", "python3", "-c", ECHO, &address, count]);
        let ask = || lab.exec("a", &["python3", "-c", ASK, &address, "100"]).out;
        let killed = begin("1000");
        assert_eq!(ask(), "all came back\n");
        let program = children(killed.child.id());
        assert_eq!(program.len(), 1);
        signal(program[0], "-KILL");
        let killed = killed.ended();
        assert_eq!(killed.status, 137);
        let account: Value = serde_json::from_str(&killed.err).expect(&killed.err);
        assert!(account["programs"][0]["sockets"][0]["past"]["sent"].as_u64() >= Some(98), "{account:#}");
        assert!(!lab.has_xdp("b"));
        let next = begin("100");
        assert_eq!(ask(), "all came back\n");
        let account: Value = serde_json::from_str(&next.ended().err).unwrap();
        assert_eq!(account["programs"][0]["sockets"][0]["bypassed"], true, "{account:#}");
    });
}

#[test]
fn a_second_bypass_of_an_interface_goes_through_the_kernel_and_says_so() {
    with_lab(|lab| {
        let address = lab.address("b");
        let first = lab.start("b", &["--stats", "--json", "--", "python3", "-c", ECHO, &address, "100"]);
        let one = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 0)); s.sendto(b'x', s.getsockname()); print(s.recv(9)); sys.exit(4)
";
        let second = lab.bypass("b", &["--dev", "lab-b", "--", "python3", "-c", one, &address]);
        second.fails(4, &["lab-b stays with the kernel", "already has an XDP program", "all goes through the kernel"]);
        assert_eq!(second.out, "b'x'\n");
        assert!(lab.has_xdp("b"), "that of the first is left alone");
        assert_eq!(lab.exec("a", &["python3", "-c", ASK, &address, "100"]).out, "all came back\n");
        let account: Value = serde_json::from_str(&first.ended().err).unwrap();
        assert!(account["programs"][0]["sockets"][0]["past"]["sent"].as_u64() >= Some(98), "{account:#}");
    });
}
