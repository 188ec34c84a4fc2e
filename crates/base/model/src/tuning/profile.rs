//! Profiles: the values that a goal wants, each with its condition, its reason and its source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{InterfaceReading, Setting};
use crate::{plain::one_line, toml_text::from_toml, units::BitRate};

/// No profile is longer, in bytes.
pub const LONGEST_PROFILE: u64 = 1 << 20;

/// More values than anybody sets.
const MOST_VALUES: usize = 1_000;
/// Longest text of a profile.
const LONGEST_TEXT: usize = 1_000;

/// Values to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// The values, in the order in which they are shown.
    #[serde(default, rename = "value")]
    pub values: Vec<ProfileValue>,
}

crate::json!(Profile);

/// A value of a setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProfileValue {
    /// The setting.
    pub setting: Setting,
    /// The value as text; `max` for the most that a driver takes, `local` for the cores of a card's NUMA node, `all` for all cores.
    pub value: String,
    /// Whether a larger number is fine as well.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Where it is wanted.
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
        }
        Ok(profile)
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
    fn check(&self) -> Result<(), String> {
        for (key, text) in [("value", &self.value), ("why", &self.why), ("source", &self.source)] {
            if text.trim().is_empty() || text.len() > LONGEST_TEXT || one_line(text) != *text {
                return Err(format!("{key} is one line of 1 to {LONGEST_TEXT} bytes without control characters"));
            }
        }
        let value = self.value.as_str();
        let number = || value.parse::<u32>().map(drop).map_err(|_| format!("\"{value}\" is no whole number"));
        match &self.setting {
            Setting::Mtu => number(),
            Setting::Driver(_) if value == "max" => Ok(()),
            Setting::Driver(_) | Setting::IdleLatency => number(),
            Setting::Offload(_) if !["on", "off"].contains(&value) => Err("an offload is \"on\" or \"off\"".to_owned()),
            Setting::Rps | Setting::Xps | Setting::Interrupts if !["local", "all"].contains(&value) => {
                Err("use \"local\" for the cores of the card's NUMA node, or \"all\"".to_owned())
            }
            Setting::Qdisc | Setting::Governor if !value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') => {
                Err(format!("\"{value}\" is no name of letters, digits and _"))
            }
            _ => Ok(()),
        }
    }
}

impl Condition {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it holds for an interface of a machine with so many cores. A speed that is not known holds for no condition on it.
    pub fn holds_for(&self, interface: &InterfaceReading, cores: usize) -> bool {
        let speed = |is_fine: &dyn Fn(u64) -> bool| interface.speed.is_some_and(|speed| is_fine(speed.0));
        (self.driver.is_empty() || self.driver.contains(&interface.driver))
            && !self.not_driver.contains(&interface.driver)
            && self.speed_at_least.is_none_or(|least| speed(&|speed| speed >= least.0))
            && self.speed_below.is_none_or(|most| speed(&|speed| speed < most.0))
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
        assert!(!when.holds_for(&InterfaceReading { driver: "veth".into(), ..fast }, 1));
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
