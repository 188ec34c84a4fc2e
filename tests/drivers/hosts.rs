//! The bed `hosts:` between two machines with their own kernels, cards and OpenSSH.

use crate::{
    control::Done,
    lab::{Card, Lab},
    machine::{Background, Machine},
};

const BED: &str = "--bed 'hosts:ssh://root@198.18.100.2?dev=w0&addr=198.18.101.2/24'";
const WIRE: &str = "ip -o address show dev w0 scope global; cat /sys/class/net/w0/mtu; ls /tmp; pidof wireproof";

/// Two machines: ssh uses the wire c0, and w0 is measured.
struct Pair {
    near: Machine,
    far: Machine,
    /// State of the measured wire's far end before the run.
    before: String,
    _lab: Lab,
}

impl Pair {
    fn new() -> Self {
        let mut lab = Lab::new();
        let ([near_control, far_control], [near_wire, far_wire]) = (lab.wire(), lab.wire());
        let near = [Card::new("c0", "virtio-net-pci", near_control), Card::new("w0", "e1000e", near_wire)];
        let far = [Card::new("c0", "virtio-net-pci", far_control), Card::new("w0", "vmxnet3", far_wire)];
        let mut pair =
            Self { near: lab.boot("near", &near), far: lab.boot("far", &far), before: String::new(), _lab: lab };
        pair.near.sh("ip address add 198.18.100.1/24 dev c0; ip link set c0 up").ok();
        pair.near.sh("ip address add 198.18.101.1/24 dev w0; ip link set w0 up").ok();
        pair.near.sh("mkdir -m 700 /root/.ssh; ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519").ok();
        pair.set_up_far();
        pair.before = pair.far.sh(WIRE).out;
        pair
    }

    /// Configures the far machine's network and server, after each of its starts.
    fn set_up_far(&mut self) {
        let key = self.near.sh("cat /root/.ssh/id_ed25519.pub").ok().out;
        for command in [
            "ip address add 198.18.100.2/24 dev c0; ip link set c0 up; ip link set w0 up",
            "mkdir -p /run/sshd /etc/ssh; mkdir -m 700 -p /root/.ssh",
            &format!("echo '{}' >/root/.ssh/authorized_keys", key.trim()),
            "ssh-keygen -q -t ed25519 -N '' -f /etc/ssh/ssh_host_ed25519_key",
            "/usr/sbin/sshd -f /dev/null -o UsePAM=no -o PermitRootLogin=yes",
        ] {
            self.far.sh(command).ok();
        }
        let host_key = self.far.sh("cat /etc/ssh/ssh_host_ed25519_key.pub").ok().out;
        self.near.sh(&format!("echo '198.18.100.2 {}' >/root/.ssh/known_hosts", host_key.trim())).ok();
        self.near.until("ssh -o ConnectTimeout=5 root@198.18.100.2 true");
    }

    /// Starts a long run, and waits until data flows.
    fn under_way(&mut self) -> Background {
        let run = self.near.start(&format!("wireproof goodput {BED} --duration '60 s' --repeats 1"));
        self.far.until("ip address show dev w0 | grep -q 198.18.101.2");
        self.near.until("[ $(cat /sys/class/net/w0/statistics/tx_packets) -gt 200 ]");
        run
    }

    /// The run failed, and both machines are as before.
    fn assert_undone(&mut self, ended: &Done, says: &[&str]) {
        ended.fails(1, says);
        self.far.until("! ip address show dev w0 | grep -q 198.18.101.2");
        self.far.until("! pidof wireproof");
        assert_eq!(self.far.sh(WIRE).out, self.before);
        assert_eq!(self.near.sh("ls /run/netns /var/lib/wireproof/ledger").out.matches(".jsonl").count(), 0);
    }
}

#[test]
fn two_machines_are_measured_and_given_back() {
    let mut pair = Pair::new();
    let words = format!("{BED} --repeats 1 --json");
    let path = pair.near.wireproof(&format!("path --ip 4 {words}")).ok().json();
    assert_eq!((&path["bed"]["kind"], &path["bed"]["simulated"]), (&"hosts".into(), &false.into()));
    let drivers: Vec<_> = path["bed"]["endpoints"].as_array().unwrap().iter().map(|end| &end["driver"]).collect();
    assert_eq!(drivers, ["e1000e", "vmxnet3"]);
    assert_eq!(path["trials"][0]["mtu"], serde_json::json!({ "forward": 1500, "reverse": 1500 }));
    assert_eq!(pair.far.sh(WIRE).out, pair.before);

    pair.far.sh("mv /usr/bin/wireproof /root/").ok();
    let refused = pair.near.wireproof(&format!("path --ip 4 {words}"));
    refused.fails(1, &["--push"]);
    let goodput = pair.near.wireproof(&format!("goodput {words} --push --duration '1 s'")).ok().json();
    assert!(goodput["trials"][0]["goodput_bps"]["mean"].as_f64() > Some(0.0), "{goodput}");
    assert_eq!(pair.far.sh(WIRE).out, pair.before, "and nothing of what was copied is left");
}

#[test]
fn a_control_cable_that_is_pulled_ends_the_run_and_both_ends_undo() {
    let mut pair = Pair::new();
    let run = pair.under_way();
    pair.near.set_link("c0", false);
    pair.far.set_link("c0", false);
    let ended = pair.near.end_of(run);
    pair.assert_undone(&ended, &["far"]);
}

#[test]
fn a_machine_that_loses_power_ends_the_run_and_can_be_used_again() {
    let mut pair = Pair::new();
    let run = pair.under_way();
    pair.far.power_cut();
    let ended = pair.near.end_of(run);
    pair.set_up_far();
    pair.assert_undone(&ended, &["far"]);
    pair.near.wireproof(&format!("path --ip 4 {BED} --repeats 1")).ok();
    assert_eq!(pair.far.sh("ls /var/lib/wireproof/ledger").out, "", "the old record is forgotten");
}
