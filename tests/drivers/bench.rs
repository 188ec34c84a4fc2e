//! A machine with two ports, one of which uses every kind of setting: all of them have to be restored.

use std::{
    thread,
    time::{Duration, Instant},
};

use crate::{
    lab::{Card, Lab},
    machine::{Background, Machine},
};

pub(crate) const BED: &str = "--bed ports:p1,p2 --take-ports-in-use";
pub(crate) const SHORT: &str = "--duration '1 s' --repeats 1 --json";
pub(crate) const LONG: &str = "60 s";

/// A machine with two ports connected by a wire, the first one configured.
pub(crate) struct Bench {
    pub(crate) machine: Machine,
    /// The state to be restored.
    pub(crate) before: String,
    _lab: Lab,
}

impl Bench {
    pub(crate) fn new(device: &'static str) -> Self {
        Self::with([device; 2])
    }

    /// With different cards for the two ports.
    pub(crate) fn with([first, second]: [&'static str; 2]) -> Self {
        let mut lab = Lab::new();
        let [one_end, other_end] = lab.wire();
        let cards = [Card::new("p1", first, one_end), Card::new("p2", second, other_end)];
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

    /// Both ports are as before; automatic state of the kernel may take a moment.
    pub(crate) fn assert_given_back(&mut self) {
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

    /// Starts a run of this duration, and waits until data flows through the ports.
    pub(crate) fn under_way(&mut self, duration: &str) -> Background {
        let words = format!("--duration '{duration}' --repeats 1 --json");
        let run = self.machine.start(&format!("wireproof goodput {BED} {words}"));
        let packets = "$(ip netns exec $name cat /sys/class/net/p1/statistics/tx_packets 2>/dev/null || echo 0)";
        self.machine.until(&format!(
            "for name in $(ls /run/netns); do [ {packets} -gt 200 ] && break; done && [ {packets} -gt 200 ]"
        ));
        run
    }
}

/// The state to be restored, in the output of other programs.
pub(crate) fn state(machine: &mut Machine) -> String {
    let command = "ip -d -o link show | grep -E ': p[12]: ' | sed 's/ state [A-Z]* / /; s/[<,]LOWER_UP//; s/NO-CARRIER,//'; \
         ip -o address show scope global | grep -E ' p[12] ' | sed 's/ valid_lft.*//'; \
         tc qdisc show | grep -E ' p[12] ' | sed 's/ direct_packets_stat [0-9]*//'; tc class show dev p1; \
         for place in 'parent 1:' 'parent 12:' ingress egress; do tc filter show dev p1 $place 2>/dev/null; done; \
         for port in p1 p2; do for what in -k -g -l -c -a; do ethtool $what $port 2>/dev/null; done; done; \
         grep -rs . /proc/sys/net/ipv[46]/*/p[12]; \
         ip route show table all; ip -6 route show table all | grep -v fe80 | sed 's/ expires [0-9]*sec//'; \
         ip rule; ip -6 rule; ip nexthop; ls /run/netns; ls /var/lib/wireproof/ledger 2>/dev/null; pidof wireproof; true";
    // Disciplines and classes are listed in order of creation, filters by number.
    let out = machine.sh(command).ok().out;
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}
