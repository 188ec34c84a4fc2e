//! FreeBSD machines looked over: a host whose commands answer with recorded outputs, behind a real ssh server and each login shell.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    other_host::{NEAR, OtherHost},
    program::{Desk, Done, WIREPROOF, done, text, without_caller},
};

macro_rules! recorded {
    ($file:literal) => {
        include_str!(concat!("../../crates/base/freebsd/recorded/", $file, ".txt"))
    };
}

/// Commands of FreeBSD, and uname.
const COMMANDS: [&str; 10] =
    ["uname", "sysctl", "ifconfig", "pciconf", "netstat", "route", "vmstat", "dmesg", "kldstat", "sudo"];

/// Answers as its name and its arguments ask. In another language the words would be others; sudo is not to be asked at all.
const ANSWER: &str = r#"#!/bin/sh
name="$(basename "$0")"
case "$name $*" in
    "uname -s") echo FreeBSD; exit ;;
    "uname -m") echo amd64; exit ;;
    sudo*) echo asked >> "HOME/asked"; exit 1 ;;
    "sysctl -i "*) file=sysctl ;;
    *) file="$name${*:+ $*}" ;;
esac
[ "$LC_ALL" = C ] || { echo "Schnittstellen: keine"; exit 0; }
[ "$file" != "pciconf -lvbc" ] || [ "$(id -u)" = 0 ] || { echo "pciconf: /dev/pci: Permission denied" >&2; exit 1; }
[ ! -e "HOME/$file.sh" ] || . "HOME/$file.sh"
[ -e "HOME/$file" ] || { echo "$name: not found" >&2; exit 127; }
exec cat "HOME/$file"
"#;

/// Values that no recorded output has, as FreeBSD 14 has them by itself.
const DEFAULTS: &str = "kern.hostname: beastie\nkern.vm_guest: none\nkern.timecounter.choice: HPET(950) TSC-low(1000) dummy(-1000000)\n\
    kern.timecounter.hardware: TSC-low\nkern.ipc.maxsockbuf: 33554432\nkern.ipc.nmbclusters: 1019834\nkern.ipc.nmbjumbop: 509916\n\
    net.inet.udp.recvspace: 42080\nhw.intr_storm_threshold: 0\nhw.acpi.cpu.cx_lowest: C1\n";

/// A host that plays a session of FreeBSD.
pub(crate) struct Beastie {
    pub(crate) host: OtherHost,
}

impl Beastie {
    /// A machine with a card of 50 Gbit/s that is set up well, behind this login shell.
    pub(crate) fn new(host: OtherHost, shell: &str) -> Self {
        let beastie = Self { host };
        let passwd = beastie.host.path("passwd");
        let users = fs::read_to_string(&passwd).unwrap();
        // The same file stays, as it is mounted there.
        fs::write(&passwd, users.replace("/bin/bash", shell)).unwrap();
        let home = beastie.host.path("home");
        let greeting = |name: &str| format!("echo 'Welcome to FreeBSD!'\necho {name} >> {}/shells\n", text(&home));
        beastie.put("home/.bashrc", &(greeting("bash") + "export LANG=de_DE.UTF-8 LC_ALL=de_DE.UTF-8\n"));
        beastie.put("home/.cshrc", &(greeting("csh") + "setenv LANG de_DE.UTF-8\nsetenv LC_ALL de_DE.UTF-8\n"));
        fs::remove_file(beastie.host.path("bin/wireproof")).unwrap();
        for command in COMMANDS {
            let file = format!("bin/{command}");
            beastie.put(&file, &ANSWER.replace("HOME", text(&home)));
            fs::set_permissions(beastie.host.path(&file), fs::Permissions::from_mode(0o755)).unwrap();
        }
        fs::set_permissions(&home, fs::Permissions::from_mode(0o777)).unwrap();
        let tuned = [("buf_max: 2097152", "buf_max: 16777216"), ("blackhole_detection: 0", "blackhole_detection: 1")];
        let sysctl = [recorded!("sysctl-14"), recorded!("sysctl-tcp-15"), DEFAULTS].concat();
        let sysctl = tuned.iter().fold(sysctl, |sysctl, (from, to)| sysctl.replace(from, to));
        let names: String = recorded!("pciconf-mce-13").lines().take(3).map(|line| format!("{line}\n")).collect();
        let answers = [
            ("uname -a", recorded!("uname-12").to_owned()),
            ("sysctl", sysctl),
            ("ifconfig -vm", recorded!("ifconfig-mce-14").to_owned()),
            ("pciconf -lvbc", recorded!("pciconf-mce-13").to_owned()),
            ("pciconf -lv", names),
            ("netstat -m", recorded!("netstat-m-13").to_owned()),
            ("netstat -idn", recorded!("netstat-idn-16").to_owned()),
            ("netstat -s", recorded!("netstat-s-13").to_owned()),
            ("route -n get default", recorded!("route-13").replace("10.6.6.6", "default")),
            ("vmstat -i", recorded!("vmstat-13").to_owned()),
            ("dmesg", recorded!("dmesg-13").to_owned()),
            ("kldstat", recorded!("kldstat-13").to_owned()),
        ];
        answers.iter().for_each(|(command, answer)| beastie.put(&format!("home/{command}"), answer));
        beastie
    }

    fn put(&self, file: &str, content: &str) {
        fs::write(self.host.path(file), content).unwrap();
    }

    /// Plants a fault in an answer.
    pub(crate) fn plant(&self, command: &str, from: &str, to: &str) {
        let answer = fs::read_to_string(self.host.path(&format!("home/{command}"))).unwrap();
        assert!(answer.contains(from), "{command} says nothing of {from:?}");
        self.put(&format!("home/{command}"), &answer.replace(from, to));
    }

    /// A command that is not installed there.
    fn remove(&self, command: &str) {
        fs::remove_file(self.host.path(&format!("home/{command}"))).unwrap();
    }

    pub(crate) fn name(&self, user: &str) -> String {
        format!("{user}@{}", self.host.address)
    }

    pub(crate) fn run(&self, desk: &Desk, words: &[&str]) -> Done {
        let mut command = without_caller("ip".as_ref());
        command.args(["netns", "exec", NEAR, WIREPROOF, "--store", text(&desk.path("runs.db"))]);
        done(command.args(words).args(["--ssh", &self.host.ssh()]).output().unwrap())
    }

    fn inspect(&self, desk: &Desk, words: &[&str]) -> Value {
        self.run(desk, &[&["inspect", "--json"], words].concat()).json()
    }
}

/// Check, object, severity and command of each finding that is worse than worth knowing.
fn faults(document: &Value) -> Vec<[String; 4]> {
    let findings = document["findings"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or("–").to_owned();
    let is_bad = |finding: &&Value| ["fail", "warn", "unknown"].contains(&finding["severity"].as_str().unwrap());
    findings.filter(is_bad).map(|it| ["check", "object", "severity", "mend"].map(|key| text(&it[key]))).collect()
}

fn unknown(document: &Value) -> Vec<(String, String)> {
    let of =
        |finding: &Value| (finding["check"].as_str().unwrap().to_owned(), finding["why"].as_str().unwrap().to_owned());
    let all = document["findings"].as_array().unwrap().iter().filter(|finding| finding["severity"] == "unknown");
    all.map(of).collect()
}

#[test]
fn a_freebsd_machine_is_read_by_its_own_commands_whatever_its_login_shell() {
    let desk = Desk::new();
    for shell in ["/bin/bash", "/bin/csh"] {
        let beastie = Beastie::new(OtherHost::with_tmp("size=1g"), shell);
        let inspected = || beastie.inspect(&desk, &[&beastie.name("root")]);
        let document = inspected();
        assert_eq!(faults(&document), [[""; 4]; 0], "{shell}: {document:#}");
        assert_eq!(
            (&document["host"], &document["ports"][0]["interface"]["name"]),
            (&"beastie".into(), &"mce0".into())
        );
        let shells = fs::read_to_string(beastie.host.path("home/shells")).unwrap();
        assert!(shells.lines().all(|line| shell.ends_with(line)), "{shell}: {shells}");
        assert!(!beastie.host.path("home/asked").exists(), "sudo was asked");
        // Others use the cores, too: the shortest of a few.
        let took = (0..3)
            .map(|_| {
                let begun = Instant::now();
                inspected();
                begun.elapsed()
            })
            .min()
            .unwrap();
        assert!(took < Duration::from_secs(3), "{shell}: {took:?}");
        println!("inspect of a FreeBSD machine with {shell}: {took:?}");
    }
}

#[test]
fn planted_faults_of_a_freebsd_machine_are_found_with_its_own_commands() {
    let desk = Desk::new();
    let beastie = Beastie::new(OtherHost::with_tmp("size=1g"), "/bin/csh");
    let (root, plain) = (beastie.name("root"), beastie.name("plain"));
    beastie.plant("sysctl", "intr_storm_threshold: 0", "intr_storm_threshold: 1000");
    beastie.plant("sysctl", "nmbclusters: 1019834", "nmbclusters: 25600");
    beastie.plant("sysctl", "rfc1323: 1", "rfc1323: 0");
    beastie.plant("pciconf -lvbc", "link x8(x8) speed 8.0", "link x4(x8) speed 5.0");
    beastie.plant("netstat -m", "0/0/0 requests for mbufs denied", "0/9/0 requests for mbufs denied");
    let more = "bridge0: flags=8843<UP> metric 0 mtu 9000\n\tmember: tap0 flags=143<LEARNING>\ntap0: flags=8943<UP> metric 0 mtu 1500\n";
    beastie.plant("ifconfig -vm", "mce1:", &format!("{more}mce1:"));
    let found = faults(&beastie.inspect(&desk, &[&root]));
    let expected = [
        ["window-scaling", "net.inet.tcp.rfc1323", "fail", "sysctl net.inet.tcp.rfc1323=1"],
        ["pcie-narrow", "mce0", "warn", "–"],
        ["interrupt-storm", "hw.intr_storm_threshold", "warn", "sysctl hw.intr_storm_threshold=9000"],
        ["mbuf-clusters", "kern.ipc.nmbclusters", "warn", "sysctl kern.ipc.nmbclusters=262144"],
        ["mbufs-short", "clusters", "warn", "sysctl kern.ipc.nmbclusters=262144"],
        ["timestamps", "net.inet.tcp.rfc1323", "warn", "sysctl net.inet.tcp.rfc1323=1"],
        ["mtu-member", "tap0", "warn", "ifconfig tap0 mtu 9000"],
    ];
    assert_eq!(found, expected.map(|row| row.map(str::to_owned)));
    let one = beastie.inspect(&desk, &[&root, "--dev", "bridge0"]);
    assert!(faults(&one).iter().all(|row| row[0] != "pcie-narrow"), "{one:#}");
    let said = beastie.run(&desk, &["inspect", &plain, "--lang", "ja"]);
    assert_eq!(said.status, 3, "windows end at 64 KiB: {}", said.err);
    assert!(said.out.contains("割り込みストームのしきい値") && !said.out.contains('⟦'), "{}", said.out);
    assert!(said.out.contains("root でログインすると読み取れます"), "{}", said.out);
    let wrong = beastie.run(&desk, &["inspect", &root, "--dev", "ix9"]);
    assert!(wrong.status == 2 && wrong.err.contains("there is mce0, bridge0, tap0, mce1"), "{}", wrong.err);
}

#[test]
fn what_a_freebsd_machine_does_not_say_is_unknown_and_why() {
    let desk = Desk::new();
    let beastie = Beastie::new(OtherHost::with_tmp("size=1g"), "/bin/csh");
    let of = |user: &str| unknown(&beastie.inspect(&desk, &[&beastie.name(user)]));
    let why = |all: &[(String, String)], check: &str| {
        all.iter().find(|(name, _)| name == check).unwrap_or_else(|| panic!("{check}: {all:?}")).1.clone()
    };

    let plain = of("plain");
    assert!(plain.iter().all(|(check, _)| check.starts_with("pcie-")), "{plain:?}");
    let words = "could not be read: pciconf: /dev/pci: Permission denied. Root can read it: log in as root.";
    assert_eq!((why(&plain, "pcie-narrow"), plain.len()), (words.to_owned(), 4));

    beastie.remove("pciconf -lvbc");
    beastie.remove("pciconf -lv");
    beastie.remove("kldstat");
    let answer = fs::read_to_string(beastie.host.path("home/netstat -m")).unwrap();
    beastie.put("home/netstat -m", &answer[..answer.find("/1018").unwrap()]);
    beastie.put("home/netstat -s.sh", "exec sleep 60");
    let all = of("root");
    assert_eq!(why(&all, "pcie-errors"), "could not be read: pciconf: not found");
    assert_eq!(why(&all, "mbufs-short"), "could not be read: its output ends within a line");
    assert_eq!(why(&all, "stack-drops"), "could not be read: it took longer than 5 s");
    assert_eq!(all.len(), 6, "{all:?}");

    // The session breaks off within an output.
    beastie.put(
        "home/netstat -s.sh",
        "head -n 3 \"HOME/$file\"; kill -9 $(ps -o ppid= -p $PPID) $PPID"
            .replace("HOME", text(&beastie.host.path("home")))
            .as_str(),
    );
    let all = of("root");
    assert_eq!(why(&all, "stack-drops"), "could not be read: the session ended before its output did");
    assert_eq!(why(&all, "kernel-complains"), "could not be read: the session ended before it ran");
    assert_eq!(why(&all, "route-mtu-below"), "could not be read: the session ended before it ran");
}

#[test]
fn two_freebsd_machines_are_compared_and_nothing_else_runs_on_them() {
    let desk = Desk::new();
    let one = Beastie::new(OtherHost::with_tmp("size=1g"), "/bin/csh");
    let other = Beastie::new(OtherHost::beside(&one.host), "/bin/csh");
    other.plant("sysctl", "algorithm: cubic", "algorithm: newreno");
    other.plant("ifconfig -vm", "TSO4,", "");
    let [first, second] = [one.name("root"), other.name("root")];
    let both = one.inspect(&desk, &[&first, &second]);
    let differences = both["differences"].as_array().unwrap();
    let has = |words: &str| differences.iter().any(|difference| difference.as_str().unwrap().contains(words));
    assert!(has("net.inet.tcp.cc.algorithm") && has("TSO4"), "{differences:?}");
    let tune = one.run(&desk, &["tune", "plan", &first, "--goal", "throughput"]);
    assert!(tune.status == 1 && tune.err.contains("runs FreeBSD"), "{}", tune.err);
}
