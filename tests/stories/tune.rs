//! Tuning: applied, undone exactly, at any moment of a crash too, and never over somebody else's settings.

use std::{collections::BTreeMap, fs, path::Path, process::Command, thread, time::Duration};

use serde_json::Value;

use crate::{
    kills::{Moments, Told},
    machine::{Snapshot, children, without_timers},
    other_host::signal,
    program::{Desk, Done, text},
    router::ip,
    schemas::Schemas,
    tuning::{WHY, profile, values},
    waiting::soon,
};

/// Settings of this story's network namespace alone: each kind that a veth has.
const VALUES: [(&str, &str); 8] = [
    ("sysctl net.ipv4.tcp_slow_start_after_idle", "0"),
    ("offload tx-tcp-segmentation", "off"),
    ("offload rx-gro", "on"),
    ("qdisc", "pfifo"),
    ("interface gro_flush_timeout", "20000"),
    ("channels-combined", "7"),
    ("rps", "all"),
    ("sysctl net.ipv4.tcp_rmem", "4096 87380 60000000"),
];

/// All of them; the last one at least.
fn all_values() -> String {
    values(&VALUES) + "at-least = true\n"
}

/// A bridge with two members and a macvlan on it.
struct Ground<'a> {
    desk: &'a Desk,
    profile: String,
}

impl Drop for Ground<'_> {
    fn drop(&mut self) {
        self.desk.run(&["tune", "undo", "--force"]);
    }
}

fn ground(desk: &Desk) -> Ground<'_> {
    for words in [
        "link add left type veth peer name left-peer",
        "link add right type veth peer name right-peer",
        "link add br0 type bridge",
        "link set left master br0",
        "link set right master br0",
        "link add link br0 name top type macvlan",
        "address add 198.18.0.1/24 dev br0",
    ] {
        ip(words);
    }
    for name in ["left", "left-peer", "right", "right-peer", "br0", "top"] {
        ip(&format!("link set {name} up"));
    }
    // IPv6 addresses are probed for duplicates first.
    let is_up = || ip("link show top").contains("state UP") && !ip("address").contains("tentative");
    assert!(soon(is_up));
    Ground { desk, profile: profile(desk, &all_values()) }
}

impl Ground<'_> {
    fn run(&self, words: &[&str]) -> Done {
        self.desk.run(&[&["tune"], words].concat())
    }

    fn asked<'a>(&'a self, action: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["tune", action, "--profile", &self.profile, "--dev", "left"], more].concat()
    }

    fn apply(&self, more: &[&str]) -> Value {
        let done = self.desk.run(&[self.asked("apply", more), vec!["--json"]].concat());
        assert_eq!(done.status, 0, "{}{}", done.out, done.err);
        Schemas::of(self.desk).holds("tune", &done.json());
        done.json()
    }
}

/// All settings of this network namespace: each file, and what the tools show.
#[derive(PartialEq)]
pub(crate) struct Settings {
    interfaces: Vec<String>,
    values: BTreeMap<String, String>,
}

impl Settings {
    fn read() -> Self {
        Self::of(&["left", "right", "br0", "top"])
    }

    /// With the drivers of these interfaces.
    pub(crate) fn of(interfaces: &[impl AsRef<str>]) -> Self {
        let interfaces: Vec<String> = interfaces.iter().map(|name| name.as_ref().to_owned()).collect();
        let mut all = BTreeMap::new();
        files(Path::new("/proc/sys/net"), &mut all);
        let show = |program: &str, words: &str| {
            let done = Command::new(program).args(words.split(' ')).output().unwrap();
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        for name in &interfaces {
            for option in ["-k", "-l", "-g", "-c", "-a"] {
                all.insert(format!("ethtool {option} {name}"), show("ethtool", &format!("{option} {name}")));
            }
        }
        for words in ["tc qdisc show", "ip -d -o link", "ip -o address"] {
            let (program, rest) = words.split_once(' ').unwrap();
            let shown: Vec<String> = show(program, rest).lines().map(without_timers).collect();
            all.insert(words.to_owned(), shown.join("\n"));
        }
        Self { interfaces, values: all }
    }

    /// Asserts that all is as it was.
    pub(crate) fn assert_same(&self, when: &str) {
        let differing = self.differing();
        assert!(differing.is_empty(), "{when}: {differing}");
    }

    /// Settings that have another value now.
    fn differing(&self) -> String {
        let mut now = Self::of(&self.interfaces);
        // IPv6 addresses and carriers settle.
        soon(|| {
            now = Self::of(&self.interfaces);
            *self == now
        });
        let differing: Vec<String> = self
            .values
            .iter()
            .filter(|(key, value)| now.values.get(*key) != Some(value))
            .map(|(key, value)| format!("{key}: {value} → {:?}", now.values.get(key)))
            .collect();
        differing.join("\n")
    }
}

fn files(folder: &Path, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, all);
        } else if let Ok(value) = fs::read_to_string(&path) {
            let name = path.display().to_string();
            // Counters, and what moves by itself.
            if !["conntrack", "tcp_mem", "udp_mem", "gc_", "icmp_msgs"].iter().any(|word| name.contains(word)) {
                all.insert(name, value.trim_end().to_owned());
            }
        }
    }
}

#[test]
fn a_tuning_is_planned_applied_and_undone_exactly() {
    let desk = Desk::new();
    let ground = ground(&desk);
    let (before, machine) = (Settings::read(), Snapshot::take());
    let plan = desk.run(&[ground.asked("plan", &["--mtu", "9000"]), vec!["--json"]].concat());
    assert_eq!(plan.status, 0, "{}", plan.err);
    Schemas::of(&desk).holds("tune-plan", &plan.json());
    let plan = plan.json();
    let changes = plan["changes"].as_array().unwrap();
    let mtus: Vec<&str> =
        changes.iter().filter(|it| it["setting"] == "mtu").map(|it| it["interface"].as_str().unwrap()).collect();
    assert_eq!(mtus.len(), 4, "{plan:#}");
    assert_eq!(&mtus[2..], ["br0", "top"], "{plan:#}");
    assert_eq!(plan["left_out"][0]["setting"], "channels-combined", "{plan:#}");
    before.assert_same("planned");

    let said = desk.run(&ground.asked("plan", &[]));
    for words in [
        "sysctl net.ipv4.tcp_slow_start_after_idle: 1 → 0",
        &format!("{WHY} [somebody]"),
        "left qdisc: noqueue → pfifo",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let state = ground.apply(&["--mtu", "9000"]);
    assert_eq!(state["tuning"]["progress"]["progress"], "kept");
    assert_eq!(state["tuning"]["changes"].as_array().unwrap().len(), changes.len());
    for (words, part) in [
        ("link show left", "mtu 9000 qdisc pfifo"),
        ("link show right", "mtu 9000"),
        ("link show br0", "mtu 9000"),
        ("link show top", "mtu 9000"),
    ] {
        assert!(ip(words).contains(part), "{words}: {}", ip(words));
    }
    desk.run(&ground.asked("apply", &[])).fails(1, &["tuned already", "tune undo"]);
    let status = ground.run(&["status", "--json"]);
    Schemas::of(&desk).holds("tune", &status.json());
    assert!(status.json()["tuning"]["changes"].as_array().unwrap().iter().all(|it| it["changed_to"].is_null()));
    assert_eq!(desk.run(&["clean"]).status, 0, "a kept tuning is no leftover");
    assert!(ip("link show left").contains("mtu 9000"));

    let undone = ground.run(&["undo", "--json"]);
    assert_eq!(undone.status, 0, "{}", undone.err);
    Schemas::of(&desk).holds("tune-undone", &undone.json());
    before.assert_same("undone");
    machine.assert_same();
    ground.run(&["undo"]).fails(1, &["not tuned"]);
}

#[test]
fn what_somebody_else_changed_is_named_and_left_unless_told() {
    let desk = Desk::new();
    let ground = ground(&desk);
    let before = Settings::read();
    ground.apply(&[]);
    let set = |value: &str| {
        let word = format!("net.ipv4.tcp_slow_start_after_idle={value}");
        assert!(Command::new("sysctl").args(["-qw", &word]).status().unwrap().success());
    };
    let tcp_rmem = || Command::new("sysctl").args(["-qw", "net.ipv4.tcp_rmem=5000 90000 7000000"]).status().unwrap();
    assert!(tcp_rmem().success());
    // Somebody undid this one: it is as before, and there is nothing to say.
    set("1");
    let status = ground.run(&["status"]);
    assert!(status.out.contains("5000 90000 7000000"), "{}", status.out);
    let undone = ground.run(&["undo"]);
    assert_eq!(undone.status, 4, "{}{}", undone.out, undone.err);
    assert!(undone.out.contains("5000 90000 7000000") && undone.out.contains("--force"), "{}", undone.out);
    let of = |key: &str| Command::new("sysctl").args(["-n", key]).output().map(|it| it.stdout).unwrap();
    assert_eq!(of("net.ipv4.tcp_rmem"), b"5000\t90000\t7000000\n");
    let left = ground.run(&["status", "--json"]).json();
    assert_eq!(left["tuning"]["changes"].as_array().unwrap().len(), 1, "{left:#}");
    assert_eq!(ground.run(&["undo", "--force"]).status, 0);
    before.assert_same("undone by force");

    ground.apply(&[]);
    assert!(tcp_rmem().success());
    assert_eq!(ground.run(&["undo", "--forget"]).status, 0);
    assert_eq!(of("net.ipv4.tcp_rmem"), b"5000\t90000\t7000000\n");
    ground.run(&["undo"]).fails(1, &["not tuned"]);
}

#[test]
fn buffers_are_made_for_the_path_that_is_asked_for() {
    let desk = Desk::new();
    let ground = ground(&desk);
    let before = Settings::read();
    let with_bdp = values(&[("sysctl net.ipv4.tcp_rmem", "4096 87380 bdp")]);
    let bdp = "[bdp]\nrtt-ms = 100\nspeed = \"1 Gbit/s\"\nshare = 2\ncaps = []\n";
    let profile = desk.path("bdp.toml");
    fs::write(&profile, format!("{bdp}{with_bdp}")).unwrap();
    let tune = |action: &str, more: &[&str]| {
        desk.run(&[&["tune", action, "--profile", text(&profile), "--dev", "left"], more].concat())
    };
    let applied = tune("apply", &["--rtt", "25 ms", "--speed", "10G"]);
    assert_eq!(applied.status, 0, "{}", applied.err);
    let rmem = Command::new("sysctl").args(["-n", "net.ipv4.tcp_rmem"]).output().unwrap().stdout;
    assert_eq!(String::from_utf8_lossy(&rmem).split_whitespace().last(), Some("62500000"));
    assert_eq!(ground.run(&["undo"]).status, 0);
    before.assert_same("undone");

    desk.run(&ground.asked("plan", &["--rtt", "25 ms"])).fails(2, &["--rtt", "profile.toml", "bdp"]);
    desk.run(&["tune", "plan", "--goal", "latency", "--rtt", "25 ms"]).fails(2, &["no value of latency"]);
    for rtt in ["0 s", "1 h", "-1 ms", "far"] {
        tune("plan", &["--rtt", rtt]).fails(2, &["--rtt"]);
    }
    for speed in ["0G", "1 bit/s", "fast"] {
        tune("plan", &["--speed", speed]).fails(2, &["--speed"]);
    }
}

#[test]
fn what_is_not_confirmed_is_undone_and_what_is_confirmed_stays() {
    let desk = Desk::new();
    let ground = ground(&desk);
    let before = Settings::read();
    let state = ground.apply(&["--confirm-within", "6 s"]);
    assert_eq!(state["tuning"]["progress"]["progress"], "waiting", "{state:#}");
    desk.run(&ground.asked("apply", &[])).fails(1, &["waits to be confirmed"]);
    assert!(soon(|| ground.run(&["status", "--json"]).json()["tuning"].is_null()));
    before.assert_same("its time was up");
    ground.run(&["confirm"]).fails(1, &["no tuning waits"]);

    // A change of the way to everything else has to be confirmed unasked.
    ip("route add default via 198.18.0.2 dev br0");
    let with_route = Settings::read();
    let asked = ["tune", "apply", "--profile", &ground.profile, "--dev", "br0", "--mtu", "4000", "--json"];
    let state = desk.run(&asked);
    assert_eq!(state.status, 0, "{}", state.err);
    assert_eq!(state.json()["tuning"]["progress"]["progress"], "waiting", "{}", state.out);
    let kept = ground.run(&["confirm", "--json"]);
    assert_eq!(kept.status, 0, "{}", kept.err);
    assert_eq!(kept.json()["tuning"]["progress"]["progress"], "kept");
    assert_eq!(ground.run(&["undo"]).status, 0);
    with_route.assert_same("confirmed, then undone");

    let holder = {
        ground.apply(&["--confirm-within", "10 min"]);
        let found = holders();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]
    };
    signal(holder, "-KILL");
    assert!(soon(|| holders().is_empty()));
    assert_eq!(desk.run(&["clean"]).status, 0);
    with_route.assert_same("its holder was killed");
}

/// Processes of this story that hold a tuning.
fn holders() -> Vec<u32> {
    let ground = |process: &str| fs::read_link(Path::new("/proc").join(process).join("ns/ipc")).ok();
    let own = ground("thread-self");
    let all = fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_holder = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&words).contains("tune\0hold\0") && ground(&pid.to_string()) == own
    };
    pids.filter(is_holder).collect()
}

#[test]
fn a_refused_change_undoes_those_before_it_and_says_which() {
    let desk = Desk::new();
    let ground = ground(&desk);
    let before = Settings::read();
    // The kernel takes no such value.
    let refused = values(&[("sysctl net.ipv4.tcp_congestion_control", "no-such")]);
    profile(&desk, &(all_values() + &refused));
    desk.run(&ground.asked("apply", &["--mtu", "9000"])).fails(1, &["tcp_congestion_control", "has been undone"]);
    before.assert_same("refused");
    assert!(ground.run(&["status", "--json"]).json()["tuning"].is_null());

    profile(&desk, &all_values());
    assert!(Command::new("mount").args(["-o", "bind,ro", "/proc/sys", "/proc/sys"]).status().unwrap().success());
    let done = desk.run(&ground.asked("apply", &[]));
    assert!(Command::new("umount").arg("/proc/sys").status().unwrap().success());
    done.fails(1, &["Read-only file system", "has been undone"]);
    before.assert_same("read-only");
    let unknown = ["tune", "plan", "--goal", "latency", "--dev", "nothing"];
    desk.run(&unknown).fails(2, &["no such interface", "br0"]);
}

#[test]
fn files_for_each_boot_are_written_marked_and_removed() {
    let desk = Desk::new();
    let ground = ground(&desk);
    // A folder of this story's own in place of the machine's, without udev.
    let etc = desk.path("etc");
    let run = |program: &str, words: &[&str]| assert!(Command::new(program).args(words).status().unwrap().success());
    run("cp", &["-a", "/etc", text(&etc)]);
    run("rm", &["-rf", text(&etc.join("udev"))]);
    run("mount", &["--bind", text(&etc), "/etc"]);
    let state = ground.apply(&["--persist"]);
    let files: Vec<&str> = state["tuning"]["files"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    assert_eq!(files.len(), 2, "{state:#}");
    for file in &files {
        assert!(fs::read_to_string(file).unwrap().starts_with("# Written by wireproof tune."), "{file}");
    }
    assert_eq!(ground.run(&["undo"]).status, 0);
    assert!(files.iter().all(|file| !Path::new(file).exists()));
    assert!(!Path::new("/etc/udev").exists(), "its folders were made for it");
    run("umount", &["/etc"]);
}

#[test]
fn kills_while_tuning_and_undoing_leave_nothing() {
    let told = kill(&Desk::new(), &mut Moments(0x5eed_0198_0018_0022), 21).unwrap_or_else(|wrong| panic!("{wrong}"));
    assert!(told.killed.keys().any(|what| what.contains("undoing")), "{:?}", told.killed);
}

/// Parts of a tuning in which a process is killed.
#[derive(Clone, Copy)]
enum Part {
    Applying,
    Holding,
    Undoing,
}

/// Kills a process of so many tunings at moments of the seed, and compares all settings with those before.
pub(crate) fn kill(desk: &Desk, moments: &mut Moments, kills: u32) -> Result<Told, String> {
    let ground = ground(desk);
    let (before, mut told) = (Settings::read(), Told::default());
    for (kill, part) in (0..kills).zip([Part::Applying, Part::Holding, Part::Undoing].into_iter().cycle()) {
        let seed = moments.0;
        let words = match part {
            Part::Applying => ground.asked("apply", &["--mtu", "9000"]),
            Part::Holding => ground.asked("apply", &["--mtu", "9000", "--confirm-within", "10 min"]),
            Part::Undoing => {
                ground.apply(&["--mtu", "9000"]);
                vec!["tune", "undo"]
            }
        };
        let mut process = desk.start(&words);
        thread::sleep(Duration::from_millis(moments.next(LASTS)));
        // An agent makes the changes, or the holder that it starts.
        let agents = children(process.id());
        let victims = match part {
            Part::Applying => {
                [named(&[process.id()], "controller applying"), named(&agents, "agent applying")].concat()
            }
            Part::Holding => [named(&holders(), "holder"), named(&agents, "agent of a holder")].concat(),
            Part::Undoing => [named(&[process.id()], "controller undoing"), named(&agents, "agent undoing")].concat(),
        };
        let mut victim = "nobody";
        if !victims.is_empty() {
            let (pid, name) = victims[moments.next(victims.len() as u64) as usize];
            signal(pid, "-KILL");
            victim = name;
        }
        *told.killed.entry(victim).or_default() += 1;
        process.wait().unwrap();
        // The agent of a killed controller undoes what was not kept.
        soon(|| crate::machine::agents().is_empty());
        let after = format!("kill {kill} (seed {seed:#x}) of the {victim}");
        let clean = desk.run(&["clean"]);
        if clean.status != 0 {
            return Err(format!("{after}: clean says {}", clean.err));
        }
        if !ground.run(&["status", "--json"]).json()["tuning"].is_null() {
            let undone = ground.run(&["undo"]);
            if undone.status != 0 {
                return Err(format!("{after}: undo says {}{}", undone.out, undone.err));
            }
        }
        let differing = before.differing();
        if !differing.is_empty() {
            return Err(format!("{after}: {differing}"));
        }
    }
    Ok(told)
}

/// Milliseconds within which a process is killed: a little more than an application takes.
const LASTS: u64 = 250;

fn named(processes: &[u32], name: &'static str) -> Vec<(u32, &'static str)> {
    processes.iter().map(|pid| (*pid, name)).collect()
}
