//! Planted misconfigurations: each alone on a clean host is found with no other, mended, and undone exactly.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;

use crate::{
    program::{Desk, text},
    router::ip,
    tune::Settings,
    waiting::within,
};

const PATIENCE: Duration = Duration::from_secs(20);

/// A namespace that a veth ends in.
const GUEST: &str = "wptest-guest";

/// Settings of the machine that a namespace cannot have: files of the story stand in their place.
const OF_MACHINE: [(&str, &str); 6] = [
    ("busy_poll", "50"),
    ("busy_read", "50"),
    ("default_qdisc", "fq"),
    ("rmem_max", "67108864"),
    ("wmem_max", "67108864"),
    ("netdev_max_backlog", "2000"),
];

/// Settings of profiles that reach beyond the story.
const BEYOND: [&str; 5] = ["governor", "idle-latency", "transparent-hugepages", "boot ", "sysctl kernel."];

/// Counters and times of the whole machine, which other programs move.
const MOVING: [&str; 3] = ["steal", "backlog", "budget"];

/// How a misconfiguration is mended.
#[derive(Clone, Copy)]
enum Mended {
    /// By a tuning with these options.
    Tuned(&'static str),
    /// By the printed commands: a tuning does not set it.
    Commands,
}
use Mended::{Commands, Tuned};

/// A misconfiguration: the goal, the script that plants it, the one that removes it, the findings, and how it is mended.
struct Planted {
    goal: &'static str,
    plant: String,
    remove: String,
    found: &'static [&'static str],
    mended: Mended,
}

/// Settings of interfaces: goal, planting and removing script, findings, mending.
type OfInterface = (&'static str, &'static str, &'static str, &'static [&'static str], Mended);

const OF_INTERFACES: [OfInterface; 13] = [
    // Members of a bridge, and the bridge itself; one member leads to all of them.
    (
        "throughput",
        "ip link set left mtu 1500",
        "ip link set left mtu 9000",
        &["mtu-member left", "mtu-peer left", "mtu-peer left-peer"],
        Tuned("--dev left --mtu 9000"),
    ),
    (
        "throughput",
        "ip link set tap0 mtu 1500",
        "ip link set tap0 mtu 9000",
        &["mtu-member tap0"],
        Tuned("--dev left --mtu 9000"),
    ),
    (
        "throughput",
        "ip link set br0 mtu 1500",
        "ip link set br0 mtu 9000; ip link set top mtu 9000",
        &["mtu-member br0"],
        Tuned("--dev left --mtu 9000"),
    ),
    // Ends of virtual cables, one of them in another namespace.
    (
        "throughput",
        "ip link set plain-peer mtu 1400",
        "ip link set plain-peer mtu 1500",
        &["mtu-peer plain", "mtu-peer plain-peer"],
        Tuned("--dev plain-peer --mtu 1500"),
    ),
    (
        "throughput",
        "ip -n wptest-guest link set inside mtu 1400",
        "ip -n wptest-guest link set inside mtu 9000",
        &["mtu-peer guest"],
        Commands,
    ),
    // Disciplines that limit.
    (
        "throughput",
        "tc qdisc replace dev right root tbf rate 10mbit burst 10k latency 50ms",
        "tc qdisc del dev right root 2>/dev/null || :",
        &["qdisc-shapes right"],
        Commands,
    ),
    (
        "latency",
        "tc qdisc replace dev left-peer root handle 1: htb default 10; tc class add dev left-peer parent 1: classid 1:10 htb rate 5mbit",
        "tc qdisc del dev left-peer root 2>/dev/null || :",
        &["qdisc-shapes left-peer"],
        Commands,
    ),
    // Offloads.
    (
        "throughput",
        "ethtool -K left tx-tcp-segmentation off",
        "ethtool -K left tx-tcp-segmentation on",
        &["offload-off left"],
        Tuned("--dev left"),
    ),
    (
        "throughput",
        "ethtool -K left tx-generic-segmentation off",
        "ethtool -K left tx-generic-segmentation on",
        &["offload-off left"],
        Tuned("--dev left"),
    ),
    (
        "throughput",
        "ethtool -K right rx-gro off",
        "ethtool -K right rx-gro on",
        &["offload-off right"],
        Tuned("--dev right"),
    ),
    (
        "throughput",
        "ethtool -K right tx-checksum-ip-generic off",
        "ethtool -K right tx-checksum-ip-generic on",
        &["offload-off right"],
        Tuned("--dev right"),
    ),
    (
        "router",
        "ethtool -K guest rx-gro off",
        "ethtool -K guest rx-gro on",
        &["offload-off guest"],
        Tuned("--dev guest"),
    ),
    // Frames that an XDP program does not get in one piece.
    (
        "bypass",
        "ip link set plain mtu 9000; ip link set plain-peer mtu 9000",
        "ip link set plain mtu 1500; ip link set plain-peer mtu 1500",
        &["xdp-mtu plain", "xdp-mtu plain-peer"],
        Commands,
    ),
];

/// Kernel settings: goal, setting, misconfigured value, finding, mending.
type OfKernel = (&'static str, &'static str, &'static str, &'static [&'static str], Mended);

const BUFFERS: Mended = Tuned("--speed 10G --rtt 1ms");
const PLAIN: Mended = Tuned("");

const OF_KERNEL: [OfKernel; 18] = [
    ("throughput", "net.ipv4.tcp_rmem", "4096 87380 87380", &["receive-buffer net.ipv4.tcp_rmem"], BUFFERS),
    ("throughput", "net.ipv4.tcp_wmem", "4096 16384 65536", &["send-buffer net.ipv4.tcp_wmem"], BUFFERS),
    ("throughput", "net.core.rmem_max", "212992", &["receive-buffer-limit net.core.rmem_max"], BUFFERS),
    ("throughput", "net.core.wmem_max", "212992", &["send-buffer-limit net.core.wmem_max"], BUFFERS),
    ("throughput", "net.ipv4.tcp_window_scaling", "0", &["window-scaling net.ipv4.tcp_window_scaling"], PLAIN),
    ("throughput", "net.ipv4.tcp_sack", "0", &["selective-acks net.ipv4.tcp_sack"], PLAIN),
    ("latency", "net.ipv4.tcp_sack", "0", &["selective-acks net.ipv4.tcp_sack"], PLAIN),
    ("throughput", "net.ipv4.tcp_timestamps", "0", &["timestamps net.ipv4.tcp_timestamps"], PLAIN),
    (
        "throughput",
        "net.ipv4.tcp_congestion_control",
        "reno",
        &["congestion-control net.ipv4.tcp_congestion_control"],
        PLAIN,
    ),
    ("throughput", "net.ipv4.tcp_no_metrics_save", "0", &["metrics-cache net.ipv4.tcp_no_metrics_save"], PLAIN),
    (
        "throughput",
        "net.ipv4.tcp_slow_start_after_idle",
        "1",
        &["slow-start-after-idle net.ipv4.tcp_slow_start_after_idle"],
        PLAIN,
    ),
    ("throughput", "net.ipv4.tcp_mtu_probing", "0", &["mtu-probing net.ipv4.tcp_mtu_probing"], PLAIN),
    ("throughput", "net.ipv4.ip_no_pmtu_disc", "1", &["path-mtu-discovery net.ipv4.ip_no_pmtu_disc"], PLAIN),
    ("throughput", "net.core.default_qdisc", "pfifo_fast", &["default-qdisc net.core.default_qdisc"], PLAIN),
    ("latency", "net.core.busy_poll", "0", &["busy-poll net.core.busy_poll"], PLAIN),
    ("router", "net.ipv4.conf.all.rp_filter", "1", &["reverse-path net.ipv4.conf.all.rp_filter"], PLAIN),
    // The kernel sets others with these two.
    ("router", "net.ipv4.ip_forward", "0", &["forwarding net.ipv4.ip_forward"], Commands),
    ("router", "net.ipv6.conf.all.forwarding", "0", &["forwarding6 net.ipv6.conf.all.forwarding"], Commands),
];

fn planted() -> Vec<Planted> {
    let of_interfaces = OF_INTERFACES.map(|(goal, plant, remove, found, mended)| Planted {
        goal,
        plant: plant.to_owned(),
        remove: remove.to_owned(),
        found,
        mended,
    });
    let of_kernel = OF_KERNEL.map(|(goal, key, value, found, mended)| {
        // The shell cuts a file that stands in the place of a setting; sysctl does not.
        let file = format!("/proc/sys/{}", key.replace('.', "/"));
        let set = |value: &str| format!("echo '{value}' >{file}");
        let before = fs::read_to_string(&file).unwrap();
        Planted { goal, plant: set(value), remove: set(before.trim()), found, mended }
    });
    of_interfaces.into_iter().chain(of_kernel).collect()
}

/// A host that is set up for all goals, with a bridge over two veths and a tap, a macvlan, and a veth into a guest.
struct Host<'a> {
    desk: &'a Desk,
    profiles: Vec<(&'static str, String)>,
}

const INTERFACES: [&str; 9] =
    ["left", "left-peer", "right", "right-peer", "plain", "plain-peer", "guest", "br0", "tap0"];

impl Drop for Host<'_> {
    fn drop(&mut self) {
        self.desk.run(&["tune", "undo", "--force"]);
        let _ = Command::new("ip").args(["netns", "del", GUEST]).status();
    }
}

impl<'a> Host<'a> {
    fn new(desk: &'a Desk) -> Self {
        let host =
            Self { desk, profiles: ["throughput", "latency", "router", "bypass"].map(|it| profile(desk, it)).into() };
        ip(&format!("netns add {GUEST}"));
        for words in [
            "link add left mtu 9000 type veth peer name left-peer mtu 9000",
            "link add right mtu 9000 type veth peer name right-peer mtu 9000",
            "link add plain type veth peer name plain-peer",
            &format!("link add guest mtu 9000 type veth peer name inside netns {GUEST} mtu 9000"),
            "tuntap add tap0 mode tap",
            "link set tap0 mtu 9000",
            "link add br0 type bridge",
            "link set left master br0",
            "link set right master br0",
            "link set tap0 master br0",
            // Set by hand once, it no longer follows its members.
            "link set br0 mtu 8000",
            "link set br0 mtu 9000",
            "link add link br0 name top type macvlan",
            "address add 198.18.0.1/24 dev br0",
        ] {
            ip(words);
        }
        ip(&format!("-n {GUEST} link set inside up"));
        for name in INTERFACES {
            ip(&format!("link set {name} up"));
            if !["br0", "tap0"].contains(&name) {
                sh(&format!("ethtool -K {name} gro on"));
            }
        }
        ip("link set top up");
        let core = desk.path("core");
        sh(&format!("mkdir {0}; cp /proc/sys/net/core/* {0} 2>/dev/null || :", text(&core)));
        OF_MACHINE.iter().for_each(|(name, value)| fs::write(core.join(name), value).unwrap());
        // A namespace cannot have each congestion control.
        let congestion = desk.path("congestion");
        fs::write(&congestion, "cubic").unwrap();
        for (own, of_machine) in [(&core, "core"), (&congestion, "ipv4/tcp_congestion_control")] {
            sh(&format!("mount --bind {} /proc/sys/net/{of_machine}", text(own)));
        }
        let clean = [
            "net.ipv4.ip_forward=1",
            "net.ipv6.conf.all.forwarding=1",
            "net.ipv4.conf.all.rp_filter=2",
            "net.ipv4.tcp_mtu_probing=1",
            "net.ipv4.tcp_no_metrics_save=1",
            "net.ipv4.tcp_slow_start_after_idle=0",
        ];
        sh(&format!("sysctl -qw {}", clean.join(" ")));
        let is_settled = || !ip("address").contains("tentative") && ip("link show top").contains("state UP");
        assert!(within(PATIENCE, is_settled), "{}", ip("address"));
        host
    }

    /// Check and object of each finding that is not as wanted, with the command that mends it.
    fn findings(&self, goal: &str) -> Vec<(String, String)> {
        let mut words = vec!["inspect", "--json", "--goal", goal];
        if goal == "throughput" {
            words.extend(["--speed", "10G", "--rtt", "1 ms"]);
        }
        let document = self.desk.run(&words).json();
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let findings = document["findings"].as_array().unwrap().iter().filter(|it| it["severity"] != "ok");
        let named = findings.filter(|it| !MOVING.contains(&word(&it["check"]).as_str()));
        named.map(|it| (format!("{} {}", word(&it["check"]), word(&it["object"])), word(&it["mend"]))).collect()
    }

    fn apply(&self, goal: &str, options: &str) {
        let profile = &self.profiles.iter().find(|(name, _)| *name == goal).unwrap().1;
        let options = options.split(' ').filter(|word| !word.is_empty());
        let words: Vec<&str> = ["tune", "apply", "--profile", profile].into_iter().chain(options).collect();
        let applied = self.desk.run(&words);
        assert_eq!(applied.status, 0, "{words:?}: {}{}", applied.out, applied.err);
    }
}

/// The program's profile of a goal, without what reaches beyond this story.
fn profile(desk: &Desk, goal: &'static str) -> (&'static str, String) {
    let text_of =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles").join(format!("{goal}.toml")));
    let whole = text_of.unwrap();
    let is_ours = |value: &&str| !BEYOND.iter().any(|word| value.contains(&format!("setting = \"{word}")));
    let kept: Vec<&str> = whole.split("[[value]]").filter(is_ours).collect();
    let path: PathBuf = desk.path(&format!("{goal}.toml"));
    fs::write(&path, kept.join("[[value]]")).unwrap();
    (goal, text(&path).to_owned())
}

fn sh(script: &str) {
    printed(script);
}

fn printed(script: &str) -> String {
    let done = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn names(findings: &[(String, String)]) -> BTreeSet<String> {
    findings.iter().map(|(name, _)| name.clone()).collect()
}

#[test]
fn each_planted_misconfiguration_is_found_alone_mended_and_undone_exactly() {
    let desk = Desk::new();
    let host = Host::new(&desk);
    let clean: Vec<(&str, BTreeSet<String>)> =
        ["throughput", "latency", "router", "bypass"].map(|goal| (goal, names(&host.findings(goal)))).into();
    let untouched = Settings::of(&INTERFACES);
    for Planted { goal, plant, remove, found, mended } in planted() {
        let clean = &clean.iter().find(|(name, _)| *name == goal).unwrap().1;
        sh(&plant);
        let findings = host.findings(goal);
        let new: BTreeSet<String> = names(&findings).difference(clean).cloned().collect();
        assert_eq!(new, found.iter().map(|name| (*name).to_owned()).collect(), "{goal}: {plant}");
        match mended {
            Tuned(options) => {
                let before = Settings::of(&INTERFACES);
                host.apply(goal, options);
                let left = names(&host.findings(goal));
                let remaining: Vec<&String> = left.difference(clean).collect();
                assert!(remaining.is_empty(), "{goal}: {plant}: {remaining:?} after a tuning");
                let undone = host.desk.run(&["tune", "undo"]);
                assert_eq!(undone.status, 0, "{plant}: {}{}", undone.out, undone.err);
                before.assert_same(&format!("{plant}: tuned and undone"));
            }
            Commands => {
                let commands = findings.iter().filter(|(name, mend)| new.contains(name) && !mend.is_empty());
                commands.for_each(|(_, mend)| sh(mend));
                let left = names(&host.findings(goal));
                let remaining: Vec<&String> = left.difference(clean).collect();
                assert!(remaining.is_empty(), "{goal}: {plant}: {remaining:?} after the commands");
            }
        }
        sh(&remove);
    }
    untouched.assert_same("all removed");
}
