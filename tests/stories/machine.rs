//! The machine as the tests find it and must leave it.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    process::Command,
    thread,
    time::{Duration, Instant},
};

/// Stories take turns: each looks at the whole machine.
pub(crate) struct Turn {
    _lock: File,
}

pub(crate) fn turn() -> Turn {
    assert!(is_root(), "these tests make network namespaces and need root: run them with sudo ./x test");
    let file = File::create("/run/wireproof-tests.lock").unwrap();
    file.lock().unwrap();
    share_namespace_directory();
    Turn { _lock: file }
}

/// The first namespace ever named makes /run/netns a mount of its own, as "ip netns add" does, and it stays one.
fn share_namespace_directory() {
    for action in ["add", "del"] {
        assert!(Command::new("ip").args(["netns", action, "wptest-first"]).status().unwrap().success());
    }
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").unwrap().lines().any(|line| line.starts_with("Uid:\t0\t0"))
}

/// Everything that wireproof could leave behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    namespaces: BTreeSet<String>,
    links: BTreeSet<String>,
    mounts: BTreeSet<String>,
    sysctls: BTreeSet<String>,
    agents: BTreeSet<u32>,
    ledger: BTreeSet<String>,
}

impl Snapshot {
    pub(crate) fn take() -> Self {
        Self {
            namespaces: names_in("/run/netns"),
            links: lines_of(Command::new("ip").args(["-o", "-d", "link"])),
            mounts: fs::read_to_string("/proc/self/mountinfo").unwrap().lines().map(mount_without_number).collect(),
            sysctls: sysctls(),
            agents: agents(),
            ledger: names_in("/var/lib/wireproof/ledger"),
        }
    }

    /// The machine is as it was; processes and namespaces may take a moment to go.
    pub(crate) fn assert_same(&self) {
        let until = Instant::now() + Duration::from_secs(15);
        while *self != Self::take() && Instant::now() < until {
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(*self, Self::take(), "the machine is not as it was");
    }
}

/// Processes that run as agents of wireproof.
pub(crate) fn agents() -> BTreeSet<u32> {
    let is_agent = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("agent\0--stdio\0")
    };
    pids().filter(is_agent).collect()
}

/// Children of a process.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let line = format!("PPid:\t{parent}");
    let is_child = |pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default().lines().any(|status| status == line)
    };
    pids().filter(is_child).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn names_in(folder: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Mount and parent numbers differ each time something is mounted.
fn mount_without_number(line: &str) -> String {
    line.splitn(3, ' ').nth(2).unwrap_or_default().to_owned()
}

fn sysctls() -> BTreeSet<String> {
    // Settings that count or change by themselves are no settings.
    let moving = [
        "random",
        "pty.nr",
        "inode-",
        "file-nr",
        "dentry",
        "ns_last_pid",
        "sched_domain",
        "route.gc",
        "tcp_mem",
        "conntrack",
        "aio-nr",
        "max_sample_rate",
    ];
    let all = lines_of(Command::new("sysctl").args(["-a", "--pattern", "^(net|kernel|vm|fs)\\."]));
    all.into_iter().filter(|line| !moving.iter().any(|word| line.contains(word))).collect()
}

fn lines_of(command: &mut Command) -> BTreeSet<String> {
    let output = command.output().unwrap();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
