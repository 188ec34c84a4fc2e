//! The resources with which a program bypasses the kernel: packet memory, AF_XDP sockets, a table of flows, and a page
//! shared with the launcher.
//!
//! A launcher has the privileges: it attaches the steering program ([`Attachment`]) and hands a [`Grant`] to one
//! process at a time. A process may also grant to itself.
//!
//! On the shared page ([`Control`]) the launcher announces changes in the kernel, and the program records its sockets.
#![allow(unsafe_code, reason = "memory that processes share, and system calls that rustix does not cover")]

pub mod control;
mod error;
mod grant;
mod handover;
pub mod high_fds;
pub mod launch;
mod mapping;
mod returned;
mod time_left;

pub use control::Control;
pub use error::{GrantError, NoGrant};
pub use grant::{Attachment, Grant, Granted};
pub use handover::claim;
pub use launch::Launcher;
pub use mapping::Shared;
pub use returned::Returned;
pub use time_left::is_launcher_silent;
