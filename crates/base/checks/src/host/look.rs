//! Readings with the conditions under which they are judged.

use model::{
    Card, Reading,
    card::Readings,
    environment::{EndpointFacts, InterfaceFacts},
    inspection::{Conditions, Goal, HostReadings},
    settings::InterfaceSettings,
};

/// Readings with conditions.
pub(super) struct Look<'r> {
    pub(super) readings: &'r HostReadings,
    pub(super) conditions: &'r Conditions,
}

/// An interface with what belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Port<'r> {
    pub(super) end: &'r EndpointFacts,
    pub(super) facts: &'r InterfaceFacts,
    pub(super) settings: &'r InterfaceSettings,
}

impl<'r> Look<'r> {
    /// Whether the goal is one of these.
    pub(super) fn is_for(&self, goals: &[Goal]) -> bool {
        goals.contains(&self.conditions.goal)
    }

    /// The interfaces that are asked for and those on their path, as far as their settings were read.
    pub(super) fn ports(&self) -> impl Iterator<Item = Port<'r>> {
        let asked = self.conditions.interface.as_deref();
        let ports = self.readings.interfaces().filter_map(|(end, facts)| {
            let settings = facts.settings.as_ref()?;
            Some(Port { end, facts, settings })
        });
        ports.filter(move |port| asked.is_none_or(|asked| port.is_on_path(asked)))
    }

    /// Ports with a card that are set up.
    pub(super) fn nics(&self) -> impl Iterator<Item = Port<'r>> {
        self.ports().filter(|port| port.facts.card.is_some() && port.is_up())
    }

    /// The highest rate of the ports in bit/s: as asked for, or else of their cards; `None` where nothing says.
    pub(super) fn speed_bps(&self) -> Option<f64> {
        self.conditions.speed_bps.or_else(|| self.nics().filter_map(|port| port.speed_bps()).max_by(f64::total_cmp))
    }

    /// The same of one port.
    pub(super) fn speed_of(&self, port: &Port<'_>) -> Option<f64> {
        self.conditions.speed_bps.or_else(|| port.speed_bps())
    }

    /// Cores that are online.
    pub(super) fn cores(&self) -> usize {
        self.readings.host.cpus.copied().unwrap_or(1)
    }

    /// A setting of the machine.
    pub(super) fn setting(&self, key: &str) -> Reading<&'r str> {
        reading(self.readings.host.sysctls.get(key))
    }

    /// A setting of each end, with the end's name where there are several.
    pub(super) fn settings_of_ends(&self, key: &str) -> Vec<(String, Reading<&'r str>)> {
        let several = self.readings.ends.len() > 1;
        let name = |end: &EndpointFacts| if several { end.endpoint.clone() } else { String::new() };
        self.readings.ends.iter().map(|end| (name(end), reading(end.sysctls.get(key)))).collect()
    }
}

impl<'r> Port<'r> {
    pub(super) fn name(&self) -> &'r str {
        &self.facts.name
    }

    pub(super) fn card(&self) -> Option<&'r Card> {
        self.facts.card.as_ref()
    }

    pub(super) fn readings(&self) -> Option<&'r Readings> {
        self.end.readings.get(&self.facts.name)
    }

    /// Whether it is set up.
    pub(super) fn is_up(&self) -> bool {
        self.readings().map_or(self.facts.state == "up", |readings| readings.up)
    }

    /// The highest rate of its card, or that of its link.
    pub(super) fn speed_bps(&self) -> Option<f64> {
        let top = self.card().and_then(|card| card.top_speed_mbps.copied()).or(self.facts.speed_mbps.copied());
        top.map(|mbps| f64::from(mbps) * 1e6)
    }

    pub(super) fn mtu(&self) -> Option<u32> {
        self.facts.mtu.copied()
    }

    /// Whether it is this interface, or above, below or beside it.
    fn is_on_path(&self, asked: &str) -> bool {
        let interfaces = &self.end.interfaces;
        let Some(wanted) = interfaces.iter().find(|facts| facts.name == asked) else { return false };
        let lower = |facts: &InterfaceFacts| facts.settings.as_ref().and_then(|settings| settings.lower.clone());
        let own = Some(self.facts.name.clone());
        self.facts.name == asked
            || wanted.master == own
            || lower(wanted) == own
            || lower(self.facts).as_deref() == Some(asked)
            || self.facts.master.as_deref() == Some(asked)
            || (self.facts.master.is_some() && self.facts.master == wanted.master)
    }
}

fn reading(value: Option<&Reading<String>>) -> Reading<&str> {
    match value {
        Some(Reading::Known(value)) => Reading::Known(value),
        Some(Reading::Unreadable { path, why }) => Reading::Unreadable { path: path.clone(), why: why.clone() },
        Some(Reading::Absent) | None => Reading::Absent,
    }
}
