//! Settings of an end that change what is measured, and the differences between two readings.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
};

use kernel::{clock, ethtool, link, neighbour, route, statistics};
use model::counters::{Event, EventKind};

/// Value of a setting that is not there.
const NONE: &str = "none";

/// The clocks are read one after the other: what differs by less is the time between.
const STEP: f64 = 0.001;

/// Readings of the clocks, of which the one that took least time counts: a program may be interrupted in the middle.
const READINGS: usize = 5;

/// Settings of an interface of the caller's namespace, by kind and name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    values: BTreeMap<(EventKind, String), String>,
    /// Kinds that could not be read.
    unreadable: BTreeSet<EventKind>,
    /// The time of day, from the clock that nobody can set, in seconds.
    of_day: f64,
}

impl Settings {
    /// Reads them.
    pub fn read(interface: &str) -> Self {
        let mut settings = Self { of_day: of_day(), ..Self::default() };
        settings.read_link(interface);
        let names = |(_, qdiscs): (_, Vec<statistics::Qdisc>)| {
            [(interface, qdiscs.into_iter().map(|qdisc| qdisc.name).collect::<Vec<_>>().join(", "))]
        };
        settings.extend(EventKind::Qdisc, statistics::of_interface(interface).map(names));
        settings.extend(EventKind::Route, route::through(interface));
        let neighbours = neighbour::table(interface);
        settings.extend(
            EventKind::Neighbour,
            neighbours.map(|table| table.into_iter().map(|(address, mac)| (address.to_string(), mac))),
        );
        let on = |is_on| if is_on { "on" } else { "off" }.to_owned();
        let offloads = ethtool::offloads_by_name(interface);
        settings.extend(EventKind::Offload, offloads.map(|all| all.into_iter().map(|(name, is_on)| (name, on(is_on)))));
        settings.read_driver(interface);
        settings
    }

    fn read_link(&mut self, interface: &str) {
        let Ok(links) = link::list() else {
            self.unreadable.extend([EventKind::Link, EventKind::Carrier, EventKind::Address]);
            return;
        };
        let Some(link) = links.into_iter().find(|link| link.name == interface) else { return };
        let state = if link.up { "up" } else { "down" }.to_owned();
        self.add(EventKind::Link, [("state", state), ("MTU", link.mtu.0.to_string()), ("MAC", link.mac)]);
        self.add(EventKind::Carrier, [("losses", link.carrier_losses.to_string())]);
        let addresses = link.addresses.into_iter().filter(crate::interfaces::is_given);
        self.add(EventKind::Address, addresses.map(|(ip, prefix)| (format!("{ip}/{prefix}"), "there".to_owned())));
    }

    /// Not coalescing, which many drivers adapt by themselves.
    fn read_driver(&mut self, interface: &str) {
        let shown = |values: Vec<u32>| values.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let numbers = ethtool::settings(interface).map(|settings| {
            let numbers = settings.numbers.into_iter().filter(|(name, _)| name != "coalescing");
            numbers.map(|(name, values)| (name, shown(values)))
        });
        self.extend(EventKind::Driver, numbers);
    }

    /// Adds a reading of a kind, or that there is none.
    fn extend<N: Into<String>, E>(
        &mut self,
        kind: EventKind,
        values: Result<impl IntoIterator<Item = (N, String)>, E>,
    ) {
        match values {
            Ok(values) => self.add(kind, values),
            Err(_) => drop(self.unreadable.insert(kind)),
        }
    }

    fn add(&mut self, kind: EventKind, values: impl IntoIterator<Item = (impl Into<String>, String)>) {
        self.values.extend(values.into_iter().map(|(name, value)| ((kind, name.into()), value)));
    }

    /// The same with an earlier reading's values of each kind that could not be read now.
    #[must_use]
    pub fn completed_by(mut self, earlier: &Self) -> Self {
        let missing = mem::take(&mut self.unreadable);
        let of_earlier = earlier.values.iter().filter(|((kind, _), _)| missing.contains(kind));
        self.values.extend(of_earlier.map(|(key, value)| (key.clone(), value.clone())));
        self.unreadable = &missing & &earlier.unreadable;
        self
    }

    /// Differences in a later reading, noticed at this second, as far as both could be read. A new neighbour is none: it was only
    /// asked for.
    pub fn differences(&self, later: &Self, at_s: f64) -> Vec<Event> {
        let is_readable =
            |key: &&(EventKind, String)| !self.unreadable.contains(&key.0) && !later.unreadable.contains(&key.0);
        let mut keys: Vec<_> = self.values.keys().chain(later.values.keys()).filter(is_readable).collect();
        keys.sort();
        keys.dedup();
        let event = |key: &(EventKind, String)| {
            let (before, after) = (self.value(key), later.value(key));
            let is_new = key.0 == EventKind::Neighbour && before == NONE;
            (before != after && !is_new).then(|| Event { at_s, kind: key.0, what: key.1.clone(), before, after })
        };
        keys.into_iter().filter_map(event).chain(self.step(later, at_s)).collect()
    }

    fn value(&self, key: &(EventKind, String)) -> String {
        self.values.get(key).cloned().unwrap_or_else(|| NONE.to_owned())
    }

    /// That somebody set the time of day.
    fn step(&self, later: &Self, at_s: f64) -> Option<Event> {
        let by_s = later.of_day - self.of_day;
        (by_s.abs() >= STEP).then(|| Event {
            at_s,
            kind: EventKind::Clock,
            what: "time of day".to_owned(),
            before: "0".to_owned(),
            after: format!("{by_s:.3}"),
        })
    }
}

/// The time of day at the zero of the clock that nobody can set, in seconds.
fn of_day() -> f64 {
    let reading = |_| {
        let (before, of_day, after) = (clock::now().0, clock::of_day().0, clock::now().0);
        (after - before, (of_day as f64 - before as f64) / 1e9)
    };
    (0..READINGS).map(reading).min_by_key(|(took, _)| *took).map_or(0.0, |(_, of_day)| of_day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(values: &[(EventKind, &str, &str)], of_day: f64) -> Settings {
        let mut settings = Settings { of_day, ..Settings::default() };
        values.iter().for_each(|(kind, name, value)| settings.add(*kind, [(*name, (*value).to_owned())]));
        settings
    }

    #[test]
    fn what_changed_appeared_or_went_is_an_event() {
        let before = settings(
            &[
                (EventKind::Offload, "tx-tcp-segmentation", "on"),
                (EventKind::Qdisc, "eth0", "noqueue 0:"),
                (EventKind::Neighbour, "198.18.0.2", "02:00:00:00:00:02"),
                (EventKind::Link, "MTU", "1500"),
            ],
            1e9,
        );
        let after = settings(
            &[
                (EventKind::Offload, "tx-tcp-segmentation", "off"),
                (EventKind::Qdisc, "eth0", "tbf 8001:"),
                (EventKind::Neighbour, "198.18.0.2", "02:00:00:00:00:99 permanent"),
                (EventKind::Neighbour, "198.18.0.7", "02:00:00:00:00:07"),
                (EventKind::Link, "MTU", "1500"),
            ],
            1e9 + 3600.0,
        );
        let told: Vec<_> = before.differences(&after, 1.5).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "neighbour 198.18.0.2: 02:00:00:00:00:02 → 02:00:00:00:00:99 permanent",
                "qdisc eth0: noqueue 0: → tbf 8001:",
                "offload tx-tcp-segmentation: on → off",
                "clock time of day: 0 → 3600.000",
            ]
        );
        assert_eq!(before.differences(&before, 0.0), []);
    }

    #[test]
    fn a_reading_that_fails_once_is_no_event() {
        let whole = settings(&[(EventKind::Qdisc, "eth0", "fq 0:"), (EventKind::Link, "MTU", "1500")], 1e9);
        let mut failed = settings(&[(EventKind::Link, "MTU", "9000")], 1e9);
        failed.extend(EventKind::Qdisc, Err::<[(&str, String); 0], ()>(()));
        let told = |before: &Settings, after: &Settings| -> Vec<String> {
            before.differences(after, 0.0).iter().map(ToString::to_string).collect()
        };
        assert_eq!(told(&whole, &failed), ["link MTU: 1500 → 9000"]);
        assert_eq!(told(&failed, &whole), ["link MTU: 9000 → 1500"]);
        let completed = failed.completed_by(&whole);
        let other = settings(&[(EventKind::Qdisc, "eth0", "tbf 8001:"), (EventKind::Link, "MTU", "9000")], 1e9);
        assert_eq!(told(&completed, &other), ["qdisc eth0: fq 0: → tbf 8001:"], "what was set meanwhile is noticed");
    }

    #[test]
    fn loopback_has_settings_and_they_stay() {
        let before = Settings::read("lo");
        assert_eq!(before.values.get(&(EventKind::Link, "state".to_owned())).map(String::as_str), Some("up"));
        assert!(before.values.keys().any(|(kind, _)| *kind == EventKind::Offload), "{before:?}");
        assert_eq!(before.differences(&Settings::read("lo"), 0.0), []);
    }
}
