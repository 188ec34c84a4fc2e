//! Path MTU over links that are narrow on purpose, in namespaces. Needs root, `ip` and `nft`, and fails without.

use std::{
    net::{IpAddr, SocketAddr},
    process::Command,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use kernel::namespace;
use model::{
    IpVersion, Mtu, Nanos, PathResult, PathSpec, ProbeSpec, Side, SideFigures, SideSetup, fixture,
    trial::{Leg, Refusal},
};
use wireproof_probe::{Control, Window, prepare};

/// Names of routers and ends, in the order of the way.
struct Lab {
    id: String,
    nodes: Vec<String>,
}

/// One link of the way, by the MTU of its two interfaces.
struct Wire(u32, u32);

struct NoWindow;

impl Window for NoWindow {
    fn opened(&self) {}
    fn closed(&self) {}
}

impl Lab {
    /// A way of links, with a router between each two. The interfaces of a link are `r` at its left end and `l` at its
    /// right one.
    fn new(test: &str, wires: &[Wire]) -> Self {
        let id = format!("wptest{}{test}", std::process::id());
        let lab = Self { nodes: (0..=wires.len()).map(|node| format!("{id}-{node}")).collect(), id };
        for node in &lab.nodes {
            lab.sh(&format!(
                "ip netns add {node}
                 ip -n {node} link set dev lo up
                 ip netns exec {node} sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1 \
                     net.ipv6.conf.default.accept_dad=0"
            ));
        }
        for (number, wire) in wires.iter().enumerate() {
            lab.connect(number, wire);
        }
        for node in 0..lab.nodes.len() {
            lab.route(node, wires.len());
        }
        lab
    }

    fn connect(&self, number: usize, Wire(left_mtu, right_mtu): &Wire) {
        let (left, right) = (&self.nodes[number], &self.nodes[number + 1]);
        self.sh(&format!(
            "ip -n {left} link add name r mtu {left_mtu} type veth peer name l mtu {right_mtu} netns {right}
             ip -n {left} link set dev r up
             ip -n {right} link set dev l up"
        ));
        for ip in [IpVersion::V4, IpVersion::V6] {
            self.address(left, "r", left_address(ip, number));
            self.address(right, "l", right_address(ip, number));
        }
    }

    fn address(&self, node: &str, interface: &str, address: IpAddr) {
        let (prefix, nodad) = if address.is_ipv4() { (24, "") } else { (64, "nodad") };
        self.sh(&format!("ip -n {node} addr add {address}/{prefix} dev {interface} {nodad}"));
    }

    fn route(&self, node: usize, wires: usize) {
        let name = &self.nodes[node];
        for ip in [IpVersion::V4, IpVersion::V6] {
            for wire in 0..wires {
                let prefix = if ip == IpVersion::V4 { 24 } else { 64 };
                let to = format!("ip -n {name} route add {}/{prefix} via", address(ip, wire, 0));
                if wire > node {
                    self.sh(&format!("{to} {}", right_address(ip, node)));
                } else if wire + 1 < node {
                    self.sh(&format!("{to} {}", left_address(ip, node - 1)));
                }
            }
        }
    }

    fn sh(&self, script: &str) {
        let output = Command::new("sh").args(["-ec", script]).output().expect("a shell");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "this test needs root: {script}: {errors}");
    }

    /// A rule of a firewall at a node.
    fn firewall(&self, node: usize, hook: &str, rule: &str) {
        let name = &self.nodes[node];
        self.sh(&format!(
            "ip netns exec {name} nft add table inet wptest
             ip netns exec {name} nft 'add chain inet wptest {hook} {{ type filter hook {hook} priority 0; }}'
             ip netns exec {name} nft 'add rule inet wptest {hook} {rule}'"
        ));
    }

    /// The first node searches towards the last one.
    fn search(&self, ip: IpVersion) -> PathResult {
        self.search_with(ip, 0)
    }

    /// The same, with so many packets to each hop.
    fn search_with(&self, ip: IpVersion, hops: u32) -> PathResult {
        let last = self.nodes.len() - 1;
        let spec = &ProbeSpec::Path(PathSpec { ip, mtu: None, timeout: Nanos::from_millis(200), hops });
        let serving = &Control::default();
        let (tell, told) = mpsc::channel();
        let began = Instant::now();
        let (near, far) = thread::scope(|scope| {
            let far = scope.spawn(move || {
                within(&self.nodes[last], || {
                    let side = prepare(spec, Side::Far, &setup("b", right_address(ip, last - 1), None)).expect("binds");
                    tell.send(side.address().expect("listens")).expect("waited for");
                    side.run(serving, &NoWindow).expect("serves")
                })
            });
            let peer = told.recv().expect("the far side listens");
            let near = within(&self.nodes[0], || {
                let side = prepare(spec, Side::Near, &setup("a", left_address(ip, 0), Some(peer))).expect("binds");
                side.run(&Control::default(), &NoWindow)
            });
            serving.stop();
            (near.expect("a figure"), far.join().expect("joins"))
        });
        let took = began.elapsed();
        let (SideFigures::PathNear(mut result), SideFigures::PathFar { devices }) = (near, far) else {
            panic!("figures of another probe");
        };
        result.devices.extend(devices);
        println!("{} {ip}: {took:?}, {} packets", self.id, result.packets);
        assert!(took < longest(&result), "{} {ip} took {took:?}", self.id);
        *result
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        for node in &self.nodes {
            // A test that failed may have made it or not; either way there is nothing to add to its own message.
            let _ = namespace::delete(node);
        }
    }
}

fn within<T: Send>(node: &str, f: impl FnOnce() -> T + Send) -> T {
    namespace::within(node, f).expect("it exists")
}

/// The MTU is only where a search begins: a stale one costs time, no figure.
fn setup(endpoint: &str, local: IpAddr, peer: Option<SocketAddr>) -> SideSetup {
    let (endpoint, interface) = (endpoint.to_owned(), "stale".to_owned());
    SideSetup { endpoint, interface, local, mtu: Mtu(9000), ..fixture::setup(IpVersion::of(local), peer) }
}

fn left_address(ip: IpVersion, wire: usize) -> IpAddr {
    address(ip, wire, 1)
}

fn right_address(ip: IpVersion, wire: usize) -> IpAddr {
    address(ip, wire, 2)
}

fn address(ip: IpVersion, wire: usize, host: u8) -> IpAddr {
    let text = match ip {
        IpVersion::V4 => format!("198.18.{wire}.{host}"),
        IpVersion::V6 => format!("2001:2:0:{wire}::{host}"),
    };
    text.parse().expect("an address")
}

/// Somebody waits for the answer: also where it has to be waited for what never comes.
fn longest(result: &PathResult) -> Duration {
    let is_told = |leg: &Leg| matches!(leg.refusal, Refusal::Interface | Refusal::Largest);
    let is_clean = is_told(&result.forward) && is_told(&result.reverse);
    Duration::from_secs(if is_clean { 5 } else { 20 })
}

const BOTH: [IpVersion; 2] = [IpVersion::V4, IpVersion::V6];

fn leg(mtu: u32, refusal: Refusal, routers: u8) -> Leg {
    Leg { mtu: Some(Mtu(mtu)), refusal, routers: Some(routers) }
}

fn silent(last_router: Option<IpAddr>, routers_answer: Option<bool>) -> Refusal {
    Refusal::Silent { last_router, routers_answer }
}

#[test]
fn a_clean_link_passes_what_its_interfaces_take() {
    for mtu in [1500, 9000, 65_535] {
        let lab = Lab::new(&format!("clean{mtu}"), &[Wire(mtu, mtu)]);
        let refusal = if mtu == 65_535 { Refusal::Largest } else { Refusal::Interface };
        for ip in BOTH {
            let result = lab.search(ip);
            let expected = leg(mtu, refusal.clone(), 0);
            assert_eq!((&result.forward, &result.reverse), (&expected, &expected), "{ip}");
            let ends: Vec<_> = result.devices.iter().map(|at| (&*at.host, &*at.name, &*at.kind, at.mtu.0)).collect();
            assert_eq!(ends, [("a", "r", "veth", mtu), ("b", "l", "veth", mtu)]);
        }
    }
}

/// A veth lets a VLAN tag pass on top of its MTU, as a card does.
#[test]
fn a_smaller_interface_at_the_far_end_drops_and_says_nothing() {
    let lab = Lab::new("peer", &[Wire(9000, 1413)]);
    for ip in BOTH {
        let result = lab.search(ip);
        assert_eq!(result.forward, leg(1417, silent(None, None), 0), "{ip}");
        assert_eq!(result.reverse, leg(1413, Refusal::Interface, 0), "{ip}");
    }
}

#[test]
fn routers_before_a_narrow_link_say_so_each_way() {
    let lab = Lab::new("icmp", &[Wire(9000, 9000), Wire(1413, 1413), Wire(9000, 9000)]);
    for ip in BOTH {
        let result = lab.search(ip);
        let says_so = |by| Refusal::TooBig { by, mtu: Mtu(1413) };
        assert_eq!(result.forward, leg(1413, says_so(right_address(ip, 0)), 2), "{ip}");
        assert_eq!(result.reverse, leg(1413, says_so(left_address(ip, 2)), 2), "{ip}");
    }
}

#[test]
fn each_hop_answers_or_not_and_the_far_end_tells_what_is_lost() {
    let wire = || Wire(1500, 1500);
    let lab = Lab::new("hops", &[wire(), wire(), wire(), wire()]);
    lab.firewall(2, "output", "icmp type time-exceeded drop");
    lab.sh(&format!("ip netns exec {} nft 'add rule inet wptest output icmpv6 type time-exceeded drop'", lab.nodes[2]));
    for ip in BOTH {
        let hops = lab.search_with(ip, 3).hops;
        let seen: Vec<_> = hops.iter().map(|hop| (hop.number, hop.sent, hop.answered, hop.addresses.clone())).collect();
        let by = |wire| vec![right_address(ip, wire)];
        assert_eq!(seen, [(1, 3, 3, by(0)), (2, 3, 0, vec![]), (3, 3, 3, by(2)), (4, 3, 3, by(3))], "{ip}");
        for hop in hops.iter().filter(|hop| hop.answered > 0) {
            let times = hop.times.expect("it answered");
            assert!(Nanos(1_000) < times.shortest && times.shortest <= times.median && times.median <= times.longest);
            assert!(times.longest < Nanos::from_secs(1), "{hop:?}");
        }
    }
}

#[test]
fn routers_that_may_not_speak_leave_a_black_hole() {
    let lab = Lab::new("mute", &[Wire(9000, 9000), Wire(1413, 1413), Wire(9000, 9000)]);
    for router in [1, 2] {
        lab.firewall(router, "output", "icmp type { destination-unreachable, time-exceeded } drop");
        lab.sh(&format!(
            "ip netns exec {} nft 'add rule inet wptest output icmpv6 type {{ packet-too-big, time-exceeded }} drop'",
            lab.nodes[router]
        ));
    }
    for ip in BOTH {
        let result = lab.search(ip);
        let expected = leg(1413, silent(None, Some(false)), 2);
        assert_eq!((&result.forward, &result.reverse), (&expected, &expected), "{ip}");
    }
}

#[test]
fn a_black_hole_one_way_leaves_the_other_way_as_it_is() {
    let lab = Lab::new("oneway", &[Wire(9000, 9000), Wire(9000, 9000)]);
    lab.firewall(2, "prerouting", "meta length > 1413 drop");
    for ip in BOTH {
        let result = lab.search(ip);
        let last_router = Some(right_address(ip, 0));
        assert_eq!(result.forward, leg(1413, silent(last_router, Some(true)), 1), "{ip}");
        assert_eq!(result.reverse, leg(9000, Refusal::Interface, 1), "{ip}");
    }
}

#[test]
fn the_way_back_is_judged_alone_too() {
    let lab = Lab::new("back", &[Wire(9000, 9000), Wire(9000, 9000)]);
    lab.firewall(0, "prerouting", "meta length > 1413 drop");
    for ip in BOTH {
        let result = lab.search(ip);
        let last_router = Some(left_address(ip, 1));
        assert_eq!(result.forward, leg(9000, Refusal::Interface, 1), "{ip}");
        assert_eq!(result.reverse, leg(1413, silent(last_router, Some(true)), 1), "{ip}");
    }
}

#[test]
fn a_router_that_fragments_all_the_same_does_not_make_packets_pass() {
    let lab = Lab::new("frag", &[Wire(9000, 9000), Wire(1413, 1413)]);
    lab.firewall(1, "prerouting", "ip frag-off set 0");
    let result = lab.search(IpVersion::V4);
    assert_eq!(result.forward.mtu, Some(Mtu(1413)));
}

#[test]
fn the_ports_of_a_bridge_are_shown() {
    let lab = Lab::new("bridge", &[Wire(1500, 1500)]);
    let node = &lab.nodes[1];
    lab.sh(&format!(
        "ip -n {node} addr flush dev l
         ip -n {node} link add name br0 type bridge
         ip -n {node} tuntap add dev tap mode tap
         ip -n {node} link set dev tap mtu 1413
         ip -n {node} link set dev l master br0
         ip -n {node} link set dev tap master br0
         ip -n {node} link set dev tap up
         ip -n {node} link set dev br0 up"
    ));
    for ip in BOTH {
        lab.address(node, "br0", right_address(ip, 0));
    }
    for ip in BOTH {
        let result = lab.search(ip);
        assert_eq!(result.forward, leg(1500, Refusal::Interface, 0), "{ip}");
        assert_eq!(result.reverse, leg(1413, Refusal::Interface, 0), "{ip}");
        let far = result.devices.iter().filter(|device| device.host == "b");
        let mut far: Vec<_> =
            far.map(|at| (&*at.name, &*at.kind, at.mtu.0, at.master.as_deref(), at.on_path)).collect();
        far.sort_unstable();
        let ports = [("l", "veth", 1500, Some("br0"), false), ("tap", "tun", 1413, Some("br0"), false)];
        assert_eq!(far, [vec![("br0", "bridge", 1413, None, true)], ports.to_vec()].concat());
    }
}
