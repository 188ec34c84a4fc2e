//! Readings with the conditions under which they are judged.

use model::{
    Card, Reading,
    card::Readings,
    environment::{EndpointFacts, InterfaceFacts},
    inspection::{Check, Conditions, Finding, Goal, HostReadings, Read, Severity},
    settings::InterfaceSettings,
    tuning::{Condition, InterfaceReading, Profile, ProfileValue},
    units::BitRate,
};

/// Readings of a machine, and the conditions under which they are judged.
pub(super) struct Context<'r> {
    pub(super) readings: &'r HostReadings,
    pub(super) conditions: &'r Conditions,
    /// Profile of the goal, with numbers for the rate and the round-trip time.
    pub(super) profile: Profile,
}

/// An interface with what belongs to it.
#[derive(Clone, Copy)]
pub(super) struct Port<'r> {
    pub(super) end: &'r EndpointFacts,
    pub(super) facts: &'r InterfaceFacts,
    pub(super) settings: &'r InterfaceSettings,
}

impl<'r> Context<'r> {
    /// Readings under these conditions.
    pub(super) fn of(readings: &'r HostReadings, conditions: &'r Conditions) -> Self {
        let profile = crate::profile(conditions.goal);
        let context = Self { readings, conditions, profile: profile.clone() };
        let profile = profile.on_path(context.link_speed(), conditions.rtt_s);
        Self { profile, ..context }
    }

    /// The value that the profile has for a setting of the machine.
    pub(super) fn wanted(&self, setting: &str) -> Option<&ProfileValue> {
        let mut values = self.profile.values.iter().filter(|value| value.setting.to_string() == setting);
        values.find(|value| value.when == Condition::default() || self.ports().any(|port| self.holds(value, &port)))
    }

    /// The same of an interface.
    pub(super) fn wanted_of(&self, setting: &str, port: &Port<'_>) -> Option<&ProfileValue> {
        let mut values = self.profile.values.iter().filter(|value| value.setting.to_string() == setting);
        values.find(|value| self.holds(value, port))
    }

    /// Whether the condition of a value holds for a port.
    pub(super) fn holds(&self, value: &ProfileValue, port: &Port<'_>) -> bool {
        let interface = InterfaceReading {
            driver: port.facts.driver.clone(),
            speed: self.conditions.speed_bps.map(|bps| BitRate(bps as u64)).or(port.link_speed()),
            is_virtual: port.facts.card.is_none(),
            ..InterfaceReading::default()
        };
        value.when.holds_for(&interface, self.cores())
    }

    /// The highest rate of the links: as asked for, or else as they are.
    pub(super) fn link_speed(&self) -> Option<BitRate> {
        let asked = self.conditions.speed_bps.map(|bps| BitRate(bps as u64));
        asked.or_else(|| self.nics().filter_map(|port| port.link_speed()).max())
    }

    /// A kernel setting against the profile: of the machine, or of each end with its name where there are several.
    pub(super) fn sysctl(&self, check: Check, key: &str, severity: Severity) -> Vec<Finding> {
        let Some(value) = self.wanted(&format!("sysctl {key}")) else { return Vec::new() };
        let documents = value.documents();
        let readings = match self.readings.host.sysctls.get(key) {
            reading @ Some(_) => vec![(String::new(), reading_of(reading))],
            None => self.settings_of_ends(key),
        };
        let judge = |(end, reading): (String, Reading<&str>)| {
            let object = if end.is_empty() { key.to_owned() } else { format!("{end}: {key}") };
            match reading {
                Reading::Known(now) => {
                    let wanted = if value.at_least { format!(">= {}", value.value) } else { value.value.clone() };
                    let finding =
                        Finding::of(check, &object, Read::of(now, format!("sysctl {key}")), wanted, &documents);
                    let set = value.instead(now);
                    Some(finding.unless(set.is_none(), severity, set.map(|set| sysctl_command(key, &set))))
                }
                Reading::Absent => None,
                Reading::Unreadable { path, why } => Some(Finding::unknown(check, &object, &path, &why)),
            }
        };
        readings.into_iter().filter_map(judge).collect()
    }

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

    /// The highest rate of a port in bit/s: as asked for, or else of its card.
    pub(super) fn speed_of(&self, port: &Port<'_>) -> Option<f64> {
        self.conditions.speed_bps.or_else(|| port.speed_bps())
    }

    /// Cores that are online.
    pub(super) fn cores(&self) -> usize {
        self.readings.host.cpus.copied().unwrap_or(1)
    }

    /// A setting of the machine.
    pub(super) fn setting(&self, key: &str) -> Reading<&'r str> {
        reading_of(self.readings.host.sysctls.get(key))
    }

    /// A setting of each end, with the end's name where there are several.
    pub(super) fn settings_of_ends(&self, key: &str) -> Vec<(String, Reading<&'r str>)> {
        let several = self.readings.ends.len() > 1;
        let name = |end: &EndpointFacts| if several { end.endpoint.clone() } else { String::new() };
        self.readings.ends.iter().map(|end| (name(end), reading_of(end.sysctls.get(key)))).collect()
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

    /// Whether it is set up; by the state of its link where that could not be read.
    pub(super) fn is_up(&self) -> bool {
        self.readings().and_then(|readings| readings.up.copied()).unwrap_or(self.facts.state == "up")
    }

    /// The highest rate of its card, or the rate of its link.
    pub(super) fn speed_bps(&self) -> Option<f64> {
        let top = self.card().and_then(|card| card.top_speed_mbps.copied()).or(self.facts.speed_mbps.copied());
        top.map(|mbps| f64::from(mbps) * 1e6)
    }

    /// The rate of its link.
    fn link_speed(&self) -> Option<BitRate> {
        self.facts.speed_mbps.copied().map(|mbps| BitRate(u64::from(mbps) * 1_000_000))
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

/// The command that gives a kernel setting a value.
pub(super) fn sysctl_command(key: &str, value: &str) -> String {
    let quote = if value.contains(' ') { "\"" } else { "" };
    format!("sysctl -w {key}={quote}{value}{quote}")
}

fn reading_of(value: Option<&Reading<String>>) -> Reading<&str> {
    match value {
        Some(Reading::Known(value)) => Reading::Known(value),
        Some(Reading::Unreadable { path, why }) => Reading::Unreadable { path: path.clone(), why: why.clone() },
        Some(Reading::Absent) | None => Reading::Absent,
    }
}
