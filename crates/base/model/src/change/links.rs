//! New namespaces and interfaces, and interfaces set up.

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;
use crate::units::Mtu;

/// A new network namespace, visible to `ip netns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("namespace {name}")]
pub struct Namespace {
    /// Name.
    pub name: String,
}

/// A new pair of virtual Ethernet interfaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("veth pair {a} and {b}, MTU {}", mtu.0)]
pub struct Veth {
    /// One end.
    pub a: LinkEnd,
    /// The other end.
    pub b: LinkEnd,
    /// MTU of both ends.
    pub mtu: Mtu,
}

/// A new bridge that joins interfaces of its namespace, and is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("bridge {} of {}", At(namespace, interface), ports.join(", "))]
pub struct Bridge {
    /// The namespace.
    pub namespace: String,
    /// The bridge.
    pub interface: String,
    /// The interfaces that it joins.
    pub ports: Vec<String>,
}

/// An interface set up (administratively).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} up", At(namespace, interface))]
pub struct LinkUp {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// One end of a pair: an interface in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{}", At(namespace, interface))]
pub struct LinkEnd {
    /// The namespace.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}
