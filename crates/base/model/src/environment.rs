//! State of the machines before and after a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    bed::ENDS,
    card::{Card, PcieLink, Readings, Refused},
    difference::differences,
    plausible::{self, Checked},
    reading::{OrEmpty, Reading},
    settings::{InterfaceSettings, OtherEnd, ProcessorFacts, SinceStart},
};

/// The machines of a run with their readings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// When it was read (RFC 3339).
    pub read_at: String,
    /// Each machine.
    pub hosts: Vec<HostFacts>,
    /// Each endpoint's view from inside its namespace.
    pub endpoints: Vec<EndpointFacts>,
}

crate::json!(Environment);

/// One machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Name of the machine.
    pub hostname: String,
    /// The kernel's ID of this boot: machines of one ID are one kernel under several names.
    #[serde(default, with = "OrEmpty::<String>")]
    pub boot_id: Reading<String>,
    /// Operating system, like `Debian GNU/Linux 12 (bookworm)`.
    #[serde(default, with = "OrEmpty::<String>")]
    pub os: Reading<String>,
    /// Kernel release.
    #[serde(default, with = "OrEmpty::<String>")]
    pub kernel: Reading<String>,
    /// Kernel command line.
    #[serde(default, with = "OrEmpty::<String>")]
    pub kernel_command_line: Reading<String>,
    /// Machine type that the program was built for, like `x86_64`.
    pub architecture: String,
    /// Maker and product by DMI.
    #[serde(default, with = "OrEmpty::<String>")]
    pub product: Reading<String>,
    /// Maker, version and date of the firmware (BIOS, UEFI) by DMI.
    #[serde(default, with = "OrEmpty::<String>")]
    pub bios: Reading<String>,
    /// Hypervisor; absent on bare metal.
    #[serde(default, with = "OrEmpty::<String>")]
    pub hypervisor: Reading<String>,
    /// Processor model.
    #[serde(default, with = "OrEmpty::<String>")]
    pub cpu_model: Reading<String>,
    /// Microcode revision.
    #[serde(default, with = "OrEmpty::<String>")]
    pub microcode: Reading<String>,
    /// Cores that are online.
    #[serde(default, with = "OrEmpty::<usize>")]
    pub cpus: Reading<usize>,
    /// Cores isolated on the kernel command line (`isolcpus`), as the kernel writes the list.
    #[serde(default, with = "OrEmpty::<String>")]
    pub isolated_cpus: Reading<String>,
    /// NUMA nodes.
    #[serde(default, with = "OrEmpty::<usize>")]
    pub numa_nodes: Reading<usize>,
    /// Memory in bytes.
    #[serde(default, with = "OrEmpty::<u64>")]
    pub memory_bytes: Reading<u64>,
    /// Clock source that the kernel uses.
    #[serde(default, with = "OrEmpty::<String>")]
    pub clock_source: Reading<String>,
    /// Frequency governor of core 0.
    #[serde(default, with = "OrEmpty::<String>")]
    pub governor: Reading<String>,
    /// Each processor vulnerability with its mitigation, as the kernel writes it.
    pub mitigations: BTreeMap<String, Reading<String>>,
    /// Kernel settings that bear on results; those that the kernel does not have are left out.
    pub sysctls: BTreeMap<String, Reading<String>>,
    /// The root file system: type, device and mount options, like `ext4 on /dev/sda1 (rw,relatime)`.
    #[serde(default, with = "OrEmpty::<String>")]
    pub file_system: Reading<String>,
    /// Services of systemd that run; without systemd the programs that run. They come and go by themselves, so that
    /// [`Environment::differences`] leaves them out.
    #[serde(default)]
    pub services: Vec<String>,
    /// Version and build of this program on that machine.
    pub wireproof: String,
    /// Processor, memory and slots; null in runs of before they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processor: Option<ProcessorFacts>,
}

/// One endpoint from inside its namespace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointFacts {
    /// The endpoint's name.
    pub endpoint: String,
    /// Interfaces, loopback left out.
    pub interfaces: Vec<InterfaceFacts>,
    /// Readings of the cards at that time, by interface. They change by themselves; [`Environment::differences`] leaves them out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub readings: BTreeMap<String, Readings>,
    /// Kernel settings of the namespace that bear on results; those that the kernel does not have are left out.
    pub sysctls: BTreeMap<String, Reading<String>>,
    /// Drops and the like since the machine was started. They change by themselves; [`Environment::differences`] leaves them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_start: Option<SinceStart>,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceFacts {
    /// Name.
    pub name: String,
    /// Driver.
    #[serde(default, with = "OrEmpty::<String>")]
    pub driver: Reading<String>,
    /// Version of the driver.
    #[serde(default, with = "OrEmpty::<String>")]
    pub driver_version: Reading<String>,
    /// Version of the card's firmware.
    #[serde(default, with = "OrEmpty::<String>")]
    pub firmware_version: Reading<String>,
    /// The bridge, bond or the like that it belongs to.
    #[serde(default)]
    pub master: Option<String>,
    /// Address of the card on its bus, like `0000:01:00.0`; absent for a virtual interface.
    #[serde(default, with = "OrEmpty::<String>")]
    pub bus: Reading<String>,
    /// The card's PCIe link.
    #[serde(default)]
    pub pcie: Option<PcieLink>,
    /// The card, seen from the machine: a network namespace hides nothing of it.
    #[serde(default)]
    pub card: Option<Card>,
    /// MTU.
    #[serde(default, with = "OrEmpty::<u32>")]
    pub mtu: Reading<u32>,
    /// MAC address; absent for an interface without Ethernet.
    #[serde(default, with = "OrEmpty::<String>")]
    pub mac: Reading<String>,
    /// `up`, `down`, … as `ip link` shows it.
    pub state: String,
    /// Speed in Mbit/s; absent where the driver says none, and without a link.
    #[serde(default)]
    pub speed_mbps: Reading<u32>,
    /// Addresses with prefix length.
    pub addresses: Vec<String>,
    /// Settings of it and its driver; null in runs of before they were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<InterfaceSettings>,
}

impl Environment {
    /// Whether stored machines are possible: their number, and that of the endpoints, and all texts and lists. A device under test is
    /// beside the ends.
    pub fn check(&self) -> Checked {
        plausible::parts(self)?;
        plausible::entries("hosts", self.hosts.len(), ENDS + 1)?;
        plausible::entries("endpoints", self.endpoints.len(), ENDS + 1)
    }

    /// Differences between before and after, in words; empty when there are none. The reading times are not compared, and
    /// neither is what runs, what cards read, or what could not be read once.
    pub fn differences(&self, after: &Self) -> Vec<String> {
        differences(&self.lasting(), &after.lasting())
    }

    /// Whether machines of several names are one kernel, as containers of one host are.
    pub fn is_one_kernel(&self) -> bool {
        let id = |host: &HostFacts| if let Reading::Known(id) = &host.boot_id { Some(id.clone()) } else { None };
        let ids: Vec<_> = self.hosts.iter().map(id).collect();
        matches!(ids.as_slice(), [Some(first), others @ ..] if !others.is_empty() && others.iter().all(|it| it.as_ref() == Some(first)))
    }

    /// Properties that do not change by themselves.
    fn lasting(&self) -> Self {
        let of_host = |host: &HostFacts| HostFacts { services: Vec::new(), boot_id: Reading::Absent, ..host.clone() };
        let of_end = |end: &EndpointFacts| EndpointFacts {
            readings: BTreeMap::new(),
            since_start: None,
            interfaces: end.interfaces.iter().map(InterfaceFacts::lasting).collect(),
            ..end.clone()
        };
        Self {
            read_at: String::new(),
            hosts: self.hosts.iter().map(of_host).collect(),
            endpoints: self.endpoints.iter().map(of_end).collect(),
        }
    }
}

impl InterfaceFacts {
    /// Properties that do not change by themselves: irqbalance moves interrupts, and namespaces of a bed have new names each time. The place
    /// of a split port stands in its name.
    pub(crate) fn lasting(&self) -> Self {
        let still = |settings: &InterfaceSettings| {
            let other_end = settings.other_end.clone().map(|end| OtherEnd { namespace: String::new(), ..end });
            InterfaceSettings { interrupts: Reading::Absent, other_end, subport: None, ..settings.clone() }
        };
        Self { settings: self.settings.as_ref().map(still), ..self.clone() }
    }
}

/// Network cards of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cards {
    /// Ports that have an interface; virtual interfaces are none.
    pub ports: Vec<Port>,
    /// Cards that have no interface, because nothing drives them or their driver gave up.
    pub refused: Vec<Refused>,
}

/// A port with its interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Port {
    /// Interface, with the card behind it.
    pub interface: InterfaceFacts,
    /// Facts that change by themselves.
    pub readings: Readings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_mtu_is_named_with_both_values() {
        let interface = |mtu: u32| InterfaceFacts { name: "eth0".into(), mtu: mtu.into(), ..InterfaceFacts::default() };
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
        assert_eq!(differences, ["endpoints 1 interfaces 1 mtu: 1500 → 9000"]);
        assert!(environment(1500, "x").differences(&environment(1500, "y")).is_empty());
    }

    #[test]
    fn a_value_that_could_not_be_read_once_is_no_difference() {
        let of = |kernel: Reading<String>, setting: Reading<String>, mtu: Reading<u32>| Environment {
            hosts: vec![HostFacts { kernel, sysctls: [("a".to_owned(), setting)].into(), ..HostFacts::default() }],
            endpoints: vec![EndpointFacts {
                interfaces: vec![InterfaceFacts { mtu, ..InterfaceFacts::default() }],
                ..EndpointFacts::default()
            }],
            ..Environment::default()
        };
        fn unreadable<T>() -> Reading<T> {
            Reading::Unreadable { path: "/proc/x".into(), why: "Permission denied".into() }
        }
        let known = of("6.1".into(), "1".into(), Reading::Known(1500));
        let unknown = of(unreadable(), unreadable(), unreadable());
        assert!(known.differences(&unknown).is_empty() && unknown.differences(&known).is_empty());
        let absent = of(Reading::Absent, Reading::Absent, Reading::Absent);
        assert!(unknown.differences(&absent).is_empty());
        assert_eq!(known.differences(&absent).len(), 3, "what there was is gone");
    }

    #[test]
    fn facts_of_an_older_store_are_read_and_written_as_they_were() {
        let older = r#"{"name":"eth0","driver":"veth","driver_version":"1.0","firmware_version":"","bus":"","pcie":null,"mtu":1500,
            "mac":"02:00:00:00:00:01","state":"up","speed_mbps":null,"addresses":[]}"#;
        let facts: InterfaceFacts = serde_json::from_str(older).expect("it was written so");
        assert_eq!(
            (&facts.firmware_version, &facts.bus, &facts.speed_mbps),
            (&Reading::Absent, &Reading::Absent, &Reading::Absent)
        );
        assert_eq!((&facts.driver, &facts.mtu), (&"veth".into(), &Reading::Known(1500)));
        let written = serde_json::to_value(&facts).expect("plain values");
        let same = ["driver", "firmware_version", "bus", "mtu", "mac", "speed_mbps"];
        let older: serde_json::Value = serde_json::from_str(older).expect("it was written so");
        assert!(same.iter().all(|field| written[*field] == older[*field]), "{written}");
    }

    #[test]
    fn machines_of_one_boot_are_one_kernel() {
        let of = |ids: &[Reading<String>]| Environment {
            hosts: ids.iter().map(|id| HostFacts { boot_id: id.clone(), ..HostFacts::default() }).collect(),
            ..Environment::default()
        };
        let id = |text: &str| Reading::Known(text.to_owned());
        assert!(of(&[id("a"), id("a")]).is_one_kernel());
        assert!(!of(&[id("a"), id("b")]).is_one_kernel() && !of(&[id("a")]).is_one_kernel());
        assert!(!of(&[Reading::Absent, Reading::Absent]).is_one_kernel(), "agents of before it was read");
        assert!(of(&[id("a")]).differences(&of(&[id("b")])).is_empty());
    }

    #[test]
    fn services_that_come_and_go_and_cards_that_grow_warm_are_no_difference() {
        let environment = |services: &[&str], celsius| Environment {
            hosts: vec![HostFacts {
                services: services.iter().map(ToString::to_string).collect(),
                ..HostFacts::default()
            }],
            endpoints: vec![EndpointFacts {
                readings: [(
                    "eth1".to_owned(),
                    Readings { temperatures: vec![(String::new(), celsius)], ..Readings::default() },
                )]
                .into(),
                ..EndpointFacts::default()
            }],
            ..Environment::default()
        };
        assert!(environment(&["cron", "ssh"], 41.0).differences(&environment(&["ssh"], 54.0)).is_empty());
    }
}
