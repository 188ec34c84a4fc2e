//! New namespaces and interfaces, and interfaces set up.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::At;
use crate::units::Mtu;

/// A new network namespace, visible to `ip netns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Namespace {
    /// Its name.
    pub name: String,
}

/// A new pair of virtual Ethernet interfaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Veth {
    /// One end.
    pub a: LinkEnd,
    /// The other end.
    pub b: LinkEnd,
    /// MTU of both ends.
    pub mtu: Mtu,
}

/// A new bridge that joins interfaces of its namespace, and is up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bridge {
    /// The namespace.
    pub namespace: String,
    /// The bridge.
    pub interface: String,
    /// The interfaces that it joins.
    pub ports: Vec<String>,
}

/// An interface set up (administratively).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkUp {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// One end of a pair: an interface in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// The namespace.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "namespace {}", self.name)
    }
}

impl fmt::Display for Veth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "veth pair {} and {}, MTU {}", self.a, self.b, self.mtu.0)
    }
}

impl fmt::Display for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bridge {} of {}", At(&self.namespace, &self.interface), self.ports.join(", "))
    }
}

impl fmt::Display for LinkUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} up", At(&self.namespace, &self.interface))
    }
}

impl fmt::Display for LinkEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        At(&self.namespace, &self.interface).fmt(f)
    }
}
