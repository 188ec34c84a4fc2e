//! A change to the machine, as a value: what it will be, and what was there before.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
};

use serde::{Deserialize, Serialize};

use crate::{
    port::{Manager, PortState, StampSetting},
    units::Mtu,
};

/// One reversible change to one machine. A namespace is named; an empty name is that of the machine's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum Change {
    /// A new network namespace, visible to `ip netns`.
    Namespace {
        /// Its name.
        name: String,
    },
    /// A new pair of virtual Ethernet interfaces.
    Veth {
        /// One end.
        a: LinkEnd,
        /// The other end.
        b: LinkEnd,
        /// MTU of both ends.
        mtu: Mtu,
    },
    /// A new bridge that joins interfaces of its namespace, and is up.
    Bridge {
        /// The namespace.
        namespace: String,
        /// The bridge.
        interface: String,
        /// What it joins.
        ports: Vec<String>,
    },
    /// Generic receive offload of an interface switched on.
    Gro {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
    },
    /// An address on an interface.
    Address {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
        /// The address.
        address: IpAddr,
        /// Length of the network prefix.
        prefix: u8,
    },
    /// A route to a network through a gateway.
    Route {
        /// Namespace it is in.
        namespace: String,
        /// The interface that it leaves through.
        interface: String,
        /// An address of the network.
        to: IpAddr,
        /// Length of the network's prefix.
        prefix: u8,
        /// The gateway.
        via: IpAddr,
    },
    /// An interface set up (administratively).
    LinkUp {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
    },
    /// MTU of an interface.
    Mtu {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
        /// Its new MTU.
        mtu: Mtu,
    },
    /// A kernel setting below `/proc/sys`.
    Sysctl {
        /// Namespace it is set in.
        namespace: String,
        /// The setting, with dots, like `net.ipv4.tcp_timestamps`.
        key: String,
        /// Its new value.
        value: String,
    },
    /// The card of an interface told to stamp all packets.
    Stamping {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
    },
    /// A setting of an interface below `/sys/class/net`.
    InterfaceSetting {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
        /// The setting, like `gro_flush_timeout`.
        setting: String,
        /// Its new value.
        value: String,
    },
    /// The card of an interface told to interrupt as soon as a packet comes.
    PromptInterrupts {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
    },
    /// UDP for a local address and port sent to one queue of a card.
    Steering {
        /// Namespace the interface is in.
        namespace: String,
        /// The interface.
        interface: String,
        /// Address and port.
        to: SocketAddr,
        /// The queue, from 0.
        queue: u32,
    },
    /// A port of the machine moved into a namespace.
    Port {
        /// The port, by its name in the machine's own namespace, which it keeps.
        interface: String,
        /// The namespace it is moved into.
        namespace: String,
    },
    /// A program that configures interfaces by itself told to leave a port alone.
    LeftAlone {
        /// The program.
        manager: Manager,
        /// The port.
        interface: String,
        /// Its MAC address: it may come back under another name.
        mac: String,
    },
}

/// One end of a pair: an interface in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// The namespace.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// What was there before a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "before", content = "value", rename_all = "kebab-case")]
pub enum Before {
    /// It did not exist.
    Absent,
    /// The interface was down.
    Down,
    /// What was asked for was so already: undoing leaves it.
    Same,
    /// The setting had this value.
    Value(String),
    /// The setting had these numbers.
    Numbers(Vec<u32>),
    /// The port was like this.
    Port(Box<PortState>),
    /// The card was told this.
    Stamping(StampSetting),
}

impl Before {
    /// The port as it was, where a change concerns one.
    pub fn port(&self) -> Option<&PortState> {
        match self {
            Self::Port(state) => Some(state),
            _ => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { name } => write!(f, "namespace {name}"),
            Self::Veth { a, b, mtu } => write!(f, "veth pair {a} and {b}, MTU {}", mtu.0),
            Self::Bridge { namespace, interface, ports } => {
                write!(f, "bridge {} of {}", At(namespace, interface), ports.join(", "))
            }
            Self::Gro { namespace, interface } => write!(f, "{} GRO on", At(namespace, interface)),
            Self::Address { namespace, interface, address, prefix } => {
                write!(f, "address {address}/{prefix} on {}", At(namespace, interface))
            }
            Self::Route { namespace, interface, to, prefix, via } => {
                write!(f, "route to {to}/{prefix} via {via} at {}", At(namespace, interface))
            }
            Self::LinkUp { namespace, interface } => write!(f, "{} up", At(namespace, interface)),
            Self::Mtu { namespace, interface, mtu } => write!(f, "{} MTU {}", At(namespace, interface), mtu.0),
            Self::Sysctl { namespace, key, value } if namespace.is_empty() => write!(f, "{key} = {value}"),
            Self::Sysctl { namespace, key, value } => write!(f, "{key} = {value} in {namespace}"),
            Self::InterfaceSetting { namespace, interface, setting, value } => {
                write!(f, "{} {setting} = {value}", At(namespace, interface))
            }
            Self::PromptInterrupts { namespace, interface } => {
                write!(f, "prompt interrupts of {}", At(namespace, interface))
            }
            Self::Steering { namespace, interface, to, queue } => {
                write!(f, "rule of {} that takes UDP for {to} to queue {queue}", At(namespace, interface))
            }
            Self::Stamping { namespace, interface } => write!(f, "{} stamps packets", At(namespace, interface)),
            Self::Port { interface, namespace } => write!(f, "port {interface} moved into {namespace}"),
            Self::LeftAlone { manager, interface, .. } => write!(f, "{interface} left alone by {manager}"),
        }
    }
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        At(&self.namespace, &self.interface).fmt(f)
    }
}

/// Namespace and interface, in words.
struct At<'a>(&'a str, &'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(namespace, interface) = self;
        if namespace.is_empty() { f.write_str(interface) } else { write!(f, "{namespace}/{interface}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_named_unless_it_is_the_machines_own() {
        let mtu =
            |namespace: &str| Change::Mtu { namespace: namespace.into(), interface: "eth1".into(), mtu: Mtu(9000) };
        assert_eq!(mtu("wp1-a").to_string(), "wp1-a/eth1 MTU 9000");
        assert_eq!(mtu("").to_string(), "eth1 MTU 9000");
        let (namespace, interface, to) =
            (String::new(), "eth1".to_owned(), "[2001:2::1]:53".parse().expect("an address"));
        let steering = Change::Steering { namespace, interface, to, queue: 3 };
        assert_eq!(steering.to_string(), "rule of eth1 that takes UDP for [2001:2::1]:53 to queue 3");
    }
}
