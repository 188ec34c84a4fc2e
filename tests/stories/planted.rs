//! Plants a fault on a kept bed, and removes it.

use std::{
    io::Read,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::program::{Desk, text};

/// A kept bed with a faulty path.
pub(crate) struct Bad<'a> {
    desk: &'a Desk,
    bed: &'a str,
}

/// A program that keeps a core busy until it is dropped, for a minute at most.
pub(crate) struct Busy(Child);

/// A table of tracked connections with few places, until it is dropped, and for a minute at most. The limit is the machine's.
pub(crate) struct SmallTable(Child);

impl SmallTable {
    pub(crate) fn of(connections: u32) -> Self {
        const LIMIT: &str = "/proc/sys/net/netfilter/nf_conntrack_max";
        // A process of its own puts the limit back, whatever becomes of the story.
        let script = format!(
            "before=$(cat {LIMIT}); trap 'echo $before >{LIMIT}; kill $!; exit' TERM INT; echo {connections} >{LIMIT} || exit; echo set; \
             sleep 60 & wait; echo $before >{LIMIT}"
        );
        let mut command = Command::new("nsenter");
        // The main thread is in the machine's own network.
        command.args([&format!("--net=/proc/{}/ns/net", std::process::id()), "setsid", "sh", "-c", &script]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 4];
        let told = child.stdout.as_mut().unwrap().read_exact(&mut said);
        assert!(told.is_ok() && &said == b"set\n", "the limit of tracked connections cannot be set here");
        Self(child)
    }
}

impl Drop for SmallTable {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

impl<'a> Bad<'a> {
    pub(crate) fn new(desk: &'a Desk, bed: &'a str) -> Self {
        Self { desk, bed }
    }

    /// Runs a command like `tc qdisc add dev lab-a root …` at one end.
    pub(crate) fn at(&self, end: &str, words: &str) {
        self.does(end, &words.split_whitespace().collect::<Vec<_>>());
    }

    /// Runs a shell script at one end.
    pub(crate) fn script(&self, end: &str, script: &str) {
        self.does(end, &["sh", "-ec", script]);
    }

    /// Gives a setting of one end another value, which may have spaces.
    pub(crate) fn sysctl(&self, end: &str, name: &str, value: &str) {
        self.does(end, &["sysctl", "-qw", &format!("{name}={value}")]);
    }

    /// A number in a file as one end sees it.
    pub(crate) fn reads(&self, end: &str, file: &str) -> u64 {
        self.does(end, &["cat", file]).trim().parse().unwrap()
    }

    fn does(&self, end: &str, words: &[&str]) -> String {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("wp{}-{end}", self.bed)]).args(words);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Plants this fault of planted/faults.bpf.c for each `every`-th datagram from `a` to `b`, at the output of `a`.
    pub(crate) fn tc(&self, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("a", "tc qdisc replace dev lab-a clsact");
        self.at("a", &format!("tc filter replace dev lab-a egress bpf da obj {} sec tc/{fault}", text(&object)));
    }

    /// Removes the fault of [`tc`](Self::tc).
    pub(crate) fn remove_tc(&self) {
        self.at("a", "tc qdisc del dev lab-a clsact");
    }

    /// Plants this fault for each `every`-th datagram, at the input of `b`.
    pub(crate) fn xdp(&self, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("b", &format!("ip link set dev lab-b xdp obj {} sec xdp/{fault}", text(&object)));
    }

    /// The same at a port of a router between the ends.
    pub(crate) fn xdp_at(&self, port: &str, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("router", &format!("ip link set dev {port} xdp obj {} sec xdp/{fault}", text(&object)));
    }

    /// The same by the kernel's own XDP, which sends to any interface.
    pub(crate) fn generic_xdp_at(&self, port: &str, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("router", &format!("ip link set dev {port} xdpgeneric obj {} sec xdp/{fault}", text(&object)));
    }

    /// The same for packets that come in at a port of the router (`ingress`) or leave it (`egress`).
    pub(crate) fn tc_at(&self, port: &str, way: &str, fault: &str, every: u64) {
        let object = self.compile(every);
        self.at("router", &format!("tc qdisc replace dev {port} clsact"));
        self.at("router", &format!("tc filter replace dev {port} {way} bpf da obj {} sec tc/{fault}", text(&object)));
    }

    /// Removes the fault of [`xdp_at`](Self::xdp_at).
    pub(crate) fn remove_xdp_at(&self, port: &str) {
        self.at("router", &format!("ip link set dev {port} xdp off"));
    }

    /// Removes the fault of [`xdp`](Self::xdp).
    pub(crate) fn remove_xdp(&self) {
        self.at("b", "ip link set dev lab-b xdp off");
    }

    /// The object file of planted/faults.bpf.c with this parameter.
    pub(crate) fn compile(&self, every: u64) -> PathBuf {
        let object = self.desk.path(&format!("faults-{every}.o"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/stories/planted/faults.bpf.c");
        let mut clang = Command::new("clang");
        clang.args(["-O2", "-g", "-target", "bpf", &format!("-DEVERY={every}")]);
        // The kernel's headers include architecture-specific ones, which "-target bpf" does not search.
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
        // `timeout` passes the signal to its child, unlike SIGKILL.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}
