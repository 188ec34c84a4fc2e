//! The path to a host that runs nothing of ours, by that host's own answers.

use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    limited::Culprit,
    trial::{Hop, Leg, PathDevice},
    units::{Mtu, Nanos},
};

choice!(
    /// Packets that a host answers by itself.
    PathMethod, "a method, like \"echo\" or \"udp\"", {
        /// ICMP echo requests.
        Echo = "echo",
        /// Datagrams to a closed port, which the host refuses by ICMP.
        Udp = "udp",
    }
);

/// Path to a host of one IP version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PathTo {
    /// Address of the host.
    pub address: IpAddr,
    /// Outgoing interface.
    pub interface: String,
    /// Source address.
    pub source: IpAddr,
    /// Next router; null where the host is on the link.
    pub gateway: Option<IpAddr>,
    /// Packets that the host answered.
    pub method: PathMethod,
    /// Largest packet that arrived there.
    pub leg: Leg,
    /// Each hop, the host last.
    pub hops: Vec<Hop>,
    /// Devices that the packets go through: of this end, then those of a host that was reached by ssh.
    pub devices: Vec<PathDevice>,
    /// MTU that the kernel had for this route before the search, set or learnt; null where it was the interface's.
    pub route_mtu: Option<Mtu>,
    /// Packets of a TCP connection to the host; null where none was asked for.
    pub tcp: Option<TcpPackets>,
    /// `net.ipv4.tcp_mtu_probing`; null where it cannot be read.
    pub tcp_mtu_probing: Option<u32>,
    /// `net.ipv4.ip_no_pmtu_disc`; null where it cannot be read.
    pub no_discovery: Option<u32>,
    /// Packets that were sent.
    pub packets: u64,
    /// Duration of the search.
    pub took: Nanos,
}

/// Packets of a TCP connection, by the kernel's own numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "connected", rename_all = "kebab-case")]
pub enum TcpPackets {
    /// The host accepted a connection.
    Yes {
        /// Port of the host.
        port: u16,
        /// Payload of a full segment, in bytes.
        mss: u32,
        /// Largest IP packet of the connection, from the MSS that both ends announced.
        packet: Mtu,
    },
    /// It did not.
    No {
        /// Port of the host.
        port: u16,
        /// The kernel's error.
        why: String,
    },
}

/// Conclusions from a path to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathConclusion {
    /// Place that keeps the path MTU below the interface's; null where nothing does.
    pub culprit: Option<Culprit>,
    /// Remedies, the best first.
    pub advice: Vec<PathAdvice>,
}

/// A remedy, with the command that makes it here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PathAdvice {
    /// The remedy.
    pub kind: PathAdviceKind,
    /// The command; null where it is to be done elsewhere.
    pub command: Option<String>,
}

choice!(
    /// A remedy for a path whose MTU is small or learnt wrongly.
    PathAdviceKind, "a remedy", {
        /// Give the member, or what is below the interface, the MTU of the others.
        RaiseMember = "raise-member",
        /// Raise the MTU of the router's link, or allow its ICMP messages to come back.
        AskRouter = "ask-router",
        /// Set the MTU of the route to this host.
        SetRoute = "set-route",
        /// Let TCP find the size by itself where ICMP does not arrive.
        ProbeTcp = "probe-tcp",
        /// Forget an MTU that was learnt and holds no longer.
        Forget = "forget",
        /// Switch path MTU discovery on.
        Discover = "discover",
    }
);
