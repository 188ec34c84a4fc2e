//! BPF programs, a folder each with the `.bpf.c` beside its loader, and AF_XDP sockets.
//!
//! Live frames need Linux 5.18. Nothing here outlives the process: programs are attached by file descriptors, and
//! nothing is pinned, except a router that is to be kept.
#![allow(unsafe_code, reason = "system calls, memory that is shared with the kernel, and plain values that maps hold")]

pub mod bare;
mod calls;
mod error;
mod inject;
pub mod interrupt;
mod load;
mod mapping;
mod pass;
pub mod receiver;
mod redirect;
pub mod router;
pub mod sender;
pub mod socket;
pub mod steer;

pub use error::{Error, Result};
pub use inject::Injector;
pub use pass::Pass;
pub use receiver::Receiver;
pub use redirect::{Redirect, RedirectError};
pub use router::Router;
pub use sender::Sender;
pub use steer::Steer;
