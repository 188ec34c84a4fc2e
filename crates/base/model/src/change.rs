//! A change to the machine, as a value: what it will be, and what was there before.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::units::Mtu;

/// One reversible change to one machine.
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
    /// The interface was up already, or the address there already: undoing leaves it.
    Same,
    /// The setting had this value.
    Value(String),
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { name } => write!(f, "namespace {name}"),
            Self::Veth { a, b, mtu } => write!(f, "veth pair {a} and {b}, MTU {}", mtu.0),
            Self::Address { namespace, interface, address, prefix } => {
                write!(f, "address {address}/{prefix} on {namespace}/{interface}")
            }
            Self::LinkUp { namespace, interface } => write!(f, "{namespace}/{interface} up"),
            Self::Mtu { namespace, interface, mtu } => write!(f, "{namespace}/{interface} MTU {}", mtu.0),
            Self::Sysctl { namespace, key, value } => write!(f, "{key} = {value} in {namespace}"),
        }
    }
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.interface)
    }
}
