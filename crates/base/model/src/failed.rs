//! Kinds of failed client transactions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Transactions that failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// In which way.
    pub kind: FailureKind,
    /// Number of them.
    pub count: u64,
}

/// Ways for a transaction to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// The connection was refused (ECONNREFUSED).
    Refused,
    /// No port was free for another connection (EADDRNOTAVAIL).
    NoPort,
    /// No file descriptor was free for another connection (EMFILE, ENFILE).
    NoDescriptor,
    /// The connection was reset (ECONNRESET, EPIPE).
    Reset,
    /// The server closed the connection before its response was whole.
    Closed,
    /// The response was not whole, or the connection not established, after the timeout.
    Timeout,
    /// The response was none, or another one than was asked for.
    Wrong,
    /// Any other error of a socket.
    Other,
}

impl FailureKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Refused,
        Self::NoPort,
        Self::NoDescriptor,
        Self::Reset,
        Self::Closed,
        Self::Timeout,
        Self::Wrong,
        Self::Other,
    ];
}
