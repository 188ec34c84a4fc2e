//! Addresses and routes.

use std::net::IpAddr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;

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

/// A route to a network through a gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("route to {to}/{prefix} via {via} at {}", At(namespace, interface))]
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
