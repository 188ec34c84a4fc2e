//! The shims.
//!
//! Each handles a bypassed socket, and otherwise makes the system call that libc would make.

mod descriptors;
mod epoll;
mod exec;
mod fortified;
mod memory;
mod receive;
mod send;
mod sockets;
mod system;
mod wait;

pub(crate) use exec::find_all;
