//! Profiles: the values that a goal wants, each with its condition, its reason and its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InterfaceReading, Setting};
use crate::{plain::one_line, reading::Reading, toml_text::from_toml, units::BitRate};

/// No profile is longer, in bytes.
pub const LONGEST_PROFILE: u64 = 1 << 20;

/// More values than anybody sets.
const MOST_VALUES: usize = 1_000;
/// Word for bandwidth times delay.
const BDP: &str = "bdp";
/// Longest text of a profile.
const LONGEST_TEXT: usize = 1_000;

/// Values to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Meaning of `bdp` in the value of a kernel setting.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bdp: Option<Bdp>,
    /// The values, in the order in which they are shown.
    #[serde(default, rename = "value")]
    pub values: Vec<ProfileValue>,
}

crate::json!(Profile);

/// Bytes that a socket buffer needs: rate times round-trip time, up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bdp {
    /// Round-trip time in ms where nobody tells one.
    pub rtt_ms: u32,
    /// Rate where no link tells one.
    pub speed: BitRate,
    /// Buffer for each byte under way: the kernel's own structures take a part of it.
    pub share: u32,
    /// Largest buffers by rate, the lowest rate first.
    pub caps: Vec<BdpCap>,
}

/// Largest socket buffer up to a rate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BdpCap {
    /// The highest rate that it is for.
    pub up_to: BitRate,
    /// Bytes.
    pub bytes: u64,
}

impl Bdp {
    /// Bytes of a buffer for this rate and round-trip time.
    pub fn bytes(&self, speed: Option<BitRate>, rtt_s: Option<f64>) -> u64 {
        let speed = speed.unwrap_or(self.speed);
        let under_way = speed.0 as f64 / 8.0 * rtt_s.unwrap_or(f64::from(self.rtt_ms) / 1e3);
        let cap =
            self.caps.iter().find(|cap| speed <= cap.up_to).or(self.caps.last()).map_or(u64::MAX, |cap| cap.bytes);
        ((f64::from(self.share) * under_way).ceil() as u64).min(cap)
    }
}

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileValue {
    /// The setting.
    pub setting: Setting,
    /// The value as text; `max` for the most that a driver takes, `local` for the cores of a card's NUMA node, `all` for all cores, `local N`
    /// for as many queues as the node has cores, at most N; `bdp` in a number's place for bandwidth times delay.
    pub value: String,
    /// Whether a larger number is fine as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// The values that it replaces, where all others are fine as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
    /// Condition under which it is wanted.
    #[serde(default, skip_serializing_if = "Condition::is_empty")]
    pub when: Condition,
    /// The reason: a key of the report's texts, or the reason itself.
    pub why: String,
    /// Document and section that recommends it.
    pub source: String,
}

/// A condition of a value; all of its parts have to hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Condition {
    /// One of these drivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub driver: Vec<String>,
    /// None of these drivers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_driver: Vec<String>,
    /// A link of this speed or a faster one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_at_least: Option<BitRate>,
    /// A link slower than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed_below: Option<BitRate>,
    /// So many cores or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores_at_least: Option<usize>,
    /// A virtual interface, or a card.
    #[serde(default, rename = "virtual", skip_serializing_if = "Option::is_none")]
    pub is_virtual: Option<bool>,
}

/// A profile that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// Not TOML, an unknown key or a wrong value; the text has line and column.
    #[error("{0}")]
    Toml(String),
    /// Readable, but it says something that cannot be meant.
    #[error("{0}")]
    Meaning(String),
}

impl Profile {
    /// Reads a profile from TOML.
    ///
    /// # Errors
    /// The text is no profile.
    pub fn parse(toml: &str) -> Result<Self, ProfileError> {
        let profile: Self = from_toml(toml).map_err(|error| ProfileError::Toml(error.in_text))?;
        if profile.values.is_empty() || profile.values.len() > MOST_VALUES {
            return Err(ProfileError::Meaning(format!("a profile has 1 to {MOST_VALUES} [[value]] sections")));
        }
        for (number, value) in (1..).zip(&profile.values) {
            value.check().map_err(|why| ProfileError::Meaning(format!("[[value]] number {number}: {why}")))?;
            if value.has_bdp() && profile.bdp.is_none() {
                let why = format!("[[value]] number {number}: \"{BDP}\" needs a section [bdp]");
                return Err(ProfileError::Meaning(why));
            }
        }
        Ok(profile)
    }

    /// The same with a number in place of `bdp`.
    #[must_use]
    pub fn on_path(&self, speed: Option<BitRate>, rtt_s: Option<f64>) -> Self {
        let mut profile = self.clone();
        for value in profile.values.iter_mut().filter(|value| value.has_bdp()) {
            let bytes = self.bdp.as_ref().map_or(0, |bdp| bdp.bytes(speed, rtt_s)).to_string();
            let words = value.value.split_whitespace().map(|word| if word == BDP { bytes.as_str() } else { word });
            value.value = words.collect::<Vec<_>>().join(" ");
        }
        profile
    }

    /// Whether one of its values depends on bandwidth times delay.
    pub fn has_bdp(&self) -> bool {
        self.values.iter().any(ProfileValue::has_bdp)
    }

    /// Kernel settings that it names.
    pub fn sysctls(&self) -> Vec<String> {
        let key = |value: &ProfileValue| match &value.setting {
            Setting::Sysctl(key) => Some(key.clone()),
            _ => None,
        };
        self.values.iter().filter_map(key).collect()
    }

    /// Files of interfaces that it names.
    pub fn interface_settings(&self) -> Vec<String> {
        let name = |value: &ProfileValue| match &value.setting {
            Setting::Interface(name) => Some(name.clone()),
            _ => None,
        };
        self.values.iter().filter_map(name).collect()
    }
}

impl ProfileValue {
    fn has_bdp(&self) -> bool {
        matches!(self.setting, Setting::Sysctl(_)) && self.value.split_whitespace().any(|word| word == BDP)
    }

    /// The value to set in place of this one; `None` where it is as wanted.
    pub fn instead(&self, now: &str) -> Option<String> {
        let is_same = |other: &str| now.split_whitespace().eq(other.split_whitespace());
        let is_fine = !self.instead_of.is_empty() && !self.instead_of.iter().any(|other| is_same(other));
        let wanted = if self.at_least { raised(now, &self.value) } else { self.value.clone() };
        (!is_fine && !is_same(&wanted)).then_some(wanted)
    }

    /// Documents that recommend it, each with its section.
    pub fn documents(&self) -> Vec<(&str, &str)> {
        self.source.split("; ").map(|document| document.rsplit_once(", ").unwrap_or((document, ""))).collect()
    }

    /// The number that a driver shall have, which takes this many at most, beside this many near cores; `None` where neither tells it.
    pub fn of_driver(&self, most: Option<u32>, near: usize) -> Option<u32> {
        let wanted = match (self.value.as_str(), self.most_local()) {
            ("max", _) => return most,
            (_, Some(limit)) => limit.min(u32::try_from(near).unwrap_or(u32::MAX)),
            (text, None) => text.parse().ok()?,
        };
        // The most that the driver takes is what is meant by more.
        Some(if self.at_least { most.map_or(wanted, |most| most.min(wanted)) } else { wanted })
    }

    fn most_local(&self) -> Option<u32> {
        self.value.strip_prefix("local ")?.parse().ok()
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (key, text) in [("value", &self.value), ("why", &self.why), ("source", &self.source)] {
            if text.trim().is_empty() || text.len() > LONGEST_TEXT || one_line(text) != *text {
                return Err(format!("{key} is one line of 1 to {LONGEST_TEXT} bytes without control characters"));
            }
        }
        self.setting.check_tuned()?;
        let value = self.value.as_str();
        let number = || value.parse::<u32>().map(drop).map_err(|_| format!("\"{value}\" is no whole number"));
        match &self.setting {
            Setting::Mtu => number(),
            Setting::Driver(_) if value == "max" => Ok(()),
            Setting::Driver(number) if number.is_of_channels() && self.most_local().is_some() => Ok(()),
            Setting::Driver(_) | Setting::IdleLatency => number(),
            Setting::Offload(_) if !["on", "off"].contains(&value) => Err("an offload is \"on\" or \"off\"".to_owned()),
            Setting::Rps | Setting::Xps | Setting::Interrupts if !["local", "all"].contains(&value) => {
                Err("use \"local\" for the cores of the card's NUMA node, or \"all\"".to_owned())
            }
            Setting::Qdisc | Setting::Governor if !value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                Err(format!("\"{value}\" is no name of letters, digits and _"))
            }
            Setting::Sysctl(_) | Setting::Interface(_) if !value.chars().all(is_plain) => {
                Err(format!("\"{value}\" has other characters than letters, digits, spaces and . _ , : + -"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether it stands for itself in a file of `/etc` that persists a setting.
fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || " ._,:+-".contains(letter)
}

/// Numbers of which each is at least the wanted one; the wanted text where one is no number.
fn raised(now: &str, wanted: &str) -> String {
    let numbers = |text: &str| text.split_whitespace().map(str::parse::<u64>).collect::<Result<Vec<_>, _>>();
    match (numbers(now), numbers(wanted)) {
        (Ok(now), Ok(wanted)) if now.len() == wanted.len() => {
            now.iter().zip(&wanted).map(|(now, wanted)| now.max(wanted).to_string()).collect::<Vec<_>>().join(" ")
        }
        _ => wanted.to_owned(),
    }
}

impl Condition {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it holds for an interface of a machine with so many cores. A condition on a driver that could not be read, or on at least a
    /// speed that is not known, does not hold.
    pub fn holds_for(&self, interface: &InterfaceReading, cores: usize) -> bool {
        let driver = match &interface.driver {
            Reading::Known(driver) => Some(driver.as_str()),
            Reading::Absent => Some(""),
            Reading::Unreadable { .. } => None,
        };
        let is_one_of = |drivers: &[String]| driver.map(|driver| drivers.iter().any(|it| it == driver));
        (self.driver.is_empty() || is_one_of(&self.driver) == Some(true))
            && (self.not_driver.is_empty() || is_one_of(&self.not_driver) == Some(false))
            && self.speed_at_least.is_none_or(|least| interface.speed.is_some_and(|speed| speed >= least))
            && self.speed_below.is_none_or(|most| interface.speed.is_none_or(|speed| speed < most))
            && self.is_virtual.is_none_or(|wanted| wanted == interface.is_virtual)
            && self.cores_at_least.is_none_or(|least| cores >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "
        [[value]]
        setting = \"ring-rx\"
        value = \"max\"
        when = { not-driver = [\"veth\"], speed-at-least = \"10 Gbit/s\", virtual = false }
        why = \"rings\"
        source = \"a manual, section 1\"

        [[value]]
        setting = \"sysctl net.core.rmem_max\"
        value = \"67108864\"
        at-least = true
        why = \"buffers\"
        source = \"another one\"
    ";

    #[test]
    fn a_profile_is_read_with_its_conditions() {
        let profile = Profile::parse(TWO).expect("a profile");
        assert_eq!(profile.sysctls(), ["net.core.rmem_max"]);
        let fast = InterfaceReading {
            driver: "ixgbe".into(),
            speed: Some(BitRate(10_000_000_000)),
            ..InterfaceReading::default()
        };
        let when = &profile.values[0].when;
        assert!(when.holds_for(&fast, 1));
        assert!(!when.holds_for(&InterfaceReading { speed: None, ..fast.clone() }, 1));
        assert!(!when.holds_for(&InterfaceReading { is_virtual: true, ..fast.clone() }, 1));
        assert!(!when.holds_for(&InterfaceReading { driver: "veth".into(), ..fast.clone() }, 1));
        let driver = Reading::Unreadable { path: "ethtool -i".into(), why: "no rights".into() };
        assert!(!when.holds_for(&InterfaceReading { driver, ..fast.clone() }, 1), "it may be veth");
        let slow = Condition { speed_below: fast.speed, ..Condition::default() };
        let [known, unknown] = [fast.speed, None].map(|speed| InterfaceReading { speed, ..fast.clone() });
        assert_eq!([slow.holds_for(&known, 1), slow.holds_for(&unknown, 1)], [false, true], "a link that is down");
    }

    #[test]
    fn a_profile_sets_what_is_measured_and_nothing_else() {
        let others =
            ["sysctl kernel.core_pattern", "sysctl kernel.modprobe", "interface ifalias", "interface device/remove"];
        for other in others {
            let error = Profile::parse(&TWO.replace("sysctl net.core.rmem_max", other)).expect_err(other).to_string();
            assert!(error.contains("is not tuned; use "), "{error}");
        }
    }

    #[test]
    fn a_value_cannot_end_its_place_in_a_file_that_persists_it() {
        for value in [r#"a", RUN+="b"#, "a%k", "a$b", "|/x"] {
            let toml = TWO.replace("\"67108864\"", &format!("{value:?}"));
            let error = Profile::parse(&toml).expect_err(value).to_string();
            assert!(error.contains("other characters"), "{error}");
        }
    }

    #[test]
    fn bandwidth_times_delay_stands_in_a_value_up_to_the_limit_of_its_rate() {
        let toml = TWO.replace("67108864", "4096 131072 bdp");
        assert!(Profile::parse(&toml).is_err_and(|error| error.to_string().contains("[bdp]")));
        let bdp = "[bdp]
            rtt-ms = 100
            speed = \"10 Gbit/s\"
            share = 2
            caps = [{ up-to = \"10 Gbit/s\", bytes = 67108864 }, { up-to = \"40 Gbit/s\", bytes = 134217728 }]
        ";
        let profile = Profile::parse(&format!("{bdp}{toml}")).expect("a profile");
        let of = |speed: Option<u64>, rtt_s| profile.on_path(speed.map(BitRate), rtt_s).values[1].value.clone();
        assert_eq!(of(Some(1_000_000_000), None), "4096 131072 25000000");
        assert_eq!(of(Some(10_000_000_000), Some(0.001)), "4096 131072 2500000");
        assert_eq!(of(None, None), "4096 131072 67108864");
        assert!(profile.has_bdp() && !Profile::parse(TWO).expect("a profile").has_bdp());
        assert_eq!(of(Some(100_000_000_000), None), "4096 131072 134217728", "the last limit is for all faster ones");
    }

    #[test]
    fn a_value_is_set_in_place_of_those_that_it_replaces() {
        let of = |at_least, instead_of: &[&str], value: &str| ProfileValue {
            at_least,
            instead_of: instead_of.iter().map(|text| (*text).to_owned()).collect(),
            value: value.into(),
            ..Profile::parse(TWO).expect("a profile").values[1].clone()
        };
        assert_eq!(of(false, &[], "0").instead("1"), Some("0".into()));
        assert_eq!(of(true, &[], "4096 87380 9000").instead("4096\t131072\t600"), Some("4096 131072 9000".into()));
        assert_eq!(of(true, &[], "1").instead("2"), None);
        let fair = of(false, &["pfifo_fast"], "fq");
        assert_eq!((fair.instead("fq_codel"), fair.instead("pfifo_fast")), (None, Some("fq".into())));
        assert_eq!(of(true, &[], "local 8").of_driver(Some(4), 6), Some(4));
        assert_eq!(of(true, &[], "local 8").of_driver(Some(63), 32), Some(8));
        assert_eq!(of(false, &[], "max").of_driver(None, 4), None);
    }

    #[test]
    fn a_profile_that_cannot_be_meant_is_refused_with_its_place() {
        for (old, new, said) in [
            ("\"ring-rx\"", "\"rings\"", "is no setting"),
            ("\"max\"", "\"most\"", "no whole number"),
            ("\"rings\"", "\"\"", "why is one line"),
            ("at-least", "at-most", "unknown field"),
        ] {
            let error = Profile::parse(&TWO.replacen(old, new, 1)).expect_err(new).to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(Profile::parse("").is_err());
    }
}
