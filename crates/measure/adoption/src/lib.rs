//! The sockets of an unmodified program, adopted by descriptor numbers: their kinds, waiting calls, and epoll sets.
//! Only `preload` uses it.
//!
//! It makes raw system calls, and calls no libc function that `preload` defines. A module uses only modules above it in
//! this list.
#![allow(unsafe_code, reason = "descriptors, memory and system calls of the program")]

mod bypass;
pub mod call;
mod claim;
pub mod corked;
pub mod data;
pub mod descriptors;
pub mod epoll_control;
mod epoll_members;
mod epoll_sets;
pub mod epoll_wait;
mod fdinfo;
pub mod held;
mod inherited;
pub mod inside;
pub mod memory;
mod note;
pub mod poll;
pub mod process;
pub mod reap_closed;
pub mod reserved_fds;
pub mod select;
mod sleeping;
mod start;
pub mod table;

pub use bypass::Bypass;
pub use start::{before_exec, begin};
