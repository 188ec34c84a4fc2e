//! Addresses and routes.

use std::net::IpAddr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;
use crate::network::network_after;

/// An address on an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("address {address}/{prefix} on {}", At(namespace, interface))]
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

/// A route to a network through a gateway, or to several networks in a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{}route to {to}/{prefix} via {via} at {}", times(*count), At(namespace, interface))]
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
    /// Networks from this one on, a route each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub count: u32,
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

fn times(count: u32) -> String {
    if count == 1 { String::new() } else { format!("{count} networks, the first: ") }
}

impl Route {
    /// Networks with their prefixes, in order.
    pub fn networks(&self) -> Vec<(IpAddr, u8)> {
        let network = |place: u32| (network_after(self.to, self.prefix, place), self.prefix);
        (0..self.count).map(network).collect()
    }
}
