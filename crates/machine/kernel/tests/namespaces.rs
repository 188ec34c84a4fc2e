//! Namespaces, links, addresses and settings on the real kernel. Needs root, and fails without.

use std::net::{IpAddr, UdpSocket};

use model::{LinkEnd, Mtu, change::OffloadKind};
use wireproof_kernel::{ethtool, link, namespace, neighbour, statistics, sysctl, watch::Watch};

/// Namespaces of one test, deleted at its end.
struct Namespaces(Vec<String>);

impl Namespaces {
    fn create(test: &str, ends: &[&str]) -> Self {
        let names = ends.iter().map(|end| format!("wptest{}{test}-{end}", std::process::id())).collect();
        let namespaces = Self(names);
        for name in &namespaces.0 {
            namespace::create(name).expect("this test needs root");
        }
        namespaces
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in &self.0 {
            // A failed test may have left it; nothing to add to that test's message.
            let _ = namespace::delete(name);
        }
    }
}

fn end(namespace: &str, interface: &str) -> LinkEnd {
    LinkEnd { namespace: namespace.to_owned(), interface: interface.to_owned() }
}

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn own_namespace() -> std::path::PathBuf {
    std::fs::read_link("/proc/thread-self/ns/net").expect("/proc")
}

#[test]
fn a_namespace_comes_and_goes_and_the_caller_stays_where_it_was() {
    let before = own_namespace();
    let namespaces = Namespaces::create("life", &["a"]);
    let name = &namespaces.0[0];
    assert_eq!(own_namespace(), before);
    assert!(namespace::exists(name));
    assert!(namespace::list().expect("readable").contains(name));
    let listed = std::process::Command::new("ip").args(["netns", "list"]).output().expect("iproute2 is installed");
    assert!(String::from_utf8_lossy(&listed.stdout).contains(name.as_str()));
    let inside = namespace::within(name, own_namespace).expect("it exists");
    assert_ne!(inside, before);
    assert_eq!(own_namespace(), before);

    let taken = namespace::create(name).expect_err("the name is taken");
    assert_eq!(taken.io_kind(), std::io::ErrorKind::AlreadyExists);
    namespace::delete(name).expect("it exists");
    assert!(!namespace::exists(name));
    assert_eq!(namespace::delete(name).expect_err("it is gone").io_kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn a_later_namespace_of_the_same_name_is_another_one() {
    let namespaces = Namespaces::create("same", &["a"]);
    let name = &namespaces.0[0];
    let first = namespace::identity(name).expect("it exists");
    assert_eq!(namespace::identity(name).expect("it exists"), first);
    namespace::delete(name).expect("it exists");
    let second = namespace::Unnamed::new().expect("root");
    let identity = second.identity();
    second.publish(name).expect("the name is free");
    assert_ne!(Some(identity), first);
    assert_eq!(namespace::identity(name).expect("it exists"), Some(identity));
}

#[test]
fn a_name_without_a_namespace_can_be_deleted() {
    let namespaces = Namespaces::create("empty", &["a"]);
    let name = &namespaces.0[0];
    namespace::delete(name).expect("it exists");
    std::fs::write(format!("/run/netns/{name}"), "").expect("root");
    assert_eq!(namespace::identity(name).expect("readable"), None);
    namespace::delete(name).expect("a file");
    assert!(!namespace::exists(name));
}

#[test]
fn the_other_end_of_a_veth_pair_is_known_by_namespace_and_index() {
    let namespaces = Namespaces::create("other", &["a", "b", "c"]);
    let [a, b, c] = [&namespaces.0[0], &namespaces.0[1], &namespaces.0[2]];
    link::create_veth(&end(a, "wire"), &end(b, "far"), Mtu(1500)).expect("two namespaces");
    // It has the same index as the one at b.
    link::create_veth(&end(c, "wire"), &end(c, "far"), Mtu(1500)).expect("one namespace");
    let far = namespace::within(b, || link::index("far")).expect("it exists").expect("there");
    let (other, numbers) = namespace::within(a, || {
        let numbers = [b, c].map(|name| namespace::number(name).expect("readable"));
        (link::other_end("wire").expect("readable").expect("a veth"), numbers)
    })
    .expect("it exists");
    assert_eq!((other.index, other.namespace), (far, numbers[0]));
    assert!(numbers[0].is_some() && numbers[1] != numbers[0], "{numbers:?}");
    let both_here = namespace::within(c, || link::other_end("wire")).expect("it exists").expect("readable");
    assert_eq!(both_here.expect("a veth").namespace, None);
    assert_eq!(namespace::within(c, || link::other_end("lo")).expect("it exists").expect("readable"), None);
}

#[test]
fn a_neighbour_that_was_not_confirmed_for_a_while_is_probed() {
    let namespaces = Namespaces::create("stale", &["a", "b"]);
    let [a, b] = [&namespaces.0[0], &namespaces.0[1]];
    link::create_veth(&end(a, "wire"), &end(b, "wire"), Mtu(1500)).expect("two namespaces");
    for (name, address) in [(a, "198.18.0.1"), (b, "198.18.0.2")] {
        link::add_address(name, "wire", ip(address), 24).expect("no address yet");
        link::set_up(name, "wire").expect("it exists");
    }
    let enter = "neighbour replace 198.18.0.2 lladdr 02:00:00:00:00:07 dev wire nud stale".split(' ');
    let entered = std::process::Command::new("ip").args(["-n", a]).args(enter).status();
    assert!(entered.expect("iproute2 is installed").success());
    let state = || neighbour::known("wire", ip("198.18.0.2")).expect("readable").state.unwrap_or_default();
    namespace::within(a, || {
        let index = link::index("wire").expect("there");
        neighbour::probe_stale(&[index + 1]).expect("permitted");
        assert_eq!(state(), "STALE", "it is at another interface");
        neighbour::probe_stale(&[index]).expect("permitted");
        assert_ne!(state(), "STALE");
    })
    .expect("it exists");
}

#[test]
fn offloads_are_switched_off_and_on_again() {
    let namespaces = Namespaces::create("offload", &["a", "b"]);
    let [a, b] = [&namespaces.0[0], &namespaces.0[1]];
    link::create_veth(&end(a, "wire"), &end(b, "wire"), Mtu(1500)).expect("two namespaces");
    let all = [OffloadKind::SendChecksums, OffloadKind::SendVlanTags, OffloadKind::ReceiveVlanTags];
    let read = || all.map(|offload| ethtool::offload("wire", offload).expect("readable"));
    namespace::within(a, || {
        assert_eq!(read(), [true; 3]);
        for (at, offload) in all.into_iter().enumerate() {
            ethtool::set_offload("wire", offload, false).expect("a veth can do without");
            assert_eq!(read(), [0, 1, 2].map(|other| other != at), "{offload} alone");
            ethtool::set_offload("wire", offload, true).expect("it could before");
        }
        assert_eq!(read(), [true; 3]);
    })
    .expect("it exists");
}

#[test]
fn a_veth_pair_joins_two_namespaces_and_never_shows_here() {
    let namespaces = Namespaces::create("veth", &["a", "b"]);
    let [a, b] = [&namespaces.0[0], &namespaces.0[1]];
    // The same name at both ends: either would collide if it were created here first.
    link::create_veth(&end(a, "lo-wire"), &end(b, "lo-wire"), Mtu(9000)).expect("two namespaces");
    for (name, v4, v6) in [(a, "198.18.0.1", "2001:2::1"), (b, "198.18.0.2", "2001:2::2")] {
        assert!(link::exists(name, "lo-wire").expect("readable"));
        assert!(!link::is_up(name, "lo-wire").expect("it exists"));
        link::add_address(name, "lo-wire", ip(v4), 24).expect("no address yet");
        link::add_address(name, "lo-wire", ip(v6), 64).expect("no address yet");
        link::set_up(name, "lo-wire").expect("it exists");
        assert!(link::is_up(name, "lo-wire").expect("it exists"));
        assert!(link::has_address(name, "lo-wire", ip(v6)).expect("readable"));
        let driver = namespace::within(name, || ethtool::driver("lo-wire")).expect("it exists");
        assert_eq!(driver.expect("every driver says its name").name, "veth");
    }
    for (from, to) in [("198.18.0.1", "198.18.0.2"), ("2001:2::1", "2001:2::2")] {
        send(a, ip(from), b, ip(to));
    }
    let links = namespace::within(a, link::list).expect("it exists").expect("readable");
    let wire = links.iter().find(|link| link.name == "lo-wire").expect("listed");
    assert_eq!((wire.mtu, wire.mac.len(), wire.operstate.as_str()), (Mtu(9000), 17, "up"));
    assert!(wire.addresses.contains(&(ip("198.18.0.1"), 24)) && wire.addresses.contains(&(ip("2001:2::1"), 64)));
    assert!(link::list().expect("readable").iter().all(|link| link.name != "lo-wire"));

    link::remove_address(a, "lo-wire", ip("198.18.0.1"), 24).expect("it is there");
    assert!(!link::has_address(a, "lo-wire", ip("198.18.0.1")).expect("readable"));
    link::set_down(a, "lo-wire").expect("it exists");
    assert!(!link::is_up(a, "lo-wire").expect("it exists"));
    link::delete(a, "lo-wire").expect("it exists");
    assert!(!link::exists(b, "lo-wire").expect("readable"));
    let error = link::delete(a, "lo-wire").expect_err("it is gone").to_string();
    assert_eq!(error, format!("RTM_DELLINK on interface {a}/lo-wire: No such device (os error 19)"));
}

#[test]
fn a_link_tells_its_kind_and_what_it_belongs_to_and_stands_on() {
    let namespaces = Namespaces::create("kinds", &["a"]);
    let name = &namespaces.0[0];
    for link in ["name br0 type bridge", "name port type veth peer name other", "name above link other type macvlan"] {
        ip_command(&format!("-n {name} link add {link}"));
    }
    ip_command(&format!("-n {name} link set dev port master br0"));
    let links = namespace::within(name, link::list).expect("it exists").expect("readable");
    let told = |name: &str| {
        let link = links.iter().find(|link| link.name == name).expect("listed");
        (link.kind.as_str(), link.master.as_deref(), link.lower.as_deref())
    };
    assert_eq!(told("lo"), ("", None, None));
    assert_eq!(told("br0"), ("bridge", None, None));
    assert_eq!(told("port"), ("veth", Some("br0"), None));
    assert_eq!(told("other"), ("veth", None, None));
    assert_eq!(told("above"), ("macvlan", None, Some("other")));
}

fn ip_command(arguments: &str) {
    let output = std::process::Command::new("ip").args(arguments.split(' ')).output().expect("iproute2 is installed");
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// An IPv6 address under duplicate address detection could not be bound.
fn send(from: &str, from_address: IpAddr, to: &str, to_address: IpAddr) {
    let bind = |namespace: &str, address| {
        namespace::within(namespace, || UdpSocket::bind((address, 0))).expect("it exists").expect("an address of ours")
    };
    let (sender, receiver) = (bind(from, from_address), bind(to, to_address));
    receiver.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("valid");
    sender.send_to(b"across", receiver.local_addr().expect("bound")).expect("a route");
    let mut buffer = [0; 16];
    assert_eq!(receiver.recv(&mut buffer).expect("it arrives"), 6);
}

#[test]
fn interface_driver_and_qdisc_count_what_crosses() {
    let namespaces = Namespaces::create("count", &["a", "b"]);
    let [a, b] = [&namespaces.0[0], &namespaces.0[1]];
    link::create_veth(&end(a, "wire"), &end(b, "wire"), Mtu(1500)).expect("two namespaces");
    for (name, address) in [(a, "198.18.0.1"), (b, "198.18.0.2")] {
        link::add_address(name, "wire", ip(address), 24).expect("no address yet");
        link::set_up(name, "wire").expect("it exists");
    }
    let shaper = "qdisc add dev wire root handle 10: tbf rate 1gbit burst 32k latency 10ms";
    let status = std::process::Command::new("tc").args(["-n", a]).args(shaper.split(' ')).status();
    assert!(status.expect("iproute2 is installed").success());
    send(a, ip("198.18.0.1"), b, ip("198.18.0.2"));

    let (interface, qdiscs) =
        namespace::within(a, || statistics::of_interface("wire")).expect("it exists").expect("readable");
    let of = |counters: &statistics::Counters, name| counters.iter().find(|(known, _)| *known == name).map(|(_, n)| *n);
    assert!(of(&interface, "tx_packets") > Some(0) && of(&interface, "tx_bytes") >= Some(48), "{interface:?}");
    let [shaper] = qdiscs.as_slice() else { panic!("one of this interface: {qdiscs:?}") };
    assert_eq!((shaper.name.as_str(), of(&shaper.counters, "drops")), ("tbf 10:", Some(0)));
    assert!(of(&shaper.counters, "packets") > Some(0) && of(&shaper.counters, "overlimits").is_some(), "{shaper:?}");
    let driver = namespace::within(a, || ethtool::statistics("wire")).expect("it exists").expect("veth counts");
    assert!(driver.iter().any(|(name, _)| name == "rx_queue_0_xdp_drops"), "{driver:?}");
}

#[test]
fn settings_are_those_of_the_namespace() {
    const KEY: &str = "net.ipv4.tcp_timestamps";
    let namespaces = Namespaces::create("sysctl", &["a"]);
    let name = &namespaces.0[0];
    let here = sysctl::read(KEY).expect("readable");
    let inside = namespace::within(name, || {
        let before = sysctl::read(KEY)?;
        sysctl::write(KEY, if before == "0" { "1" } else { "0" })?;
        Ok::<_, wireproof_kernel::Error>((before, sysctl::read(KEY)?))
    });
    let (before, after) = inside.expect("it exists").expect("writable");
    assert_ne!(before, after);
    assert_eq!(sysctl::read(KEY).expect("readable"), here);
}

#[test]
fn processes_in_a_namespace_are_found_and_ended() {
    let namespaces = Namespaces::create("procs", &["a"]);
    let name = &namespaces.0[0];
    assert!(namespace::processes_in(name).expect("it exists").is_empty());
    let spawn = || std::process::Command::new("sleep").arg("60").spawn();
    let mut child = namespace::within(name, spawn).expect("it exists").expect("a program");
    assert_eq!(namespace::processes_in(name).expect("it exists"), [child.id()]);
    namespace::end_processes_in(name).expect("it ends");
    child.wait().expect("ours");
    assert!(namespace::processes_in(name).expect("it exists").is_empty());
}

#[test]
fn an_isolated_thread_and_what_it_starts_see_and_change_nothing_of_the_machine() {
    let namespaces = ["net", "mnt", "ipc"].map(|kind| format!("/proc/thread-self/ns/{kind}"));
    let look = move || namespaces.clone().map(|path| std::fs::read_link(path).expect("/proc"));
    let mounts = || std::fs::read_to_string("/proc/thread-self/mountinfo").expect("/proc");
    let (before, name) = (look(), format!("wptest{}ground", std::process::id()));
    let inside = std::thread::spawn(move || {
        namespace::isolate_thread().expect("this test needs root");
        let words = ["-t", "tmpfs", &name, "/mnt"];
        assert!(std::process::Command::new("mount").args(words).status().expect("mount").success());
        assert!(mounts().contains(&name));
        assert!(link::is_up("", "lo").expect("a loopback interface"));
        let interfaces = std::process::Command::new("ls").arg("/sys/class/net").output().expect("ls").stdout;
        (String::from_utf8_lossy(&interfaces).into_owned(), look(), name)
    });
    let (interfaces, inside, name) = inside.join().expect("it ends");
    assert_eq!(interfaces, "lo\n");
    for (own, other) in before.iter().zip(&inside) {
        assert_ne!(own, other);
    }
    assert!(!std::fs::read_to_string("/proc/thread-self/mountinfo").expect("/proc").contains(&name));
}

#[test]
fn changes_of_links_addresses_and_neighbours_are_heard_of() {
    let namespaces = Namespaces::create("watch", &["a", "b"]);
    let [a, b] = [&namespaces.0[0], &namespaces.0[1]];
    let (watch, other) = (namespace::within(a, Watch::open), namespace::within(b, Watch::open));
    let (watch, other) = (watch.expect("it exists").expect("open"), other.expect("it exists").expect("open"));
    let news = || watch.has_news().expect("readable");
    assert!(!news());
    link::create_veth(&end(a, "wp0"), &end(b, "wp0"), Mtu(1500)).expect("veth");
    assert!(news() && !news());
    other.has_news().expect("readable");
    link::add_address(a, "wp0", ip("198.18.0.1"), 24).expect("it is new");
    assert!(news() && !news() && !other.has_news().expect("readable"));
    let add = |words: &str| {
        let run = || std::process::Command::new("ip").args(words.split(' ')).status().expect("iproute2 is installed");
        assert!(namespace::within(a, run).expect("it exists").success(), "{words}");
    };
    add("neigh add 198.18.0.2 lladdr 02:00:00:00:00:02 dev wp0");
    assert!(news());
    link::set_up(a, "wp0").expect("it is there");
    assert!(news());
    add("route add 198.18.1.0/24 via 198.18.0.2");
    assert!(news());
    add("rule add from 198.18.0.1 lookup 100");
    assert!(news() && !other.has_news().expect("readable"));
}
