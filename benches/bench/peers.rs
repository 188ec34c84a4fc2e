//! One bed, and the programs that are measured on it.

#![allow(dead_code, reason = "each benchmark takes a part of it")]

use std::{
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

pub(crate) const WIREPROOF: &str = env!("CARGO_BIN_EXE_wireproof");
pub(crate) const NAME: &str = "bench";
pub(crate) const SERVER: &str = "198.18.0.2";

/// A lab bed for the time of the benchmark.
pub(crate) struct Bed;

/// A peer's server; ended when dropped.
pub(crate) struct Server(pub(crate) Child);

impl Bed {
    /// Makes the bed; needs root.
    pub(crate) fn up() -> Self {
        output(Command::new(WIREPROOF).args(["bed", "up", NAME]));
        Self
    }

    /// Output of a run of iperf3.
    pub(crate) fn iperf3(&self, program: &str, more: &[&str]) -> Value {
        let mut server = pinned_in("b", "1");
        let mut server = Server(server.args([program, "-s", "-1"]).stdout(Stdio::null()).spawn().unwrap());
        thread::sleep(Duration::from_millis(500));
        let mut client = pinned_in("a", "0");
        let text = output(client.args([program, "-c", SERVER, "-t", "4", "-O", "1", "-J"]).args(more));
        server.0.wait().unwrap();
        // A warning may stand before the document.
        serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
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

/// Output of a run of wireproof.
pub(crate) fn ours(args: &[&str]) -> Value {
    let store = std::env::temp_dir().join(format!("wireproof-bench-{}", std::process::id()));
    let mut command = Command::new(WIREPROOF);
    command.args(args).args(["--bed", NAME, "--repeats", "1", "--cpus", "0,1", "--json", "--quiet", "--store"]);
    let text = output(command.arg(store.join("runs.db")));
    let _ = std::fs::remove_dir_all(&store);
    serde_json::from_str(&text).unwrap()
}

/// A command at one end of the bed, on one core.
pub(crate) fn pinned_in(end: &str, cpu: &str) -> Command {
    let mut command = Command::new(WIREPROOF);
    command.args(["in-namespace", &format!("wp{NAME}-{end}"), "--", "taskset", "-c", cpu]);
    command
}

/// Output of a command; one that fails ends the benchmark.
pub(crate) fn output(command: &mut Command) -> String {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
