//! What the machine was, before and after a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::difference::differences;

/// The machines of a run, each with what was read there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// When it was read (RFC 3339).
    pub read_at: String,
    /// Each machine.
    pub hosts: Vec<HostFacts>,
    /// Each endpoint's view from inside its namespace.
    pub endpoints: Vec<EndpointFacts>,
}

/// One machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Name of the machine.
    pub hostname: String,
    /// Operating system, like `Debian GNU/Linux 12 (bookworm)`.
    pub os: String,
    /// Kernel release.
    pub kernel: String,
    /// Kernel command line.
    pub kernel_command_line: String,
    /// Machine type, like `x86_64`.
    pub architecture: String,
    /// Maker and product by DMI; empty where there is none.
    pub product: String,
    /// Hypervisor, empty on bare metal or where unknown.
    pub hypervisor: String,
    /// Processor model.
    pub cpu_model: String,
    /// Microcode revision, empty where not shown.
    pub microcode: String,
    /// Cores that are online.
    pub cpus: usize,
    /// Cores set apart on the kernel command line (`isolcpus`), as the kernel writes the list.
    pub isolated_cpus: String,
    /// NUMA nodes.
    pub numa_nodes: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Clock source the kernel uses.
    pub clock_source: String,
    /// Frequency governor of core 0, empty where there is none.
    pub governor: String,
    /// Each processor vulnerability with its mitigation, as the kernel writes it.
    pub mitigations: BTreeMap<String, String>,
    /// Kernel settings that bear on results.
    pub sysctls: BTreeMap<String, String>,
    /// Version and build of this program on that machine.
    pub wireproof: String,
}

/// One endpoint from inside its namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointFacts {
    /// The endpoint's name.
    pub endpoint: String,
    /// Its interfaces, loopback left out.
    pub interfaces: Vec<InterfaceFacts>,
    /// Kernel settings of the namespace that bear on results.
    pub sysctls: BTreeMap<String, String>,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceFacts {
    /// Its name.
    pub name: String,
    /// Its driver.
    pub driver: String,
    /// Its MTU.
    pub mtu: u32,
    /// Its MAC address.
    pub mac: String,
    /// `up`, `down`, … as `ip link` shows it.
    pub state: String,
    /// Speed in Mbit/s, where the driver says one.
    pub speed_mbps: Option<u32>,
    /// Addresses with prefix length.
    pub addresses: Vec<String>,
}

impl Environment {
    /// What differs between before and after, in words; empty when nothing does. The reading times are not compared.
    pub fn differences(&self, after: &Self) -> Vec<String> {
        let timeless = |environment: &Self| Self { read_at: String::new(), ..environment.clone() };
        differences(&timeless(self), &timeless(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_mtu_is_named_with_both_values() {
        let interface = |mtu| InterfaceFacts { name: "eth0".into(), mtu, ..InterfaceFacts::default() };
        let environment = |mtu, read_at: &str| Environment {
            read_at: read_at.into(),
            hosts: vec![],
            endpoints: vec![EndpointFacts {
                endpoint: "a".into(),
                interfaces: vec![interface(mtu)],
                ..EndpointFacts::default()
            }],
        };
        let differences = environment(1500, "x").differences(&environment(9000, "y"));
        assert_eq!(differences, ["endpoints 1 interfaces 1 mtu: 1500, then 9000"]);
        assert!(environment(1500, "x").differences(&environment(1500, "y")).is_empty());
    }
}
