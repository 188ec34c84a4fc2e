//! Programs that configure interfaces by themselves, as Debian has them: they leave a port alone that is taken, and have it
//! back afterwards.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{lab::Lab, machine::Machine};

const BED: &str = "--bed ports:p1,p2 --take-ports-in-use";
const STATE: &str = "ip -o address show dev p1 scope global | sed 's/ valid_lft.*//' | sort; ip route show table all | grep 'dev p1' | grep -vE 'table local|fe80' | sort";
/// Longer than any of them takes, on a machine that is slow.
const ACTS: Duration = Duration::from_secs(8);

/// One of them: how it is set up and started, how it shows that p1 is its own, and how it is ended.
struct Manager {
    set_up: &'static [&'static str],
    has_it: &'static str,
    /// What puts it right after a port went and came that it was not told of.
    put_right: &'static str,
    stop: &'static [&'static str],
}

const NETWORKD: Manager = Manager {
    set_up: &[
        "printf '[Match]\\nName=p1\\n[Network]\\nAddress=198.18.10.1/24\\nIPv6AcceptRA=no\\n[Route]\\n\
         Destination=198.18.99.0/24\\nGateway=198.18.10.254\\n' >/etc/systemd/network/20-p1.network",
        "systemctl start systemd-networkd",
    ],
    has_it: "networkctl --no-pager --no-legend list p1 | grep -q configured",
    put_right: "true",
    stop: &["rm /etc/systemd/network/20-p1.network", "systemctl stop systemd-networkd.socket systemd-networkd"],
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
    stop: &["nmcli connection delete p1", "systemctl stop NetworkManager"],
};

const IFUPDOWN: Manager = Manager {
    set_up: &[
        "mkdir -p /etc/network /run/network",
        "printf 'allow-hotplug p1\\niface p1 inet static\\n address 198.18.10.1/24\\n \
         up ip route add 198.18.99.0/24 via 198.18.10.254\\n' >/etc/network/interfaces",
        "systemctl start ifup@p1",
    ],
    has_it: "grep -qx p1=p1 /run/network/ifstate && systemctl is-active ifup@p1",
    put_right: "ip address flush dev p1; systemctl restart ifup@p1",
    stop: &["systemctl stop ifup@p1"],
};

impl Manager {
    fn is_told_and_has_it_back(&self, machine: &mut Machine) {
        for command in self.set_up {
            machine.sh(command).ok();
        }
        self.configures_what_it_is_not_told_of(machine);
        machine.sh("ip address add 198.18.10.7/24 dev p1; ip route add 198.18.98.0/24 dev p1").ok();
        let before = machine.sh(STATE).ok().out;

        machine.wireproof(&format!("path {BED} --repeats 1")).ok();
        self.assert_given_back(machine, &before);

        let run = machine.start(&format!("wireproof goodput {BED} --duration '60 s' --repeats 1"));
        machine.until("! test -e /sys/class/net/p1 && [ $(ip netns | wc -l) = 2 ] && pidof wireproof >/dev/null");
        machine.sh("killall -9 wireproof").ok();
        machine.end_of(run);
        come_back(machine);
        thread::sleep(ACTS);
        assert_eq!(machine.sh(STATE).ok().out, "", "it was told to leave the port alone");
        machine.wireproof("clean").ok();
        self.assert_given_back(machine, &before);
        for command in self.stop {
            machine.sh(command).ok();
        }
        machine.sh("ip address flush dev p1; ip link set p1 down").ok();
    }

    /// Where it did nothing when a port comes, there would be nothing to see.
    fn configures_what_it_is_not_told_of(&self, machine: &mut Machine) {
        let is_configured = "ip route show dev p1 | grep -q 198.18.99.0/24";
        machine.until(&format!("{is_configured} && {}", self.has_it));
        machine.sh("ip netns add away; ip link set p1 netns away").ok();
        thread::sleep(ACTS);
        come_back(machine);
        machine.until(is_configured);
        machine.sh("ip netns delete away").ok();
        machine.sh(self.put_right).ok();
        machine.until(&format!("{is_configured} && {}", self.has_it));
    }

    fn assert_given_back(&self, machine: &mut Machine, before: &str) {
        let until = Instant::now() + ACTS;
        while machine.sh(STATE).ok().out != before && Instant::now() < until {
            thread::sleep(Duration::from_millis(300));
        }
        thread::sleep(ACTS);
        assert_eq!(machine.sh(STATE).ok().out, before, "and it stays so");
        machine.until(self.has_it);
        let left = machine.sh("find /run -name '*wireproof*'; ls /run/netns /var/lib/wireproof/ledger").out;
        assert!(!left.contains("wireproof-") && !left.contains(".jsonl"), "{left}");
    }
}

/// Moves p1 back from wherever it is, as the kernel does with a card whose namespace ends.
fn come_back(machine: &mut Machine) {
    machine
        .sh("for name in $(ls /run/netns); do ip -n $name link set p1 netns 1 2>/dev/null; done; ip link show p1")
        .ok();
}

#[test]
fn programs_that_configure_interfaces_leave_a_taken_port_alone_and_have_it_back() {
    let mut lab = Lab::new();
    let cards = lab.pair("e1000e", ["p1", "p2"]);
    let mut machine = lab.boot_systemd("managed", &cards);
    machine.sh("udevadm settle; ip link set p2 up").ok();
    for manager in [IFUPDOWN, NETWORKD, NETWORK_MANAGER] {
        manager.is_told_and_has_it_back(&mut machine);
    }
}
