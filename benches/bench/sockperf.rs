//! sockperf, and the same of ours.

#![allow(dead_code, reason = "each benchmark takes a part of it")]

use std::{
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::peers::{SERVER, Server, ours, output, pinned_in};

const PORT: &str = "11111";

/// Way in which both ends wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Ask again and again.
    Spin,
    /// Sleep.
    Block,
}

impl Wait {
    /// For titles.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Spin => "non-blocking",
            Self::Block => "blocking",
        }
    }
}

/// Our RTT p50 in µs.
pub(crate) fn our_rtt_us(protocol: &str, frame: u32, wait: Wait) -> f64 {
    let mode = if wait == Wait::Spin { "spin" } else { "block" };
    let count = if wait == Wait::Spin { "100000" } else { "20000" };
    let frame = frame.to_string();
    let document =
        ours(&["latency", "--protocol", protocol, "--mode", mode, "--frame-sizes", &frame, "--count", count]);
    document["trials"][0]["rtt_ns"]["p50"].as_f64().unwrap() / 1e3
}

/// Starts sockperf's server on the second core.
pub(crate) fn sockperf_server(protocol: &str, wait: Wait) -> Server {
    let mut command = pinned_in("b", "1");
    command.args(["sockperf", "server", "-i", SERVER, "-p", PORT]);
    let server = Server(sockperf_options(&mut command, protocol, wait).stdout(Stdio::null()).spawn().unwrap());
    thread::sleep(Duration::from_millis(500));
    server
}

/// sockperf's RTT p50 in µs.
pub(crate) fn sockperf_rtt_us(protocol: &str, frame: u32, wait: Wait) -> f64 {
    let payload = frame - if protocol == "udp" { 46 } else { 58 };
    let mut command = pinned_in("a", "0");
    command.args(["sockperf", "ping-pong", "-i", SERVER, "-p", PORT, "-t", "2", "--full-rtt", "-m"]);
    let text = output(sockperf_options(command.arg(payload.to_string()), protocol, wait));
    let line = text.lines().find(|line| line.contains("percentile 50.000")).unwrap_or_else(|| panic!("{text}"));
    line.rsplit('=').next().unwrap().trim().parse().unwrap()
}

fn sockperf_options<'a>(command: &'a mut Command, protocol: &str, wait: Wait) -> &'a mut Command {
    if protocol == "tcp" {
        command.arg("--tcp");
    }
    if wait == Wait::Spin {
        command.arg("--nonblocked");
    }
    command
}
