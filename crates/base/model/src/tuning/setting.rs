//! Settings that a profile names.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::change::DriverNumber;

/// A setting, by the word that a profile has for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// `mtu`: MTU of an interface and of each device above and below it.
    Mtu,
    /// A number of a driver, like `ring-rx`.
    Driver(DriverNumber),
    /// `offload NAME`: an offload, on or off.
    Offload(String),
    /// `qdisc`: the discipline that everything sent goes through.
    Qdisc,
    /// `interface NAME`: a file below `/sys/class/net/IF`, one of a list.
    Interface(String),
    /// `rps`: cores that share the receive work of each queue.
    Rps,
    /// `xps`: cores that use each transmit queue.
    Xps,
    /// `interrupts`: cores of the interrupts of a card.
    Interrupts,
    /// `sysctl KEY`, a key of a list.
    Sysctl(String),
    /// `governor`: frequency governor of all cores.
    Governor,
    /// `idle-latency`: longest time that a core may need to wake, in µs.
    IdleLatency,
    /// `transparent-hugepages`.
    HugePages,
    /// `boot NAME`: a parameter of the kernel's command line, which takes a reboot.
    Boot(String),
}

/// A word that names no setting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Unknown.
    #[error(
        "\"{0}\" is no setting; use mtu, qdisc, rps, xps, interrupts, governor, idle-latency, transparent-hugepages, \
         sysctl KEY, offload NAME, interface NAME, boot NAME, or one of {known}", known = DriverNumber::WORDS.join(", ")
    )]
    Unknown(String),
    /// A name with letters that no such name has.
    #[error("\"{0}\" is no name of a setting: letters, digits and . _ - / alone, no empty part, and no \"..\"")]
    Name(String),
}

/// Beginnings of kernel settings that a profile may set.
const SYSCTLS: [&str; 14] = [
    "net.",
    "vm.dirty_",
    "vm.max_map_count",
    "vm.min_free_kbytes",
    "vm.nr_hugepages",
    "vm.stat_interval",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
    "kernel.hung_task_timeout_secs",
    "kernel.nmi_watchdog",
    "kernel.numa_balancing",
    "kernel.sched_",
    "kernel.timer_migration",
    "kernel.watchdog",
];

/// Files of an interface that a profile may set; one that ends with `/` stands for all below it.
const INTERFACE_FILES: [&str; 5] = ["gro_flush_timeout", "napi_defer_hard_irqs", "queues/", "threaded", "tx_queue_len"];

/// Longest name of a setting.
const LONGEST: usize = 200;

impl Setting {
    /// Whether it is set for each interface.
    pub fn is_of_interface(&self) -> bool {
        matches!(
            self,
            Self::Mtu
                | Self::Driver(_)
                | Self::Offload(_)
                | Self::Qdisc
                | Self::Interface(_)
                | Self::Rps
                | Self::Xps
                | Self::Interrupts
        )
    }

    /// Whether a profile may set it: some kernel settings name a program that root executes, and files of an interface lead through all
    /// of sysfs.
    pub(super) fn check_tuned(&self) -> Result<(), String> {
        let is_file = |name: &str, file: &str| name == file || file.ends_with('/') && name.starts_with(file);
        match self {
            Self::Sysctl(key) if !SYSCTLS.iter().any(|start| key.starts_with(start)) => {
                Err(format!("sysctl {key} is not tuned; use keys that begin with {}", SYSCTLS.join(", ")))
            }
            Self::Interface(name) if !INTERFACE_FILES.iter().any(|file| is_file(name, file)) => {
                Err(format!("interface {name} is not tuned; use {}", INTERFACE_FILES.join(", ")))
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for Setting {
    type Err = SettingError;

    fn from_str(text: &str) -> Result<Self, SettingError> {
        let named = |name: &str| {
            let is_fine = |part: &str| {
                !part.is_empty()
                    && part != ".."
                    && part != "."
                    && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
            };
            let fits = name.len() <= LONGEST && name.split('/').all(is_fine) && !name.contains("..");
            if fits { Ok(name.to_owned()) } else { Err(SettingError::Name(name.to_owned())) }
        };
        Ok(match text.split_once(' ') {
            Some(("sysctl", key)) => Self::Sysctl(named(key)?),
            Some(("offload", name)) => Self::Offload(named(name)?),
            Some(("interface", name)) => Self::Interface(named(name)?),
            Some(("boot", name)) => Self::Boot(named(name)?),
            _ => match text {
                "mtu" => Self::Mtu,
                "qdisc" => Self::Qdisc,
                "rps" => Self::Rps,
                "xps" => Self::Xps,
                "interrupts" => Self::Interrupts,
                "governor" => Self::Governor,
                "idle-latency" => Self::IdleLatency,
                "transparent-hugepages" => Self::HugePages,
                text => Self::Driver(text.parse().map_err(|_| SettingError::Unknown(text.to_owned()))?),
            },
        })
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mtu => f.write_str("mtu"),
            Self::Driver(number) => number.fmt(f),
            Self::Offload(name) => write!(f, "offload {name}"),
            Self::Qdisc => f.write_str("qdisc"),
            Self::Interface(name) => write!(f, "interface {name}"),
            Self::Rps => f.write_str("rps"),
            Self::Xps => f.write_str("xps"),
            Self::Interrupts => f.write_str("interrupts"),
            Self::Sysctl(key) => write!(f, "sysctl {key}"),
            Self::Governor => f.write_str("governor"),
            Self::IdleLatency => f.write_str("idle-latency"),
            Self::HugePages => f.write_str("transparent-hugepages"),
            Self::Boot(name) => write!(f, "boot {name}"),
        }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Setting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Setting {
    fn schema_name() -> Cow<'static, str> {
        "Setting".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_as_they_are_read_and_others_refused() {
        for text in [
            "mtu",
            "ring-rx",
            "offload tx-tcp-segmentation",
            "interface queues/rx-0/rps_cpus",
            "sysctl net.ipv4.conf.eth0/5.rp_filter",
            "boot isolcpus",
            "idle-latency",
            "transparent-hugepages",
        ] {
            assert_eq!(text.parse::<Setting>().map(|setting| setting.to_string()).as_deref(), Ok(text));
        }
        for text in ["ring", "sysctl ", "interface ../../x", "interface a//b", "sysctl net..x", "offload a b"] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
