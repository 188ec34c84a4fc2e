//! NICs taken from the machine.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::nic::Manager;

/// A NIC of the machine moved into a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedNic {
    /// The NIC, by its name in the machine's own namespace, which it keeps.
    pub interface: String,
    /// The namespace it is moved into.
    pub namespace: String,
}

/// A program that configures interfaces told to leave a NIC alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftAlone {
    /// The program.
    pub manager: Manager,
    /// The NIC.
    pub interface: String,
    /// Its MAC address: the NIC may come back under another name.
    pub mac: String,
}

impl fmt::Display for MovedNic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "port {} moved into {}", self.interface, self.namespace)
    }
}

impl fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} left alone by {}", self.interface, self.manager)
    }
}
