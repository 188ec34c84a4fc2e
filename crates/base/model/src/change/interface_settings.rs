//! Settings of interfaces and of the kernel.

use std::fmt;

use derive_more::Display;
use serde::{Deserialize, Serialize};

use super::At;
use crate::{choice::choice, units::Mtu};

/// Generic receive offload of an interface switched on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} GRO on", At(namespace, interface))]
pub struct Gro {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
}

choice!(
    /// Work on packets that an interface takes from the kernel.
    OffloadKind, "an offload", {
        /// Checksums of what it sends.
        SendChecksums = "tx-checksums",
        /// VLAN tags of what it sends.
        SendVlanTags = "tx-vlan-tags",
        /// VLAN tags of what it receives, which it strips.
        ReceiveVlanTags = "rx-vlan-tags",
    }
);

/// An offload of an interface switched off, because an XDP program sees packets without it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} {offload} off", At(namespace, interface))]
pub struct Offload {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// The offload.
    pub offload: OffloadKind,
}

/// MTU of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} MTU {}", At(namespace, interface), mtu.0)]
pub struct InterfaceMtu {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// New MTU.
    pub mtu: Mtu,
}

/// A kernel setting below `/proc/sys`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sysctl {
    /// Namespace it is set in.
    pub namespace: String,
    /// The setting, with dots, like `net.ipv4.tcp_timestamps`.
    pub key: String,
    /// New value.
    pub value: String,
}

/// A setting of an interface below `/sys/class/net`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} {setting} = {value}", At(namespace, interface))]
pub struct InterfaceSetting {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// The setting, like `gro_flush_timeout`.
    pub setting: String,
    /// New value.
    pub value: String,
}

/// Receive work of an interface (NAPI) done by kernel threads on these cores, in place of soft interrupts on the core that a packet comes
/// from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Display)]
#[display("{} receives in kernel threads on {}", At(namespace, interface), Cores(cpus))]
pub struct NapiThreads {
    /// Namespace of the interface.
    pub namespace: String,
    /// The interface.
    pub interface: String,
    /// The cores, any of which each thread may use.
    pub cpus: Vec<usize>,
}

/// Cores, in words.
struct Cores<'a>(&'a [usize]);

impl fmt::Display for Cores<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cores: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{} {}", if cores.len() == 1 { "core" } else { "cores" }, cores.join(", "))
    }
}

impl fmt::Display for Sysctl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.key, self.value)?;
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " in {}", self.namespace) }
    }
}
