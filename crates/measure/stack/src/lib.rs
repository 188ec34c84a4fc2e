//! UDP sockets past the kernel.
#![allow(unsafe_code, reason = "memory that is shared with the kernel, and calls that rustix does not cover")]

pub mod control;
mod message;
mod stack;

pub use message::{Incoming, Outcome, Outgoing, Wait};
pub use stack::{Asleep, SocketId, Stack};
