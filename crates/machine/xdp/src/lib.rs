//! BPF programs, a folder each with the `.bpf.c` beside its loader, and AF_XDP sockets.
#![allow(unsafe_code, reason = "system calls and memory that is shared with the kernel")]

mod redirect;
pub mod socket;

pub use redirect::{Redirect, RedirectError};
