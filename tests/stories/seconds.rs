//! Seconds of a transfer, as they pass on a terminal.

use std::process::{Command, Stdio};

use crate::program::{Desk, without_caller};

const TRANSFER: [&str; 7] = ["goodput", "--duration", "5 s", "--repeats", "1", "--set", "goodput.warmup=100 ms"];

/// Output of a command to a terminal of 100 columns, made by script(1).
fn on_a_terminal(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    let quoted: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let mut script = without_caller("script".as_ref());
    let line = format!("stty rows 40 cols 100; {}", quoted.join(" "));
    script.args(["-qefc", &line, "/dev/null"]).envs([("TERM", "xterm-256color"), ("SHELL", "/bin/sh")]);
    let output = script.stdin(Stdio::null()).stderr(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Place of the lines of these seconds.
fn seconds<'a>(written: &'a str, unit: &str) -> Vec<(usize, &'a str)> {
    let end = |number: usize| format!("[{number:>3} {unit}] ");
    (1..=5)
        .filter_map(|number| written.match_indices(&end(number)).map(|(at, _)| (at, &written[at..])).next())
        .collect()
}

#[test]
fn each_second_of_a_transfer_has_a_line_on_a_terminal_and_nowhere_else() {
    let desk = Desk::new();
    let with = |more: &[&str]| desk.command(&[&TRANSFER[..], more].concat());
    let tcp = on_a_terminal(&with(&[]));
    let lines = seconds(&tcp, "s");
    assert!(lines.len() == 5 && lines.is_sorted_by_key(|(at, _)| *at), "{tcp}");
    let line = lines[0].1.lines().next().unwrap();
    assert!(line.contains("bit/s") && line.contains("resent "), "{line}");
    let result = tcp.rfind("Report written").expect("a report");
    assert!(lines.iter().all(|(at, _)| *at < result), "{tcp}");

    let udp =
        on_a_terminal(&with(&["--protocol", "udp", "--rate", "100 Mbit/s", "--direction", "both", "--lang", "ja"]));
    let lines = seconds(&udp, "秒");
    assert_eq!(lines.len(), 5, "{udp}");
    let line = lines[0].1.lines().next().unwrap();
    assert!(line.contains("順方向") && line.contains("逆方向") && !line.contains("再送"), "{line}");

    for hidden in ["--quiet", "--json"] {
        let written = on_a_terminal(&with(&[hidden]));
        assert!(seconds(&written, "s").is_empty(), "{hidden}: {written}");
    }
    let piped = desk.run(&TRANSFER);
    assert_eq!(piped.status, 0, "{}", piped.err);
    assert!(seconds(&(piped.out + &piped.err), "s").is_empty());
}
