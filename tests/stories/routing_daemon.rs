//! Routing daemons (BIRD, FRR) drive the XDP router by OSPF: a route moves from one neighbour to another while packets are under way.

use std::{
    collections::BTreeSet,
    fs,
    net::UdpSocket,
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use kernel::{namespace, process};

use crate::{
    machine::Snapshot,
    program::{Desk, text},
    router::{forwarded, ip, statistics},
    waiting::soon,
};

/// Namespaces around the router, each joined to its interface `to-NAME`: a host, and two neighbours that both have the target.
const AROUND: [&str; 3] = ["left", "one", "two"];
const TARGET: &str = "198.19.128.9";
const TO: &str = "198.19.128.9:7000";

/// Time between two datagrams, and for the last ones to arrive.
const GAP: Duration = Duration::from_micros(400);
const LAST: Duration = Duration::from_secs(1);
/// Datagrams that may be lost while the daemon moves the route, which it deletes and then adds: those of 100 ms.
const MOST_LOST: u32 = 250;

/// A daemon with its own configuration and control socket.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // It takes its routes away.
        process::end(&[self.0.id()], |_| true).unwrap();
        self.0.wait().unwrap();
    }
}

impl Daemon {
    /// Starts BIRD in a namespace; an empty name is the story's own.
    fn bird(desk: &Desk, place: &str, configuration: &str) -> Self {
        let file = |ending: &str| desk.path(&format!("bird-{place}.{ending}"));
        fs::write(file("conf"), configuration).unwrap();
        let mut command = Command::new("/usr/sbin/bird");
        command.args(["-f", "-c", text(&file("conf")), "-s", text(&file("ctl")), "-P", text(&file("pid"))]);
        let start = || command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(namespace::within(place, start).unwrap().expect("this test needs the package bird2"))
    }

    /// Starts a daemon of FRR in the story's own namespace. It becomes a user of its own, which writes into its folder.
    fn frr(desk: &Desk, name: &str, configuration: &str) -> Self {
        let folder = desk.path("frr");
        fs::create_dir_all(&folder).unwrap();
        for (path, mode) in [(desk.path(""), 0o711), (folder.clone(), 0o777)] {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
        let file = |name: &str| folder.join(name);
        fs::write(file(name), configuration).unwrap();
        let mut command = Command::new(format!("/usr/lib/frr/{name}"));
        command.args([
            "-f",
            text(&file(name)),
            "-z",
            text(&file("zserv.api")),
            "-i",
            text(&file(&format!("{name}.pid"))),
        ]);
        command.args(["--vty_socket", text(&folder), "-P", "0"]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self(child.expect("this test needs the package frr"))
    }

    /// Has it read another configuration.
    fn reconfigure(&self, desk: &Desk, place: &str, configuration: &str) {
        fs::write(desk.path(&format!("bird-{place}.conf")), configuration).unwrap();
        assert!(Command::new("kill").args(["-HUP", &self.0.id().to_string()]).status().unwrap().success());
    }
}

fn configuration(id: &str, links: &str, more: &str) -> String {
    format!(
        "router id {id};\nprotocol device {{ scan time 1; }}\nprotocol kernel {{ ipv4 {{ import none; export all; }}; }}\n\
         protocol ospf v2 {{ ipv4 {{ import all; export none; }}; area 0 {{\n\
         interface {links} {{ type ptp; hello 1; dead count 4; cost 10; }};\n{more}\n}}; }}\n"
    )
}

/// Configuration of a neighbour at this distance from the target.
fn neighbour(id: &str, cost: u32) -> String {
    configuration(id, "\"eth0\"", &format!("stubnet {TARGET}/32 {{ cost {cost}; }};"))
}

/// Joins the namespaces to this one.
fn around() {
    for (network, name) in AROUND.into_iter().enumerate() {
        ip(&format!("netns add {name}"));
        ip(&format!("link add to-{name} type veth peer name eth0 netns {name}"));
        ip(&format!("address add 198.18.{network}.1/24 dev to-{name}"));
        ip(&format!("link set to-{name} up"));
        ip(&format!("-n {name} address add 198.18.{network}.2/24 dev eth0"));
        ip(&format!("-n {name} link set eth0 up"));
        ip(&format!("-n {name} route add default via 198.18.{network}.1"));
        if name != AROUND[0] {
            ip(&format!("-n {name} link set lo up"));
            ip(&format!("-n {name} address add {TARGET}/32 dev lo"));
        }
    }
}

/// Numbers that arrive at the target in this namespace until nothing comes any more.
fn received(name: &str, is_over: &AtomicBool) -> BTreeSet<u32> {
    let socket = namespace::within(name, || UdpSocket::bind(TO)).unwrap().unwrap();
    socket.set_read_timeout(Some(LAST)).unwrap();
    let (mut numbers, mut datagram) = (BTreeSet::new(), [0; 4]);
    loop {
        match socket.recv(&mut datagram) {
            Ok(_) => {
                numbers.insert(u32::from_be_bytes(datagram));
            }
            Err(_) if is_over.load(Relaxed) => return numbers,
            Err(_) => {}
        }
    }
}

/// Sends numbers to the target until it is over; returns how many.
fn sent(is_over: &AtomicBool) -> u32 {
    let socket = namespace::within(AROUND[0], || UdpSocket::bind("0.0.0.0:0")).unwrap().unwrap();
    let mut number = 0_u32;
    while !is_over.load(Relaxed) {
        socket.send_to(&number.to_be_bytes(), TO).unwrap();
        number += 1;
        thread::sleep(GAP);
    }
    number
}

/// OSPF of FRR between the story's interfaces.
const FRR: &str = "\
interface to-one
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
interface to-two
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
 ip ospf cost 10
interface to-left
 ip ospf passive
router ospf
 ospf router-id 198.18.1.1
 timers throttle spf 0 50 5000
 network 198.18.0.0/16 area 0
";

#[test]
fn bird() {
    a_route_of_ospf_moves_under_load_and_the_router_follows_at_once(|desk| {
        let links = "\"to-one\", \"to-two\"";
        vec![Daemon::bird(desk, "", &configuration("198.18.1.1", links, "interface \"to-left\" { stub; };"))]
    });
}

#[test]
fn frr() {
    a_route_of_ospf_moves_under_load_and_the_router_follows_at_once(|desk| {
        let zebra = Daemon::frr(desk, "zebra", "");
        assert!(soon(|| desk.path("frr/zserv.api").exists()), "zebra does not listen");
        // The one that asks the other ends first.
        vec![Daemon::frr(desk, "ospfd", FRR), zebra]
    });
}

/// The router's own daemons are these.
fn a_route_of_ospf_moves_under_load_and_the_router_follows_at_once(own: impl Fn(&Desk) -> Vec<Daemon>) {
    let desk = Desk::new();
    around();
    let before = Snapshot::take();
    let up = desk.run(&["router", "up", "to-left", "to-one", "to-two"]);
    assert_eq!(up.status, 0, "{}", up.err);
    let daemons = own(&desk);
    let neighbours = [("one", "198.18.1.2", 10), ("two", "198.18.2.2", 50)]
        .map(|(place, id, cost)| Daemon::bird(&desk, place, &neighbour(id, cost)));
    let leads_to = |via: &str| ip(&format!("route show {TARGET}")).contains(&format!("via {via} "));
    assert!(soon(|| leads_to("198.18.1.2")), "{}", ip("route"));
    let knows_one = || ip("-n two route").contains("198.18.1.0/24 via 198.18.2.1 ");
    assert!(soon(knows_one), "the other neighbour is one, too: {}", ip("-n two route"));

    let is_over = AtomicBool::new(false);
    let (sent, one, two) = thread::scope(|scope| {
        let [one, two] = ["one", "two"].map(|name| {
            let is_over = &is_over;
            scope.spawn(move || received(name, is_over))
        });
        let sender = scope.spawn(|| sent(&is_over));
        thread::sleep(LAST);
        neighbours[0].reconfigure(&desk, "one", &neighbour("198.18.1.2", 200));
        let moved = soon(|| leads_to("198.18.2.2"));
        thread::sleep(LAST);
        is_over.store(true, Relaxed);
        assert!(moved, "{}", ip("route"));
        (sender.join().unwrap(), one.join().unwrap(), two.join().unwrap())
    });
    let lost: Vec<u32> = (0..sent).filter(|number| !one.contains(number) && !two.contains(number)).collect();
    let span = lost.iter().max().zip(lost.iter().min()).map_or(0, |(last, first)| last - first + 1);
    let counted = statistics(&desk);
    println!("{sent} sent, {} and {} arrived, {} lost within {span}", one.len(), two.len(), lost.len());
    assert!(!one.is_empty() && !two.is_empty() && span <= MOST_LOST, "lost beyond the change: {lost:?}: {counted:#}");
    assert!(forwarded(&counted) >= u64::from(sent) * 9 / 10, "past the kernel: {counted:#}");
    let down = desk.run(&["router", "down"]);
    assert_eq!(down.status, 0, "{}", down.err);
    drop((daemons, neighbours));
    before.assert_same();
}
