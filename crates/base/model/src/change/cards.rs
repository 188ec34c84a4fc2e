//! Settings of cards.

use std::{fmt, net::SocketAddr};

use serde::{Deserialize, Serialize};

use super::At;

/// The card of an interface told to stamp all packets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamping {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// The card of an interface told to interrupt as soon as a packet arrives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptInterrupts {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

/// UDP for a local address and port sent to one queue of a card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl fmt::Display for Stamping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stamps packets", At(&self.namespace, &self.interface))
    }
}

impl fmt::Display for PromptInterrupts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "prompt interrupts of {}", At(&self.namespace, &self.interface))
    }
}

impl fmt::Display for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "rule of {} that takes UDP for {} to queue {}",
            At(&self.namespace, &self.interface),
            self.to,
            self.queue
        )
    }
}
