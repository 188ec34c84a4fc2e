//! Hosts looked over: planted faults are found, the printed commands mend them, and hosts are compared.

use std::process::Command;

use serde_json::Value;

use crate::{
    other_host::{NEAR, OtherHost},
    program::{Desk, Done, WIREPROOF, done, text, without_caller},
};

/// A network namespace that stands for a host with a bridge of two members, one of which ends in another namespace.
struct Host;

const NAME: &str = "wptest-inspect";
const GUEST: &str = "wptest-guest";

impl Host {
    fn new() -> Self {
        ip(&format!("netns add {NAME}"));
        ip(&format!("netns add {GUEST}"));
        let host = Self;
        for words in [
            "link add br0 type bridge",
            "link add port1 mtu 9000 type veth peer name other1 mtu 9000",
            &format!("link add port2 mtu 9000 type veth peer name inside netns {GUEST} mtu 9000"),
            "link set port1 master br0",
            "link set port2 master br0",
            "link set br0 mtu 9000",
        ] {
            host.ip(words);
        }
        for name in ["br0", "port1", "other1", "port2"] {
            host.ip(&format!("link set {name} up"));
        }
        ip(&format!("-n {GUEST} link set inside up"));
        host
    }

    fn ip(&self, words: &str) {
        ip(&format!("-n {NAME} {words}"));
    }

    fn sh(&self, line: &str) {
        let status = Command::new("ip").args(["netns", "exec", NAME, "sh", "-c", line]).status();
        assert!(status.unwrap().success(), "{line}");
    }

    fn inspect(&self, desk: &Desk, words: &[&str]) -> Done {
        let inner = desk.command(&[&["inspect"], words].concat());
        let mut command = Command::new("ip");
        command.args(["netns", "exec", NAME]).arg(inner.get_program()).args(inner.get_args());
        done(command.output().unwrap())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        [NAME, GUEST].iter().for_each(|name| ip(&format!("netns del {name}")));
    }
}

fn ip(words: &str) {
    assert!(Command::new("ip").args(words.split(' ')).status().unwrap().success(), "ip {words}");
}

/// Check, object and command of each finding that is worse than worth knowing, processor and the like left out.
fn faults(document: &Value) -> Vec<(String, String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let is_of_network = |finding: &&Value| ["tcp", "path"].contains(&finding["group"].as_str().unwrap());
    let is_bad = |finding: &&Value| ["fail", "warn"].contains(&finding["severity"].as_str().unwrap());
    let findings = document["findings"].as_array().unwrap().iter();
    let faults = findings
        .filter(is_of_network)
        .filter(is_bad)
        .map(|finding| (text(&finding["check"]).unwrap(), text(&finding["object"]).unwrap(), text(&finding["mend"])));
    // A setting of the machine, which a story leaves alone.
    faults.filter(|(check, ..)| check != "default-qdisc").collect()
}

#[test]
fn planted_faults_of_a_namespace_are_found_and_the_printed_commands_mend_them() {
    let (desk, host) = (Desk::new(), Host::new());
    host.sh("sysctl -qw net.ipv4.tcp_mtu_probing=1");
    let found = |words: &[&str]| faults(&host.inspect(&desk, &[&["--json"], words].concat()).json());
    assert_eq!(found(&[]), [], "nothing is planted yet");

    host.ip("link set port1 mtu 1500");
    ip(&format!("-n {GUEST} link set inside mtu 1400"));
    host.sh("tc qdisc replace dev other1 root tbf rate 10mbit burst 10k latency 50ms");
    host.sh("sysctl -qw net.ipv4.tcp_sack=0 net.ipv4.tcp_window_scaling=0 net.ipv4.ip_no_pmtu_disc=1");
    let planted = found(&[]);
    let names: Vec<(&str, &str)> = planted.iter().map(|(check, object, _)| (check.as_str(), object.as_str())).collect();
    let expected = [
        ("window-scaling", "net.ipv4.tcp_window_scaling"),
        ("selective-acks", "net.ipv4.tcp_sack"),
        ("qdisc-shapes", "other1"),
        // The kernel lowers a bridge to its smallest member.
        ("mtu-member", "br0"),
        ("mtu-member", "port1"),
        ("mtu-peer", "port1"),
        ("mtu-peer", "other1"),
        ("mtu-peer", "port2"),
        ("path-mtu-discovery", "net.ipv4.ip_no_pmtu_disc"),
    ];
    for (check, object) in expected {
        assert!(names.contains(&(check, object)), "{check} of {object}: {names:?}");
    }
    assert_eq!(names.len(), expected.len(), "{names:?}");
    assert!(found(&["--dev", "port2"]).iter().all(|(_, object, _)| object != "other1"));

    let said = host.inspect(&desk, &["--lang", "ja"]);
    assert_eq!(said.status, 3, "windows end at 64 KiB: {}", said.err);
    assert!(said.out.contains("ip link set dev port1 mtu 9000") && !said.out.contains('⟦'), "{}", said.out);
    for (check, object, mend) in planted {
        host.sh(&mend.unwrap_or_else(|| panic!("{check} of {object} has no command")));
    }
    assert_eq!(found(&[]), [], "the commands mended it");

    let wrong = host.inspect(&desk, &["--dev", "port9"]);
    assert!(wrong.status == 2 && wrong.err.contains("there is"), "{}", wrong.err);
    let wrong = host.inspect(&desk, &["--goal", "speed"]);
    assert!(wrong.status == 2 && wrong.err.contains("latency"), "{}", wrong.err);
}

#[test]
fn another_host_is_inspected_over_ssh_and_two_hosts_are_compared() {
    let desk = Desk::new();
    let host = OtherHost::with_tmp("size=1g");
    let third = OtherHost::beside(&host);
    host.set("sysctl -qw net.ipv4.tcp_sack=0");
    let inspect = |words: &[&str]| {
        let mut command = without_caller("ip".as_ref());
        command.args(["netns", "exec", NEAR, WIREPROOF, "--store", text(&desk.path("runs.db")), "inspect"]);
        done(command.args(words).args(["--ssh", &host.ssh(), "--json"]).output().unwrap())
    };
    let [one, other] = [&host, &third].map(|host| format!("root@{}", host.address));
    let alone = inspect(&[&one]).json();
    assert_eq!(alone["host"], "far-host");
    assert!(faults(&alone).iter().any(|(check, ..)| check == "selective-acks"), "{alone:#}");
    let both = inspect(&[&one, &other]).json();
    let differences = both["differences"].as_array().unwrap();
    let sack = "sysctls net.ipv4.tcp_sack: \"0\" → \"1\"";
    assert!(differences.iter().any(|difference| difference == sack), "{differences:?}");
    assert_eq!((&both["host"], &both["other"]["host"]), (&"far-host".into(), &"third-host".into()));
    let unknown = inspect(&["root@198.18.100.77"]);
    assert!(unknown.status == 1 && !unknown.err.is_empty(), "{}", unknown.err);
}

#[test]
fn a_run_keeps_its_inspection_and_the_host_is_compared_with_it() {
    let desk = Desk::new();
    let out = desk.path("report");
    let latency = ["latency", "--count", "200", "--frame-sizes", "64", "--repeats", "1", "--json"];
    let run = desk.run(&[&latency[..], &["--out", text(&out), "--format", "md"]].concat()).json();
    let inspection = &run["inspections"][0];
    assert_eq!(inspection["goal"], "latency", "{inspection:#}");
    let checks: Vec<&str> =
        inspection["before"].as_array().unwrap().iter().map(|it| it["check"].as_str().unwrap()).collect();
    assert!(checks.contains(&"huge-pages") || checks.contains(&"busy-poll") || checks.is_empty(), "{checks:?}");
    let report = std::fs::read_to_string(out.join("report.md")).unwrap();
    assert!(report.contains("Inspection of the machines"), "{report}");
    let since = desk.run(&["inspect", "--since", "last", "--json"]).json();
    assert_eq!(since["differences"], serde_json::json!([]), "{since:#}");
    assert_eq!(since["since"], run["run"]["id"]);
    let both = desk.run(&["inspect", "a", "b", "--since", "last"]);
    assert_eq!(both.status, 2, "{}", both.err);
}
