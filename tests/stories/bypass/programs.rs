//! Well-known unmodified programs: bypassed, they do and print the same, and the account shows the bypass.

use std::{fs, thread::sleep, time::Duration};

use super::{ends::with_ends, running::Running, with_lab};
use crate::program::{WIREPROOF, text};

/// Lines with one of these words.
fn lines(text: &str, words: &[&str]) -> String {
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).map(|line| format!("{line}\n")).collect()
}

/// Whether sockperf reports no more losses than on a busy machine, and no duplicates or reordering.
fn sockperf_says(text: &str) -> String {
    let said = text.lines().find_map(|line| line.split_once("# dropped messages = ")?.1.split_once(';'));
    let Some((lost, others)) = said else { return text.to_owned() };
    let came = lost.parse::<u32>().is_ok_and(|lost| lost < 200);
    let others = others.split('\u{1b}').next().unwrap_or_default().trim();
    format!("came: {came}, {others}\n{}", lines(text, &["exit status"]))
}

/// Longer than the launcher's answer to the first datagram, which may take a second on a busy machine. sockperf already
/// counts by then, and ignores its first 400 ms.
const SECONDS: &str = "3";

fn sockperf(kind: &str, more: &[&str], says: fn(&str) -> String) {
    with_ends(|ends| {
        ends.same(kind, 1000, |near| {
            let _server = ends.far_hears(&["sockperf", "server", "-i", &ends.far, "-p", "11111"], 11111);
            let client = ["sockperf", kind, "-i", &ends.far, "-p", "11111"];
            says(&near.told(&[&client, more].concat()))
        });
    });
}

#[test]
fn sockperf_plays_ping_pong() {
    sockperf("ping-pong", &["-t", SECONDS, "--nonblocked"], sockperf_says);
}

#[test]
fn sockperf_asks_under_load() {
    sockperf("under-load", &["-t", SECONDS, "--mps", "2000"], sockperf_says);
}

#[test]
fn sockperf_sends_what_it_can() {
    // Their number depends on timing, and nothing answers.
    let says = |text: &str| lines(text, &["Test ended", "exit status"]);
    sockperf("throughput", &["-t", "1", "--msg-size", "1000", "--mps", "5000"], says);
}

#[test]
fn sockperf_plays_a_recording() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("recording.csv");
    let recording: String =
        (0..2000).map(|number| format!("{:.6}, {}\n", 0.1 + f64::from(number) * 0.0005, 64)).collect();
    fs::write(&file, recording).unwrap();
    sockperf("playback", &["--data-file", text(&file)], sockperf_says);
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
                    SECONDS,
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

/// The approximate amount, a second of 5 Mbit/s in datagrams of 1000 bytes, and whether losses exceed a busy machine's.
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

/// A child of socat's has the socket that its parent received on, with the first line still in it.
#[test]
fn a_child_of_socat_has_the_first_line() {
    with_lab(|lab| {
        let address = lab.address("a");
        // Its children end after a second of silence.
        let words = [WIREPROOF, "bypass", "--stats", "--json", "--quiet", "--", "socat", "-T", "1"];
        let server = [&words[..], &["UDP4-LISTEN:7104,reuseaddr,fork", "EXEC:cat"]].concat();
        let server = Running::start(lab, "a", &server, "").hears(lab, "a", 7104);
        let client = format!("(echo one; sleep 0.3; echo two; sleep 0.3) | socat -t 1 - UDP4:{address}:7104");
        for _ in 0..3 {
            assert_eq!(lab.exec("b", &["sh", "-c", &client]).out, "one\ntwo\n");
        }
        let said = server.ended();
        let account: serde_json::Value = serde_json::from_str(&said[said.find("{\n").expect(&said)..]).expect(&said);
        let programs = account["programs"].as_array().unwrap();
        let sum = |count: &str| -> u64 { programs.iter().filter_map(|it| it["xdp"][count].as_u64()).sum() };
        // While an earlier child has its socket, the port is the kernel's.
        assert!(sum("handed_back") >= 1 && sum("in_no_record") == 0, "{account:#}");
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
        // It sends by direct system calls (libuv), and receives the answers.
        ends.same("dig", 0, |near| {
            let words = serve(&ends.far, "--keep-in-foreground");
            let _server = ends.far_hears(&refs(&words), 53);
            (0..3).map(|_| near.told(&refs(&asked(&ends.far)))).collect()
        });
        // In the foreground, and as a forking daemon.
        for stay in ["--keep-in-foreground", "--no-negcache"] {
            ends.same(stay, 20, |near| {
                let server = near.hears_alone(&refs(&serve(&ends.near, stay)), 53);
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
