//! A NIC (one port of a card) of a machine: its state before a bed takes it, and everything needed to give it back.

use std::{collections::BTreeMap, net::Ipv6Addr};

use serde::{Deserialize, Serialize};

use crate::{reading::Reading, units::Mtu};

/// State of a NIC before it was taken. Fields that another version did not record are not restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NicState {
    /// Stable identity, wherever the NIC is.
    pub identity: NicIdentity,
    /// Identity of the network namespace it was in: the machine's own.
    pub home: u64,
    /// When it was read, in seconds since the machine was started: lifetimes of addresses go on running.
    pub read_at_s: u64,
    /// Other names of it.
    pub altnames: Vec<String>,
    /// MAC address, like `02:00:00:00:00:01`.
    pub mac: String,
    /// MTU.
    pub mtu: Mtu,
    /// Packets that its transmit queue holds (txqueuelen).
    pub queue_length: u32,
    /// Flags.
    pub flags: NicFlags,
    /// Own kernel settings, without its name: `ipv4.conf.rp_filter` stands for `net.ipv4.conf.NAME.rp_filter`.
    pub settings: BTreeMap<String, String>,
    /// Settings of its driver.
    pub driver: DriverSettings,
    /// Addresses, those left out that the kernel makes by itself.
    pub addresses: Vec<Saved>,
    /// Neighbours that were entered by hand.
    pub neighbours: Vec<Saved>,
    /// Nexthop objects that leave through it, and the groups that they belong to.
    pub nexthops: Vec<Saved>,
    /// Routes of all tables that leave through it, those left out that come from routers.
    pub routes: Vec<Saved>,
    /// Queueing disciplines, their classes and filters, where somebody chose them.
    pub queueing: Vec<Saved>,
    /// Multicast addresses of its link that somebody entered, like `33:33:00:00:00:77`.
    pub multicast: Vec<String>,
    /// The second half of addresses that routers announce the first half of, where somebody chose one.
    pub token: Option<Ipv6Addr>,
}

/// Stable identity of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicIdentity {
    /// Name.
    pub name: String,
    /// Number in the namespace (ifindex).
    pub index: u32,
    /// Driver.
    pub driver: String,
    /// Address of its card on the bus, like `0000:01:00.0`; empty for a virtual one.
    pub bus: String,
    /// The MAC address that its card came with; that which it has for one that came with none.
    pub mac: String,
}

/// Flags of a NIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicFlags {
    /// Up (administratively).
    pub up: bool,
    /// Takes all frames, whomever they are for.
    pub promiscuous: bool,
    /// Takes all multicast frames.
    pub all_multicast: bool,
}

/// Settings of a driver; empty where it does not report them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriverSettings {
    /// The offloads that are asked for, a bit each, in the kernel's order.
    pub offloads: Vec<u32>,
    /// Fields of the structures of linux/ethtool.h, by setting: `rings`, `channels`, `coalescing`, `pause`.
    pub numbers: BTreeMap<String, Vec<u32>>,
    /// Requested hardware time stamping.
    #[serde(default)]
    pub stamping: Option<StampSetting>,
}

/// Hardware timestamping of a card, in numbers of linux/net_tstamp.h.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StampSetting {
    /// Packets that leave: 0 for none.
    pub departures: u32,
    /// Packets that come: 0 for none.
    pub arrivals: u32,
}

impl StampSetting {
    /// `HWTSTAMP_TX_ON` and `HWTSTAMP_FILTER_ALL`: those that leave where somebody asks for it, all that come.
    pub const ALL: Self = Self { departures: 1, arrivals: 1 };
}

/// Hardware timestamping: capability and current setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamping {
    /// Whether it can stamp each packet, both as it leaves and as it comes.
    pub can_stamp_all: bool,
    /// Requested time stamping.
    pub set: StampSetting,
}

impl Stamping {
    /// Whether all packets can be stamped: the card supports it, and no clock service has configured stamping.
    pub fn is_free(&self) -> bool {
        self.can_stamp_all && self.set == StampSetting::default()
    }
}

/// One rtnetlink object as the kernel dumped it; sending it back restores the object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Arguments with which `ip` or `tc` makes it by hand, like `address add 192.0.2.1/24 dev eth1`.
    pub words: String,
    /// The message of rtnetlink(7), without its header.
    #[serde(with = "crate::base64")]
    pub message: Vec<u8>,
}

/// The queueing disciplines of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queueing {
    /// Kind of the discipline that everything sent goes through.
    pub kind: String,
    /// Whether the kernel itself has chosen it.
    pub is_default: bool,
    /// All that somebody configured, with classes and filters, without the kernel's own.
    pub saved: Vec<Saved>,
}

/// Facts for or against taking a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicFacts {
    /// Name.
    pub name: String,
    /// Kind as `ip -d link` names it; empty for a plain card.
    pub kind: String,
    /// Driver.
    pub driver: Reading<String>,
    /// Address of its card on the bus; absent for a virtual one.
    pub bus: Reading<String>,
    /// MAC address.
    pub mac: String,
    /// MTU.
    pub mtu: Mtu,
    /// The least and the largest MTU that its driver takes, where it says.
    pub mtus: Option<(u32, u32)>,
    /// The bridge, bond or team it belongs to.
    pub master: Option<String>,
    /// Interfaces on top of it: VLANs and the like.
    pub on_top: Vec<String>,
    /// Addresses, link-local ones left out.
    pub addresses: Vec<String>,
    /// Routes that leave through it, in words.
    pub routes: Vec<String>,
    /// Whether a default route leaves through it.
    pub is_uplink: bool,
    /// Whether the session of the caller came in through it.
    pub carries_session: bool,
    /// Settings that could not be restored, in words.
    pub lasting: Vec<String>,
    /// Packets that the card can stamp, if the driver tells.
    pub stamping: Option<Stamping>,
}

/// The NICs of a machine, and the programs that configure them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicsState {
    /// The machine's interfaces.
    pub ports: Vec<NicFacts>,
    /// Interfaces in other named namespaces, as namespace and name.
    pub elsewhere: Vec<(String, String)>,
    /// Running programs that configure interfaces by themselves.
    pub managers: Vec<Manager>,
}

/// A program that configures interfaces as soon as they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Manager {
    /// NetworkManager.
    NetworkManager,
    /// systemd-networkd.
    Networkd,
    /// ifupdown, which udev or systemd calls where a port comes or goes.
    Ifupdown,
}

impl std::fmt::Display for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NetworkManager => "NetworkManager",
            Self::Networkd => "systemd-networkd",
            Self::Ifupdown => "ifupdown",
        })
    }
}
