//! Changes to a machine as values, one type a kind. The ledger records the state before.

mod addresses;
mod card_settings;
mod filters;
mod interface_settings;
mod links;
mod open_vswitch;
mod programs;
mod taken_nics;
mod tuned;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use addresses::{Address, Route};
pub use card_settings::{PromptInterrupts, Stamping, Steering};
pub use filters::Filters;
pub use interface_settings::{Gro, InterfaceMtu, InterfaceSetting, NapiThreads, Offload, OffloadKind, Sysctl};
pub use links::{Bridge, LinkEnd, LinkUp, Namespace, Veth};
pub use open_vswitch::OpenVswitch;
pub use programs::PinnedPrograms;
pub use taken_nics::{MovedNic, UnmanagedNic};
pub use tuned::{BannedInterrupts, DriverNumber, DriverSetting, MachineSetting, OffloadSwitch, OwnFile, RootQdisc};

/// Declares all kinds of change: each variant has its type, whose words are its words.
macro_rules! kinds {
    ($($(#[$meta:meta])* $variant:ident($kind:ident)),* $(,)?) => {
        /// One reversible change to one machine. A namespace is named; an empty name is the machine's own.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(tag = "change", rename_all = "kebab-case")]
        pub enum Change {
            $($(#[$meta])* $variant($kind),)*
        }

        $(impl From<$kind> for Change {
            fn from(change: $kind) -> Self {
                Self::$variant(change)
            }
        })*

        impl fmt::Display for Change {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant(change) => change.fmt(f),)*
                }
            }
        }
    };
}

kinds! {
    /// A new network namespace.
    Namespace(Namespace),
    /// A new pair of virtual Ethernet interfaces.
    Veth(Veth),
    /// A new bridge.
    Bridge(Bridge),
    /// An Open vSwitch with daemons of its own.
    OpenVswitch(OpenVswitch),
    /// Generic receive offload switched on.
    Gro(Gro),
    /// An offload switched off.
    Offload(Offload),
    /// An address on an interface.
    Address(Address),
    /// A route through a gateway.
    Route(Route),
    /// An interface set up.
    LinkUp(LinkUp),
    /// MTU of an interface.
    Mtu(InterfaceMtu),
    /// A kernel setting.
    Sysctl(Sysctl),
    /// A card that stamps all packets.
    Stamping(Stamping),
    /// A setting of an interface.
    InterfaceSetting(InterfaceSetting),
    /// Receive work in kernel threads.
    NapiThreads(NapiThreads),
    /// A card that interrupts as soon as a packet arrives.
    PromptInterrupts(PromptInterrupts),
    /// UDP for one local address and port sent to one queue.
    Steering(Steering),
    /// Packet filters of a device under test.
    Filters(Filters),
    /// BPF programs that outlive their process.
    PinnedPrograms(PinnedPrograms),
    /// A NIC moved into a namespace.
    #[serde(rename = "port")]
    Nic(MovedNic),
    /// A network manager that has to leave a NIC alone.
    #[serde(rename = "unmanaged-nic", alias = "left-alone")]
    UnmanagedNic(UnmanagedNic),
    /// A number of a driver.
    DriverSetting(DriverSetting),
    /// An offload switched on or off.
    OffloadSwitch(OffloadSwitch),
    /// The queueing discipline of an interface.
    RootQdisc(RootQdisc),
    /// A setting of the machine in files.
    MachineSetting(MachineSetting),
    /// Interrupts that irqbalance leaves alone.
    BannedInterrupts(BannedInterrupts),
    /// A configuration file of ours.
    OwnFile(OwnFile),
}

/// Namespace and interface, in words.
struct At<'a>(&'a str, &'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(namespace, interface) = self;
        if namespace.is_empty() { f.write_str(interface) } else { write!(f, "{namespace}/{interface}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Mtu;

    #[test]
    fn a_namespace_is_named_unless_it_is_the_machines_own() {
        let mtu =
            |namespace: &str| InterfaceMtu { namespace: namespace.into(), interface: "eth1".into(), mtu: Mtu(9000) };
        assert_eq!(Change::from(mtu("wp1-a")).to_string(), "wp1-a/eth1 MTU 9000");
        assert_eq!(mtu("").to_string(), "eth1 MTU 9000");
        let threads = |cpus: &[usize]| {
            let (namespace, interface) = ("wp1-router".to_owned(), "to-a".to_owned());
            NapiThreads { namespace, interface, cpus: cpus.to_vec() }.to_string()
        };
        assert_eq!(threads(&[1]), "wp1-router/to-a receives in kernel threads on core 1");
        assert_eq!(threads(&[1, 3]), "wp1-router/to-a receives in kernel threads on cores 1, 3");
        let (namespace, interface, to) =
            (String::new(), "eth1".to_owned(), "[2001:2::1]:53".parse().expect("an address"));
        let steering = Steering { namespace, interface, to, queue: 3 };
        assert_eq!(steering.to_string(), "rule of eth1 that takes UDP for [2001:2::1]:53 to queue 3");
    }
}
