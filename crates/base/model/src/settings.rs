//! Settings and counters of a host that an inspection reads beside its facts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    change::DriverNumber,
    counters::Delta,
    reading::{OrEmpty, Reading},
};

/// Processor, memory and slots of a machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ProcessorFacts {
    /// Frequency governors, each with its cores, as lists of the kernel; absent where the machine has none.
    #[serde(with = "OrEmpty::<BTreeMap<String, String>>")]
    pub governors: Reading<BTreeMap<String, String>>,
    /// Idle states of core 0, the shallowest first.
    #[serde(with = "OrEmpty::<Vec<IdleState>>")]
    pub idle_states: Reading<Vec<IdleState>>,
    /// State of simultaneous multithreading: `on`, `off`, `notsupported` …
    pub smt: Reading<String>,
    /// Cores without a timer tick, as the kernel writes the list.
    pub nohz_full: Reading<String>,
    /// Use of transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: Reading<String>,
    /// Clock sources that the kernel could use.
    pub clock_sources: Reading<String>,
    /// Slots of the board by its firmware; absent where nobody may read them.
    pub slots: Reading<Vec<Slot>>,
}

/// An idle state of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleState {
    /// Name, like `C6`.
    pub name: String,
    /// Time to leave it, in microseconds.
    pub latency_us: u64,
    /// Whether it may be used.
    pub enabled: bool,
}

/// A PCI Express slot of a board, by SMBIOS (type 9).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Slot {
    /// Name on the board.
    pub name: String,
    /// Generation of PCI Express, from 1; null where the firmware does not say.
    pub generation: Option<u32>,
    /// Lanes of its length.
    pub length_lanes: Option<u32>,
    /// Lanes that are wired.
    pub lanes: Option<u32>,
    /// Whether a card is in it; null where the firmware does not say.
    pub in_use: Option<bool>,
    /// Bus and device behind it, like `0000:03:00`; null for none.
    pub address: Option<String>,
}

impl Slot {
    /// Rate that it carries for data one way in bit/s, as of [`crate::card::PcieLink::usable_bps`].
    pub fn usable_bps(&self) -> Option<f64> {
        let gigatransfers = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];
        let speed = gigatransfers.get(self.generation?.checked_sub(1)? as usize)?;
        crate::card::usable_bps(f64::from(self.lanes.or(self.length_lanes)?), *speed)
    }
}

/// Readings since the machine was started: they change by themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SinceStart {
    /// Counters of drops and errors that are not 0.
    pub drops: Vec<Delta>,
    /// Share of the cores' time that the hypervisor took, from 0 to 1.
    pub steal: Reading<f64>,
    /// Connections that netfilter tracks; absent where it tracks none.
    pub connections: Reading<u64>,
    /// MTUs of paths that the kernel has learned: destination and MTU.
    pub learned_mtus: Vec<(String, u32)>,
}

/// Settings of an interface and its driver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InterfaceSettings {
    /// Kind as `ip -d link` names it; empty for a plain card.
    pub kind: String,
    /// The interface below it, such as a VLAN's carrier.
    pub lower: Option<String>,
    /// The other end of a veth pair.
    pub other_end: Option<OtherEnd>,
    /// Fields of the structures of linux/ethtool.h by setting: `rings`, `channels`, `coalescing`, `pause`.
    #[serde(with = "OrEmpty::<BTreeMap<String, Vec<u32>>>")]
    pub numbers: Reading<BTreeMap<String, Vec<u32>>>,
    /// Offloads by the kernel's names; a stored machine has those that an inspection judges.
    #[serde(with = "OrEmpty::<BTreeMap<String, Offload>>")]
    pub offloads: Reading<BTreeMap<String, Offload>>,
    /// Packets that its transmit queue holds (txqueuelen).
    pub transmit_queue: Reading<u32>,
    /// Queueing disciplines, like `fq 8001:`.
    pub qdiscs: Vec<String>,
    /// Interrupts of its card.
    #[serde(with = "OrEmpty::<Vec<Interrupt>>")]
    pub interrupts: Reading<Vec<Interrupt>>,
    /// Its place among the interfaces that share a module, from 0; null where the driver does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subport: Option<usize>,
    /// Memory node of its card; null where the firmware gives none.
    pub node: Option<usize>,
    /// Cores of that node.
    pub node_cores: Vec<usize>,
    /// Cores that each receive queue spreads packets to (RPS), as a mask of the kernel.
    pub receive_steering: Vec<String>,
    /// Pause frames that the other end can do, by autonegotiation: symmetric, asymmetric.
    pub partner_pause: Option<[bool; 2]>,
    /// Forward error correction in use: bits of `ETHTOOL_FEC_*`; absent where the driver does not say.
    pub fec: Reading<u32>,
    /// Configuration of each device on its way to the processor, the card first.
    pub pci: Vec<PciSettings>,
    /// Kind of the IOMMU's translation for the card: `identity`, `DMA`, `DMA-FQ`; absent without IOMMU.
    pub iommu: Reading<String>,
}

/// The other end of a veth pair.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherEnd {
    /// Name.
    pub interface: String,
    /// Network namespace; empty for the same one.
    pub namespace: String,
    /// MTU.
    pub mtu: u32,
}

/// State of an offload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offload {
    /// Whether it is on.
    pub on: bool,
    /// Whether the driver can switch it.
    pub changeable: bool,
}

/// An interrupt of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Interrupt {
    /// Number.
    pub number: u32,
    /// Name in `/proc/interrupts`.
    pub action: String,
    /// Cores that it is delivered to.
    pub cores: Vec<usize>,
    /// Cores that it may be delivered to, as a list of the kernel.
    #[serde(default)]
    pub allowed: Reading<String>,
}

/// Configuration of a PCI Express device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PciSettings {
    /// Address, like `0000:01:00.0`.
    pub device: String,
    /// Sizes of payloads and requests; absent where it has none or nobody may read them.
    pub sizes: Reading<PciSizes>,
}

/// Sizes in the configuration space of a PCI Express device, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PciSizes {
    /// Largest payload that the device can do (MaxPayload_Supported).
    pub payload_most: u32,
    /// Largest payload that is set (MaxPayloadSize).
    pub payload: u32,
    /// Largest read request that is set (MaxReadRequestSize).
    pub read_request: u32,
}

/// Queues of a driver: `struct ethtool_channels`, the combined ones counted for both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Most receive queues.
    pub most: u32,
    /// Receive queues.
    pub receive: u32,
    /// Whether they are combined with transmit queues.
    pub combined: bool,
}

/// Pause frames: `struct ethtool_pauseparam`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Whether they are agreed with the other end.
    pub negotiated: bool,
    /// Whether received ones are obeyed.
    pub receive: bool,
    /// Whether they are sent.
    pub transmit: bool,
}

impl InterfaceSettings {
    /// A number of its driver with the most that the driver takes, where it tells; absent where it has no such number.
    pub fn number(&self, number: DriverNumber) -> Reading<(u32, Option<u32>)> {
        let (structure, place, most) = number.place();
        self.numbers.as_ref().and_then(|numbers| {
            let fields = numbers.get(structure)?;
            let most = most.map(|most| fields.get(most).copied());
            let value = (*fields.get(place)?, most.flatten());
            (value.1 != Some(0)).then_some(value)
        })
    }

    /// An offload; absent where the kernel has none of this name.
    pub fn offload(&self, name: &str) -> Reading<Offload> {
        self.offloads.as_ref().and_then(|offloads| offloads.get(name).copied())
    }

    /// Queues, where the driver tells.
    pub fn channels(&self) -> Option<Channels> {
        let [most_receive, _, _, most_combined, receive, _, _, combined] = self.fields("channels")?;
        let channels = Channels {
            most: most_receive.max(most_combined),
            receive: receive.saturating_add(combined),
            combined: most_combined > 0,
        };
        Some(channels).filter(|channels| channels.most > 0)
    }

    /// Pause frames, where the driver tells.
    pub fn pause(&self) -> Option<Pause> {
        let [negotiated, receive, transmit] = self.fields("pause")?.map(|field| field != 0);
        Some(Pause { negotiated, receive, transmit })
    }

    fn fields<const N: usize>(&self, setting: &str) -> Option<[u32; N]> {
        self.numbers.known()?.get(setting)?.as_slice().try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_driver_have_names() {
        let numbers = [
            ("rings".to_owned(), vec![4096, 0, 0, 4096, 512, 0, 0, 256]),
            ("channels".to_owned(), vec![0, 0, 1, 63, 0, 0, 1, 8]),
            ("pause".to_owned(), vec![1, 0]),
        ];
        let settings = InterfaceSettings { numbers: BTreeMap::from(numbers).into(), ..InterfaceSettings::default() };
        assert_eq!(settings.number(DriverNumber::RingRx), Reading::Known((512, Some(4096))));
        assert_eq!(settings.channels(), Some(Channels { most: 63, receive: 8, combined: true }));
        assert_eq!(settings.number(DriverNumber::RingTx), Reading::Known((256, Some(4096))));
        assert_eq!(settings.number(DriverNumber::ChannelsRx), Reading::Absent, "it has combined ones alone");
        assert_eq!(
            (settings.pause(), settings.number(DriverNumber::RxUsecs)),
            (None, Reading::Absent),
            "too few numbers"
        );
        let refused = Reading::Unreadable { path: "ethtool -g eth1".into(), why: "no rights".into() };
        let settings = InterfaceSettings { numbers: refused, ..InterfaceSettings::default() };
        assert!(matches!(settings.number(DriverNumber::RingRx), Reading::Unreadable { .. }), "it may have rings");
    }

    #[test]
    fn a_slot_carries_what_its_wired_lanes_carry() {
        let slot = |lanes| Slot { generation: Some(2), length_lanes: Some(16), lanes, ..Slot::default() };
        let gbps = |slot: Slot| slot.usable_bps().map(|bps| (bps / 1e8).round() / 10.0);
        assert_eq!(gbps(slot(Some(4))), Some(14.6));
        assert_eq!(gbps(slot(None)), Some(58.5));
        assert_eq!(gbps(Slot { generation: Some(9), ..slot(Some(4)) }), None);
    }
}
