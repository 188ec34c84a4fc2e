//! Programs that everybody knows, past the kernel as they are: what they do and say is what they do and say through it.

mod common;
#[path = "common/ends.rs"]
mod ends;
#[path = "common/wire.rs"]
mod wire;

use std::{fs, thread::sleep, time::Duration};

use ends::{Ends, script};

const A: &str = "198.18.0.1";
const B: &str = "198.18.0.2";

/// Lines of a text that have one of these words in them.
fn lines(text: &str, words: &[&str]) -> String {
    text.lines().filter(|line| words.iter().any(|word| line.contains(word))).map(|line| format!("{line}\n")).collect()
}

/// Whether what sockperf says of messages that went missing is less than a busy machine loses, none twice or out of order.
fn sockperf_says(text: &str) -> String {
    let said = text.lines().find_map(|line| line.split_once("# dropped messages = ")?.1.split_once(';'));
    let (lost, others) = said.unwrap_or(("all", "of them"));
    let came = lost.parse::<u32>().is_ok_and(|lost| lost < 200);
    let others: String = others.split('\u{1b}').next().unwrap_or_default().trim().into();
    format!("came: {came}, {others}\n{}", lines(text, &["exit status"]))
}

fn sockperf(kind: &str, more: &[&str]) {
    let ends = Ends::new(kind);
    ends.same(kind, 1000, |near| {
        let _server = ends.far(&["sockperf", "server", "-i", B, "-p", "11111"], "").after(700);
        let client = ["sockperf", kind, "-i", B, "-p", "11111", "-t", "1"];
        sockperf_says(&near.told(&[&client, more].concat()))
    });
}

#[test]
fn sockperf_plays_ping_pong() {
    sockperf("ping-pong", &["--nonblocked"]);
}

#[test]
fn sockperf_asks_under_load() {
    sockperf("under-load", &["--mps", "2000"]);
}

#[test]
fn sockperf_sends_what_it_can() {
    sockperf("throughput", &["--msg-size", "1000", "--mps", "5000"]);
}

#[test]
fn sockperf_plays_a_recording() {
    let file = ends::folder().join("sockperf-playback.csv");
    let recording: String =
        (0..2000).map(|number| format!("{:.6}, {}\n", 0.1 + f64::from(number) * 0.0005, 64)).collect();
    fs::write(&file, recording).expect("writable");
    let ends = Ends::new("playback");
    ends.same("playback", 1000, |near| {
        let _server = ends.far(&["sockperf", "server", "-i", B, "-p", "11111"], "").after(700);
        let file = file.to_str().expect("a path in UTF-8");
        sockperf_says(&near.told(&["sockperf", "playback", "-i", B, "-p", "11111", "--data-file", file]))
    });
}

#[test]
fn sockperf_serves() {
    for (name, way) in [("recvfrom", "r"), ("epoll", "e"), ("select", "s"), ("poll", "p")] {
        let feed = ends::folder().join(format!("feed-{way}"));
        fs::write(&feed, format!("U:{A}:11111\nU:{A}:11112\n")).expect("writable");
        let ends = Ends::new(name);
        ends.same(name, 1000, |near| {
            let feed = feed.to_str().expect("a path in UTF-8");
            let kind = match name {
                "recvfrom" => vec!["-i", A, "-p", "11111"],
                other => vec!["-f", feed, "-F", other],
            };
            let _server = near.start(&[&["sockperf", "server"], &kind[..]].concat(), "").after(700);
            sockperf_says(&ends.far_told(&["sockperf", "ping-pong", "-i", A, "-p", "11111", "-t", "1"]))
        });
    }
}

#[test]
fn iperf3_sends_and_receives() {
    let ends = Ends::new("iperf3");
    for direction in ["--format=k", "--reverse"] {
        ends.same(direction, 900, |near| {
            let _server = ends.far(&["iperf3", "-s", "-1", "--forceflush"], "Server listening");
            let test = ["iperf3", "-c", B, "-u", "-b", "5M", "-l", "1000", "-t", "2", "-J", direction];
            iperf3_says(&near.told(&test))
        });
    }
    ends.same("server", 900, |near| {
        let _server = near.start(&["iperf3", "-s", "-1", "--forceflush"], "Server listening");
        iperf3_says(&ends.far_told(&["iperf3", "-c", A, "-u", "-b", "5M", "-l", "1000", "-t", "2", "-J"]))
    });
}

/// About how much went, two seconds of 5 Mbit/s in datagrams of 1000 bytes, and whether more was lost than a busy machine loses.
fn iperf3_says(text: &str) -> String {
    let value = |name: &str| {
        let after = text.rsplit_once(&format!("\"{name}\":"))?.1;
        after.split([',', '\n']).next()?.trim().parse::<f64>().ok()
    };
    let went = value("packets").is_some_and(|packets| (1100.0..1400.0).contains(&packets));
    let came = value("lost_packets").is_some_and(|lost| lost < 300.0);
    format!("went: {went}, came: {came}\n{}", lines(text, &["exit status", "error"]))
}

#[test]
fn netcat_and_socat_carry_lines() {
    let ends = Ends::new("lines");
    ends.same("netcat asks", 1, |near| {
        let _server = ends.far(&["socat", "UDP4-RECVFROM:7100,fork", "EXEC:tr a-z A-Z"], "").after(300);
        near.told(&["sh", "-c", &format!("(echo one; sleep 0.3; echo two; sleep 0.3) | nc -u -w 1 {B} 7100")])
    });
    ends.same("netcat listens", 1, |near| {
        let server = near.start(&["nc", "-u", "-l", "-w", "2", A, "7101"], "").after(300);
        ends.far_told(&["sh", "-c", &format!("(echo one; sleep 0.2; echo two; sleep 0.2) | nc -u -w 1 {A} 7101")]);
        server.said()
    });
    ends.same("socat asks", 1, |near| {
        let _server = ends.far(&["socat", "UDP4-RECVFROM:7102,fork", "EXEC:tr a-z A-Z"], "").after(300);
        near.told(&["sh", "-c", &format!("(echo one; sleep 0.3; echo two; sleep 0.3) | socat -t 1 - UDP4:{B}:7102")])
    });
    ends.same("socat listens", 1, |near| {
        let _server = near.start(&["socat", "UDP4-LISTEN:7103,reuseaddr", "EXEC:cat"], "").after(300);
        ends.far_told(&[
            "sh",
            "-c",
            &format!("(echo one; sleep 0.3; echo two; sleep 0.3) | socat -t 1 - UDP4:{A}:7103"),
        ])
    });
}

#[test]
fn python_asks_and_answers() {
    let ends = Ends::new("python");
    for (name, least) in [("asyncio_echo.py", 600), ("sockets.py", 400)] {
        let file = script(name);
        ends.same(name, least, |near| {
            let _server = ends.far(&["python3", &file, "serve", B, "7200"], "ready");
            near.told(&["python3", &file, "ask", B, "7200"])
        });
        ends.same(name, least, |near| {
            let server = near.start(&["python3", &file, "serve", A, "7200"], "ready");
            let asked = ends.far_told(&["python3", &file, "ask", A, "7200"]);
            asked + &server.said()
        });
    }
}

#[test]
fn dnsmasq_answers_what_dig_asks() {
    let ends = Ends::new("dns");
    let pid = ends::folder().join("dnsmasq.pid");
    let pid = format!("--pid-file={}", pid.display());
    let listen = |address: &str| format!("--listen-address={address}");
    let asked = |server: &str| -> Vec<String> {
        let words = [
            "dig",
            "+noall",
            "+answer",
            "+time=2",
            "+tries=2",
            &format!("@{server}"),
            "host.test",
            "A",
            "other.test",
            "A",
        ];
        words.map(str::to_owned).to_vec()
    };
    let serve = |address: &str, stay: &str| -> Vec<String> {
        let listen = listen(address);
        let fixed =
            ["dnsmasq", "--no-resolv", "--no-hosts", "--conf-file=/dev/null", "--user=root", "--bind-interfaces"];
        let more = ["--address=/host.test/198.18.7.7", "--address=/other.test/198.18.8.8", &listen, &pid, stay];
        fixed.iter().chain(&more).map(|word| (*word).to_owned()).collect()
    };
    let many = |words: &[String]| words.to_vec();
    // dig past the kernel, as far as one datagram goes: the first one to a neighbour confirms that for the kernel.
    ends.same("dig", 0, |near| {
        let words = serve(B, "--keep-in-foreground");
        let _server = ends.far(&refs(&words), "").after(400);
        (0..3).map(|_| near.told(&refs(&many(&asked(B))))).collect()
    });
    // dnsmasq past the kernel, in the foreground and as a daemon.
    for stay in ["--keep-in-foreground", "--no-negcache"] {
        ends.same(stay, 20, |near| {
            let server = near.start(&refs(&serve(A, stay)), "").after(400);
            let answers: String = (0..10).map(|_| ends.far_told(&refs(&asked(A)))).collect();
            if stay == "--no-negcache" {
                ends::end_by_file(pid.trim_start_matches("--pid-file="));
                sleep(Duration::from_millis(200));
            }
            drop(server);
            answers
        });
    }
}

fn refs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}
