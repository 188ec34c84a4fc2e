//! UDP sockets of a program past the kernel: frames of its flows come from an interface's queues into memory of the program, and leave from there.
//!
//! A launcher, which has the rights, attaches the steering program ([`Attachment`]) and makes memory and AF_XDP sockets. A program has the use of
//! them by a [`Grant`]: in the same process, or claimed from the launcher's. Both look at one page of memory ([`Control`]), where the launcher
//! says what has changed in the kernel, and the program what it did with each of its sockets.
#![allow(unsafe_code, reason = "memory that processes share, and system calls that rustix does not cover")]

mod ancillary;
pub mod aside;
mod calls;
pub mod control;
mod engine;
mod error;

mod glance;
mod grant;
mod handover;
pub mod launch;
mod look;
mod mapping;
mod message;
mod name;
mod ports;
pub mod program;
mod stack;
mod ticks;
mod ways;
mod wiped;

pub use control::Control;
pub use error::{GrantError, NoGrant};
pub use grant::{Attachment, Grant, Granted};
pub use launch::Launcher;
pub use message::{DO_NOT_WAIT, Incoming, Outcome, Outgoing, TRUNCATED, Wait};
pub use model::bypass::{Hindrance, NotSet, Reason};
pub use stack::{Asleep, SocketId, Stack};
