//! NICs taken from the machine.

use derive_more::Display;
use serde::{Deserialize, Serialize};

use crate::nic::Manager;

/// A NIC of the machine moved into a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("port {interface} moved into {namespace}")]
pub struct MovedNic {
    /// The NIC, by its name in the machine's own namespace, which it keeps.
    pub interface: String,
    /// The namespace it is moved into.
    pub namespace: String,
}

/// A program that configures interfaces and has to leave a NIC alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{interface} left alone by {manager}")]
pub struct UnmanagedNic {
    /// The program.
    pub manager: Manager,
    /// The NIC.
    pub interface: String,
    /// MAC address: the NIC may come back under another name.
    pub mac: String,
}
