//! One bed, and the programs that are measured on it.

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

pub(crate) const WIREPROOF: &str = env!("CARGO_BIN_EXE_wireproof");
const NAME: &str = "bench";
const SERVER: &str = "198.18.0.2";
const PORT: &str = "11111";

/// How both ends wait.
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

/// A lab bed for the time of the benchmark.
pub(crate) struct Bed;

/// A peer's server; ended when dropped.
pub(crate) struct Server(Child);

impl Bed {
    /// Makes the bed; needs root.
    pub(crate) fn up() -> Self {
        output(Command::new(WIREPROOF).args(["bed", "up", NAME]));
        Self
    }

    /// Our RTT p50 in µs.
    pub(crate) fn our_rtt_us(&self, protocol: &str, frame: u32, wait: Wait) -> f64 {
        let mode = if wait == Wait::Spin { "spin" } else { "block" };
        let count = if wait == Wait::Spin { "100000" } else { "20000" };
        let frame = frame.to_string();
        let document =
            ours(&["latency", "--protocol", protocol, "--mode", mode, "--frame-sizes", &frame, "--count", count]);
        document["trials"][0]["rtt_ns"]["p50"].as_f64().unwrap() / 1e3
    }

    /// Our goodput in Gbit/s.
    pub(crate) fn our_goodput_gbps(&self, streams: u16) -> f64 {
        let streams = streams.to_string();
        let document = ours(&["goodput", "--duration", "4 s", "--set", "goodput.warmup=1 s", "--streams", &streams]);
        document["trials"][0]["goodput_bps"]["mean"].as_f64().unwrap() / 1e9
    }

    /// Starts sockperf's server on the second core.
    pub(crate) fn sockperf_server(&self, protocol: &str, wait: Wait) -> Server {
        let mut command = pinned_in("b", "1");
        command.args(["sockperf", "server", "-i", SERVER, "-p", PORT]);
        let server = Server(sockperf_options(&mut command, protocol, wait).stdout(Stdio::null()).spawn().unwrap());
        thread::sleep(Duration::from_millis(500));
        server
    }

    /// sockperf's RTT p50 in µs.
    pub(crate) fn sockperf_rtt_us(&self, protocol: &str, frame: u32, wait: Wait) -> f64 {
        let payload = frame - if protocol == "udp" { 46 } else { 58 };
        let mut command = pinned_in("a", "0");
        command.args(["sockperf", "ping-pong", "-i", SERVER, "-p", PORT, "-t", "2", "--full-rtt", "-m"]);
        let text = output(sockperf_options(command.arg(payload.to_string()), protocol, wait));
        let line = text.lines().find(|line| line.contains("percentile 50.000")).unwrap_or_else(|| panic!("{text}"));
        line.rsplit('=').next().unwrap().trim().parse().unwrap()
    }

    /// iperf3's goodput at the receiver in Gbit/s.
    pub(crate) fn iperf3_goodput_gbps(&self, streams: u16) -> f64 {
        let mut server = pinned_in("b", "1");
        let mut server = Server(server.args(["iperf3", "-s", "-1"]).stdout(Stdio::null()).spawn().unwrap());
        thread::sleep(Duration::from_millis(500));
        let mut client = pinned_in("a", "0");
        let streams = streams.to_string();
        let text = output(client.args(["iperf3", "-c", SERVER, "-t", "4", "-O", "1", "-J", "-P", &streams]));
        server.0.wait().unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        document["end"]["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e9
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        let _ = Command::new(WIREPROOF).args(["bed", "down", NAME]).stdout(Stdio::null()).status();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ours(args: &[&str]) -> Value {
    let store = std::env::temp_dir().join(format!("wireproof-bench-{}", std::process::id()));
    let mut command = Command::new(WIREPROOF);
    command.args(args).args(["--bed", NAME, "--repeats", "1", "--cpus", "0,1", "--json", "--quiet", "--store"]);
    let text = output(command.arg(store.join("runs.db")));
    let _ = std::fs::remove_dir_all(&store);
    serde_json::from_str(&text).unwrap()
}

fn pinned_in(end: &str, cpu: &str) -> Command {
    let mut command = Command::new(WIREPROOF);
    command.args(["in-namespace", &format!("wp{NAME}-{end}"), "--", "taskset", "-c", cpu]);
    command
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

fn output(command: &mut Command) -> String {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
