//! A check of a machine: its finding, and whether measuring suffers from it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::reading::{OrEmpty, Reading};

/// One check.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The thing that was looked at.
    pub subject: Subject,
    /// Severity.
    pub severity: Severity,
    /// Finding.
    pub read: Finding,
    /// Missing property; it identifies the cost and the remedy.
    pub lack: Option<Lack>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// As wanted.
    Ok,
    /// Worth knowing.
    Info,
    /// Results may suffer.
    Warn,
    /// Nothing can be measured.
    Fail,
}

impl Check {
    /// A finding that is as wanted.
    pub fn ok(subject: Subject, read: Finding) -> Self {
        Self { subject, severity: Severity::Ok, read, lack: None }
    }

    /// A finding that is not.
    pub fn not(subject: Subject, severity: Severity, read: Finding, lack: Lack) -> Self {
        Self { subject, severity, read, lack: Some(lack) }
    }

    /// An error, which is English.
    pub fn failed(subject: Subject, error: String, lack: Lack) -> Self {
        Self::not(subject, Severity::Fail, Finding::Failed { error }, lack)
    }

    /// A subject that cannot be read.
    pub fn unreadable(subject: Subject, path: &str, why: &str) -> Self {
        let read = Finding::Unreadable { path: path.to_owned(), why: why.to_owned() };
        Self { subject, severity: Severity::Warn, read, lack: None }
    }
}

/// A check. Its texts, findings and missing properties are found by serde names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The store.
    Store,
    /// Rights of the user.
    User,
    /// The user namespace in which an ordinary user becomes root.
    UserNamespace,
    /// The machine as a whole.
    Machine,
    /// Kernel.
    Kernel,
    /// Cores.
    Cores,
    /// Whether it has IPv6.
    Ipv6,
    /// Clock.
    Clock,
    /// Hypervisor.
    Hypervisor,
    /// One of its interfaces.
    Interface,
    /// A bed made to see whether that works.
    LabBed,
    /// Ports that are cabled together.
    Cabling,
    /// A way of sending packets.
    Engine,
}

/// Finding.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Finding {
    /// It failed.
    Failed {
        /// The error, which is English.
        error: String,
    },
    /// The store can be used.
    Store {
        /// Path.
        path: String,
    },
    /// The user is root.
    Root,
    /// The user is not, but may become it in a user namespace.
    NamespacesAllowed,
    /// The user is not, and may not become it, for this reason.
    NoNamespaces {
        /// The reason.
        why: String,
    },
    /// Kernel version and its machine.
    Kernel {
        /// Version.
        #[serde(with = "OrEmpty::<String>")]
        version: Reading<String>,
        /// The architecture.
        architecture: String,
    },
    /// Cores that can be used.
    Cores {
        /// Number of them.
        count: usize,
    },
    /// Whether there is IPv6.
    Ipv6 {
        /// True if there is.
        there: bool,
    },
    /// The clock.
    Clock {
        /// Source of its time.
        source: String,
        /// Time that one reading takes, in nanoseconds.
        cost: f64,
    },
    /// It cannot be read.
    Unreadable {
        /// The file or the question that failed.
        path: String,
        /// Why.
        why: String,
    },
    /// No hypervisor.
    NoHypervisor,
    /// A hypervisor.
    Hypervisor {
        /// Name.
        name: String,
    },
    /// An interface.
    Interface {
        /// Name.
        name: String,
        /// Driver.
        #[serde(with = "OrEmpty::<String>")]
        driver: Reading<String>,
        /// Speed in Mbit/s.
        speed_mbps: Option<u32>,
        /// MTU.
        #[serde(with = "OrEmpty::<u32>")]
        mtu: Reading<u32>,
        /// Operational state.
        state: String,
    },
    /// A lab bed was made and taken down.
    LabMade,
    /// An engine sent frames in a bed, and so many of them came.
    EngineTried {
        /// Name.
        engine: String,
        /// Frames that left.
        sent: u64,
        /// Frames that came.
        received: u64,
    },
    /// An engine cannot be had, for this reason.
    NoEngine {
        /// Name.
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
    NoLink {
        /// The port.
        port: String,
    },
    /// A port with a link to something that is no port of this machine.
    LinkElsewhere {
        /// The port.
        port: String,
        /// Speed in Mbit/s.
        speed_mbps: Option<u32>,
    },
    /// Two ports that hear each other.
    Cable {
        /// The ports.
        ports: [String; 2],
        /// The speed of each in Mbit/s.
        speeds_mbps: [Option<u32>; 2],
    },
    /// Two ports of which only one hears the other.
    OneWay {
        /// The port that is heard.
        from: String,
        /// The port that hears it.
        to: String,
        /// The speed of each in Mbit/s.
        speeds_mbps: [Option<u32>; 2],
    },
}

/// Something that is not as measuring would have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Lack {
    /// The store cannot be used.
    Store,
    /// Not root, but user namespaces are allowed.
    Root,
    /// Neither root nor user namespaces.
    RootAndUserNamespaces,
    /// Fewer than two cores.
    Cores,
    /// No IPv6.
    Ipv6,
    /// Reading the clock takes long.
    FastClock,
    /// The machine is a virtual one.
    BareMetal,
    /// No lab bed can be made.
    LabBed,
    /// A cable that carries one direction only.
    OtherDirection,
    /// A way of sending packets.
    Engine,
    /// Frames that a way of sending says it sent.
    EngineFrames,
}
