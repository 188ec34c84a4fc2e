//! Readings with the conditions under which they are judged.

use ::freebsd::{
    Readings,
    interfaces::{Interface, Media},
};
use model::{
    Reading,
    environment::Port,
    inspection::{Conditions, Goal},
};

/// Readings of a machine, and the conditions under which they are judged.
pub(super) struct Context<'r> {
    pub(super) readings: &'r Readings,
    pub(super) conditions: &'r Conditions,
}

/// Groups and drivers of interfaces without a card.
const VIRTUAL: [&str; 20] = [
    "bridge", "enc", "epair", "gif", "gre", "ipfw", "ipsec", "lagg", "lo", "ng", "ovpn", "pflog", "pfsync", "stf",
    "tap", "tun", "vlan", "vm-port", "vxlan", "wg",
];

/// A rate from which a port is a fast one, in bit/s.
pub(super) const FAST_BPS: f64 = 10e9;

impl<'r> Context<'r> {
    /// Whether the goal is one of these.
    pub(super) fn is_for(&self, goals: &[Goal]) -> bool {
        goals.contains(&self.conditions.goal)
    }

    /// All interfaces; none where they could not be read.
    pub(super) fn all(&self) -> &'r [Interface] {
        self.readings.interfaces.known().map_or(&[], Vec::as_slice)
    }

    /// The interfaces that are asked for and those on their path.
    pub(super) fn interfaces(&self) -> impl Iterator<Item = &'r Interface> {
        let asked = self.conditions.interface.as_deref();
        self.all().iter().filter(move |interface| asked.is_none_or(|asked| self.is_on_path(interface, asked)))
    }

    /// Interfaces of cards that are set up.
    pub(super) fn nics(&self) -> impl Iterator<Item = &'r Interface> {
        self.interfaces().filter(|interface| is_up(interface) && self.is_card(interface))
    }

    /// The card behind an interface.
    pub(super) fn port(&self, interface: &Interface) -> Option<&'r Port> {
        self.readings.cards.ports.iter().find(|port| port.interface.name == interface.name)
    }

    fn is_card(&self, interface: &Interface) -> bool {
        let driver = interface.name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let is_virtual = VIRTUAL.contains(&driver)
            || interface.parent.is_some()
            || interface.groups.iter().any(|group| VIRTUAL.contains(&group.as_str()));
        self.port(interface).is_some() || (interface.media.is_some() && !is_virtual)
    }

    /// Whether it is this interface, or above, below or beside it.
    fn is_on_path(&self, interface: &Interface, asked: &str) -> bool {
        let Some(wanted) = self.all().iter().find(|it| it.name == asked) else { return false };
        let holds = |one: &Interface, other: &str| {
            one.parent.as_deref() == Some(other) || one.members.iter().any(|member| member == other)
        };
        let is_beside =
            || self.all().iter().any(|master| holds(master, asked) && master.members.contains(&interface.name));
        interface.name == asked || holds(interface, asked) || holds(wanted, &interface.name) || is_beside()
    }

    /// The highest rate of the ports in bit/s: as asked for, or else of their cards; `None` where nothing says.
    pub(super) fn speed_bps(&self) -> Option<f64> {
        self.conditions.speed_bps.or_else(|| self.nics().filter_map(own_bps).max_by(f64::total_cmp))
    }

    /// The same of one port.
    pub(super) fn speed_of(&self, nic: &Interface) -> Option<f64> {
        self.conditions.speed_bps.or_else(|| own_bps(nic))
    }

    /// Whether a port is a fast one.
    pub(super) fn is_fast(&self) -> bool {
        self.speed_bps().is_some_and(|bps| bps >= FAST_BPS)
    }

    /// A value of sysctl; absent where this release has none of that name.
    pub(super) fn value(&self, key: &str) -> Reading<&'r str> {
        match &self.readings.values {
            Reading::Known(values) => values.get(key).map_or(Reading::Absent, |value| Reading::Known(value.as_str())),
            Reading::Absent => Reading::Absent,
            Reading::Unreadable { path, why } => Reading::Unreadable { path: path.clone(), why: why.clone() },
        }
    }

    /// The same as a number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.value(key).known()?.parse().ok()
    }
}

/// Whether it is set up.
pub(super) fn is_up(interface: &Interface) -> bool {
    interface.flags.iter().any(|flag| flag == "UP")
}

/// The highest rate of a card, or the rate of its link.
fn own_bps(nic: &Interface) -> Option<f64> {
    let mbps = nic.top_speed_mbps.or_else(|| nic.media.as_ref().and_then(Media::speed_mbps))?;
    Some(f64::from(mbps) * 1e6)
}

/// The command that shows an interface.
pub(super) fn ifconfig(interface: &Interface) -> String {
    format!("ifconfig -vm {}", interface.name)
}
