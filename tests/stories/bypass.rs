//! Unmodified programs, started by `wireproof bypass`.

mod ends;
mod kills;
mod programs;
mod running;
mod sockets;
mod told;

use std::{
    fs,
    io::{BufRead, BufReader},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    other_host::signal,
    program::{Desk, Done, WIREPROOF, done, text, without_caller},
    waiting::soon,
};

const PATIENCE: Duration = Duration::from_secs(10);

/// Echoes so many datagrams.
const ECHO: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7000))
print('ready', flush=True)
for _ in range(int(sys.argv[2])):
    data, peer = s.recvfrom(2000)
    s.sendto(data, peer)
print('done', flush=True)
";
/// Sends so many datagrams, each after the echo of the previous one.
const ASK: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.connect((sys.argv[1], 7000))
for n in range(int(sys.argv[2])):
    s.send(b'%d' % n)
    assert s.recv(2000) == b'%d' % n
print('all came back', flush=True)
";

/// A lab bed, with ends named like its interfaces.
pub(crate) struct Lab<'a> {
    pub(crate) desk: &'a Desk,
}

impl Lab<'_> {
    pub(crate) fn words<'w>(end: &'w str, words: &[&'w str]) -> Vec<&'w str> {
        [&["bed", "exec", "by", end, "--"], words].concat()
    }

    fn exec(&self, end: &str, words: &[&str]) -> Done {
        self.desk.run(&Self::words(end, words))
    }

    fn bypass(&self, end: &str, words: &[&str]) -> Done {
        self.exec(end, &[&[WIREPROOF, "bypass"], words].concat())
    }

    /// A running bypassed program that has printed its first line.
    fn start(&self, end: &str, words: &[&str]) -> Started {
        let mut child = self.desk.start(&Self::words(end, &[&[WIREPROOF, "bypass"], words].concat()));
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        Started { child, line }
    }

    pub(crate) fn address(&self, end: &str) -> String {
        let shown = self.exec(end, &["ip", "-4", "-o", "addr", "show", &format!("lab-{end}")]).out;
        let words: Vec<&str> = shown.split_whitespace().collect();
        let at = words.iter().position(|word| *word == "inet").expect(&shown);
        words[at + 1].split_once('/').unwrap().0.to_owned()
    }

    fn has_xdp(&self, end: &str) -> bool {
        self.exec(end, &["ip", "link", "show", &format!("lab-{end}")]).out.contains("xdp")
    }

    pub(crate) fn waits_until_no_xdp(&self, end: &str) {
        assert!(soon(|| !self.has_xdp(end)), "the program is still there");
    }
}

/// A running program.
struct Started {
    child: Child,
    line: String,
}

impl Started {
    fn ended(self) -> Done {
        done(self.child.wait_with_output().unwrap())
    }
}

fn with_lab(tell: impl FnOnce(&Lab)) {
    let desk = Desk::new();
    let before = Snapshot::take();
    {
        let _bed = desk.bed("by", &[]);
        tell(&Lab { desk: &desk });
    }
    before.assert_same();
}

#[test]
fn a_bypassed_program_talks_ends_and_is_accounted_for_as_itself() {
    with_lab(|lab| {
        let address = lab.address("b");
        let echo = lab.start("b", &["--stats", "--json", "--", "python3", "-c", ECHO, &address, "100"]);
        assert_eq!(echo.line, "ready\n");
        assert!(lab.has_xdp("b"));
        assert_eq!(lab.exec("a", &["python3", "-c", ASK, &address, "100"]).out, "all came back\n");
        let echo = echo.ended();
        assert_eq!((echo.status, echo.out.as_str()), (0, "done\n"), "{}", echo.err);
        let account: Value = serde_json::from_str(&echo.err).unwrap();
        assert_eq!(account["interfaces"][0]["name"], "lab-b");
        let sum = |way: &str, direction: &str| -> u64 {
            let programs = account["programs"].as_array().unwrap().iter();
            let sockets = programs.flat_map(|program| program["sockets"].as_array().unwrap());
            sockets.map(|socket| socket[way][direction].as_u64().unwrap()).sum()
        };
        // One may go through the kernel to confirm the neighbour; each is counted once.
        assert!(sum("past", "received") >= 98 && sum("past", "sent") >= 98, "{account:#}");
        assert_eq!(account["kernel"]["flat"], true, "{account:#}");
        let by_kernel = |direction: &str| account["kernel"][direction].as_u64().unwrap();
        assert_eq!(sum("past", "received") + by_kernel("received"), 100, "{account:#}");
        assert_eq!(sum("past", "sent") + by_kernel("sent"), 100, "{account:#}");
        assert!(!lab.has_xdp("b"));
    });
}

#[test]
fn the_exit_status_is_the_programs_own() {
    with_lab(|lab| {
        let status = |words: &[&str]| lab.bypass("a", words).status;
        assert_eq!(status(&["--", "true"]), 0);
        assert_eq!(status(&["--", "sh", "-c", "exit 7"]), 7);
        assert_eq!(status(&["--", "sh", "-c", "kill -KILL $$"]), 137);
        assert_eq!(status(&["--", "sh", "-c", "kill -SEGV $$"]), 139);
        assert_eq!(status(&["--spin", "--", "sh", "-c", "exit 255"]), 255);
        lab.bypass("a", &["--", ""]).fails(127, &["its name is empty"]);
        lab.bypass("a", &["--", "/tmp"]).fails(126, &["cannot run /tmp: it is a directory"]);
        lab.bypass("a", &["--json", "--", "true"]).fails(0, &["\"programs\": []"]);
        lab.bypass("a", &["--", "no-such-program"]).fails(127, &["cannot run no-such-program"]);
        lab.bypass("a", &["--", "/etc/passwd"]).fails(126, &["cannot run /etc/passwd", "Permission denied"]);
        let quiet = lab.bypass("a", &["--", "sh", "-c", "echo out; echo err >&2"]);
        assert_eq!(
            (quiet.out.as_str(), quiet.err.as_str()),
            ("out\n", "err\n"),
            "it says nothing where there is nothing to say"
        );
        assert!(!lab.has_xdp("a"));
    });
}

#[test]
fn signals_reach_the_program_once() {
    with_lab(|lab| {
        for (name, status) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129), ("-USR1", 138)] {
            // A shell's background processes start with SIGINT ignored, and so do their children.
            let started = lab.start("a", &["--", "env", "--default-signal", "sh", "-c", "echo ready; exec sleep 60"]);
            assert_eq!(started.line, "ready\n");
            signal(started.child.id(), name);
            assert_eq!(started.ended().status, status, "{name}");
        }
        // A program that ignores the signal may go on, and its launcher with it.
        let script = "trap 'echo heard; kill $!; exit 5' TERM; sleep 60 & echo ready; wait";
        let started = lab.start("a", &["--", "sh", "-c", script]);
        signal(started.child.id(), "-TERM");
        let ended = started.ended();
        assert_eq!((ended.status, ended.out.as_str()), (5, "heard\n"));
        assert!(!lab.has_xdp("a"));
    });
}

#[test]
fn a_daemon_keeps_its_launcher() {
    with_lab(|lab| {
        let begun = Instant::now();
        let started =
            lab.start("a", &["--", "sh", "-c", "setsid sh -c 'sleep 1; ip link show lab-a' & echo gone; exit 3"]);
        assert_eq!(started.line, "gone\n");
        let ended = started.ended();
        ended.fails(3, &["wireproof bypass: the program has ended; waits for "]);
        assert!(ended.out.contains("xdp") && begun.elapsed() >= Duration::from_secs(1), "{}", ended.out);
        // The signal reaches the remaining daemons.
        let started = lab.start("a", &["--", "sh", "-c", "setsid sleep 60 & setsid sleep 60 & echo gone"]);
        sleep(Duration::from_millis(300));
        signal(started.child.id(), "-TERM");
        started.ended().fails(0, &["waits for 2 processes that it left behind"]);
    });
}

#[test]
fn interfaces_that_cannot_be_meant_are_refused() {
    with_lab(|lab| {
        let refused = |words: &[&str], says: &str, status: i32| lab.bypass("a", words).fails(status, &[says]);
        refused(&["--dev", "none0", "--", "true"], "there is no interface none0 in this network namespace", 2);
        refused(&["--dev", "lo", "--", "true"], "lo is the loopback interface", 2);
        refused(&["--spin", "--sleep", "--", "true"], "cannot be used with", 2);
        refused(&["--dev", "lab-a"], "required", 2);
        refused(&["--dev", "", "--", "true"], "a value is required", 2);
        // An interface that is down is attached, and used once it is up.
        assert_eq!(lab.exec("a", &["ip", "link", "set", "lab-a", "down"]).status, 0);
        let down = lab.bypass("a", &["--dev", "lab-a", "--", "sleep", "0.3"]);
        down.fails(0, &["lab-a is down"]);
        lab.bypass("a", &["--", "true"])
            .fails(0, &["no interface is up and has an address: all goes through the kernel"]);
        assert_eq!(lab.exec("a", &["ip", "link", "set", "lab-a", "up"]).status, 0);
    });
}

#[test]
fn an_uplink_is_taken_only_by_its_name() {
    with_lab(|lab| {
        assert_eq!(lab.exec("a", &["ip", "route", "add", "default", "via", &lab.address("b")]).status, 0);
        let all = lab.bypass("a", &["--", "sh", "-c", "ip link show lab-a"]);
        all.fails(0, &["lab-a stays with the kernel: the default route", "--dev"]);
        assert!(!all.out.contains("xdp"));
        let named = lab.bypass("a", &["--dev", "lab-a", "--", "sh", "-c", "ip link show lab-a"]);
        assert!(named.out.contains("xdp") && named.err.is_empty(), "{}", named.err);
    });
}

#[test]
fn programs_that_no_library_can_be_put_under_run_and_are_explained() {
    with_lab(|lab| {
        let folder = lab.desk.path("programs");
        fs::create_dir(&folder).unwrap();
        let alone = compiled(&folder, "alone", &["-static"]);
        lab.bypass("a", &["--", text(&alone)]).fails(5, &["alone is linked statically", "through the kernel"]);
        let with_rights = compiled(&folder, "with-rights", &[]);
        for words in [vec!["chown", "65534", text(&with_rights)], vec!["chmod", "4755", text(&with_rights)]] {
            assert!(Command::new(words[0]).args(&words[1..]).status().unwrap().success());
        }
        lab.bypass("a", &["--", text(&with_rights)]).fails(5, &["with-rights takes another user's rights"]);
        let script = folder.join("script");
        fs::write(&script, format!("#!{}\n", text(&alone))).unwrap();
        assert!(Command::new("chmod").args(["755", text(&script)]).status().unwrap().success());
        lab.bypass("a", &["--", text(&script)]).fails(5, &["alone is linked statically"]);
        // Behind a shell, they are found while they run.
        let code = "int main(void) { sleep(2); return 5; }";
        let waits = compiled_from(&folder, "waits", code, &["-static"]);
        let gopher = compiled_from(&folder, "gopher", &format!("{GO_NOTE}\n{code}"), &[]);
        let both = format!("{} & {}; wait; exit 6", text(&waits), text(&gopher));
        let behind = lab.bypass("a", &["--", "sh", "-c", &both]);
        behind.fails(6, &["waits is linked statically", "gopher is a Go program"]);
        for once in ["linked statically", "is a Go program"] {
            assert_eq!(behind.err.matches(once).count(), 1, "{}", behind.err);
        }
        // The kernel tells of one that ends at once.
        let at_once = compiled_from(&folder, "at-once", &format!("{GO_NOTE}\nint main(void) {{ return 5; }}"), &[]);
        let behind = lab.bypass("a", &["--", "sh", "-c", &format!("{0}; {0}; exit 6", text(&at_once))]);
        behind.fails(6, &["at-once is a Go program"]);
        assert_eq!(behind.err.lines().count(), 1, "neither the shell nor a loader is named: {}", behind.err);
        let quiet = lab.bypass("a", &["--quiet", "--", text(&alone)]);
        assert_eq!((quiet.status, quiet.err.as_str()), (5, ""));
    });
}

/// As written by Go's linker (cmd/link/internal/ld/elf.go).
const GO_NOTE: &str =
    r#"__asm__(".section .note.go.buildid,\"a\",@note\n.long 4,4,4\n.asciz \"Go\\0\"\n.long 0\n.text");"#;

/// A program that ends with status 5.
fn compiled(folder: &Path, name: &str, arguments: &[&str]) -> PathBuf {
    compiled_from(folder, name, "int main(void) { return 5; }", arguments)
}

fn compiled_from(folder: &Path, name: &str, code: &str, arguments: &[&str]) -> PathBuf {
    let (source, program) = (folder.join("main.c"), folder.join(name));
    fs::write(&source, format!("#include <unistd.h>\n{code}\n")).unwrap();
    let cc = Command::new("cc").args([text(&source), "-o", text(&program)]).args(arguments).status();
    assert!(cc.unwrap().success());
    program
}

#[test]
fn what_is_missing_is_said_before_the_program_starts() {
    let desk = Desk::new();
    let copy = desk.path("wireproof");
    // Without the library beside it. On the same file system a hard link is as good as a copy.
    fs::hard_link(WIREPROOF, &copy).or_else(|_| fs::copy(WIREPROOF, &copy).map(drop)).unwrap();
    let run = |program: &mut Command| done(program.stdin(Stdio::null()).output().unwrap());
    let alone = run(without_caller(copy.as_os_str()).args(["bypass", "--", "echo", "started"]));
    alone.fails(1, &["libwireproof_preload.so", "./x build"]);
    assert_eq!(alone.out, "");
    fs::set_permissions(desk.path(""), fs::Permissions::from_mode(0o777)).unwrap();
    let mut nobody = without_caller("setpriv".as_ref());
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups", text(&copy), "bypass", "--", "echo", "started"]);
    let nobody = run(&mut nobody);
    nobody.fails(1, &["needs root", "sudo wireproof bypass"]);
    assert_eq!(nobody.out, "");
    let mut mapped = without_caller("unshare".as_ref());
    mapped.args(["--user", "--map-root-user", "--net", WIREPROOF, "bypass", "--", "echo", "started"]);
    let mapped = run(&mut mapped);
    mapped.fails(1, &["in a user namespace"]);
    assert_eq!(mapped.out, "");
}
