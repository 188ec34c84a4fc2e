//! Programs that everybody knows, past the kernel as they are: what they do and say is what they do and say through it, and the account says
//! that they were past it.

use std::{cell::RefCell, fs, thread::sleep, time::Duration};

use serde_json::Value;

use super::{Lab, running::Running, with_lab};
use crate::program::{WIREPROOF, text};

/// Both ends, called as their addresses are.
struct Ends<'a> {
    lab: &'a Lab<'a>,
    near: String,
    far: String,
}

/// How programs at the near end are run: through the kernel, or past it.
struct Near<'a> {
    ends: &'a Ends<'a>,
    is_past: bool,
    accounts: RefCell<Vec<Value>>,
}

fn with_ends(tell: impl FnOnce(&Ends<'_>)) {
    with_lab(|lab| tell(&Ends { lab, near: lab.address("a"), far: lab.address("b") }));
}

impl Ends<'_> {
    /// What comes of `run` has to be the same past the kernel, with so many datagrams past it at least, by sockets that were all bypassed but for
    /// those of TCP, while the kernel's own counters stayed flat. Where it need be none, it is not looked where they went.
    #[track_caller]
    fn same(&self, name: &str, least: u64, run: impl Fn(&Near<'_>) -> String) {
        let near = |is_past| Near { ends: self, is_past, accounts: RefCell::default() };
        let (through, past) = (near(false), near(true));
        assert_eq!(run(&through), run(&past), "{name}: through the kernel, and past it");
        let accounts = past.accounts.into_inner();
        let programs = || accounts.iter().flat_map(|account| account["programs"].as_array().unwrap());
        let sockets: Vec<&Value> = programs().flat_map(|program| program["sockets"].as_array().unwrap()).collect();
        let count = |socket: &Value, way: &str| {
            socket[way]["received"].as_u64().unwrap() + socket[way]["sent"].as_u64().unwrap()
        };
        let went: u64 = sockets.iter().map(|socket| count(socket, "past")).sum();
        assert!(went >= least, "{name}: {went} datagrams went past the kernel: {accounts:#?}");
        let is_tcp = |socket: &&&Value| socket["why_not"].as_str().is_some_and(|why| why.contains("TCP"));
        // Some shut their socket down at the end.
        let is_left = |socket: &&&Value| socket["bypassed"] == false && count(socket, "past") == 0;
        let left: Vec<_> = sockets.iter().filter(|it| is_left(it) && !is_tcp(it)).collect();
        assert!(left.is_empty(), "{name}: {left:#?}");
        let stayed_flat = |account: &Value| account["kernel"]["flat"] != false;
        assert!(least == 0 || accounts.iter().all(stayed_flat), "{name}: {accounts:#?}");
    }

    /// Starts a program at the far end, and waits until it says something.
    fn far(&self, words: &[&str], says: &str) -> Running {
        Running::start(self.lab, "b", words, says)
    }

    /// The same, until it hears a port.
    fn far_hears(&self, words: &[&str], port: u16) -> Running {
        self.far(words, "").hears(self.lab, "b", port)
    }

    /// What a program at the far end says, and how it ends.
    fn far_told(&self, words: &[&str]) -> String {
        let done = self.lab.exec("b", words);
        format!("{}{}exit status: {}\n", done.out, done.err, done.status)
    }
}

impl Near<'_> {
    fn words<'w>(&self, words: &[&'w str]) -> Vec<&'w str> {
        let bypass: &[&str] =
            if self.is_past { &[WIREPROOF, "bypass", "--stats", "--json", "--quiet", "--"] } else { &[] };
        [bypass, words].concat()
    }

    /// What a program says, and how it ends.
    fn told(&self, words: &[&str]) -> String {
        let done = self.ends.lab.exec("a", &self.words(words));
        let said = self.without_account(&done.err);
        format!("{}{said}exit status: {}\n", done.out, done.status)
    }

    /// Starts a program, and waits until it says something.
    fn start(&self, words: &[&str], says: &str) -> Running {
        Running::start(self.ends.lab, "a", &self.words(words), says)
    }

    /// The same, until it hears a port.
    fn hears(&self, words: &[&str], port: u16) -> Running {
        self.start(words, "").hears(self.ends.lab, "a", port)
    }

    /// Ends it; what it said.
    fn ended(&self, running: Running) -> String {
        self.without_account(&running.ended())
    }

    /// Takes the account down that stands behind what a bypassed program said.
    fn without_account(&self, said: &str) -> String {
        if !self.is_past {
            return said.to_owned();
        }
        let begin = if said.starts_with("{\n") { Some(0) } else { said.rfind("\n{\n").map(|at| at + 1) };
        let (said, account) = said.split_at(begin.expect(said));
        self.accounts.borrow_mut().push(serde_json::from_str(account).expect(account));
        said.to_owned()
    }
}

/// Lines of a text that have one of these words in them.
fn lines(text: &str, words: &[&str]) -> String {
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).map(|line| format!("{line}\n")).collect()
}

/// Whether what sockperf says of messages that went missing is less than a busy machine loses, none twice or out of order.
fn sockperf_says(text: &str) -> String {
    let said = text.lines().find_map(|line| line.split_once("# dropped messages = ")?.1.split_once(';'));
    let Some((lost, others)) = said else { return text.to_owned() };
    let came = lost.parse::<u32>().is_ok_and(|lost| lost < 200);
    let others = others.split('\u{1b}').next().unwrap_or_default().trim();
    format!("came: {came}, {others}\n{}", lines(text, &["exit status"]))
}

fn sockperf(kind: &str, more: &[&str]) {
    with_ends(|ends| {
        ends.same(kind, 1000, |near| {
            let _server = ends.far_hears(&["sockperf", "server", "-i", &ends.far, "-p", "11111"], 11111);
            let client = ["sockperf", kind, "-i", &ends.far, "-p", "11111"];
            sockperf_says(&near.told(&[&client, more].concat()))
        });
    });
}

#[test]
fn sockperf_plays_ping_pong() {
    sockperf("ping-pong", &["-t", "1", "--nonblocked"]);
}

#[test]
fn sockperf_asks_under_load() {
    sockperf("under-load", &["-t", "1", "--mps", "2000"]);
}

#[test]
fn sockperf_sends_what_it_can() {
    sockperf("throughput", &["-t", "1", "--msg-size", "1000", "--mps", "5000"]);
}

#[test]
fn sockperf_plays_a_recording() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("recording.csv");
    let recording: String =
        (0..2000).map(|number| format!("{:.6}, {}\n", 0.1 + f64::from(number) * 0.0005, 64)).collect();
    fs::write(&file, recording).unwrap();
    sockperf("playback", &["--data-file", text(&file)]);
}

#[test]
fn sockperf_serves() {
    let folder = tempfile::TempDir::new().unwrap();
    with_ends(|ends| {
        let feed = folder.path().join("feed");
        fs::write(&feed, format!("U:{0}:11111\nU:{0}:11112\n", ends.near)).unwrap();
        for way in ["recvfrom", "epoll", "select", "poll"] {
            ends.same(way, 1000, |near| {
                let kind = match way {
                    "recvfrom" => vec!["-i", &ends.near, "-p", "11111"],
                    other => vec!["-f", text(&feed), "-F", other],
                };
                let server = near.hears(&[&["sockperf", "server"], &kind[..]].concat(), 11111);
                let said = sockperf_says(&ends.far_told(&[
                    "sockperf",
                    "ping-pong",
                    "-i",
                    &ends.near,
                    "-p",
                    "11111",
                    "-t",
                    "1",
                ]));
                near.ended(server);
                said
            });
        }
    });
}

#[test]
fn iperf3_sends_and_receives() {
    let test = |to: &str, direction: &str| {
        ["iperf3", "-c", to, "-u", "-b", "5M", "-l", "1000", "-t", "1", "-J", direction].map(str::to_owned)
    };
    with_ends(|ends| {
        for direction in ["--format=k", "--reverse"] {
            ends.same(direction, 450, |near| {
                let _server = ends.far(&["iperf3", "-s", "-1", "--forceflush"], "Server listening");
                iperf3_says(&near.told(&refs(&test(&ends.far, direction))))
            });
        }
        ends.same("server", 450, |near| {
            let server = near.start(&["iperf3", "-s", "-1", "--forceflush"], "Server listening");
            let said = iperf3_says(&ends.far_told(&refs(&test(&ends.near, "--format=k"))));
            near.ended(server);
            said
        });
    });
}

/// About how much went, a second of 5 Mbit/s in datagrams of 1000 bytes, and whether more was lost than a busy machine loses.
fn iperf3_says(text: &str) -> String {
    let value = |name: &str| {
        let after = text.rsplit_once(&format!("\"{name}\":"))?.1;
        after.split([',', '\n']).next()?.trim().parse::<f64>().ok()
    };
    let went = value("packets").is_some_and(|packets| (300.0..900.0).contains(&packets));
    let came = value("lost_packets").is_some_and(|lost| lost < 150.0);
    format!("went: {went}, came: {came}\n{}", lines(text, &["exit status", "error"]))
}

#[test]
fn netcat_and_socat_carry_lines() {
    with_ends(|ends| {
        let (a, b) = (&ends.near, &ends.far);
        let two = |by: &str| format!("(echo one; sleep 0.3; echo two; sleep 0.3) | {by}");
        ends.same("netcat asks", 1, |near| {
            let _server = ends.far_hears(&["socat", "UDP4-RECVFROM:7100,fork", "EXEC:tr a-z A-Z"], 7100);
            near.told(&["sh", "-c", &two(&format!("nc -u -w 1 {b} 7100"))])
        });
        ends.same("netcat listens", 1, |near| {
            let server = near.hears(&["nc", "-u", "-l", "-w", "2", a, "7101"], 7101);
            ends.far_told(&["sh", "-c", &two(&format!("nc -u -w 1 {a} 7101"))]);
            near.ended(server)
        });
        ends.same("socat asks", 1, |near| {
            let _server = ends.far_hears(&["socat", "UDP4-RECVFROM:7102,fork", "EXEC:tr a-z A-Z"], 7102);
            near.told(&["sh", "-c", &two(&format!("socat -t 1 - UDP4:{b}:7102"))])
        });
        ends.same("socat listens", 1, |near| {
            let server = near.hears(&["socat", "UDP4-LISTEN:7103,reuseaddr", "EXEC:cat"], 7103);
            let said = ends.far_told(&["sh", "-c", &two(&format!("socat -t 1 - UDP4:{a}:7103"))]);
            near.ended(server);
            said
        });
    });
}

#[test]
fn python_asks_and_answers() {
    let script = |name: &str| format!("{}/tests/stories/bypass/{name}", env!("CARGO_MANIFEST_DIR"));
    with_ends(|ends| {
        for (name, least) in [("asyncio_echo.py", 600), ("sockets.py", 400)] {
            let file = script(name);
            ends.same(name, least, |near| {
                let _server = ends.far(&["python3", &file, "serve", &ends.far, "7200"], "ready");
                near.told(&["python3", &file, "ask", &ends.far, "7200"])
            });
            ends.same(name, least, |near| {
                let server = near.start(&["python3", &file, "serve", &ends.near, "7200"], "ready");
                let asked = ends.far_told(&["python3", &file, "ask", &ends.near, "7200"]);
                asked + &near.ended(server)
            });
        }
    });
}

#[test]
fn dnsmasq_answers_what_dig_asks() {
    let folder = tempfile::TempDir::new().unwrap();
    let pid = folder.path().join("dnsmasq.pid");
    let asked = |server: &str| {
        let at = format!("@{server}");
        ["dig", "+noall", "+answer", "+time=2", "+tries=2", &at, "host.test", "A", "other.test", "A"].map(str::to_owned)
    };
    let serve = |address: &str, stay: &str| -> Vec<String> {
        let (listen, pid) = (format!("--listen-address={address}"), format!("--pid-file={}", pid.display()));
        let fixed =
            ["dnsmasq", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--user=root", "--bind-interfaces"];
        let more = ["--address=/host.test/198.18.7.7", "--address=/other.test/198.18.8.8", &listen, &pid, stay];
        fixed.iter().chain(&more).map(|word| (*word).to_owned()).collect()
    };
    with_ends(|ends| {
        // It sends by system calls of its own (libuv), and receives what comes for that.
        ends.same("dig", 0, |near| {
            let words = serve(&ends.far, "--keep-in-foreground");
            let _server = ends.far_hears(&refs(&words), 53);
            (0..3).map(|_| near.told(&refs(&asked(&ends.far)))).collect()
        });
        // In the foreground, and as a daemon that forks.
        for stay in ["--keep-in-foreground", "--no-negcache"] {
            ends.same(stay, 20, |near| {
                let server = near.hears(&refs(&serve(&ends.near, stay)), 53);
                let answers: String = (0..10).map(|_| ends.far_told(&refs(&asked(&ends.near)))).collect();
                let daemon = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
                crate::other_host::signal(daemon, "-TERM");
                sleep(Duration::from_millis(100));
                near.ended(server);
                answers
            });
        }
    });
}

fn refs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
