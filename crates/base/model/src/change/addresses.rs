//! Addresses and routes.

use std::{fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use super::At;

/// An address on an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Address {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// The address.
    pub address: IpAddr,
    /// Length of the network prefix.
    pub prefix: u8,
}

/// A route to a network through a gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Namespace of the route.
    pub namespace: String,
    /// The interface that it leaves through.
    pub interface: String,
    /// An address of the network.
    pub to: IpAddr,
    /// Length of the network's prefix.
    pub prefix: u8,
    /// The gateway.
    pub via: IpAddr,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = At(&self.namespace, &self.interface);
        write!(f, "address {}/{} on {at}", self.address, self.prefix)
    }
}

impl fmt::Display for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = At(&self.namespace, &self.interface);
        write!(f, "route to {}/{} via {} at {at}", self.to, self.prefix, self.via)
    }
}
