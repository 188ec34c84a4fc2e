//! Outcome of a program's sockets and datagrams.

use std::{fmt::Display, net::SocketAddr};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{Hindrance, Obstacle, Reason};

/// All that is known when a program has ended.
#[derive(Debug)]
pub struct Account {
    /// Interfaces that were bypassed.
    pub links: Vec<Link>,
    /// Programs that had the grant, one after the other.
    pub claims: Vec<Claim>,
    /// Sockets of programs that had none.
    pub outside: Vec<UngrantedSockets>,
    /// Number of further ones.
    pub outside_beyond: u32,
    /// Programs that asked for it and went through the kernel.
    pub refused: Vec<Refusal>,
    /// Counters of the steering program.
    pub steering: Steering,
    /// UDP datagrams that the kernel counted in this network namespace meanwhile, of all programs together.
    pub kernel: KernelCounted,
    /// Known obstacle for this program.
    pub obstacle: Option<Obstacle>,
    /// Interfaces that were asked for, or could have been, and stayed with the kernel.
    pub passed: Vec<Passed>,
}

/// The kernel's UDP counters beside the datagrams known to have passed through the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flatness {
    /// They counted next to nothing.
    Flat,
    /// They counted no more than that.
    Known,
    /// They counted more.
    Not,
    /// Sockets stayed with the kernel, which alone counts their datagrams.
    Unknown,
}

impl Account {
    /// Tolerance for other programs of the namespace: one in a hundred of the bypassed datagrams.
    pub fn flatness(&self) -> Flatness {
        // A program that had no answer has no records.
        let is_unrecorded = |it: &Refusal| matches!(it.why, Hindrance::Unanswered { .. } | Hindrance::Ended);
        if self.outside_beyond > 0
            || self.refused.iter().any(is_unrecorded)
            || self.sockets().any(|(_, socket)| socket.stays_with_the_kernel())
        {
            return Flatness::Unknown;
        }
        // Records that say more than XDP redirected excuse nothing.
        let are_changed = self.claims.iter().any(|claim| matches!(claim.agreement(), Agreement::TooMany { .. }));
        let trusted = |counted: Counted| if are_changed { Counted::default() } else { counted };
        let past = trusted(self.sum(|claim| claim.beyond.past, |socket| socket.past));
        let through = trusted(self.sum(|claim| claim.beyond.through, |socket| socket.through));
        let is_within = |known: Counted| {
            self.kernel.received <= known.received.saturating_add(past.received / 100)
                && self.kernel.sent <= known.sent.saturating_add(past.sent / 100)
        };
        match (is_within(Counted::default()), is_within(through)) {
            (true, _) => Flatness::Flat,
            (false, true) => Flatness::Known,
            (false, false) => Flatness::Not,
        }
    }

    /// Whether the kernel's counters stayed flat, as JSON says it; `None` where that is unknown.
    pub fn is_flat(&self) -> Option<bool> {
        match self.flatness() {
            Flatness::Flat | Flatness::Known => Some(true),
            Flatness::Not => Some(false),
            Flatness::Unknown => None,
        }
    }

    /// All sockets that have records of their own, with their programs.
    pub fn sockets(&self) -> impl Iterator<Item = (&Program, &Record)> {
        let claimed = self.claims.iter().map(|claim| (&claim.program, &claim.sockets));
        let outside = self.outside.iter().map(|outside| (&outside.program, &outside.sockets));
        claimed.chain(outside).flat_map(|(program, sockets)| sockets.iter().map(move |socket| (program, socket)))
    }

    /// Counts of all sockets of all programs.
    fn sum(&self, beyond: impl Fn(&Claim) -> Counted, of: impl Fn(&Record) -> Counted) -> Counted {
        let sockets = self.claims.iter().flat_map(|claim| &claim.sockets).map(of);
        sockets.chain(self.claims.iter().map(beyond)).fold(Counted::default(), Counted::plus)
    }
}

/// Datagrams each way, with their bytes of payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counted {
    /// Datagrams in.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Datagrams out.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
}

impl Counted {
    /// Both together. A program may write any number to its page.
    pub fn plus(self, other: Self) -> Self {
        Self {
            received: self.received.saturating_add(other.received),
            received_bytes: self.received_bytes.saturating_add(other.received_bytes),
            sent: self.sent.saturating_add(other.sent),
            sent_bytes: self.sent_bytes.saturating_add(other.sent_bytes),
        }
    }
}

/// The record of a socket, as its process wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Record {
    /// The kernel's own number of the socket (`SO_COOKIE`).
    #[serde(skip)]
    pub cookie: u64,
    /// Descriptor when it was first looked at.
    pub descriptor: i32,
    /// The process, as it numbers itself.
    #[serde(rename = "pid")]
    pub process: u32,
    /// Past the kernel, or why not.
    #[serde(flatten, serialize_with = "as_fate")]
    #[schemars(with = "Shown")]
    pub fate: Result<(), Reason>,
    /// Whether it was closed.
    #[serde(skip)]
    pub closed: bool,
    /// Own end, where it has one.
    pub local: Option<SocketAddr>,
    /// The end that it is connected to.
    pub peer: Option<SocketAddr>,
    /// Bypassed datagrams.
    pub past: Counted,
    /// Datagrams through it.
    pub through: Counted,
    /// Bypassed datagrams received and dropped: at a full queue, or as it went back to the kernel.
    pub dropped: u64,
}

/// The path that a socket's datagrams took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Past the kernel.
    Past,
    /// It could have, and none of its datagrams did.
    NoneDid,
    /// It could have, sent none, and received from the kernel alone.
    NoneCame,
    /// It could have, and there were no datagrams.
    NoDatagrams,
    /// Past the kernel, until it was shut down.
    ShutDown,
    /// Past the kernel, until this came to pass.
    Left {
        /// The reason.
        why: Reason,
    },
    /// Through the kernel, for this reason.
    Through {
        /// The reason.
        why: Reason,
    },
}

impl Record {
    /// The path that its datagrams took.
    pub fn fate(&self) -> Fate {
        let nothing = Counted::default();
        match self.fate {
            Ok(()) if self.past != nothing => Fate::Past,
            Ok(()) if self.through.sent > 0 => Fate::NoneDid,
            Ok(()) if self.through != nothing => Fate::NoneCame,
            Ok(()) => Fate::NoDatagrams,
            Err(Reason::ShutDown) if self.past != nothing => Fate::ShutDown,
            Err(why) if self.past != nothing => Fate::Left { why },
            Err(why) => Fate::Through { why },
        }
    }

    /// Whether it is a UDP socket that was left to the kernel at some moment, and counted by it alone from then on.
    pub fn stays_with_the_kernel(&self) -> bool {
        // Nothing is known of a socket that was never bound, nor is there anything to know.
        let is_left = self.fate.is_err_and(|why| !matches!(why, Reason::NotBound | Reason::Tcp | Reason::NotUdp));
        is_left && self.fate() != Fate::ShutDown
    }
}

/// The fate of a socket, as JSON has it.
#[derive(Serialize, JsonSchema)]
struct Shown {
    /// Whether it is bypassed.
    bypassed: bool,
    /// Why not; null where it does.
    why_not: Option<String>,
}

fn as_fate<S: Serializer>(fate: &Result<(), Reason>, serializer: S) -> Result<S::Ok, S::Error> {
    Shown { bypassed: fate.is_ok(), why_not: fate.err().map(|why| why.to_string()) }.serialize(serializer)
}

fn as_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// A process that asked for the grant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Program {
    /// Number.
    #[serde(rename = "pid")]
    pub process: u32,
    /// Name, as the kernel has it (`comm`).
    #[serde(rename = "program")]
    pub name: String,
}

/// Activity of a program while it held the grant.
#[derive(Debug)]
pub struct Claim {
    /// The program.
    pub program: Program,
    /// Sockets, one by one.
    pub sockets: Vec<Record>,
    /// Sockets without records of their own.
    pub beyond: UnlistedSockets,
    /// Bypassed frames that no socket took: not whole, with a wrong checksum, or for one that was just closed.
    pub refused: u64,
    /// The AF_XDP sockets that it had.
    pub queues: Vec<Queue>,
    /// Counts of XDP and of the launcher.
    pub witnessed: TrustedCounts,
    /// Whether the count of XDP could be read before and after; otherwise it is 0, and tells nothing.
    pub is_counted: bool,
}

/// Packets of a program as XDP and the launcher counted them. The program cannot write these counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrustedCounts {
    /// Packets that XDP redirected to its queues.
    pub redirected: u64,
    /// Datagrams that waited at a fork, at `exec` or before stdio, and were put into the kernel's queue.
    pub handed_back: u64,
}

/// Comparison of a program's own records with the packets that XDP redirected to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Each packet is in a record.
    Agree,
    /// Packets are in no record: they waited when a socket or the program ended, or the records were changed.
    Missing {
        /// Their number.
        packets: u64,
    },
    /// The records say more than XDP redirected: they were changed.
    TooMany {
        /// Difference.
        packets: u64,
    },
    /// XDP's count could not be read.
    Unknown,
}

impl Claim {
    /// Compares its records with XDP's count.
    pub fn agreement(&self) -> Agreement {
        if !self.is_counted {
            return Agreement::Unknown;
        }
        let recorded = self.sockets.iter().map(|socket| socket.past.received.saturating_add(socket.dropped));
        let beyond = [self.beyond.past.received, self.beyond.dropped, self.refused];
        // A packet without a frame is among those that the kernel dropped.
        let lost = self.queues.iter().map(|queue| queue.lost.ring_full.saturating_add(queue.lost.dropped));
        let known = recorded.chain(beyond).chain(lost).fold(self.witnessed.handed_back, u64::saturating_add);
        match self.witnessed.redirected.abs_diff(known) {
            0 => Agreement::Agree,
            packets if known < self.witnessed.redirected => Agreement::Missing { packets },
            packets => Agreement::TooMany { packets },
        }
    }
}

/// Sockets of a program that have no records of their own, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnlistedSockets {
    /// Number of them.
    pub count: u32,
    /// Bypassed datagrams.
    pub past: Counted,
    /// Datagrams through it.
    pub through: Counted,
    /// Bypassed datagrams received and dropped.
    pub dropped: u64,
}

/// Sockets of a process, from when it had no grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UngrantedSockets {
    /// The process.
    pub program: Program,
    /// They stay with the kernel, each for its reason.
    pub sockets: Vec<Record>,
}

/// An AF_XDP socket of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Queue {
    /// The interface.
    pub interface: String,
    /// The queue, from 0.
    #[serde(rename = "queue")]
    pub number: u32,
    /// Whether the card read and wrote the program's memory itself.
    pub zero_copy: bool,
    /// Datagrams that the kernel kept.
    #[serde(flatten)]
    pub lost: NotHandedOver,
}

/// Packets of a queue that the kernel did not hand over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotHandedOver {
    /// The ring was full.
    pub ring_full: u64,
    /// There was no frame.
    pub no_frame: u64,
    /// For another reason.
    pub dropped: u64,
}

/// State of an interface of the grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Health {
    /// It can be used.
    Well,
    /// It is down.
    Down,
    /// It is not in this network namespace any more.
    Gone,
    /// Somebody has taken the steering program away.
    NoProgram,
}

/// A bypassed interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Link {
    /// Name.
    pub name: String,
    /// Packets that it counted in, of all programs together; `None` where it was removed meanwhile.
    /// Whether bypassed packets are among them is the driver's affair.
    pub received: Option<u64>,
    /// Packets that it counted out.
    pub sent: Option<u64>,
}

/// A program that was refused, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refusal {
    /// The program.
    #[serde(flatten)]
    pub program: Program,
    /// Why.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub why: Hindrance,
}

impl Refusal {
    /// Whether it says the same of another process of the program.
    pub fn is_like(&self, other: &Self) -> bool {
        self.program.name == other.program.name && self.why == other.why
    }
}

/// An interface that stays with the kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Passed {
    /// The interface.
    #[serde(rename = "name")]
    pub interface: String,
    /// Why.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub why: Hindrance,
}

/// UDP datagrams over IPv4 and IPv6 together (`InDatagrams`, `OutDatagrams`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KernelCounted {
    /// That it handed to sockets.
    pub received: u64,
    /// That it sent for sockets.
    pub sent: u64,
}

/// Packets that the steering program saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Steering {
    /// Bypassed.
    pub taken: u64,
    /// To the program's ports, for other addresses or peers.
    pub no_flow: u64,
    /// To the program's ports, on queues without a socket.
    pub no_socket: u64,
    /// To the program's ports, larger than a frame.
    pub too_large: u64,
}
