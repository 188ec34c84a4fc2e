//! All interfaces that are watched.

use std::collections::{BTreeMap, BTreeSet};

use model::Nanos;

use crate::{link::Link, reading::LinkReading};

/// So long an interface that nobody named is still shown after it has gone.
pub const FORGOTTEN: Nanos = Nanos::from_secs(60);

/// An interface, in the order in which they are shown: the reader's own network namespace first, names with numbers by these.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Name of its namespace; empty for the reader's own.
    pub namespace: String,
    /// Name with numbers of one length.
    sorted: String,
    /// Name.
    pub name: String,
}

/// The watched interfaces, and the time since.
#[derive(Clone, Debug)]
pub struct Watch {
    /// Names that were asked for; all but loopback where there is none.
    named: BTreeSet<String>,
    began: Nanos,
    now: Nanos,
    links: BTreeMap<Key, Link>,
}

impl Key {
    /// State of an interface.
    pub fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.to_owned(), sorted: sorted(name), name: name.to_owned() }
    }
}

impl Watch {
    /// Begins with first readings: of the interfaces of these names, or of all but loopback where none is named.
    pub fn new(named: impl IntoIterator<Item = String>, at: Nanos, readings: Vec<LinkReading>) -> Self {
        let named = named.into_iter().collect();
        let mut watch = Self { named, began: at, now: at, links: BTreeMap::new() };
        watch.take(at, readings);
        watch
    }

    /// Takes the next readings of all there are. Those that are missing have gone.
    pub fn take(&mut self, at: Nanos, readings: Vec<LinkReading>) {
        self.now = at;
        let mut found = BTreeSet::new();
        for reading in readings {
            if !self.wants(&reading) {
                continue;
            }
            let key = Key::new(&reading.namespace, &reading.name);
            match self.links.get_mut(&key) {
                Some(link) => link.take(reading),
                None => drop(self.links.insert(key.clone(), Link::new(reading))),
            }
            found.insert(key);
        }
        let named = !self.named.is_empty();
        self.links.retain(|key, link| {
            if !found.contains(key) {
                link.miss(at);
            }
            named || link.gone_for() < FORGOTTEN
        });
    }

    fn wants(&self, reading: &LinkReading) -> bool {
        if self.named.is_empty() { !reading.state.loopback } else { self.named.contains(&reading.name) }
    }

    /// Each interface, in the order to show them.
    pub fn links(&self) -> impl ExactSizeIterator<Item = (&Key, &Link)> {
        self.links.iter()
    }

    /// For how long it has been watched.
    pub fn elapsed(&self) -> Nanos {
        Nanos(self.now.0.saturating_sub(self.began.0))
    }
}

/// With numbers of one length, so that `eth10` comes after `eth9`.
fn sorted(name: &str) -> String {
    let mut sorted = String::new();
    let mut digits = String::new();
    for c in name.chars().chain(['\0']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if !digits.is_empty() {
            sorted += &format!("{digits:0>15}");
            digits.clear();
        }
        sorted.push(c);
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::{DirectionCounts, Incarnation, LinkState};

    fn reading(at: u64, namespace: &str, name: &str) -> LinkReading {
        LinkReading {
            at: Nanos::from_secs(at),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            incarnation: Incarnation::default(),
            state: LinkState { loopback: name == "lo", ..LinkState::default() },
            ways: [DirectionCounts::default(); 2],
            driver: Default::default(),
        }
    }

    fn names(watch: &Watch) -> Vec<&str> {
        watch.links().map(|(key, _)| key.name.as_str()).collect()
    }

    #[test]
    fn names_with_numbers_are_in_the_order_of_these_and_own_ones_come_first() {
        let readings = [("wp1-a", "a0"), ("", "eth10"), ("", "eth9"), ("", "lo"), ("", "eth1.20"), ("", "eth1")];
        let all = readings.map(|(namespace, name)| reading(1, namespace, name)).to_vec();
        let watch = Watch::new([], Nanos::from_secs(1), all);
        assert_eq!(names(&watch), ["eth1", "eth1.20", "eth9", "eth10", "a0"]);
    }

    #[test]
    fn one_that_was_named_stays_when_it_is_gone_and_others_are_forgotten() {
        let there = || vec![reading(1, "", "eth1"), reading(1, "", "eth2")];
        let mut all = Watch::new([], Nanos::from_secs(1), there());
        let mut named = Watch::new(["eth1".to_owned()], Nanos::from_secs(1), there());
        for second in 2..60 {
            all.take(Nanos::from_secs(second), vec![reading(second, "", "eth2")]);
            named.take(Nanos::from_secs(second), vec![]);
        }
        assert_eq!((names(&all), names(&named)), (vec!["eth1", "eth2"], vec!["eth1"]));
        all.take(Nanos::from_secs(61), vec![reading(61, "", "eth2")]);
        named.take(Nanos::from_secs(61), vec![]);
        assert_eq!((names(&all), names(&named)), (vec!["eth2"], vec!["eth1"]));
        assert!(named.links().all(|(_, link)| link.is_gone()));
        assert_eq!(named.elapsed(), Nanos::from_secs(60));
        let loopback = Watch::new(["lo".to_owned()], Nanos(0), vec![reading(1, "", "lo")]);
        assert_eq!(names(&loopback), ["lo"], "loopback is watched where it is named");
    }
}
