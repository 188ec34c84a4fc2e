//! The embedded lab: two network namespaces joined by one veth pair, or several senders and a receiver joined by a bridge. Pure: it
//! says what to set up, and does nothing.
//!
//! Addresses are those set apart for benchmarks: 198.18.0.0/15 (RFC 2544, appendix C) and 2001:2::/48 (RFC 5180).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::{Bed, BedKind, Change, ClockRelation, Dut, Endpoint, LinkEnd, Mtu, Privilege, units::LEAST_IPV6_MTU};

use crate::cores::{Chosen, dealt};

/// What a lab is made from.
pub(crate) struct Lab {
    /// Names its namespaces: `wp<id>-a`, `wp<id>-b`, `wp<id>-switch`.
    pub(crate) id: String,
    pub(crate) mtu: Mtu,
    pub(crate) ipv6: bool,
    /// Those that send, one at least.
    pub(crate) senders: usize,
    /// Cores of all senders, and of the receiver.
    pub(crate) cores: [Chosen; 2],
}

/// Settings of both namespaces, each with its reason.
const SYSCTLS: [(&str, &str); 2] = [
    // Timestamps take 12 bytes of each TCP segment; without them a frame size has one payload size.
    ("net.ipv4.tcp_timestamps", "0"),
    // A trial must not inherit the congestion window that the one before it ended with.
    ("net.ipv4.tcp_no_metrics_save", "1"),
];

/// The same for IPv6.
const IPV6_SETTINGS: [(&str, &str); 2] = [
    // Where the machine has IPv6 switched off, new namespaces may begin the same way.
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    // A router's announcements would change addresses and routes under a run; and who listens for them asks for them: such a frame from
    // another core takes the receiver of a veth there, and its ring overflows meanwhile.
    ("net.ipv6.conf.default.accept_ra", "0"),
];

impl Lab {
    /// Everything to set up, in order.
    pub(crate) fn changes(&self) -> Vec<Change> {
        let endpoints = self.endpoints();
        let mut changes: Vec<Change> =
            endpoints.iter().map(|endpoint| Change::Namespace { name: endpoint.namespace.clone() }).collect();
        changes.extend(endpoints.iter().flat_map(|endpoint| settings(endpoint, self.ipv6)));
        match endpoints.as_slice() {
            [a, b] => changes.push(Change::Veth { a: link_end(a), b: link_end(b), mtu: self.mtu }),
            ends => changes.extend(self.switch(ends)),
        }
        // Links first: one that goes down takes its IPv6 addresses with it, and undoing comes from the other end.
        changes.extend(endpoints.iter().flat_map(links_up));
        changes.extend(endpoints.iter().flat_map(address_changes));
        changes
    }

    /// A bridge between these ends. Its ports receive by NAPI: a veth whose other end does not loses what XDP sends to it.
    fn switch(&self, ends: &[Endpoint]) -> Vec<Change> {
        let namespace = switch_namespace(&self.id);
        let port = |end: &Endpoint| LinkEnd { namespace: namespace.clone(), interface: format!("to-{}", end.name) };
        let ports = || ends.iter().map(port);
        let key = "net.ipv6.conf.default.disable_ipv6".to_owned();
        // It has nothing to say itself.
        let silent = Change::Sysctl { namespace: namespace.clone(), key, value: "1".to_owned() };
        let mut changes = vec![Change::Namespace { name: namespace.clone() }];
        changes.extend(self.ipv6.then_some(silent));
        changes.extend(ends.iter().map(|end| Change::Veth { a: link_end(end), b: port(end), mtu: self.mtu }));
        changes.extend(ports().map(|LinkEnd { namespace, interface }| Change::Gro { namespace, interface }));
        changes.extend(ports().map(|LinkEnd { namespace, interface }| Change::LinkUp { namespace, interface }));
        let ports = ports().map(|port| port.interface).collect();
        changes.push(Change::Bridge { namespace, interface: SWITCH.to_owned(), ports });
        changes
    }

    /// The bed that it makes.
    pub(crate) fn bed(&self, name: &str, privilege: Privilege) -> Bed {
        let (name, endpoints) = (name.to_owned(), self.endpoints());
        Bed {
            kind: BedKind::Lab,
            name,
            simulated: true,
            privilege,
            clocks: ClockRelation::Same,
            wrap: Vec::new(),
            dut: (self.senders > 1).then(|| Dut { machine: SWITCH.to_owned(), gateways: Vec::new() }),
            endpoints,
        }
    }

    /// Those that send, and the one that receives.
    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        let [near, far] = &self.cores;
        let cores = dealt(near, self.senders).into_iter().chain([far.clone()]);
        cores.enumerate().map(|(place, cores)| self.endpoint(place, cores)).collect()
    }

    fn endpoint(&self, place: usize, cores: Chosen) -> Endpoint {
        let name = end_name(place, self.senders + 1);
        let host = place as u8 + 1;
        Endpoint {
            machine: String::new(),
            namespace: format!("wp{}-{name}", self.id),
            interface: format!("lab-{name}"),
            driver: "veth".to_owned(),
            mtu: self.mtu,
            addresses: addresses(host, self.ipv6 && self.mtu >= LEAST_IPV6_MTU),
            name,
            cpus: cores.cpus,
            cpus_why: cores.why,
        }
    }
}

/// What joins several senders and their receiver.
pub(crate) const SWITCH: &str = "switch";

/// Where that is.
pub(crate) fn switch_namespace(id: &str) -> String {
    format!("wp{id}-{SWITCH}")
}

fn link_end(end: &Endpoint) -> LinkEnd {
    LinkEnd { namespace: end.namespace.clone(), interface: end.interface.clone() }
}

/// Settings of an end's namespace.
pub(crate) fn settings(endpoint: &Endpoint, ipv6: bool) -> Vec<Change> {
    let set = |(key, value): (&str, &str)| Change::Sysctl {
        namespace: endpoint.namespace.clone(),
        key: key.to_owned(),
        value: value.to_owned(),
    };
    SYSCTLS.into_iter().chain(IPV6_SETTINGS.into_iter().filter(|_| ipv6)).map(set).collect()
}

/// Name of the end at this place of so many: senders are a, or a1 and so on where there are several; the receiver is b.
pub(crate) fn end_name(place: usize, count: usize) -> String {
    match (place + 1 == count, count) {
        (true, _) => "b".to_owned(),
        (false, 2) => "a".to_owned(),
        (false, _) => format!("a{}", place + 1),
    }
}

/// Addresses of the end with this number, IPv4 first.
pub(crate) fn addresses(host: u8, ipv6: bool) -> Vec<IpAddr> {
    let v6 = ipv6.then(|| Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, host.into()).into());
    [Ipv4Addr::new(198, 18, 0, host).into()].into_iter().chain(v6).collect()
}

pub(crate) fn address_changes(endpoint: &Endpoint) -> Vec<Change> {
    let add = |address: &IpAddr| Change::Address {
        namespace: endpoint.namespace.clone(),
        interface: endpoint.interface.clone(),
        address: *address,
        prefix: if address.is_ipv4() { 24 } else { 64 },
    };
    endpoint.addresses.iter().map(add).collect()
}

pub(crate) fn links_up(endpoint: &Endpoint) -> Vec<Change> {
    let up =
        |interface: &str| Change::LinkUp { namespace: endpoint.namespace.clone(), interface: interface.to_owned() };
    vec![up("lo"), up(&endpoint.interface)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab(mtu: u32) -> Lab {
        Lab { id: "1f".into(), mtu: Mtu(mtu), ipv6: true, senders: 1, cores: Default::default() }
    }

    #[test]
    fn a_lab_is_two_namespaces_joined_by_a_veth_pair() {
        let changes: Vec<String> = lab(1500).changes().iter().map(ToString::to_string).collect();
        assert_eq!(
            changes,
            [
                "namespace wp1f-a",
                "namespace wp1f-b",
                "net.ipv4.tcp_timestamps = 0 in wp1f-a",
                "net.ipv4.tcp_no_metrics_save = 1 in wp1f-a",
                "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-a",
                "net.ipv6.conf.default.accept_ra = 0 in wp1f-a",
                "net.ipv4.tcp_timestamps = 0 in wp1f-b",
                "net.ipv4.tcp_no_metrics_save = 1 in wp1f-b",
                "net.ipv6.conf.default.disable_ipv6 = 0 in wp1f-b",
                "net.ipv6.conf.default.accept_ra = 0 in wp1f-b",
                "veth pair wp1f-a/lab-a and wp1f-b/lab-b, MTU 1500",
                "wp1f-a/lo up",
                "wp1f-a/lab-a up",
                "wp1f-b/lo up",
                "wp1f-b/lab-b up",
                "address 198.18.0.1/24 on wp1f-a/lab-a",
                "address 2001:2::1/64 on wp1f-a/lab-a",
                "address 198.18.0.2/24 on wp1f-b/lab-b",
                "address 2001:2::2/64 on wp1f-b/lab-b",
            ]
        );
    }

    #[test]
    fn several_senders_are_joined_to_their_receiver_by_a_bridge() {
        let cores = |cpus: &[usize]| Chosen { cpus: cpus.to_vec(), why: String::new() };
        let lab = Lab { senders: 2, cores: [cores(&[1, 3, 5]), cores(&[2])], ..lab(1500) };
        let ends = lab.endpoints();
        let shown: Vec<_> = ends.iter().map(|end| (end.name.as_str(), end.cpus.as_slice())).collect();
        assert_eq!(shown, [("a1", &[1][..]), ("a2", &[3][..]), ("b", &[2][..])]);
        let changes: Vec<String> = lab.changes().iter().map(ToString::to_string).collect();
        for change in [
            "namespace wp1f-switch",
            "veth pair wp1f-a2/lab-a2 and wp1f-switch/to-a2, MTU 1500",
            "wp1f-switch/to-b GRO on",
            "bridge wp1f-switch/switch of to-a1, to-a2, to-b",
            "address 198.18.0.3/24 on wp1f-b/lab-b",
        ] {
            assert!(changes.iter().any(|made| made == change), "{change}: {changes:#?}");
        }
    }

    #[test]
    fn an_mtu_too_small_for_ipv6_leaves_it_out() {
        let v6 = |mtu| lab(mtu).endpoints().iter().any(|endpoint| endpoint.addresses.iter().any(IpAddr::is_ipv6));
        assert!(v6(1280) && !v6(1279));
    }
}
