//! Live rates, compared with the kernel's counters.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::UdpSocket,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    machine::Snapshot,
    program::{Desk, Done, WIREPROOF, done},
    unprivileged::Guest,
};

/// Namespaces of a test, deleted at its end.
struct Namespace(&'static str);

impl Namespace {
    fn new(name: &'static str) -> Self {
        ip(&["netns", "add", name]);
        Self(name)
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        Command::new("ip").args(["netns", "del", self.0]).stderr(Stdio::null()).status().unwrap();
    }
}

fn ip(args: &[&str]) -> String {
    let output = Command::new("ip").args(args).output().unwrap();
    assert!(output.status.success(), "ip {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The kernel's bytes and packets of an interface: received, sent.
pub(crate) fn counted(namespace: &str, interface: &str) -> [[u64; 2]; 2] {
    let links: Value = serde_json::from_str(&ip(&["-n", namespace, "-s", "-j", "link", "show", interface])).unwrap();
    ["rx", "tx"].map(|way| ["bytes", "packets"].map(|what| links[0]["stats64"][way][what].as_u64().unwrap()))
}

fn documents(watch: Done) -> Vec<Value> {
    assert_eq!(watch.status, 0, "{}", watch.err);
    watch.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn wait(child: Child) -> Done {
    done(child.wait_with_output().unwrap())
}

#[test]
fn what_watch_says_is_what_the_interfaces_counted() {
    let desk = Desk::new();
    let bed = desk.bed("watched", &[]);
    let before = counted("wpwatched-a", "lab-a");
    let words = ["watch", "--bed", "watched", "--json", "--interval", "200 ms", "--duration", "6 s"];
    let watch = desk.start(&words);
    let words =
        ["goodput", "--bed", "watched", "--duration", "2 s", "--repeats", "1", "--set", "goodput.warmup=100 ms"];
    let goodput = desk.run(&[words.as_slice(), &["--quiet", "--json"]].concat());
    assert_eq!(goodput.status, 0, "{}", goodput.err);
    let documents = documents(wait(watch));
    let after = counted("wpwatched-a", "lab-a");
    drop(bed);

    // The first reading and one per interval; a busy machine may be late for some.
    assert!((10..=31).contains(&documents.len()), "{}", documents.len());
    let end = &documents[documents.len() - 1];
    assert!((end["elapsed_s"].as_f64().unwrap() - 6.0).abs() < 0.5, "{end}");
    let a = |document: &Value| document["interfaces"][0].clone();
    assert_eq!((&a(end)["interface"], &a(end)["namespace"]), (&"lab-a".into(), &"wpwatched-a".into()));

    // All the traffic was during the watch: totals differ from the kernel's counters only by stray packets before the
    // first reading and after the last one.
    for (way, [bytes, packets]) in [("rx", 0), ("tx", 1)]
        .map(|(way, at)| (way, [0, 1].map(|what: usize| (after[at][what] - before[at][what]) as f64)))
    {
        let total = &a(end)["total"][way];
        let (its_bytes, its_packets) = (total["bytes"].as_f64().unwrap(), total["packets"].as_f64().unwrap());
        assert!((bytes - its_bytes).abs() <= 0.001 * bytes + 4_000.0, "{way}: {bytes} counted, {total}");
        assert!((packets - its_packets).abs() <= 0.001 * packets + 20.0, "{way}: {packets} counted, {total}");
    }
    // Rates multiplied by intervals give the totals again.
    let bits: f64 = documents
        .windows(2)
        .map(|pair| {
            let seconds = a(&pair[1])["known_s"].as_f64().unwrap() - a(&pair[0])["known_s"].as_f64().unwrap();
            seconds * a(&pair[1])["now"]["tx"]["bps"].as_f64().unwrap()
        })
        .sum();
    let bytes = a(end)["total"]["tx"]["bytes"].as_f64().unwrap();
    assert!(bytes > 10e6 && (bits / 8.0 - bytes).abs() < 0.001 * bytes, "{bits} bits are not {bytes} bytes");
    let rate = |which: &str| a(end)[which]["tx"]["bps"].as_f64().unwrap();
    assert!(rate("mean") < rate("peak"), "{end}");
    assert!(a(end)["line_bps"].is_null(), "a veth has no line: {end}");

    let schema = desk.run(&["schema", "watch"]).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for document in &documents {
        let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn an_interface_that_goes_and_comes_back_is_said_to() {
    let desk = Desk::new();
    let namespace = Namespace::new("wptest-watch");
    let add = || ip(&["-n", "wptest-watch", "link", "add", "w0", "type", "veth", "peer", "name", "w1"]);
    add();
    let mut watch = desk.start(&["watch", "w0", "--namespace", "wptest-watch", "--json", "--interval", "50 ms"]);
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let mut until = |what: &str, is: &dyn Fn(&Value) -> bool| {
        let begun = Instant::now();
        loop {
            let document: Value = serde_json::from_str(&lines.next().expect(what).unwrap()).unwrap();
            if is(&document["interfaces"][0]) {
                return document["interfaces"][0].clone();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {document}");
        }
    };
    until("it has rates", &|it| it["present"] == true && it["now"].is_object());
    ip(&["-n", "wptest-watch", "link", "del", "w0"]);
    let gone = until("it is gone", &|it| it["present"] == false);
    assert!(gone["now"].is_null() && gone["interface"] == "w0", "{gone}");
    add();
    let back = until("it is back", &|it| it["present"] == true && it["now"].is_object());
    assert_eq!(back["total"]["tx"]["errors"], 0, "{back}");
    ip(&["netns", "del", namespace.0]);
    until("its namespace is gone", &|it| it["present"] == false);
    signal(&watch, "INT");
    assert_eq!(watch.wait().unwrap().code(), Some(0), "that is how it is meant to end");
}

#[test]
fn watching_keeps_no_namespace_alive() {
    let desk = Desk::new();
    let before = Snapshot::take();
    let namespace = Namespace::new("wptest-watch");
    ip(&["link", "add", "wptestw0", "type", "veth", "peer", "name", "w1", "netns", namespace.0]);
    let mut watch = desk.start(&["watch", "--interval", "1 h", "--json"]);
    let mut first = String::new();
    BufReader::new(watch.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.contains("\"w1\"") && first.contains("\"wptestw0\"") && !first.contains("\"lo\""), "{first}");
    drop(namespace);
    // Both ends are deleted with the namespace, unless it is held.
    before.assert_same();
    signal(&watch, "TERM");
    assert_eq!(watch.wait().unwrap().code(), Some(130));
}

#[test]
fn without_a_terminal_there_are_lines_and_a_summary_in_both_languages() {
    let desk = Desk::new();
    let words = ["watch", "lo", "--interval", "300 ms", "--count", "2"];
    let watch = desk.start(&words);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(2) {
        socket.send_to(&[0; 100], socket.local_addr().unwrap()).unwrap();
        thread::sleep(Duration::from_millis(2));
    }
    let watch = wait(watch);
    assert_eq!((watch.status, watch.err.as_str()), (0, ""));
    let lines: Vec<&str> = watch.out.lines().filter(|line| line.split_whitespace().nth(1) == Some("lo")).collect();
    let is_whole = |line: &&str| line.contains("  rx ") && line.contains("kbit/s") && line.contains("pps   tx ");
    assert!(lines.len() == 2 && lines.iter().all(is_whole), "{}", watch.out);
    assert!(watch.out.contains("\n  mean ") && watch.out.contains("watched for 0:00:00"), "{}", watch.out);
    assert!(!watch.out.contains('\x1b'), "{}", watch.out);
    let japanese = desk.run(&[words.as_slice(), &["--lang", "ja"]].concat());
    assert!(japanese.out.contains("破棄 0") && japanese.out.contains("観測時間"), "{}", japanese.out);
    let quiet = desk.run(&[words.as_slice(), &["--quiet"]].concat());
    assert!(quiet.out.contains("Z  lo ") && !quiet.out.contains("watched for"), "{}", quiet.out);
}

#[test]
fn a_reader_that_goes_away_ends_it() {
    let desk = Desk::new();
    let mut watch = desk.start(&["watch", "lo", "--interval", "50 ms"]);
    let mut first = [0; 1];
    watch.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let begun = Instant::now();
    assert_eq!(watch.wait().unwrap().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(10));
}

/// A terminal of 80×24 for watch, made by script(1).
struct Pty {
    script: Child,
}

impl Pty {
    fn new(words: &str) -> Self {
        let command = format!("stty rows 24 cols 80; {WIREPROOF} watch {words}; echo \"status $?\"; stty -a");
        let mut script = Command::new("script");
        script.args(["-qefc", &command, "/dev/null"]).env("TERM", "xterm-256color").env("LANG", "C.UTF-8");
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        Self { script }
    }

    /// Output to the terminal of a watch that `end` ends after its first drawing.
    fn ended_by(mut self, end: impl FnOnce(&mut Child)) -> String {
        let (mut written, mut part, mut out) = (Vec::new(), [0; 4096], self.script.stdout.take().unwrap());
        while !String::from_utf8_lossy(&written).contains(DRAWN) {
            let length = out.read(&mut part).unwrap();
            assert!(length > 0, "it ended: {}", String::from_utf8_lossy(&written));
            written.extend_from_slice(&part[..length]);
        }
        end(&mut self.script);
        out.read_to_end(&mut written).unwrap();
        self.script.wait().unwrap();
        String::from_utf8_lossy(&written).into_owned()
    }

    /// Output of a watch that ends by itself.
    fn ended(self) -> String {
        String::from_utf8_lossy(&self.script.wait_with_output().unwrap().stdout).into_owned()
    }
}

/// A word in its drawing.
const DRAWN: &str = "Received";
/// Escape sequences that leave the alternate screen, hide the cursor, and show it.
const LEFT: &str = "\x1b[?1049l";
const HIDDEN: &str = "\x1b[?25l";
const SHOWN: &str = "\x1b[?25h";

#[test]
fn on_a_terminal_it_draws_and_gives_the_terminal_back() {
    let desk = Desk::new();
    let press = |keys: &'static str| {
        move |script: &mut Child| script.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap()
    };
    let kill = |script: &mut Child| {
        let mine = |pid: &u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.starts_with(WIREPROOF.as_bytes())
        };
        let shells = crate::machine::children(script.id());
        let watch = shells.into_iter().flat_map(crate::machine::children).find(mine).expect("watch runs");
        Command::new("kill").args(["-TERM", &watch.to_string()]).status().unwrap();
    };
    let interrupted = Pty::new("lo").ended_by(press("\x03"));
    let quit = Pty::new("lo --interval '100 ms'").ended_by(press("jq"));
    let terminated = Pty::new("lo").ended_by(kill);
    for (written, status) in [(interrupted, 0), (quit, 0), (terminated, 130)] {
        let (screen, after) = written.split_once(LEFT).unwrap_or_else(|| panic!("{written:?}"));
        assert!(screen.contains("\x1b[?1049h") && screen.contains(DRAWN), "{screen:?}");
        assert!(written.rfind(HIDDEN).expect("hidden") < written.rfind(SHOWN).expect("shown again"), "{written:?}");
        assert!(after.contains("watched for 0:00:0"), "{after:?}");
        assert!(after.contains(&format!("status {status}")), "{after:?}");
        assert!(after.contains(" echo") && after.contains(" icanon"), "the terminal is as it was: {after:?}");
    }
    let plain = Pty::new("lo --plain --count 1").ended();
    assert!(!plain.contains(LEFT) && plain.contains("lo  rx"), "{plain:?}");
    drop(desk);
}

#[test]
fn wrong_words_name_what_may_be_meant() {
    let desk = Desk::new();
    let namespace = Namespace::new("wptest-watch");
    ip(&["-n", namespace.0, "link", "add", "enp1s0f0", "type", "veth", "peer", "name", "other"]);
    let near = desk.run(&["watch", "enp1s0", "--namespace", namespace.0]);
    near.fails(2, &["enp1s0: there is no interface of this name", "there is enp1s0f0"]);
    assert!(!near.err.contains("other"), "{}", near.err);
    desk.run(&["watch", "--namespace", "wptest-none"])
        .fails(2, &["no network namespace has this name", "wptest-watch"]);
    desk.run(&["watch", "--bed", "none"]).fails(2, &["no bed of this name", "test"]);
    for interval in ["0 s", "1 ns", "5 h", "often", "1e99 s"] {
        desk.run(&["watch", "--interval", interval]).fails(2, &["--interval"]);
    }
    desk.run(&["watch", "--count", "0"]).fails(2, &["--count"]);
    desk.run(&["watch", "--duration", "0 s"]).fails(2, &["--duration"]);
}

#[test]
fn a_namespace_that_was_made_in_other_mounts_is_said_to_be_there() {
    let (desk, outer) = (Desk::new(), Namespace::new("wptest-outer"));
    let inside = |words: &[&str]| {
        let inner = desk.command(words);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", outer.0]).arg(inner.get_program()).args(inner.get_args());
        done(command.stdin(Stdio::null()).output().unwrap())
    };
    let hidden = Namespace("wpinner-a");
    assert_eq!(inside(&["bed", "up", "inner"]).status, 0);
    let watched = desk.run(&["watch", "--count", "1", "--interval", "50 ms", "--plain", "--quiet"]);
    assert_eq!(watched.status, 0, "{}", watched.err);
    assert!(watched.err.contains("wpinner-a cannot be read: only its name is visible here"), "{}", watched.err);
    assert!(!watched.err.contains("setns"), "{}", watched.err);
    desk.run(&["watch", "--bed", "inner"]).fails(1, &["wpinner-b", "watch from there"]);
    assert_eq!(inside(&["bed", "down", "inner"]).status, 0);
    drop(hidden);
}

#[test]
fn without_root_own_interfaces_are_watched_and_others_named() {
    let guest = Guest::new();
    let namespace = Namespace::new("wptest-watch");
    let own = guest.run(&["watch", "lo", "--count", "1", "--interval", "50 ms"]);
    assert_eq!(own.status, 0, "{}", own.err);
    assert!(own.err.contains("wptest-watch cannot be read: that takes root (sudo)"), "{}", own.err);
    guest.run(&["watch", "--namespace", namespace.0]).fails(1, &["wptest-watch cannot be read", "root (sudo)"]);
}

fn signal(child: &Child, name: &str) {
    Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
}
