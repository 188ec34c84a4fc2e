//! Profiles of tuned (tuned.conf(5)): sections of `key=value`, built on other profiles by `include`.

use std::collections::{BTreeMap, BTreeSet};

use super::{Condition, Profile, ProfileValue, Setting};

/// Most profiles that one is built on.
const MOST_INCLUDES: usize = 16;
/// Most lines of a profile.
const MOST_LINES: usize = 10_000;
/// Most lines that are named as having no meaning here.
const MOST_NAMED: usize = 200;
/// Longest value that is taken.
const LONGEST_VALUE: usize = 500;

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TunedError {
    /// There is none of this name.
    #[error("tuned has no profile \"{0}\" here; \"tuned-adm list\" names those that there are (Debian: package tuned)")]
    None(String),
    /// It is built on too many others.
    #[error("profile \"{0}\" of tuned is built on more than {MOST_INCLUDES} others")]
    Deep(String),
    /// It is too long.
    #[error("profile \"{0}\" of tuned has more than {MOST_LINES} lines")]
    Long(String),
    /// None of its lines has a meaning here.
    #[error("profile \"{0}\" of tuned sets nothing that wireproof can set")]
    Nothing(String),
}

/// Sections with their values; later ones replace earlier ones.
type Sections = BTreeMap<String, BTreeMap<String, String>>;

/// The profile of this name, and its lines that have no meaning here. `read` gives the text of a profile.
///
/// # Errors
/// There is no such profile, or it sets nothing.
pub fn from_tuned(
    name: &str,
    read: &mut dyn FnMut(&str) -> Option<String>,
) -> Result<(Profile, Vec<String>), TunedError> {
    let mut sections = Sections::new();
    let mut seen = BTreeSet::new();
    collect(name, read, &mut seen, &mut sections)?;
    let variables = sections.remove("variables").unwrap_or_default();
    let (mut values, mut strange) = (Vec::new(), Vec::new());
    for (section, entries) in &sections {
        for (key, value) in entries {
            let value = replaced(value, &variables);
            let understood = setting(section, key, &value).unwrap_or_default().into_iter();
            let understood = understood.map(|(setting, value, at_least)| ProfileValue {
                setting,
                value,
                at_least,
                instead_of: Vec::new(),
                when: Condition::default(),
                why: "tuned".to_owned(),
                source: format!("tuned {name} [{section}]"),
            });
            let understood: Vec<_> = understood.filter(|value| value.check().is_ok()).collect();
            if understood.is_empty() {
                strange.push(format!("[{section}] {key}={value}"));
            }
            values.extend(understood);
        }
    }
    strange.truncate(MOST_NAMED);
    if values.is_empty() {
        Err(TunedError::Nothing(name.to_owned()))
    } else {
        Ok((Profile { bdp: None, values }, strange))
    }
}

/// Reads a profile after those that it is built on.
fn collect(
    name: &str,
    read: &mut dyn FnMut(&str) -> Option<String>,
    seen: &mut BTreeSet<String>,
    sections: &mut Sections,
) -> Result<(), TunedError> {
    // A profile that includes itself adds nothing.
    if !seen.insert(name.to_owned()) {
        return Ok(());
    }
    if seen.len() > MOST_INCLUDES {
        return Err(TunedError::Deep(name.to_owned()));
    }
    let text = read(name).ok_or_else(|| TunedError::None(name.to_owned()))?;
    let own = parse(&text).ok_or_else(|| TunedError::Long(name.to_owned()))?;
    let main = own.get("main");
    let included = main.and_then(|main| main.get("include")).cloned().unwrap_or_default();
    for other in included.split([',', ';', ' ']).map(str::trim).filter(|other| !other.is_empty()) {
        // A leading "-" makes it optional.
        match other.strip_prefix('-') {
            Some(optional) => drop(collect(optional, read, seen, sections)),
            None => collect(other, read, seen, sections)?,
        }
    }
    for (section, entries) in own.into_iter().filter(|(section, _)| section != "main") {
        let into = sections.entry(section).or_default();
        if entries.get("replace").is_some_and(|value| is_true(value)) {
            into.clear();
        }
        into.extend(entries.into_iter().filter(|(key, _)| !["replace", "type", "enabled"].contains(&key.as_str())));
    }
    Ok(())
}

fn is_true(value: &str) -> bool {
    ["1", "true", "yes"].contains(&value.to_lowercase().as_str())
}

/// Sections of a text; `None` if it is too long.
fn parse(text: &str) -> Option<Sections> {
    let mut sections = Sections::new();
    let mut section = String::new();
    for (number, line) in text.lines().enumerate() {
        if number >= MOST_LINES {
            return None;
        }
        let line = line.trim();
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = name.trim().to_owned();
        } else if !line.starts_with(['#', ';'])
            && let Some((key, value)) = line.split_once('=')
        {
            let value = value.trim().trim_matches('"').to_owned();
            sections.entry(section.clone()).or_default().insert(key.trim().to_owned(), value);
        }
    }
    Some(sections)
}

/// A value with the profile's own variables in it; those that are computed stay as they are.
fn replaced(value: &str, variables: &BTreeMap<String, String>) -> String {
    let mut value = value.to_owned();
    for (name, of_name) in variables {
        if value.len() > LONGEST_VALUE {
            break;
        }
        value = value.replace(&format!("${{{name}}}"), of_name);
    }
    value
}

type Value = (Setting, String, bool);

/// Our settings for one of its lines; `None` where it has no meaning here.
fn setting(section: &str, key: &str, value: &str) -> Option<Vec<Value>> {
    if value.contains("${") || value.len() > LONGEST_VALUE || value.is_empty() {
        return None;
    }
    let exactly = |setting: Setting, value: &str| Some(vec![(setting, value.to_owned(), false)]);
    match (section, key) {
        ("sysctl", key) => {
            let (value, at_least) = bound(value);
            let setting = format!("sysctl {key}").parse().ok()?;
            (!value.is_empty()).then(|| vec![(setting, value.to_owned(), at_least)])
        }
        // The first governor that there is; the others are for machines without it.
        ("cpu", "governor") => exactly(Setting::Governor, value.split('|').next()?.trim()),
        ("cpu", "force_latency") => {
            // "cstate.id:1|3": a state, or else µs.
            let number = value.split('|').rev().find_map(|part| part.trim().parse::<u32>().ok())?;
            exactly(Setting::IdleLatency, &number.to_string())
        }
        ("vm", "transparent_hugepages" | "transparent_hugepage") => exactly(Setting::HugePages, value),
        _ => None,
    }
}

/// `>VALUE` raises only.
fn bound(value: &str) -> (&str, bool) {
    match value.strip_prefix('>') {
        Some(value) => (value.trim(), true),
        None => (value, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "\
[main]
summary=for tests
[cpu]
force_latency=1000
governor=schedutil|powersave
[sysctl]
vm.swappiness=10
kernel.sched_min_granularity_ns = 3000000
";
    const CHILD: &str = "\
#
# tuned configuration
#
[main]
include=parent, -absent

[variables]
thp=never

[cpu]
force_latency=cstate.id:1|3
governor=performance|ondemand
energy_perf_bias=performance

[vm]
transparent_hugepages=${thp}

[sysctl]
net.core.busy_read=50
net.core.rmem_max = >16777216
vm.swappiness=20
kernel.x=${f:exec:uname}

[bootloader]
cmdline_network_latency=skew_tick=1
";

    fn read(name: &str) -> Option<String> {
        match name {
            "child" => Some(CHILD.to_owned()),
            "parent" => Some(PARENT.to_owned()),
            "ring" => Some("[main]\ninclude=ring\n[sysctl]\nnet.b=1\n".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn a_profile_is_read_with_those_that_it_is_built_on() {
        let (profile, strange) = from_tuned("child", &mut read).expect("a profile");
        let all: Vec<String> = profile
            .values
            .iter()
            .map(|it| format!("{}{}{}", it.setting, if it.at_least { ">=" } else { "=" }, it.value))
            .collect();
        let expected = [
            "idle-latency=3",
            "governor=performance",
            "sysctl kernel.sched_min_granularity_ns=3000000",
            "sysctl net.core.busy_read=50",
            "sysctl net.core.rmem_max>=16777216",
            "sysctl vm.swappiness=20",
            "transparent-hugepages=never",
        ];
        assert_eq!(all, expected);
        let expected = [
            "[bootloader] cmdline_network_latency=skew_tick=1",
            "[cpu] energy_perf_bias=performance",
            "[sysctl] kernel.x=${f:exec:uname}",
        ];
        assert_eq!(strange, expected);
    }

    #[test]
    fn rings_of_includes_end_and_absent_profiles_are_named() {
        assert_eq!(from_tuned("ring", &mut read).expect("a profile").0.values.len(), 1);
        assert_eq!(from_tuned("none", &mut read), Err(TunedError::None("none".into())));
        let endless = |name: &str| Some(format!("[main]\ninclude={name}x\n"));
        assert!(matches!(from_tuned("x", &mut { endless }), Err(TunedError::Deep(_))));
        assert_eq!(from_tuned("a", &mut |_| Some(String::new())), Err(TunedError::Nothing("a".into())));
    }
}
