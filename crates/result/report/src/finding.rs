//! What the doctor looks at, and what it found there.

use crate::{lang::Lang, texts::Texts};

/// Something that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The store.
    Store,
    /// Who runs the program.
    User,
    /// What an ordinary user becomes root in.
    UserNamespace,
    /// The machine as a whole.
    Machine,
    /// Its kernel.
    Kernel,
    /// Its cores.
    Cores,
    /// Whether it has IPv6.
    Ipv6,
    /// Its clock.
    Clock,
    /// What it may be a guest of.
    Hypervisor,
    /// One of its interfaces.
    Interface,
    /// A bed made to see whether that works.
    LabBed,
    /// Which ports are cabled together.
    Cabling,
    /// A way of sending packets.
    Engine,
}

impl Subject {
    /// Its name.
    pub fn text(self, lang: Lang) -> String {
        let t = Texts::of(lang);
        match self {
            Self::Store => t.get("finding-store"),
            Self::User => t.get("finding-user"),
            Self::UserNamespace => t.get("finding-user-namespace"),
            Self::Machine => t.get("finding-machine"),
            Self::Kernel => t.get("finding-kernel"),
            Self::Cores => t.get("finding-cores"),
            Self::Ipv6 => t.get("finding-ipv6"),
            Self::Clock => t.get("finding-clock"),
            Self::Hypervisor => t.get("finding-hypervisor"),
            Self::Interface => t.get("finding-interface"),
            Self::LabBed => t.get("finding-lab-bed"),
            Self::Cabling => t.get("finding-cabling"),
            Self::Engine => t.get("finding-engine"),
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A path, a name, or an error in words: the same in every language.
    Words(String),
    /// The user is root.
    Root,
    /// The user is not, but may become it in a user namespace.
    NamespacesAllowed,
    /// The user is not, and may not become it, for this reason.
    NoNamespaces(String),
    /// Version of the kernel, and what it runs on.
    Kernel {
        /// Its version.
        version: String,
        /// The architecture.
        architecture: String,
    },
    /// This many cores can be used.
    Cores(usize),
    /// Whether there is IPv6.
    Ipv6(bool),
    /// The clock.
    Clock {
        /// Where it takes the time from.
        source: String,
        /// What reading it takes, in nanoseconds.
        cost: f64,
    },
    /// No hypervisor.
    NoHypervisor,
    /// An interface.
    Interface {
        /// Its name.
        name: String,
        /// Its driver.
        driver: String,
        /// Its speed in Mbit/s.
        speed_mbps: Option<u32>,
        /// Its MTU.
        mtu: u32,
        /// Its operational state.
        state: String,
    },
    /// A lab bed was made and taken down.
    LabMade,
    /// An engine sent frames in a bed, and so many of them came.
    EngineTried {
        /// Its name.
        engine: String,
        /// Frames that left.
        sent: u64,
        /// Frames that came.
        received: u64,
    },
    /// An engine cannot be had, for this reason.
    NoEngine {
        /// Its name.
        engine: String,
        /// Why.
        why: String,
    },
    /// There is no port to look for a cable at.
    NoPorts,
    /// A port was left alone, for this reason.
    LeftAlone {
        /// The port.
        port: String,
        /// Why.
        why: String,
    },
    /// A port without a link.
    NoLink(String),
    /// A port with a link.
    Cable {
        /// The port.
        port: String,
        /// Its speed in Mbit/s.
        speed_mbps: Option<u32>,
        /// The ports that it hears.
        hears: Vec<String>,
        /// The ports that hear it.
        heard_by: Vec<String>,
    },
}

impl Finding {
    /// In words.
    pub fn text(&self, lang: Lang) -> String {
        let t = Texts::of(lang);
        match self {
            Self::Words(words) => words.clone(),
            Self::Root => t.get("finding-is-root"),
            Self::NamespacesAllowed => t.get("finding-namespaces-allowed"),
            Self::NoNamespaces(why) => t.with("finding-no-namespaces", &[("why", why)]),
            Self::Kernel { version, architecture } => {
                t.with("finding-kernel-read", &[("version", version), ("architecture", architecture)])
            }
            Self::Cores(count) => t.with("finding-cores-read", &[("count", count)]),
            Self::Ipv6(true) => t.get("finding-ipv6-there"),
            Self::Ipv6(false) => t.get("finding-ipv6-missing"),
            Self::Clock { source, cost } => {
                t.with("finding-clock-read", &[("source", source), ("cost", &format!("{cost:.0}"))])
            }
            Self::NoHypervisor => t.get("finding-no-hypervisor"),
            Self::Interface { name, driver, speed_mbps, mtu, state } => {
                let speed = speed(*speed_mbps, t);
                let values: [(&str, &dyn std::fmt::Display); 5] =
                    [("name", name), ("driver", driver), ("speed", &speed), ("mtu", mtu), ("state", state)];
                t.with("finding-interface-read", &values)
            }
            Self::LabMade => t.get("finding-lab-made"),
            Self::EngineTried { engine, sent, received } => {
                t.with("finding-engine-tried", &[("engine", engine), ("sent", sent), ("received", received)])
            }
            Self::NoEngine { engine, why } => t.with("finding-no-engine", &[("engine", engine), ("why", why)]),
            Self::NoPorts => t.get("finding-no-ports"),
            Self::LeftAlone { port, why } => t.with("finding-left-alone", &[("port", port), ("why", why)]),
            Self::NoLink(port) => t.with("finding-no-link", &[("port", port)]),
            Self::Cable { port, speed_mbps, hears, heard_by } => {
                cable(port, &speed(*speed_mbps, t), &hears.join(", "), &heard_by.join(", "), t)
            }
        }
    }
}

fn speed(mbps: Option<u32>, t: &Texts) -> String {
    mbps.map_or_else(|| t.get("finding-speed-not-known"), |mbps| format!("{mbps} Mbit/s"))
}

fn cable(port: &str, speed: &str, hears: &str, heard_by: &str, t: &Texts) -> String {
    match (hears, heard_by) {
        ("", "") => t.with("finding-no-port-of-ours", &[("port", &port), ("speed", &speed)]),
        (other, "") => t.with("finding-hears", &[("port", &port), ("speed", &speed), ("other", &other)]),
        ("", other) => t.with("finding-is-heard", &[("port", &port), ("speed", &speed), ("other", &other)]),
        (other, _) => t.with("finding-cabled", &[("port", &port), ("speed", &speed), ("other", &other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_both_languages() {
        let cable = |hears: &[&str], heard_by: &[&str]| {
            let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let (hears, heard_by) = (names(hears), names(heard_by));
            Finding::Cable { port: "eth1".into(), speed_mbps: None, hears, heard_by }.text(Lang::Ja)
        };
        assert_eq!(cable(&["eth2"], &["eth2"]), "eth1: 速度不明、eth2 と接続");
        assert_eq!(cable(&["eth2"], &[]), "eth1: 速度不明、eth2 からは届くが、eth2 へは届かない");
        assert_eq!(cable(&[], &["eth2"]), "eth1: 速度不明、eth2 へは届くが、何も届かない");
        assert_eq!(cable(&[], &[]), "eth1: 速度不明、対向はこのマシンのポートではない");
        for finding in [Finding::NamespacesAllowed, Finding::Cores(2), Finding::Ipv6(true), Finding::NoPorts] {
            assert_ne!(finding.text(Lang::En), finding.text(Lang::Ja));
        }
        let tried = Finding::EngineTried { engine: "xsk".into(), sent: 200, received: 199 };
        assert_eq!(tried.text(Lang::En), "xsk: 200 frames sent, 199 received");
        assert_eq!(tried.text(Lang::Ja), "xsk: 送信 200 フレーム、受信 199 フレーム");
        let found = Finding::Clock { source: "tsc".into(), cost: 24.6 };
        assert_eq!(found.text(Lang::En), "tsc, 25 ns a reading");
        assert_ne!(Subject::LabBed.text(Lang::En), Subject::LabBed.text(Lang::Ja));
    }
}
