//! Settings of cards.

use std::net::SocketAddr;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;

/// The card of an interface that has to stamp all packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} stamps packets", At(namespace, interface))]
pub struct Stamping {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// The card of an interface that has to interrupt as soon as a packet arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("prompt interrupts of {}", At(namespace, interface))]
pub struct PromptInterrupts {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// UDP for a local address and port sent to one queue of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("rule of {} that takes UDP for {to} to queue {queue}", At(namespace, interface))]
pub struct Steering {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// Address and port.
    pub to: SocketAddr,
    /// The queue, from 0.
    pub queue: u32,
}
