//! The XDP router: its ports, and what became of the packets that they received.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::choice::choice;

/// A running router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Router {
    /// The process that owns it, with which it ends; null for one that was kept.
    pub owner: Option<u32>,
    /// Ports.
    pub ports: Vec<RouterPort>,
}

/// An interface of a router.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouterPort {
    /// Name.
    pub name: String,
    /// Place where its program runs.
    pub mode: Mode,
    /// Why its program does not run in the driver; null if it does.
    pub why_generic: Option<WhyGeneric>,
    /// The packets that it received.
    #[serde(flatten)]
    pub counters: PortCounters,
}

/// Outcome of the packets that a port received, since the router began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PortCounters {
    /// Packets forwarded to another port without the kernel's stack.
    pub forwarded: u64,
    /// Bytes of their frames, without FCS.
    pub bytes: u64,
    /// Packets passed to the kernel, by reason; reasons without any are left out.
    pub passed: BTreeMap<Passed, u64>,
    /// Packets dropped, by reason; reasons without any are left out.
    pub dropped: BTreeMap<Dropped, u64>,
}

crate::json!(Router);

choice!(
    /// Place where an XDP program runs.
    Mode, "a place of an XDP program", {
        /// In the driver, before the kernel makes a packet of a frame.
        Native = "native",
        /// In the kernel, on its packets: slower, with any driver.
        Generic = "generic",
    }
);

choice!(
    /// Why a program does not run in the driver.
    WhyGeneric, "a reason", {
        /// It was asked for.
        Asked = "asked",
        /// The driver has no native XDP.
        NoNative = "no-native",
        /// A veth has fewer queues to receive on than its peer has to send on.
        Queues = "queues",
        /// The driver has no native XDP at this MTU.
        Mtu = "mtu",
        /// The other end of a veth pair is out of reach: it could not be prepared.
        Peer = "peer",
    }
);

choice!(
    /// Why a packet went to the kernel, which forwards it, answers it or drops it.
    Passed, "a reason", {
        /// Neither IPv4 nor IPv6, like ARP.
        NotIp = "not-ip",
        /// With a VLAN tag: it belongs to a VLAN interface.
        Vlan = "vlan",
        /// To another MAC address than the port's: broadcast, multicast, or overheard.
        LinkAddress = "link-address",
        /// With a header that is cut off or wrong, like its checksum.
        Malformed = "malformed",
        /// With IPv4 options or IPv6 hop-by-hop options.
        Options = "options",
        /// With an address that is not forwarded, or by special rules: multicast, loopback, link-local.
        Scope = "scope",
        /// At the end of its TTL or hop limit.
        HopLimit = "hop-limit",
        /// Spread over several buffers, as with a large MTU.
        InParts = "in-parts",
        /// For this machine, or without a route.
        NoRoute = "no-route",
        /// With a route that says unreachable or prohibited.
        Refused = "refused",
        /// Forwarding is off at the port.
        ForwardingOff = "forwarding-off",
        /// With a route into a tunnel or MPLS.
        Encapsulated = "encapsulated",
        /// The MAC address of the next hop is not known yet.
        NoNeighbour = "no-neighbour",
        /// Larger than the next link or the route takes.
        TooBig = "too-big",
        /// By an interface that is no port of the router, cannot send for XDP, or is the one it came by.
        OtherPort = "other-port",
    }
);

choice!(
    /// Why a packet was dropped.
    Dropped, "a reason", {
        /// Its route is a blackhole.
        Blackhole = "blackhole",
        /// The port to send it has just disappeared.
        PortGone = "port-gone",
    }
);

impl Passed {
    /// All reasons.
    pub const ALL: [Self; 15] = [
        Self::NotIp,
        Self::Vlan,
        Self::LinkAddress,
        Self::Malformed,
        Self::Options,
        Self::Scope,
        Self::HopLimit,
        Self::InParts,
        Self::NoRoute,
        Self::Refused,
        Self::ForwardingOff,
        Self::Encapsulated,
        Self::NoNeighbour,
        Self::TooBig,
        Self::OtherPort,
    ];
}

impl Dropped {
    /// All reasons.
    pub const ALL: [Self; 2] = [Self::Blackhole, Self::PortGone];
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Json;

    #[test]
    fn a_router_is_read_as_it_is_written() {
        let counters = PortCounters {
            forwarded: 7,
            bytes: 420,
            passed: [(Passed::NotIp, 2)].into(),
            dropped: [(Dropped::Blackhole, 1)].into(),
        };
        let name = "eth1".to_owned();
        let port = RouterPort { name, mode: Mode::Generic, why_generic: Some(WhyGeneric::Peer), counters };
        let router = Router { owner: Some(1), ports: vec![port] };
        let text = router.to_json();
        assert!(text.contains(r#""forwarded":7,"bytes":420,"passed":{"not-ip":2}"#), "{text}");
        assert_eq!(Router::from_json(&text).ok(), Some(router));
    }

    #[test]
    fn all_reasons_are_listed() {
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(Passed::ALL.map(|why| why.to_string()).to_vec(), words(Passed::WORDS));
        assert_eq!(Dropped::ALL.map(|why| why.to_string()).to_vec(), words(Dropped::WORDS));
    }
}
