//! Network cards: identity, current readings and bus.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reading::{OrEmpty, Reading};

/// Permanent properties of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Card {
    /// Maker and model by the PCI ID list of the machine, or the IDs alone, like `8086:10fb`.
    pub model: String,
    /// The MAC address that it was made with; absent where the driver does not say.
    #[serde(default, with = "OrEmpty::<String>")]
    pub permanent_mac: Reading<String>,
    /// The highest speed that the port can do, in Mbit/s.
    #[serde(default)]
    pub top_speed_mbps: Reading<u32>,
    /// Connector of the cable.
    #[serde(default)]
    pub connector: Reading<Connector>,
    /// The module in its cage.
    #[serde(default)]
    pub module: Reading<Module>,
    /// Way to the processor: the card's own bus link first, the root's last.
    pub hops: Vec<Hop>,
}

/// A connector, as ethtool has them (`PORT_*` of linux/ethtool.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Connector {
    /// Twisted pair.
    TwistedPair,
    /// Fibre, or a cage for modules.
    Fibre,
    /// A copper cable that cannot be taken off its modules.
    DirectAttach,
    /// A cage without a module.
    Empty,
    /// Any other.
    Other,
}

/// A pluggable module, by its EEPROM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Module {
    /// Form, like `SFP` or `QSFP28`.
    pub form: String,
    /// Maker.
    pub maker: String,
    /// The maker's part number.
    pub part: String,
    /// Serial number.
    pub serial: String,
    /// Wavelength of its laser in nanometres; `None` for copper.
    pub wavelength_nm: Option<u16>,
}

/// One PCIe link on the way from a card to the processor, as the device at one of its ends reads it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hop {
    /// Address of that device, like `0000:01:00.0`.
    pub device: String,
    /// The link.
    pub link: PcieLink,
    /// Number of network ports that share it.
    pub ports: u32,
}

/// A PCIe link with less bandwidth than the ports behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortfall<'a> {
    /// The link.
    pub hop: &'a Hop,
    /// Available for data each way, in bit/s.
    pub has_bps: f64,
    /// Needed by its ports each way, in bit/s.
    pub needs_bps: f64,
}

impl Card {
    /// The link with the least spare bandwidth, with the available and the needed rate each way. `None` if speeds or links are
    /// unknown.
    pub fn tightest(&self) -> Option<Shortfall<'_>> {
        let port_bps = f64::from(*self.top_speed_mbps.known()?) * 1e6;
        let measured = self.hops.iter().filter_map(|hop| {
            let has_bps = hop.link.usable_bps()?;
            Some(Shortfall { hop, has_bps, needs_bps: port_bps * f64::from(hop.ports.max(1)) })
        });
        measured.min_by(|a, b| (a.has_bps / a.needs_bps).total_cmp(&(b.has_bps / b.needs_bps)))
    }

    /// The tightest link, if it cannot carry all ports at full speed.
    pub fn shortfall(&self) -> Option<Shortfall<'_>> {
        self.tightest().filter(|link| link.has_bps < link.needs_bps)
    }
}

/// Current readings of a port.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Readings {
    /// Whether it is set up (administratively).
    pub up: Reading<bool>,
    /// Whether it hears the other end; `None` while it is down.
    pub carrier: Option<bool>,
    /// Whether it sends and receives at the same time.
    pub full_duplex: Option<bool>,
    /// Whether it agrees on its speed with the other end.
    pub autonegotiation: Option<bool>,
    /// Sensors: name and degrees Celsius.
    pub temperatures: Vec<(String, f64)>,
    /// Diagnostics of its module.
    #[serde(default)]
    pub module: Reading<ModuleReadings>,
    /// The kernel's counters since the driver was loaded.
    #[serde(with = "OrEmpty::<BTreeMap<String, u64>>")]
    pub counters: Reading<BTreeMap<String, u64>>,
    /// Errors of PCI Express by device, severity and kind, like `0000:01:00.0 correctable BadTLP`; those at 0 are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bus_errors: BTreeMap<String, u64>,
}

/// Diagnostics of a module (SFF-8472, SFF-8636).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModuleReadings {
    /// Degrees Celsius.
    pub celsius: f64,
    /// Supply in volts.
    pub volts: f64,
    /// Each lane: an SFP has one, a QSFP four.
    pub lanes: Vec<LaneReadings>,
    /// Thresholds of received power that the module states; null where it states none, or its driver does not read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_limits: Option<PowerLimits>,
}

/// Thresholds of optical power in milliwatts, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PowerLimits {
    /// Alarm below it.
    pub low_alarm_mw: f64,
    /// Warning below it.
    pub low_warning_mw: f64,
    /// Warning above it.
    pub high_warning_mw: f64,
    /// Alarm above it.
    pub high_alarm_mw: f64,
}

/// Light of one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LaneReadings {
    /// Received power in milliwatts.
    pub received_mw: f64,
    /// Sent power in milliwatts.
    pub sent_mw: f64,
    /// Laser bias in milliamperes.
    pub bias_ma: f64,
}

/// One direction of a cable: packets of one port were received at another, with no switch between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cable {
    /// The interface that sent.
    pub from: String,
    /// The interface that heard it.
    pub to: String,
}

/// A PCIe link as it is and as the card could have it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PcieLink {
    /// Lanes in use.
    pub width: String,
    /// Speed of a lane, as the kernel writes it, like `8.0 GT/s PCIe`.
    #[serde(default, with = "OrEmpty::<String>")]
    pub speed: Reading<String>,
    /// Lanes that the card has.
    #[serde(default, with = "OrEmpty::<String>")]
    pub most_width: Reading<String>,
    /// The highest speed of a lane that the card can do.
    #[serde(default, with = "OrEmpty::<String>")]
    pub most_speed: Reading<String>,
}

impl PcieLink {
    /// Rate available for data one way, in bit/s: lanes times rate, less the line code (8b/10b to 5 GT/s, then 128b/130b), less
    /// 24 bytes of header and framing for each 256 of payload. `None` where the kernel's words are not understood.
    pub fn usable_bps(&self) -> Option<f64> {
        let gigatransfers: f64 = self.speed.known()?.split_whitespace().next()?.parse().ok()?;
        usable_bps(self.width.trim().parse().ok()?, gigatransfers)
    }
}

/// The same for so many lanes of this rate, in GT/s.
pub(crate) fn usable_bps(lanes: f64, gigatransfers: f64) -> Option<f64> {
    const PAYLOAD: f64 = 256.0;
    const OVERHEAD: f64 = 24.0;
    let line_code = if gigatransfers <= 5.0 { 8.0 / 10.0 } else { 128.0 / 130.0 };
    Some(lanes * gigatransfers * 1e9 * line_code * PAYLOAD / (PAYLOAD + OVERHEAD)).filter(|bps| *bps > 0.0)
}

/// A card without an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Refused {
    /// Address, like `0000:01:00.0`.
    pub device: String,
    /// Maker and model, as of [`Card::model`].
    pub model: String,
    /// The driver that has it; empty for none.
    pub driver: String,
    /// Why, as far as the kernel's log tells.
    pub cause: Cause,
    /// Last lines about it in the kernel's log.
    pub log: Vec<String>,
}

/// Why a card has no interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// No driver takes it.
    NoDriver,
    /// It is given to a program or a virtual machine (vfio, uio).
    GivenAway,
    /// The driver does not accept the module in its port.
    UnsupportedModule,
    /// There are too few interrupt vectors.
    TooFewVectors,
    /// The driver found no firmware file.
    NoFirmware,
    /// The card's own memory is damaged (checksum of the NVM).
    BadNvm,
    /// The firmware gave it no addresses.
    NoAddresses,
    /// The log does not say.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_carries_what_its_lanes_leave_for_data() {
        let link =
            |width: &str, speed: &str| PcieLink { width: width.into(), speed: speed.into(), ..PcieLink::default() };
        let gbps = |link: PcieLink| link.usable_bps().map(|bps| (bps / 1e8).round() / 10.0);
        // 16.0 and 63.0 Gbit/s before headers.
        assert_eq!(gbps(link("4", "5.0 GT/s PCIe")), Some(14.6));
        assert_eq!(gbps(link("8", "8.0 GT/s PCIe")), Some(57.6));
        assert_eq!(gbps(link("0", "Unknown")), None);
    }

    fn hop(device: &str, width: &str, ports: u32) -> Hop {
        let link = PcieLink { width: width.into(), speed: "5.0 GT/s PCIe".into(), ..PcieLink::default() };
        Hop { device: device.into(), link, ports }
    }

    fn card(hops: Vec<Hop>) -> Card {
        Card { top_speed_mbps: Reading::Known(10_000), hops, ..Card::default() }
    }

    #[test]
    fn four_lanes_are_too_few_for_two_ports_and_enough_for_one() {
        let two = card(vec![hop("0000:01:00.0", "4", 2)]);
        let short = two.shortfall().expect("16 Gbit/s less headers, of 20");
        assert_eq!((short.needs_bps, (short.has_bps / 1e8).round()), (20e9, 146.0));
        assert!(card(vec![hop("0000:01:00.0", "4", 1)]).shortfall().is_none());
        assert!(card(vec![hop("0000:01:00.0", "8", 2)]).shortfall().is_none());
    }

    #[test]
    fn a_slot_that_is_narrower_than_its_card_is_the_tightest() {
        let behind_a_switch =
            card(vec![hop("0000:03:00.0", "8", 1), hop("0000:01:00.0", "4", 2), hop("0000:00:01.0", "8", 2)]);
        assert_eq!(behind_a_switch.shortfall().map(|short| short.hop.device.as_str()), Some("0000:01:00.0"));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        assert!(
            Card { top_speed_mbps: Reading::Absent, ..card(vec![hop("0000:01:00.0", "1", 2)]) }.tightest().is_none()
        );
        assert!(card(vec![hop("0000:01:00.0", "0", 2)]).tightest().is_none());
    }
}
