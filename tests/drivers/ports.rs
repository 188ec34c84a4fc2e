//! The bed `ports:`: real drivers let go of their cards and get them back as they were, whatever ends the run.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    lab::{Card, Lab},
    machine::{Background, Machine},
};

const BED: &str = "--bed ports:p1,p2 --take-ports-in-use";
const SHORT: &str = "--duration '1 s' --repeats 1 --json";
const LONG: &str = "60 s";

/// A machine whose two ports are joined by a wire, the first one with settings of its own.
struct Bench {
    machine: Machine,
    before: String,
    _lab: Lab,
}

impl Bench {
    fn new(device: &'static str) -> Self {
        let mut lab = Lab::new();
        let cards: [Card; 2] = lab.pair(device, ["p1", "p2"]);
        let mut machine = lab.boot("ports", &cards);
        let settings = [
            "ip link set p1 mtu 1400 txqueuelen 555",
            "ip link property add dev p1 altname first-port",
            "ethtool -K p1 gro off",
            "sysctl -q -w net.ipv4.conf.p1.rp_filter=2 net.ipv6.conf.p1.accept_ra=0",
            "ip link set p1 up",
            "ip address add 198.18.10.1/24 dev p1",
            "ip address add 2001:2:0:10::1/64 dev p1",
            "ip route add 198.18.99.0/24 via 198.18.10.254 dev p1 metric 77",
            "ip route add 198.18.98.0/24 dev p1 table 1234",
            "ip rule add from 198.18.10.1 table 1234",
            "ip route add 198.18.97.0/24 nexthop via 198.18.10.253 dev p1 nexthop via 198.18.10.252 dev p1 weight 3",
            "tc qdisc add dev p1 root handle 1: prio",
            "tc qdisc add dev p1 parent 1:1 handle 11: hfsc default 1",
            "tc class add dev p1 parent 11: classid 11:1 hfsc sc rate 900mbit ul rate 900mbit",
            "tc qdisc add dev p1 parent 1:2 handle 12: drr",
            "tc class add dev p1 parent 12: classid 12:1 drr quantum 3000",
            "tc qdisc add dev p1 parent 12:1 handle 13: sfq perturb 10",
            "tc qdisc add dev p1 parent 1:3 handle 14: htb default 1",
            "tc class add dev p1 parent 14: classid 14:1 htb rate 900mbit",
            "tc filter add dev p1 parent 1: protocol ip pref 5 flower dst_ip 198.18.10.77 ip_proto udp action drop",
            "tc filter add dev p1 parent 1: protocol all pref 6 matchall classid 1:1",
            "tc filter add dev p1 parent 12: protocol all pref 1 matchall classid 12:1",
            "tc qdisc add dev p1 clsact",
            "tc filter add dev p1 ingress pref 1 protocol ip flower src_ip 198.18.10.78 action drop",
            "tc filter add dev p1 egress pref 1 protocol ip matchall action mirred egress mirror dev lo",
        ];
        machine.sh(&settings.join(" && ")).ok();
        machine.until("ip -6 -o address show dev p1 scope global | grep -qv tentative");
        let before = state(&mut machine);
        Self { machine, before, _lab: lab }
    }

    /// Both ports are as they were; what the kernel adds by itself may take a moment.
    fn assert_given_back(&mut self) {
        let until = Instant::now() + Duration::from_secs(30);
        let mut now = state(&mut self.machine);
        while now != self.before && Instant::now() < until {
            thread::sleep(Duration::from_millis(300));
            now = state(&mut self.machine);
        }
        let lost: Vec<_> = self.before.lines().filter(|line| !now.lines().any(|other| other == *line)).collect();
        let added: Vec<_> = now.lines().filter(|line| !self.before.lines().any(|other| other == *line)).collect();
        assert_eq!(now, self.before, "not as before: {lost:#?} became {added:#?}");
    }

    /// Starts a run that is as long as this, and waits until data flows through the ports.
    fn under_way(&mut self, duration: &str) -> Background {
        let words = format!("--duration '{duration}' --repeats 1 --json");
        let run = self.machine.start(&format!("wireproof goodput {BED} {words}"));
        let packets = "$(ip netns exec $name cat /sys/class/net/p1/statistics/tx_packets 2>/dev/null || echo 0)";
        self.machine.until(&format!(
            "for name in $(ls /run/netns); do [ {packets} -gt 200 ] && break; done && [ {packets} -gt 200 ]"
        ));
        run
    }
}

/// Everything that is to come back, in the words of other programs.
fn state(machine: &mut Machine) -> String {
    let command = "ip -d -o link show | grep -E ': p[12]: ' | sed 's/ state [A-Z]* / /; s/[<,]LOWER_UP//; s/NO-CARRIER,//'; \
         ip -o address show scope global | grep -E ' p[12] ' | sed 's/ valid_lft.*//'; \
         tc qdisc show | grep -E ' p[12] ' | sed 's/ direct_packets_stat [0-9]*//'; tc class show dev p1; \
         for place in 'parent 1:' 'parent 12:' ingress egress; do tc filter show dev p1 $place 2>/dev/null; done; \
         for port in p1 p2; do for what in -k -g -l -c -a; do ethtool $what $port 2>/dev/null; done; done; \
         grep -rs . /proc/sys/net/ipv[46]/*/p[12]; \
         ip route show table all; ip -6 route show table all | grep -v fe80 | sed 's/ expires [0-9]*sec//'; \
         ip rule; ip -6 rule; ip nexthop; ls /run/netns; ls /var/lib/wireproof/ledger 2>/dev/null; pidof wireproof; true";
    // Disciplines and classes are told in the order in which they were made, filters by their numbers.
    let out = machine.sh(command).ok().out;
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

fn measured_and_given_back(device: &'static str) {
    let mut bench = Bench::new(device);
    // The kernel keeps them only as long as there is a link.
    bench.machine.until("grep -qx 1 /sys/class/net/p1/carrier");
    bench.machine.sh("ip nexthop add id 30 via 198.18.10.253 dev p1 && ip nexthop add id 31 group 30").ok();
    bench.machine.sh("ip route add 198.18.96.0/24 nhid 31").ok();
    bench.before = state(&mut bench.machine);
    for words in ["path", "goodput --duration '1 s'", "latency --frame-sizes 64 --count 100 --stamps"] {
        let document = bench.machine.wireproof(&format!("{words} {BED} --repeats 1 --json")).ok().json();
        assert_eq!((&document["bed"]["kind"], &document["bed"]["simulated"]), (&"ports".into(), &false.into()));
        // QEMU's cards never stamp, also where their driver says that they could: the kernel's stamps are used.
        let stamped = &document["trials"][0]["hardware_stamps"];
        assert!(stamped.is_null() || stamped == false, "{document}");
        bench.assert_given_back();
    }
}

#[test]
fn ports_that_others_stand_on_are_refused() {
    let mut bench = Bench::new("e1000e");
    let mut refused = |before: &str, bed: &str, says: &[&str], after: &str| {
        bench.machine.sh(before).ok();
        let was = state(&mut bench.machine);
        let done = bench.machine.wireproof(&format!("path --bed ports:{bed}"));
        assert_eq!(state(&mut bench.machine), was, "{before}: nothing was changed");
        bench.machine.sh(after).ok();
        assert_ne!(done.status, 0, "{before}");
        for words in says {
            assert!(done.err.contains(words), "{before}: {words:?} is not said in: {}", done.err);
        }
    };
    refused("true", "p1,p2", &["p1 is in use", "198.18.10.1/24", "--take-ports-in-use"], "true");
    let vlan = "ip link add link p2 name p2.5 type vlan id 5";
    refused(vlan, "p1,p2 --take-ports-in-use", &["p2 carries p2.5"], "ip link del p2.5");
    let bond = "ip link add bond7 type bond; ip link set p2 master bond7";
    let no_bond = "ip link set p2 nomaster; ip link del bond7; ip link set p2 down";
    refused(bond, "p1,p2 --take-ports-in-use", &["p2 belongs to bond7"], no_bond);
    refused("ip link add bond7 type bond", "p1,bond7 --take-ports-in-use", &["bond7 is"], "ip link del bond7");
    let bridge = "ip link add br7 type bridge; ip link set p2 master br7";
    refused(bridge, "p1,p2 --take-ports-in-use", &["p2 belongs to br7"], "ip link del br7");
    let uplink = "ip route add default via 198.18.10.254";
    let says = ["default route", "--i-know-this-is-my-uplink"];
    refused(uplink, "p1,p2 --take-ports-in-use", &says, "ip route del default");
    refused("true", "p1,p9 --take-ports-in-use", &["no interface \"p9\"", "p2"], "true");
}

#[test]
fn ports_of_e1000e_are_measured_and_given_back() {
    measured_and_given_back("e1000e");
}

#[test]
fn ports_of_vmxnet3_are_measured_and_given_back() {
    measured_and_given_back("vmxnet3");
}

#[test]
fn ports_of_virtio_net_are_measured_and_given_back() {
    measured_and_given_back("virtio-net-pci");
}

#[test]
fn ports_come_back_after_kills() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    // The controller alone: the agents notice, and undo what they did.
    bench.machine.sh("kill -9 $(pidof wireproof | tr ' ' '\\n' | sort -n | head -n 1)").ok();
    assert_ne!(bench.machine.end_of(run).status, 0);
    bench.assert_given_back();

    // All at once: nobody is left to undo anything.
    let run = bench.under_way(LONG);
    bench.machine.sh("killall -9 wireproof").ok();
    assert_ne!(bench.machine.end_of(run).status, 0);
    assert_ne!(state(&mut bench.machine), bench.before, "nobody was there to give them back");
    bench.machine.wireproof("clean").ok();
    bench.assert_given_back();
}

#[test]
fn cards_that_come_back_by_themselves_get_their_names_and_all_else_back() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    bench.machine.sh("killall -9 wireproof").ok();
    assert_ne!(bench.machine.end_of(run).status, 0);
    // Cards outlive their namespaces, but somebody has the name of one by then.
    bench.machine.sh("ip link add p1 type bridge").ok();
    bench.machine.sh("for name in $(ls /run/netns); do ip netns delete $name; done").ok();
    bench.machine.wireproof("clean").fails(1, &["it is back, but not in all as it was", "name p1"]);
    bench.machine.sh("ip link delete p1").ok();
    bench.machine.wireproof("clean").ok();
    bench.assert_given_back();
}

#[test]
fn a_card_that_was_told_to_stamp_is_told_what_it_was_before() {
    let mut bench = Bench::new("e1000e");
    let words = format!("latency {BED} --frame-sizes 64 --count 100000 --stamps --repeats 1");
    // Only a card that nobody told to stamp is told to: so it is seen whether it is.
    let is_free = |bench: &mut Bench| {
        let planned = bench.machine.wireproof(&format!("{words} --dry-run --json")).ok().out;
        planned.contains("/p1 stamps packets")
    };
    assert!(is_free(&mut bench), "the driver says that it can");
    bench.machine.wireproof(&words.replace("100000", "100")).ok();
    assert!(is_free(&mut bench), "set back");

    let run = bench.machine.start(&words);
    bench.machine.until("grep -q stamping /var/lib/wireproof/ledger/*.jsonl && [ $(pidof wireproof | wc -w) = 4 ]");
    bench.machine.until("ip -n $(ls /run/netns | grep a$) address show p1 | grep -q 198.18.0.1");
    bench.machine.sh("killall -9 wireproof").ok();
    assert_ne!(bench.machine.end_of(run).status, 0);
    bench.machine.sh("for name in $(ls /run/netns); do ip netns delete $name; done").ok();
    bench.machine.until("test -e /sys/class/net/p1");
    assert!(!is_free(&mut bench), "it still stamps");
    bench.machine.wireproof("clean").ok();
    assert!(is_free(&mut bench), "set back after all was killed");
    bench.assert_given_back();
}

#[test]
fn after_a_power_cut_there_is_nothing_to_undo_and_the_next_run_works() {
    let mut bench = Bench::new("e1000e");
    bench.under_way(LONG);
    bench.machine.power_cut();
    let left = bench.machine.sh("ls /var/lib/wireproof/ledger").ok().out;
    assert!(left.contains(".jsonl"), "what was recorded survives: {left}");
    bench.machine.wireproof("clean").ok();
    assert_eq!(bench.machine.sh("ls /var/lib/wireproof/ledger").ok().out, "");
    bench.before = state(&mut bench.machine);
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok();
    bench.assert_given_back();
}

#[test]
fn a_cable_that_is_pulled_ends_the_run_and_the_ports_come_back() {
    // QEMU's e1000e does not tell its driver of it.
    let mut bench = Bench::new("vmxnet3");
    let run = bench.under_way("15 s");
    for port in ["p1", "p2"] {
        bench.machine.set_link(port, false);
    }
    let done = bench.machine.end_of(run);
    assert!(done.status != 0 && !done.err.contains("panicked"), "{done:?}");
    for port in ["p1", "p2"] {
        bench.machine.set_link(port, true);
    }
    bench.assert_given_back();
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).ok();
}

#[test]
fn a_card_that_is_pulled_out_is_named_and_the_other_one_comes_back() {
    let mut bench = Bench::new("e1000e");
    let run = bench.under_way(LONG);
    bench.machine.unplug("p2");
    let done = bench.machine.end_of(run);
    assert!(done.status != 0 && !done.err.contains("panicked"), "{done:?}");
    assert!(done.err.contains("p2"), "{}", done.err);
    bench.machine.until("ip address show dev p1 | grep -q 198.18.10.1/24");
    bench.machine.until("ip route | grep -q '198.18.99.0/24.*metric 77'");
    let left = bench.machine.sh("ls /run/netns; ls /var/lib/wireproof/ledger; pidof wireproof").out;
    assert_eq!(left, "", "nothing is left behind");
    bench.machine.wireproof(&format!("goodput {BED} {SHORT}")).fails(2, &["there is no interface \"p2\""]);
}
