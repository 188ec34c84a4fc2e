//! The vocabulary of `bypass`: the account of a program's sockets, and why something stays with the kernel.
//!
//! Texts in the user's language are found by the serde names of these values; `Display` is what errors and JSON say.

mod account;
mod reason;

use std::path::PathBuf;

use serde::Serialize;

pub use account::{
    Account, Agreement, Claim, Counted, Fate, Flatness, Health, KernelCounted, Link, NotHandedOver, Passed, Program,
    Queue, Record, Refusal, Steering, TrustedCounts, UngrantedSockets, UnlistedSockets,
};
pub use reason::Reason;

use crate::choice::choice;

choice!(
    /// Way in which a call waits. The environment of a program says it by its word.
    #[derive(Default)]
    Wait, "a way to wait", {
        /// It asks again and again.
        Spin = "spin",
        /// It sleeps.
        Sleep = "sleep",
        /// It asks for 50 µs, and then sleeps.
        #[default]
        Auto = "auto",
    }
);

impl Wait {
    /// The mode of a word; the default for an unknown word.
    pub fn of(word: &str) -> Self {
        word.parse().unwrap_or_default()
    }
}

/// Why an interface stays with the kernel, or a program is given no queues.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Hindrance {
    /// Nobody named it, and it is the way to the default route or to the caller.
    #[error(
        "the default route or this session goes through it, and taking it may interrupt them for a moment; name it with --dev to take it"
    )]
    Uplink,
    /// It has no Ethernet addresses.
    #[error("it is no Ethernet interface")]
    NoEthernet,
    /// Its driver has no native XDP (a bridge, for example).
    #[error(
        "the driver of {interface} has no native XDP, by which sockets go past the kernel; its ports or lower interfaces may have it"
    )]
    NoXdp {
        /// The interface.
        interface: String,
    },
    /// Somebody else's XDP program is there.
    #[error(
        "{interface} already has an XDP program, which was left as it is; see `ip link show {interface}`, and stop what attached it or \
         choose another interface"
    )]
    OtherProgram {
        /// The interface.
        interface: String,
    },
    /// Another launcher, or another program, has a queue; or a program whose launcher was killed has not given it up yet.
    #[error(
        "queue {queue} of interface {interface} is held by another program (AF_XDP); it is free once that has ended, or has seen that its launcher did"
    )]
    Held {
        /// The interface.
        interface: String,
        /// The queue, from 0.
        queue: u32,
    },
    /// Nothing is left to be granted.
    #[error("each interface that was bypassed is gone, or has lost wireproof's XDP program")]
    AllGone,
    /// A process from elsewhere asks for queues.
    #[error("it is no program that this launcher started")]
    NotOurs,
    /// Another program has the queues.
    #[error("the queues are held by {program} (pid {pid}); one process at a time can bypass")]
    HeldBy {
        /// Name.
        program: String,
        /// Number.
        pid: u32,
    },
    /// It waited for an answer in vain: the launcher was stopped, or had no time.
    #[error("it had no answer for {seconds} s, as where wireproof bypass is stopped")]
    Unanswered {
        /// Time that it waited.
        seconds: u64,
    },
    /// It ended while it waited.
    #[error("it ended before it was answered")]
    Ended,
    /// The grant could not be used there: an error.
    #[error("it could not use the queues that it was given: {why}")]
    Unusable {
        /// The error.
        why: String,
    },
    /// Another error.
    #[error("{why}")]
    Error {
        /// The error.
        why: String,
    },
}

/// Settings for busy polling that a card did not take; everything works without them. Each `why` is an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum NotSet {
    /// The kernel cannot poll.
    #[error("this kernel has no busy polling (CONFIG_NET_RX_BUSY_POLL): packets of {interface} come by interrupts")]
    NoPolling {
        /// The card's interface.
        interface: String,
    },
    /// Nothing is set on any card.
    #[error("cards stay as they are: {why}")]
    Nothing {
        /// Why.
        why: String,
    },
    /// A setting was refused.
    #[error("{why}; it goes on without")]
    Setting {
        /// Which, and why.
        why: String,
    },
    /// A rule was refused.
    #[error("{why}; packets of the program come by all queues of {interface}")]
    Rule {
        /// The card's interface.
        interface: String,
        /// Which, and why.
        why: String,
    },
    /// Something could not be given back.
    #[error("{why}")]
    GivenBack {
        /// What, and why.
        why: String,
    },
}

/// A program that no library can be put under.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} {kind}; its sockets go through the kernel", program.display())]
pub struct Obstacle {
    /// The file.
    pub program: PathBuf,
    /// Why.
    pub kind: Kind,
}

/// The obstacle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It has no libraries.
    #[error("is linked statically, so that no library can be put under its calls")]
    Static,
    /// It is of the Go compiler.
    #[error("is a Go program, which calls the kernel by itself and not through the C library")]
    Go,
    /// It takes another user's or group's rights when it starts.
    #[error(
        "takes another user's rights when it starts (set-user-ID, set-group-ID), and the loader then takes no library from outside \
         (ld.so(8), secure-execution mode)"
    )]
    SetId,
    /// It is for another machine, or of 32 bits.
    #[error("is for another kind of machine, or of 32 bits; the library is of 64")]
    OtherMachine,
    /// It has another C library.
    #[error("has another C library (musl); the library is for glibc")]
    OtherLibc,
}
