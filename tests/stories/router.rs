//! The XDP router between two hosts, each in a namespace of its own; the router is in the story's.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use kernel::{ethtool, namespace};
use model::change::OffloadKind;
use serde_json::Value;

use crate::{machine::Snapshot, program::Desk, schemas::Schemas, waiting::within};

/// Namespaces of the hosts.
const HOSTS: [&str; 2] = ["left", "right"];
/// The router's interfaces towards them.
const PORTS: [&str; 2] = ["to-left", "to-right"];
/// Addresses of the second host.
const RIGHT: [&str; 2] = ["198.19.0.2", "2001:2:0:1::2"];
const PATIENCE: Duration = Duration::from_secs(15);

pub(crate) fn ip(words: &str) -> String {
    let done = Command::new("ip").args(words.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Two hosts joined to this namespace, which does not forward yet. Their router ends with the story, even on a failure.
struct Hosts<'a>(&'a Desk);

impl Drop for Hosts<'_> {
    fn drop(&mut self) {
        self.0.run(&["router", "down"]);
    }
}

fn hosts(desk: &Desk) -> Hosts<'_> {
    for (side, (host, port)) in HOSTS.into_iter().zip(PORTS).enumerate() {
        let (v4, v6) = (format!("198.1{}.0", 8 + side), format!("2001:2:0:{side}"));
        ip(&format!("netns add {host}"));
        ip(&format!("link add {port} type veth peer name eth0 netns {host}"));
        for (of, interface, last) in [("", port, 1), (&*format!("-n {host} "), "eth0", 2)] {
            ip(&format!("{of}address add {v4}.{last}/24 dev {interface}"));
            ip(&format!("{of}address add {v6}::{last}/64 dev {interface} nodad"));
            ip(&format!("{of}link set {interface} up"));
        }
        ip(&format!("-n {host} route add default via {v4}.1"));
        ip(&format!("-n {host} route add default via {v6}::1"));
    }
    // The kernel looks at links once a second.
    let is_up = |port: &str| ip(&format!("link show {port}")).contains("state UP");
    assert!(within(PATIENCE, || PORTS.into_iter().all(is_up)));
    Hosts(desk)
}

/// Whether a host receives by NAPI, and whether its interface takes checksums from the kernel.
fn offloads(host: &str) -> [bool; 2] {
    let read = || Ok([ethtool::gro("eth0")?, ethtool::offload("eth0", OffloadKind::SendChecksums)?]);
    namespace::within(host, read).unwrap().unwrap_or_else(|error: kernel::Error| panic!("{error}"))
}

/// Sends datagrams and a stream from the first host to the second one; whether all of it came.
fn reaches(address: &str) -> bool {
    let at = |host, port| {
        let address = std::net::SocketAddr::new(address.parse().unwrap(), port);
        namespace::within(HOSTS[host], move || (address, UdpSocket::bind(address))).unwrap()
    };
    let (there, receiver) = at(1, 7000);
    let receiver = receiver.unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
    let any = if there.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
    let sender = namespace::within(HOSTS[0], || UdpSocket::bind(any)).unwrap().unwrap();
    // The first ones find the next hops.
    let arrives = || (0..10).any(|_| sender.send_to(b"hello", there).is_ok() && receiver.recv(&mut [0; 16]).is_ok());
    arrives() && stream_arrives(there)
}

fn stream_arrives(to: std::net::SocketAddr) -> bool {
    const BYTES: usize = 3_000_000;
    let listener = namespace::within(HOSTS[1], || TcpListener::bind(to)).unwrap().unwrap();
    let receiver = thread::spawn(move || {
        let mut all = Vec::new();
        listener.accept().unwrap().0.read_to_end(&mut all).map(|_| all.len()).unwrap_or_default()
    });
    let sender = namespace::within(HOSTS[0], || TcpStream::connect_timeout(&to, PATIENCE)).unwrap();
    let Ok(mut sender) = sender else { return false };
    let sent = sender.write_all(&vec![7; BYTES]).is_ok();
    drop(sender);
    sent && receiver.join().unwrap() == BYTES
}

pub(crate) fn forwarded(router: &Value) -> u64 {
    router["ports"].as_array().unwrap().iter().map(|port| port["forwarded"].as_u64().unwrap()).sum()
}

fn up(desk: &Desk, more: &[&str]) -> Value {
    let up = desk.run(&[&["router", "up", PORTS[0], PORTS[1], "--json"], more].concat());
    assert_eq!(up.status, 0, "{}", up.err);
    Schemas::of(desk).holds("router", &up.json());
    up.json()
}

pub(crate) fn statistics(desk: &Desk) -> Value {
    let said = desk.run(&["router", "stats", "--json"]);
    assert_eq!(said.status, 0, "{}", said.err);
    Schemas::of(desk).holds("router", &said.json());
    said.json()
}

#[test]
fn a_router_forwards_counts_and_leaves_nothing() {
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    let before = Snapshot::take();
    let standing = up(&desk, &[]);
    for port in 0..2 {
        assert_eq!(
            (&standing["ports"][port]["name"], &standing["ports"][port]["mode"]),
            (&PORTS[port].into(), &"native".into())
        );
    }
    assert!(ip("link show to-left").contains("xdp"), "it is in the driver");
    assert_eq!(HOSTS.map(offloads), [[true, false]; 2], "the hosts can be sent to, and send whole packets");
    desk.run(&["router", "up", PORTS[0], PORTS[1]]).fails(1, &["a router stands", "router down"]);
    for address in RIGHT {
        assert!(reaches(address), "{address}: {:#}", statistics(&desk));
    }
    let counted = statistics(&desk);
    assert_eq!(counted["owner"], standing["owner"]);
    assert!(forwarded(&counted) > 3000, "the stream went past the kernel: {counted:#}");
    let words = desk.run(&["router", "stats", "--lang", "ja"]).out;
    assert!(words.contains("to-left") && words.contains("ドライバー内"), "{words}");
    assert_eq!(desk.run(&["bed", "list"]).status, 0, "a router is no bed");

    let down = desk.run(&["router", "down"]);
    assert_eq!(down.status, 0, "{}", down.err);
    for undone in ["net.ipv4.conf.to-left.forwarding = 1", "left/eth0 GRO on", "right/eth0 tx-checksums off"] {
        assert!(down.out.contains(&format!("undone: {undone}")), "{}", down.out);
    }
    desk.run(&["router", "down"]).fails(1, &["no router stands", "router up"]);
    assert_eq!(HOSTS.map(offloads), [[false, true]; 2]);
    before.assert_same();
}

#[test]
fn a_router_whose_owner_is_killed_is_gone_and_clean_undoes_its_settings() {
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    let before = Snapshot::take();
    let owner = up(&desk, &[])["owner"].to_string();
    assert!(Command::new("kill").args(["-9", &owner]).status().unwrap().success());
    let is_gone = within(PATIENCE, || !ip("link").contains("xdp"));
    assert!(is_gone, "{}", ip("link"));
    desk.run(&["router", "stats"]).fails(1, &["no router stands"]);
    let cleaned = desk.run(&["clean"]);
    assert!(cleaned.out.contains("undone: net.ipv6.conf.all.forwarding = 1"), "{} {}", cleaned.out, cleaned.err);
    before.assert_same();
}

#[test]
fn a_router_that_is_asked_to_end_ends_in_order() {
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    let before = Snapshot::take();
    let owner = up(&desk, &["--generic"]);
    assert_eq!((&owner["ports"][0]["mode"], &owner["ports"][0]["why_generic"]), (&"generic".into(), &"asked".into()));
    assert!(reaches(RIGHT[0]) && forwarded(&statistics(&desk)) > 0);
    assert!(Command::new("kill").args(["-TERM", &owner["owner"].to_string()]).status().unwrap().success());
    before.assert_same();
}

#[test]
fn a_kept_router_needs_no_process_and_clean_takes_it_down() {
    const BPF: &str = "/sys/fs/bpf";
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    desk.run(&["router", "up", PORTS[0], PORTS[1], "--keep"]).fails(1, &["BPF file system", "mount -t bpf"]);
    assert!(Command::new("mount").args(["-t", "bpf", "bpf", BPF]).status().unwrap().success());
    let before = Snapshot::take();
    assert_eq!(up(&desk, &["--keep"])["owner"], Value::Null);
    for address in RIGHT {
        assert!(reaches(address), "{address}: {:#}", statistics(&desk));
    }
    assert!(forwarded(&statistics(&desk)) > 3000);
    desk.run(&["router", "up", PORTS[0], PORTS[1]]).fails(1, &["a router stands"]);
    // A bed that comes and goes does not disturb it.
    drop(desk.bed("beside", &[]));
    assert!(reaches(RIGHT[0]) && ip("link show to-left").contains("xdp"));
    let cleaned = desk.run(&["clean"]);
    assert!(
        cleaned.out.contains("undone: programs kept in /sys/fs/bpf/wireproof/router_"),
        "{} {}",
        cleaned.out,
        cleaned.err
    );
    assert!(!Path::new(BPF).join("wireproof").exists());
    before.assert_same();

    assert_eq!(up(&desk, &["--keep"])["owner"], Value::Null);
    assert_eq!(desk.run(&["router", "down"]).status, 0);
    before.assert_same();
    assert!(Command::new("umount").arg(BPF).status().unwrap().success());
}

#[test]
fn interfaces_that_cannot_or_must_not_be_ports_are_refused() {
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    ip("route add default via 198.19.0.2");
    let before = Snapshot::take();
    let refused = |words: &[&str], status: i32, says: &[&str]| {
        desk.run(&[&["router", "up"], words].concat()).fails(status, says);
        before.assert_same();
    };
    refused(&["to-left"], 2, &["2"]);
    refused(&["to-left", "none0"], 1, &["no interface \"none0\"", "to-right"]);
    refused(&["to-left", "to-left"], 1, &["named twice"]);
    refused(&["to-left", "lo"], 1, &["lo is no Ethernet interface"]);
    refused(
        &["to-left", "to-right"],
        1,
        &["to-right carries the machine's default route", "--i-know-this-is-my-uplink"],
    );
    up(&desk, &["--i-know-this-is-my-uplink"]);
    assert_eq!(desk.run(&["router", "down"]).status, 0);
    before.assert_same();
}

#[test]
fn a_veth_whose_other_end_is_out_of_reach_is_generic() {
    let desk = Desk::new();
    let _hosts = hosts(&desk);
    // A namespace without a name, which ends with its process.
    let mut hermit = Command::new("unshare").args(["--net", "sleep", "60"]).stdin(Stdio::null()).spawn().unwrap();
    assert!(within(PATIENCE, || {
        let own = |process: &str| fs::read_link(format!("/proc/{process}/ns/net")).unwrap();
        own(&hermit.id().to_string()) != own("thread-self")
    }));
    ip(&format!("link add to-hermit type veth peer name eth0 netns {}", hermit.id()));
    let up = desk.run(&["router", "up", PORTS[0], "to-hermit", "--json"]);
    assert_eq!(up.status, 0, "{}", up.err);
    let ports = up.json()["ports"].clone();
    assert_eq!((&ports[0]["mode"], &ports[1]["why_generic"]), (&"native".into(), &"peer".into()), "{ports:#}");
    assert_eq!(desk.run(&["router", "down"]).status, 0);
    hermit.kill().unwrap();
    hermit.wait().unwrap();
}
