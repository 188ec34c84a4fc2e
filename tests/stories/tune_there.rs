//! Tuning of another machine over ssh: planned, applied, confirmed and undone there, also when the connection is cut.

use std::{collections::BTreeMap, fs, process::Command};

use crate::{
    other_host::{ADDRESS, NEAR, OtherHost},
    program::{Desk, Done, WIREPROOF, done, without_caller},
    schemas::Schemas,
    tuning::{profile, values},
    waiting::soon,
};

const VALUES: [(&str, &str); 3] =
    [("sysctl net.ipv4.tcp_slow_start_after_idle", "0"), ("offload tx-tcp-segmentation", "off"), ("qdisc", "pfifo")];

/// Two hosts; the second one is tuned.
struct There {
    desk: Desk,
    host: OtherHost,
    profile: String,
}

impl There {
    fn new() -> Self {
        let (desk, host) = (Desk::new(), OtherHost::with_tmp("size=1g"));
        let profile = profile(&desk, &values(&VALUES));
        // Carriers settle after the wires are made.
        assert!(soon(|| !host.prints(&["ip", "-o", "link"]).contains("NO-CARRIER")));
        Self { desk, host, profile }
    }

    fn tune(&self, user: &str, action: &str, more: &[&str]) -> Done {
        self.tune_by(&self.host.ssh(), user, action, more)
    }

    fn tune_by(&self, ssh: &str, user: &str, action: &str, more: &[&str]) -> Done {
        let mut command = without_caller("ip".as_ref());
        command.args(["netns", "exec", NEAR, WIREPROOF, "tune", action, &format!("{user}@{ADDRESS}"), "--ssh", ssh]);
        if ["plan", "apply"].contains(&action) {
            command.args(["--profile", &self.profile]);
        }
        done(command.args(more).output().unwrap())
    }

    fn apply(&self, more: &[&str]) -> Done {
        let applied = self.tune("root", "apply", more);
        assert_eq!(applied.status, 0, "{}{}", applied.out, applied.err);
        applied
    }

    /// Settings of the second host as its tools show them.
    fn settings(&self) -> BTreeMap<String, String> {
        let looks = [
            "ip -o link",
            "ethtool -k wire-f",
            "ethtool -k control-f",
            "tc qdisc show dev wire-f",
            "tc qdisc show dev control-f",
            "sysctl -a --pattern net.ipv4.tcp_(slow|rmem|wmem|sack)",
        ];
        looks.map(|look| (look.to_owned(), self.host.prints(&look.split(' ').collect::<Vec<_>>()))).into()
    }

    fn assert_same(&self, before: &BTreeMap<String, String>) {
        soon(|| self.settings() == *before);
        assert_eq!(self.settings(), *before, "the second host is not as it was");
        let ledger = self.host.path("state/ledger");
        let left = fs::read_dir(ledger).into_iter().flatten().flatten().map(|file| file.file_name());
        assert_eq!(left.collect::<Vec<_>>(), Vec::<std::ffi::OsString>::new(), "a ledger is left there");
    }

    fn cable(&self, state: &str) {
        let words = ["-n", NEAR, "link", "set", "control-n", state];
        assert!(Command::new("ip").args(words).status().unwrap().success());
    }
}

#[test]
fn another_machine_is_tuned_and_undone_over_ssh() {
    let there = There::new();
    let (before, schemas) = (there.settings(), Schemas::of(&there.desk));
    let plan = there.tune("root", "plan", &["--dev", "wire-f", "--json"]);
    assert_eq!(plan.status, 0, "{}", plan.err);
    schemas.holds("tune-plan", &plan.json());
    assert_eq!(plan.json()["changes"].as_array().unwrap().len(), 3, "{}", plan.out);
    there.assert_same(&before);

    let applied = there.apply(&["--dev", "wire-f"]);
    assert!(applied.out.contains(&format!("wireproof tune undo root@{ADDRESS}")), "{}", applied.out);
    assert_ne!(there.settings(), before);
    let status = there.tune("root", "status", &["--json"]);
    schemas.holds("tune", &status.json());
    assert_eq!(status.json()["tuning"]["changes"].as_array().unwrap().len(), 3, "{}", status.out);
    there.tune("root", "apply", &["--dev", "wire-f"]).fails(1, &["tuned already"]);
    // This machine is another one.
    assert!(there.desk.run(&["tune", "status", "--json"]).json()["tuning"].is_null());
    assert_eq!(there.tune("root", "undo", &[]).status, 0);
    there.assert_same(&before);
    let buffers = "[bdp]\nrtt-ms = 100\nspeed = \"1 Gbit/s\"\nshare = 2\ncaps = []\n[[value]]\nsetting = \"sysctl net.ipv4.tcp_rmem\"\n\
                   value = \"4096 87380 bdp\"\nwhy = \"a reason\"\nsource = \"somebody\"\n";
    fs::write(&there.profile, buffers).unwrap();
    there.apply(&["--rtt", "25 ms", "--speed", "10G"]);
    let rmem = there.host.prints(&["sysctl", "-n", "net.ipv4.tcp_rmem"]);
    assert_eq!(rmem.split_whitespace().last(), Some("62500000"), "{rmem}");
    assert_eq!(there.tune("root", "undo", &[]).status, 0);
    there.assert_same(&before);
    there.tune("root", "plan", &["--dev", "nothing"]).fails(2, &["no such interface", "wire-f"]);
}

#[test]
fn a_tuning_whose_connection_is_cut_is_undone_after_its_time() {
    let there = There::new();
    let before = there.settings();
    let more = ["--dev", "control-f", "--mtu", "4000", "--confirm-within", "6 s", "--json"];
    let state = there.apply(&more).json();
    assert_eq!(state["tuning"]["progress"]["progress"], "waiting", "{state:#}");
    assert_ne!(there.settings(), before);
    there.cable("down");
    let ssh = there.host.ssh() + " -o ConnectTimeout=2";
    let confirm = there.tune_by(&ssh, "root", "confirm", &[]);
    assert!(confirm.status == 1 && !confirm.err.contains("panicked"), "{}", confirm.err);
    assert!(soon(|| there.settings()["tc qdisc show dev control-f"] == before["tc qdisc show dev control-f"]));
    there.cable("up");
    there.assert_same(&before);
    there.tune("root", "confirm", &[]).fails(1, &["no tuning waits"]);

    // The interface of the session has to be confirmed unasked; the processes of its connection may go.
    let state = there.apply(&["--dev", "control-f", "--json"]).json();
    assert_eq!(state["tuning"]["progress"]["progress"], "waiting", "{state:#}");
    for connection in there.host.connections() {
        crate::other_host::signal(connection, "-KILL");
    }
    let kept = there.tune("root", "confirm", &["--json"]);
    assert_eq!(kept.status, 0, "{}", kept.err);
    assert_eq!(kept.json()["tuning"]["progress"]["progress"], "kept");
    assert_eq!(there.tune("root", "undo", &[]).status, 0);
    there.assert_same(&before);
}

#[test]
fn a_user_without_rights_is_told_and_one_with_sudo_may_tune() {
    let there = There::new();
    let before = there.settings();
    for action in ["apply", "undo", "status", "confirm"] {
        let more: &[&str] = if action == "apply" { &["--dev", "wire-f"] } else { &[] };
        there.tune("plain", action, more).fails(1, &["needs root", "root@"]);
    }
    there.assert_same(&before);
    let applied = there.tune("admin", "apply", &["--dev", "wire-f"]);
    assert_eq!(applied.status, 0, "{}{}", applied.out, applied.err);
    assert_eq!(there.tune("admin", "undo", &[]).status, 0);
    there.assert_same(&before);
    let stranger = there.host.ssh() + " -o UserKnownHostsFile=/dev/null";
    let refused = there.tune_by(&stranger, "root", "apply", &["--dev", "wire-f"]);
    refused.fails(1, &["Host key verification failed"]);
    there.assert_same(&before);
}
