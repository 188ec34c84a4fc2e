//! The faults, by their place from the sender's socket to the receiver's program.

use super::fault::{Fault, LATENCY, PACED_LATENCY, PACKETS, PATH, TCP, TRANSACTIONS, UDP, fault};

const SIZE: &[&str] = &["--frame-sizes", "256"];
/// Round trips that are lost take a second each.
const FEW: &[&str] = &["--count", "400"];
/// Past a queueing discipline and what is planted there, another engine sends.
const SOCKETS: &[&str] = &["--engine", "udp"];
const LARGE: &[&str] = &["--mtu", "9000"];
const BRIDGE: &[&str] = &["--bed", "lab:bridge"];
/// Sets the time of day ahead, and back.
const CLOCK: &str = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/tests/stories/planted/clock.py");

pub(super) fn all() -> Vec<Fault> {
    [sender(), path(), receiver(), ends(), events(), transactions()].into_iter().flatten().collect()
}

/// Socket, packet filter and queueing discipline of the sender.
fn sender() -> Vec<Fault> {
    let slow = "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb latency 20ms";
    vec![
        fault("token bucket at the sender, TCP", TCP).at("a", slow).named(&["limited by qdisc (a)"]),
        fault("token bucket at the sender, UDP", UDP).at("a", slow).named(&["limited by qdisc (a)", "lost at qdisc"]),
        fault("token bucket at the sender, packets", PACKETS)
            .with(SOCKETS)
            .at("a", "tc qdisc add dev lab-a root tbf rate 5mbit burst 16kb latency 5ms")
            .named(&["limited by qdisc (a)"]),
        fault("queue of two packets at the sender", UDP)
            .at("a", "tc qdisc add dev lab-a root handle 1: tbf rate 250mbit burst 64kb limit 8kb")
            .named(&["limited by qdisc (a)"]),
        fault("TCP window of 8 KiB", TCP).with(&["--window", "8 KiB"]).named(&["limited by window"]),
        fault("load as asked for", UDP).named(&["limited by intended load"]).not_named(&["lost"]),
        fault("more asked for than a core sends", UDP)
            .with(&["--rate", "50 Gbit/s", "--datagram", "64"])
            .named(&["doubt sender-too-slow"]),
        fault("packet filter at the sender's output", UDP)
            .script("a", "nft add table ip f; nft add chain ip f o '{ type filter hook output priority 0; }'; nft add rule ip f o udp dport != 0 drop")
            .named(&["error", "packet filter"]),
    ]
}

/// Faults of a cable, switch or router.
fn path() -> Vec<Fault> {
    vec![
        fault("every 10,000th datagram lost", UDP).xdp("lose", 10_000).named(&["lost"]).not_named(&["socket", "qdisc"]),
        fault("every 100th packet lost", PACKETS).with(SOCKETS).xdp("lose", 100).named(&["lost"]).not_named(&["socket", "qdisc"]),
        fault("every 100th round trip lost", LATENCY).with(FEW).xdp("lose", 100).named(&["lost"]),
        fault("every 1,000th datagram twice", UDP).tc("duplicate", 1_000).named(&["duplicated"]).not_named(&["lost at"]),
        fault("every 100th packet twice", PACKETS).with(SOCKETS).tc("duplicate", 100).named(&["duplicated"]).not_named(&["lost at"]),
        fault("every 100,000th datagram late", UDP)
            .with(&["--rate", "120 Mbit/s", "--datagram", "64"])
            .at("a", "tc qdisc add dev lab-a root handle 1: htb default 10")
            .at("a", "tc class add dev lab-a parent 1: classid 1:10 htb rate 90gbit quantum 60000")
            .at("a", "tc class add dev lab-a parent 1: classid 1:20 htb rate 8kbit burst 20 quantum 1500")
            .tc("reorder", 100_000)
            .named(&["reordered"]),
        fault("a bit flipped in every 1,000th datagram", UDP).at("a", "ethtool -K lab-a tx off").tc("flip", 1_000).named(&["lost at path"]).not_named(&["socket"]),
        fault("a bit flipped in every 100th packet", PACKETS).with(SOCKETS).with(SIZE).tc("flip", 100).named(&["corrupt"]).not_named(&["device under test"]),
        fault("words swapped under a valid checksum, UDP", UDP).tc("forge", 101).named(&["corrupt"]),
        fault("words swapped under a valid checksum, packets", PACKETS).with(SOCKETS).with(SIZE).tc("forge", 101).named(&["corrupt"]),
        fault("every 20th datagram to another MAC address", UDP)
            .tc("misdirect", 20)
            .named(&["limited by MAC address (b)", "lost at MAC address"])
            .not_named(&["path", "packet filter", "socket"]),
        fault("every 20th datagram to another IP address", UDP)
            .tc("readdress", 20)
            .named(&["limited by IP address (b)", "lost at IP address"])
            .not_named(&["path", "packet filter", "socket"]),
        fault("packets over 1400 bytes lost without a word, path", PATH).tc("drop_large", 1).named(&["culprit black-hole"]),
        fault("packets over 1400 bytes lost without a word, UDP", UDP).tc("drop_large", 1).named(&["lost"]).not_named(&["socket", "qdisc"]),
        fault("acknowledgements through 1 Mbit/s", TCP)
            .at("b", "tc qdisc add dev lab-b root tbf rate 1mbit burst 16kb latency 50ms")
            .named(&["limited by qdisc (b)"])
            .not_named(&["reordering", "sender socket"]),
        fault("device under test through 50 Mbit/s", UDP)
            .through_router("for d in $(ls /sys/class/net | grep -v lo); do tc qdisc add dev $d root tbf rate 50mbit burst 64kb latency 5ms; done")
            .named(&["limited by qdisc"]),
        fault("device under test drops by its packet filter", UDP)
            .through_router("nft add table ip f; nft add chain ip f o '{ type filter hook forward priority 0; }'; nft add rule ip f o udp dport != 0 numgen random mod 20 0 drop")
            .named(&["device under test"]),
        fault("device under test leaves TTL as it is", PATH)
            .through_router("nft add table ip f; nft add chain ip f o '{ type filter hook prerouting priority 0; }'; nft add rule ip f o ip ttl set 65; nft add table ip6 f; nft add chain ip6 f o '{ type filter hook prerouting priority 0; }'; nft add rule ip6 f o ip6 hoplimit set 65")
            .named(&["doubt ttl"]),
    ]
}

/// Device, IP, packet filter and socket of the receiver.
fn receiver() -> Vec<Fault> {
    let filter = |name, hook, what, probe| {
        let script: &'static str = match (hook, what) {
            ("input", "all") => {
                "nft add table ip f; nft add chain ip f o '{ type filter hook input priority 0; }'; nft add rule ip f o udp dport != 0 numgen random mod 20 0 drop"
            }
            ("input", _) => {
                "nft add table ip f; nft add chain ip f o '{ type filter hook input priority 0; }'; nft add rule ip f o udp dport != 0 limit rate over 1000/second drop"
            }
            _ => {
                "nft add table ip f; nft add chain ip f o '{ type filter hook prerouting priority 0; }'; nft add rule ip f o udp dport != 0 numgen random mod 20 0 drop"
            }
        };
        fault(name, probe).script("b", script).named(&["lost at packet filter"]).not_named(&["device under test"])
    };
    vec![
        filter("packet filter at the receiver drops every 20th, UDP", "input", "all", UDP),
        filter("packet filter at the receiver limits the rate, UDP", "input", "limit", UDP),
        filter("packet filter before routing at the receiver, UDP", "prerouting", "all", UDP),
        filter("packet filter at the receiver drops every 20th, latency", "input", "all", LATENCY).with(FEW),
        fault("neighbour entry with a wrong MAC address, packets", PACKETS)
            .with(SOCKETS)
            .meanwhile("a", "ip neigh replace 198.18.0.2 lladdr 02:00:00:00:00:99 dev lab-a nud permanent")
            .named(&["neighbour 198.18.0.2", "02:00:00:00:00:99"]),
        fault("neighbour that does not answer", LATENCY)
            .at("b", "ip link set lab-b arp off")
            .at("a", "ip neigh flush dev lab-a")
            .named(&["error", "neighbour"]),
        fault("receiver's address taken away", LATENCY)
            .at("b", "ip addr del 198.18.0.2/24 dev lab-b")
            .named(&["error"])
            .not_named(&["device under test"]),
        fault("receiver's address away for 300 ms, UDP", UDP)
            .meanwhile("b", "ip addr del 198.18.0.2/24 dev lab-b; sleep 0.3; ip addr add 198.18.0.2/24 dev lab-b")
            .named(&["doubt settings-changed", "limited by IP address (b)", "lost at IP address"])
            .not_named(&["path", "packet filter", "socket"]),
        fault("connection that connection tracking does not know, TCP", TCP)
            .with(&["--duration", "5 s"])
            .meanwhile("b", "sysctl -qw net.netfilter.nf_conntrack_tcp_loose=0; nft add table ip f; nft add chain ip f i '{ type filter hook input priority 0; }'; nft add rule ip f i ct state invalid drop; sleep 1.5; nft delete table ip f")
            .named(&["limited by interruption", "doubt stalled"])
            .not_named(&["reordering", "link"]),
        fault("receive buffer of 4 KiB", UDP)
            .with(&["--rate", "1 Gbit/s", "--window", "4 KiB"])
            .named(&["limited by receiver's socket", "lost at receiver's socket"]),
        fault("MTU of the receiver below the sender's, UDP", UDP)
            .on_bed(LARGE)
            .at("b", "ip link set dev lab-b mtu 1500")
            .named(&["limited by path MTU"]),
        fault("MTU of the receiver below the sender's, path", PATH)
            .on_bed(LARGE)
            .at("b", "ip link set dev lab-b mtu 1777")
            .named(&["culprit peer-interface"]),
        fault("reverse path filter of the receiver", LATENCY)
            .script("b", "sysctl -qw net.ipv4.conf.all.rp_filter=1 net.ipv4.conf.lab-b.rp_filter=1; ip route add 198.18.0.1/32 dev lo")
            .named(&["error"])
            .not_named(&["device under test"]),
        fault("policer at the receiver's input", UDP)
            .script("b", "nft add table netdev f; nft add chain netdev f i '{ type filter hook ingress device lab-b priority 0; }'; nft add rule netdev f i limit rate over 10 mbytes/second drop")
            .named(&["lost at packet filter"])
            .not_named(&["device under test"]),
    ]
}

/// Cores of both ends.
fn ends() -> Vec<Fault> {
    vec![
        fault("nine programs on the receiver's core", UDP)
            .with(&["--rate", "1500 Mbit/s"])
            .busy(&[1; 9])
            .named(&["limited by receiver CPU", "doubt other-load"]),
        fault("four programs on the sender's core", UDP)
            .with(&["--rate", "3 Gbit/s"])
            .busy(&[0; 4])
            .named(&["limited by sender CPU", "doubt other-load"]),
        fault("both ends on one core", TCP).on_cpus("1,1").named(&["CPU", "doubt shared-core"]),
        fault("programs on both cores, paced round trips", PACED_LATENCY)
            .busy(&[0, 0, 1, 1])
            .named(&["doubt other-load"])
            .not_named(&["intended load"]),
        fault("foreign datagrams on the interface", UDP)
            .with(&["--rate", "20 Mbit/s"])
            .meanwhile("a", "timeout 3 bash -c 'while :; do echo x >/dev/udp/198.18.0.2/9; done' 2>/dev/null; true")
            .named(&["doubt packets-disagree"]),
    ]
}

/// Events in the middle of a measurement.
fn events() -> Vec<Fault> {
    let flap = |end: &'static str, device| match device {
        "lab-a" => (end, "ip link set lab-a down; sleep 0.2; ip link set lab-a up"),
        _ => (end, "ip link set lab-b down; sleep 0.2; ip link set lab-b up"),
    };
    let (near, far) = (flap("a", "lab-a"), flap("b", "lab-b"));
    vec![
        fault("sender's link down for 200 ms, UDP", UDP).meanwhile(near.0, near.1).named(&["lab-a", "lost its link"]).not_named(&["device under test"]),
        fault("receiver's link down for 200 ms, UDP", UDP).meanwhile(far.0, far.1).named(&["doubt link"]).not_named(&["device under test"]),
        fault("receiver's link down for 200 ms, TCP", TCP).meanwhile(far.0, far.1).named(&["doubt link"]).not_named(&["reordering"]),
        fault("receiver's link down for 200 ms, packets", PACKETS).meanwhile(far.0, far.1).named(&["doubt link"]).not_named(&["device under test"]),
        fault("bridge's port to the receiver down for 200 ms, UDP", UDP)
            .on_bed(BRIDGE)
            .meanwhile("bridge", "ip link set to-b down; sleep 0.2; ip link set to-b up")
            .named(&["doubt link", "lost at interruption"])
            .not_named(&["packet filter", "socket"]),
        fault("bridge's port to the receiver disabled for 500 ms, UDP", UDP)
            .on_bed(BRIDGE)
            .meanwhile("bridge", "bridge link set dev to-b state disabled; sleep 0.5; bridge link set dev to-b state forwarding")
            .named(&["limited by device under test", "lost at device under test"])
            .not_named(&["packet filter", "socket", "link"]),
        fault("nothing passes for 1.5 s, TCP", TCP)
            .with(&["--duration", "5 s"])
            .meanwhile("b", "nft add table ip f; nft add chain ip f i '{ type filter hook prerouting priority 0; }'; nft add rule ip f i tcp dport != 0 drop; sleep 1.5; nft delete table ip f")
            .named(&["doubt stalled"])
            .not_named(&["reordering"]),
        fault("offloads switched off in the middle", TCP)
            .with(&["--duration", "5 s"])
            .meanwhile("a", "sleep 1; ethtool -K lab-a tso off gso off gro off")
            .named(&["doubt settings-changed"]),
        fault("queueing discipline changed in the middle", UDP)
            .meanwhile("a", "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb latency 20ms")
            .named(&["doubt settings-changed"]),
        fault("neighbour entry changed in the middle", UDP)
            .meanwhile("a", "ip neigh replace 198.18.0.2 lladdr 02:00:00:00:00:99 dev lab-a nud permanent")
            .named(&["neighbour 198.18.0.2", "02:00:00:00:00:99"]),
        fault("neighbour entry changed in the middle, TCP", TCP)
            .with(&["--duration", "5 s"])
            .meanwhile("a", "ip neigh replace 198.18.0.2 lladdr 02:00:00:00:00:99 dev lab-a nud permanent")
            .named(&["neighbour 198.18.0.2", "02:00:00:00:00:99"])
            .not_named(&["reordering"]),
        fault("token bucket in the middle, TCP", TCP)
            .with(&["--duration", "6 s"])
            .meanwhile("a", "sleep 1; tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb latency 20ms")
            .named(&["doubt settings-changed", "doubt unsteady"])
            .not_named(&["reordering"]),
        fault("host route added in the middle, UDP", UDP)
            .meanwhile("a", "ip route add 198.18.0.2/32 dev lab-a")
            .named(&["doubt settings-changed"])
            .not_named(&["lost at"]),
        fault("MTU of the receiver changed in the middle, UDP", UDP)
            .meanwhile("b", "ip link set lab-b mtu 1400")
            .named(&["doubt settings-changed"])
            .not_named(&["device under test"]),
        fault("time of day set in the middle, UDP", UDP)
            .meanwhile("a", CLOCK)
            .named(&["limited by intended load", "doubt clock-set"])
            .not_named(&["settings-changed", "stalled"]),
        fault("time of day set in the middle, latency", PACED_LATENCY)
            .meanwhile("a", CLOCK)
            .named(&["doubt clock-set"])
            .not_named(&["settings-changed", "replies-missing"]),
    ]
}

/// Servers of transactions.
fn transactions() -> Vec<Fault> {
    vec![
        fault("packet filter refuses new connections", TRANSACTIONS)
            .with(&["--kind", "crr"])
            .meanwhile("b", "nft add table ip f; nft add chain ip f i '{ type filter hook input priority 0; }'; nft add rule ip f i tcp flags '& (syn|ack) == syn' numgen random mod 10 0 drop")
            .named(&["limited by packet filter (b)"]),
        fault("table of tracked connections full", TRANSACTIONS)
            .with(&["--kind", "crr", "--duration", "4 s"])
            .script("b", "nft add table ip f; nft add chain ip f i '{ type filter hook input priority 0; }'; nft add rule ip f i ct state new accept")
            .tracked(4_000)
            .named(&["limited by packet filter (b)"]),
        fault("few ephemeral ports", TRANSACTIONS)
            .with(&["--kind", "crr"])
            .with(&["--connections", "64"])
            .script("a", "sysctl -qw net.ipv4.ip_local_port_range='40000 40019'")
            .named(&["limited by ephemeral ports"]),
        fault("short queue of connections", TRANSACTIONS)
            .with(&["--kind", "crr", "--connections", "200"])
            .at("b", "sysctl -qw net.core.somaxconn=1")
            .named(&["listen queue"]),
        fault("a program on the server's core", TRANSACTIONS).busy(&[1, 1, 1]).named(&["doubt other-load"]),
    ]
}
