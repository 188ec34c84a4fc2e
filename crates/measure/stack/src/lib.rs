//! UDP sockets that bypass the kernel: an interface's queues deliver frames into the program's memory and send from it.
//!
//! [`Stack`] uses a grant. Its core handles frames, flows and queues, and receives the time and the kernel's answers.
//!
//! Around the core are a lock, the system calls, and one place where calls wait.
#![allow(unsafe_code, reason = "system calls on descriptors of a program, and memory that a child finds wiped")]

mod ancillary;
mod calls;
mod classify;
mod core;
mod kernel_answers;
mod message;
pub mod patience;
mod sockaddr;
mod socket_options;
mod stack;
pub mod system_call;
mod ticks;
pub mod wipe_on_fork;

pub use calls::{Same, cookie, has_same, inode, is_nonblocking, is_socket};
pub use classify::{Class, classify, is_v6, note, port};
pub use message::{DO_NOT_WAIT, Incoming, Lent, Outcome, Outgoing, TAKEN_AWAY, TRUNCATED};
pub use stack::{Caller, SleepingThread, SocketId, Stack};
