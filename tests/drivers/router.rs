//! The XDP router between hosts in VLANs: the kernel's own VLAN interfaces, by drivers with native XDP and without.

use crate::{control::Done, lab::Lab, machine::Machine};

/// A VLAN interface on one port, a VLAN interface on the other one beside its own frames, and a way for all of them.
const ROUTER: [&str; 8] = [
    "modprobe 8021q",
    "ip link set r1 up && ip link set r2 up",
    "ip link add link r1 name r1.10 type vlan id 10 && ip link set r1.10 up",
    "ip link add link r2 name r2.20 type vlan id 20 && ip link set r2.20 up",
    "ip address add 198.18.10.1/24 dev r1.10",
    "ip address add 198.19.0.1/24 dev r2",
    "ip address add 198.19.20.1/24 dev r2.20",
    "echo 1 >/proc/sys/net/ipv4/ip_forward",
];

/// Hosts in two VLANs, and one without a tag.
const HOSTS: [&str; 10] = [
    "modprobe 8021q",
    "ip link set h1 up && ip link set h2 up",
    "ip netns add left && ip netns add right",
    "ip link add link h1 name h1.10 type vlan id 10 && ip link set h1.10 netns left",
    "ip link add link h2 name h2.20 type vlan id 20 && ip link set h2.20 netns right",
    "ip -n left address add 198.18.10.2/24 dev h1.10 && ip -n left link set h1.10 up",
    "ip -n left route add default via 198.18.10.1",
    "ip -n right address add 198.19.20.2/24 dev h2.20 && ip -n right link set h2.20 up",
    "ip -n right route add default via 198.19.20.1",
    "ip address add 198.19.0.2/24 dev h2 && ip route add default via 198.19.0.1",
];

/// A host in a VLAN that the router does not have.
const STRANGER: &str =
    "ip link add link h1 name h1.30 type vlan id 30 && ip address add 198.18.30.2/24 dev h1.30 && ip link set h1.30 up";

/// Packets that the router forwarded past the kernel, and those of its first port with a tag that went to the kernel.
fn counted(router: &mut Machine) -> (u64, u64) {
    let stands = router.wireproof("router stats --json").ok().json();
    let ports = stands["ports"].as_array().unwrap();
    let forwarded = ports.iter().map(|port| port["forwarded"].as_u64().unwrap()).sum();
    (forwarded, ports[0]["passed"]["vlan"].as_u64().unwrap_or_default())
}

fn ping(hosts: &mut Machine, to: &str) -> Done {
    hosts.sh(&format!("ip netns exec left ping -c 4 -W 5 {to}"))
}

fn routes_vlans(device: &'static str, mode: &str) {
    let mut lab = Lab::new();
    let [r1, h1] = lab.pair(device, ["r1", "h1"]);
    let [r2, h2] = lab.pair(device, ["r2", "h2"]);
    let (mut router, mut hosts) = (lab.boot("router", &[r1, r2]), lab.boot("hosts", &[h1, h2]));
    router.sh(&ROUTER.join(" && ")).ok();
    hosts.sh(&HOSTS.join(" && ")).ok();
    let up = router.wireproof("router up r1 r2 --json").ok().json();
    assert_eq!(up["ports"][0]["mode"], mode, "{up:#}");
    // The first packets find the next hops, by the kernel.
    for to in ["198.19.20.2", "198.19.0.2"] {
        hosts.until(&format!("ip netns exec left ping -c 1 -W 1 {to} >/dev/null"));
        let before = counted(&mut router);
        ping(&mut hosts, to).ok();
        let after = counted(&mut router);
        assert!(after.0 >= before.0 + 8 && after.1 == before.1, "{to}: {before:?} {after:?}");
    }
    // Cards drop the frames of VLANs that nobody asked for.
    router.sh("ip link set r1 promisc on").ok();
    let before = counted(&mut router);
    hosts.sh(STRANGER).ok();
    assert_ne!(hosts.sh("ping -c 2 -W 1 198.18.30.1").status, 0, "nobody has it");
    assert!(counted(&mut router).1 > before.1, "a VLAN without interface is the kernel's");

    router.sh("ip link set r1.10 down && sleep 2").ok();
    let before = counted(&mut router);
    assert_ne!(ping(&mut hosts, "198.19.20.2").status, 0, "its interface is down");
    assert_eq!(counted(&mut router).0, before.0);
    router.sh("ip link set r1.10 up && sleep 2").ok();
    hosts.until("ip netns exec left ping -c 1 -W 1 198.19.20.2 >/dev/null");
    ping(&mut hosts, "198.19.20.2").ok();
    assert!(counted(&mut router).0 > before.0);
    router.wireproof("router down").ok();
    assert!(!router.sh("ip link").ok().out.contains("xdp"));
    // A driver may take its link down and up again as the program goes.
    hosts.until("ip netns exec left ping -c 1 -W 1 198.19.20.2 >/dev/null");
}

#[test]
fn vlans_are_routed_in_a_driver_with_native_xdp() {
    routes_vlans("virtio-net-pci", "native");
}

#[test]
fn vlans_are_routed_over_a_driver_without_xdp() {
    routes_vlans("e1000e", "generic");
}
