//! Network managers as in Debian: they leave a taken port alone, and configure it again afterwards.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{lab::Lab, machine::Machine};

const BED: &str = "--bed ports:p1,p2 --take-ports-in-use";
/// Without the state of the link.
const STATE: &str = "ip -o address show dev p1 scope global | sed 's/ valid_lft.*//' | sort; \
    ip route show table all | grep 'dev p1' | grep -vE 'table local|fe80' | sed 's/ linkdown//' | sort";
/// Longer than any manager takes on a slow machine.
const ACTS: Duration = Duration::from_secs(10);
/// An action once observed would recur within this multiple of its time.
const PATIENCE: u32 = 3;

/// A network manager: how to set it up and start it, and how it shows that it manages p1.
struct Manager {
    set_up: &'static [&'static str],
    has_it: &'static str,
    /// Command that repairs its state after a port was moved without notification.
    put_right: &'static str,
    /// Commands that delay it enough to observe its reaction to a new port, and that end the delay.
    shows: [&'static str; 2],
}

const NETWORKD: Manager = Manager {
    set_up: &[
        "printf '[Match]\\nName=p1\\n[Network]\\nAddress=198.18.10.1/24\\nIPv6AcceptRA=no\\n[Route]\\n\
         Destination=198.18.99.0/24\\nGateway=198.18.10.254\\n' >/etc/systemd/network/20-p1.network",
        "systemctl start systemd-networkd",
    ],
    has_it: "networkctl --no-pager --no-legend list p1 | grep -q configured",
    put_right: "true",
    shows: ["true"; 2],
};

const NETWORK_MANAGER: Manager = Manager {
    set_up: &[
        "mkdir -p /etc/NetworkManager/system-connections",
        "printf '[connection]\\nid=p1\\nuuid=11111111-1111-1111-1111-111111111111\\ntype=ethernet\\ninterface-name=p1\\n\
         [ipv4]\\nmethod=manual\\naddress1=198.18.10.1/24\\nroute1=198.18.99.0/24,198.18.10.254\\n\
         [ipv6]\\nmethod=link-local\\n' >/etc/NetworkManager/system-connections/p1.nmconnection",
        "chmod 600 /etc/NetworkManager/system-connections/p1.nmconnection",
        "printf '[main]\\nno-auto-default=*\\n' >/etc/NetworkManager/conf.d/test.conf",
        "systemctl start NetworkManager",
    ],
    has_it: "nmcli -g GENERAL.STATE device show p1 | grep -q '(connected)'",
    put_right: "true",
    shows: ["true"; 2],
};

const IFUPDOWN: Manager = Manager {
    set_up: &[
        "mkdir -p /etc/network /run/network",
        "printf 'allow-hotplug p1\\niface p1 inet static\\n address 198.18.10.1/24\\n \
         up ip route add 198.18.99.0/24 via 198.18.10.254\\n' >/etc/network/interfaces",
        "systemctl start ifup@p1",
    ],
    has_it: "grep -qx p1=p1 /run/network/ifstate && systemctl is-active ifup@p1",
    put_right: "sleep 1; ip address flush dev p1; systemctl restart ifup@p1",
    // The kernel reports a new port, then its renaming, which systemd takes for its end: ifup is stopped, or never
    // started, unless systemd learns of that later.
    shows: [
        "echo 'ACTION==\"move\", SUBSYSTEM==\"net\", PROGRAM=\"/bin/sleep 4\"' >/etc/udev/rules.d/10-slow.rules; udevadm control --reload",
        "rm /etc/udev/rules.d/10-slow.rules; udevadm control --reload",
    ],
};

impl Manager {
    fn is_told_and_has_it_back(&self, machine: &mut Machine) {
        for command in self.set_up {
            machine.sh(command).ok();
        }
        let patience = PATIENCE * self.configures_what_it_is_not_told_of(machine) + Duration::from_secs(1);
        machine.sh("ip address add 198.18.10.7/24 dev p1; ip route add 198.18.98.0/24 dev p1").ok();
        let before = machine.sh(STATE).ok().out;

        machine.wireproof(&format!("path {BED} --repeats 1")).ok();
        self.assert_given_back(machine, &before, patience);

        let run = machine.start(&format!("wireproof goodput {BED} --duration '60 s' --repeats 1"));
        machine.until("! test -e /sys/class/net/p1 && [ $(ip netns | wc -l) = 2 ] && pidof wireproof >/dev/null");
        machine.kill_wireproof();
        machine.end_of(run);
        let added = self.added_when_it_comes_back(machine, patience);
        assert!(!added.contains("198.18."), "it was told to leave the port alone: {added}");
        assert_eq!(machine.sh(STATE).ok().out, "");
        machine.wireproof("clean").ok();
        self.assert_given_back(machine, &before, patience);
    }

    /// Checks that it reacts to a new port, without which there would be nothing to observe; returns the time it took.
    fn configures_what_it_is_not_told_of(&self, machine: &mut Machine) -> Duration {
        let is_configured = "ip route show dev p1 | grep -q 198.18.99.0/24";
        machine.until(&format!("{is_configured} && {}", self.has_it));
        machine.sh("ip netns add away").ok();
        machine.sh("ip link set p1 netns away && udevadm settle").ok();
        machine.until("! systemctl is-active sys-subsystem-net-devices-p1.device");
        thread::sleep(Duration::from_secs(1));
        let comes = Instant::now();
        let added = self.added_when_it_comes_back(machine, ACTS);
        let took = comes.elapsed();
        assert!(added.contains("198.18.10.1/24"), "it did nothing: {added}");
        machine.sh("ip netns delete away").ok();
        machine.sh(self.put_right).ok();
        machine.until(&format!("{is_configured} && {}", self.has_it));
        took
    }

    fn assert_given_back(&self, machine: &mut Machine, before: &str, patience: Duration) {
        let until = Instant::now() + ACTS;
        while machine.sh(STATE).ok().out != before && Instant::now() < until {
            thread::sleep(Duration::from_millis(300));
        }
        thread::sleep(patience);
        assert_eq!(machine.sh(STATE).ok().out, before, "and it stays so");
        machine.until(self.has_it);
        let left = machine.sh("find /run -name '*wireproof*'; ls /run/netns /var/lib/wireproof/ledger").out;
        assert!(!left.contains("wireproof-") && !left.contains(".jsonl"), "{left}");
    }

    /// Addresses added to p1 after its return, also if removed again: the manager's first, or all within this time.
    fn added_when_it_comes_back(&self, machine: &mut Machine, within: Duration) -> String {
        machine.sh(self.shows[0]).ok();
        machine.sh("ip -4 -o monitor address >/tmp/added 2>&1 & echo $! >/tmp/monitor").ok();
        machine.until("pidof ip");
        come_back(machine);
        let until = Instant::now() + within;
        let mut added = String::new();
        while !added.contains("198.18.10.1/24") && Instant::now() < until {
            thread::sleep(Duration::from_millis(300));
            added = machine.sh("cat /tmp/added").ok().out;
        }
        machine.sh("kill $(cat /tmp/monitor); udevadm settle").ok();
        machine.sh(self.shows[1]).ok();
        added
    }
}

/// Returns p1 from any namespace, as the kernel does for a card when its namespace ends.
fn come_back(machine: &mut Machine) {
    let moves = "for name in $(ls /run/netns); do ip -n $name link set p1 netns 1 2>/dev/null; done; ip link show p1";
    machine.sh(moves).ok();
}

/// Each on its own machine, without interference from others.
fn is_told_and_has_it_back(manager: &Manager) {
    let mut lab = Lab::new();
    let cards = lab.pair("e1000e", ["p1", "p2"]);
    let mut machine = lab.boot_systemd("managed", &cards);
    machine.sh("udevadm settle; ip link set p2 up").ok();
    manager.is_told_and_has_it_back(&mut machine);
}

#[test]
fn ifupdown_leaves_a_taken_port_alone_and_has_it_back() {
    is_told_and_has_it_back(&IFUPDOWN);
}

#[test]
fn systemd_networkd_leaves_a_taken_port_alone_and_has_it_back() {
    is_told_and_has_it_back(&NETWORKD);
}

#[test]
fn network_manager_leaves_a_taken_port_alone_and_has_it_back() {
    is_told_and_has_it_back(&NETWORK_MANAGER);
}
