//! Plants a fault on a standing bed, and takes it away again.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::program::{Desk, text};

/// A standing bed whose path gets worse.
pub(crate) struct Bad<'a> {
    desk: &'a Desk,
    bed: &'a str,
}

/// A program that keeps a core busy until it is dropped, or a minute is over.
pub(crate) struct Busy(Child);

impl<'a> Bad<'a> {
    pub(crate) fn new(desk: &'a Desk, bed: &'a str) -> Self {
        Self { desk, bed }
    }

    /// Runs a command like `tc qdisc add dev lab-a root …` at one end.
    pub(crate) fn at(&self, end: &str, words: &str) {
        self.does(end, &words.split_whitespace().collect::<Vec<_>>());
    }

    /// Gives a setting of one end another value, which may have spaces.
    pub(crate) fn sysctl(&self, end: &str, name: &str, value: &str) {
        self.does(end, &["sysctl", "-qw", &format!("{name}={value}")]);
    }

    fn does(&self, end: &str, words: &[&str]) {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("wp{}-{end}", self.bed)]).args(words);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    /// Has each `every`-th datagram from `a` to `b` meet this fault of planted/faults.bpf.c on its way out of `a`.
    pub(crate) fn tc(&self, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("a", "tc qdisc replace dev lab-a clsact");
        self.at("a", &format!("tc filter replace dev lab-a egress bpf da obj {} sec tc/{fault}", text(&object)));
    }

    /// Takes what [`tc`](Self::tc) planted away.
    pub(crate) fn remove_tc(&self) {
        self.at("a", "tc qdisc del dev lab-a clsact");
    }

    /// Has each `every`-th datagram meet this fault as it comes into `b`.
    pub(crate) fn xdp(&self, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("b", &format!("ip link set dev lab-b xdp obj {} sec xdp/{fault}", text(&object)));
    }

    /// Takes what [`xdp`](Self::xdp) planted away.
    pub(crate) fn remove_xdp(&self) {
        self.at("b", "ip link set dev lab-b xdp off");
    }

    fn compile(&self, every: u64) -> PathBuf {
        let object = self.desk.path(&format!("faults-{every}.o"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stories/planted/faults.bpf.c");
        let mut clang = Command::new("clang");
        clang.args(["-O2", "-g", "-target", "bpf", &format!("-DEVERY={every}")]);
        // The kernel's headers include some that belong to the processor, which "-target bpf" does not look for.
        clang.arg(format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH));
        let done = clang.args(["-c", source, "-o", text(&object)]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        object
    }
}

impl Busy {
    /// Keeps this core busy.
    pub(crate) fn on(cpu: usize) -> Self {
        let mut command = Command::new("timeout");
        command.args(["60", "nice", "-n", "-20", "taskset", "-c", &cpu.to_string(), "sh", "-c", "while :; do :; done"]);
        Self(command.stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // `timeout` passes the signal on to what it runs; SIGKILL it could not.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}
