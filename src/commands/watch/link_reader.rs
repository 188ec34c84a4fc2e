//! The watched namespaces and their readings.

use agent::Live;
use kernel::namespace;
use model::nearest::alike;
use rates::LinkReading;
use report::WatchWords;

use super::super::bed::of_namespace;
use crate::{cli::WatchOptions, exit::Words};

/// Reads the selected namespaces.
pub(super) struct LinkReader {
    places: Places,
    live: Live,
    words: WatchWords,
    notes: Vec<String>,
}

/// Namespaces to read. Beds come and go meanwhile.
enum Places {
    /// The caller's namespace, and the namespaces of all beds.
    All,
    /// Interfaces of one bed.
    Bed(String),
    /// These.
    Named(Vec<String>),
}

impl LinkReader {
    pub(super) fn open(options: &WatchOptions, words: WatchWords) -> Self {
        let places = match &options.bed {
            Some(bed) => Places::Bed(bed.clone()),
            None if options.namespace.is_empty() => Places::All,
            None => Places::Named(options.namespace.clone()),
        };
        Self { places, live: Live::default(), words, notes: Vec::new() }
    }

    /// The first readings; an error where something that was named is not there or may not be read.
    pub(super) fn first_reading(&mut self, interfaces: &[String]) -> anyhow::Result<Vec<LinkReading>> {
        self.places.check()?;
        let readings = self.read();
        if !matches!(self.places, Places::All) && !self.notes.is_empty() {
            anyhow::bail!("{}", self.notes.join("; "));
        }
        check_interfaces(interfaces, &readings)?;
        Ok(readings)
    }

    /// All interfaces there are now. A namespace that cannot be read is a note.
    pub(super) fn read(&mut self) -> Vec<LinkReading> {
        let (mut readings, mut notes) = (Vec::new(), Vec::new());
        for (name, read) in self.live.read(&self.places.now()) {
            match read {
                Ok(links) => readings.extend(links),
                // It went just now.
                Err(error) if error.says_gone() => {}
                Err(error) => notes.push(self.words.unread(&name, &why(&error))),
            }
        }
        self.notes = notes;
        readings
    }

    /// Failures of the last reading, and why.
    pub(super) fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn why(error: &kernel::Error) -> String {
    match error.io_kind() {
        std::io::ErrorKind::PermissionDenied => "that takes root (sudo)".to_owned(),
        // Its name is a plain file here: nothing is mounted on it.
        std::io::ErrorKind::InvalidInput => {
            "only its name is visible here: what made it has other mounts (\"ip netns exec\", a container), or was killed; \
             watch from there"
                .to_owned()
        }
        _ => error.to_string(),
    }
}

impl Places {
    fn now(&self) -> Vec<String> {
        let all = || namespace::list().unwrap_or_default();
        match self {
            Self::All => [String::new()]
                .into_iter()
                .chain(all().into_iter().filter(|name| of_namespace(name).is_some()))
                .collect(),
            Self::Bed(wanted) => all().into_iter().filter(|name| of_namespace(name) == Some(wanted)).collect(),
            Self::Named(names) => names.clone(),
        }
    }

    fn check(&self) -> anyhow::Result<()> {
        let all = namespace::list()?;
        match self {
            Self::All => {}
            Self::Bed(wanted) if self.now().is_empty() => {
                let mut beds: Vec<&str> = all.iter().filter_map(|name| of_namespace(name)).collect();
                beds.dedup();
                let there = there_is("there is no bed on this machine", &beds);
                return Err(Words(format!("--bed {wanted}: no bed of this name has namespaces here; {there}")).into());
            }
            Self::Bed(_) => {}
            Self::Named(names) => {
                if let Some(missing) = names.iter().find(|name| !namespace::exists(name)) {
                    let all: Vec<&str> = all.iter().map(String::as_str).collect();
                    let there = there_is("there is none that has a name", &all);
                    return Err(
                        Words(format!("--namespace {missing}: no network namespace has this name; {there}")).into()
                    );
                }
            }
        }
        Ok(())
    }
}

fn check_interfaces(wanted: &[String], readings: &[LinkReading]) -> Result<(), Words> {
    let names: Vec<&str> = readings.iter().map(|reading| reading.name.as_str()).collect();
    match wanted.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        None => Ok(()),
        Some(missing) => Err(Words(format!("{missing}: there is no interface of this name; {}", near(missing, names)))),
    }
}

/// The names that may be meant, or else all of them.
fn near(wanted: &str, mut names: Vec<&str>) -> String {
    names.sort_unstable();
    names.dedup();
    let meant = alike(wanted, &names);
    there_is("there is none at all", if meant.is_empty() { &names } else { &meant })
}

/// Names, limited to a readable number.
fn there_is(none: &str, names: &[&str]) -> String {
    const MOST: usize = 12;
    match names.len() {
        0 => none.to_owned(),
        count if count > MOST => format!("there is {} and {} more", names[..MOST].join(", "), count - MOST),
        _ => format!("there is {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_may_be_meant_are_said() {
        let names = || vec!["lo", "enp1s0f0", "enp1s0f1", "wlan0"];
        assert_eq!(near("enp1s0", names()), "there is enp1s0f0, enp1s0f1");
        assert_eq!(near("qqq", names()), "there is enp1s0f0, enp1s0f1, lo, wlan0");
        assert_eq!(near("eth0", vec![]), "there is none at all");
        let many: Vec<String> = (0..20).map(|number| format!("veth{number}")).collect();
        assert!(near("veth", many.iter().map(String::as_str).collect()).ends_with("and 8 more"));
    }
}
