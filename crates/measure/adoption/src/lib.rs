//! The sockets of an unmodified program, adopted by the numbers of its descriptors: the class of each, what waits for it, and the epoll sets that
//! have it. `preload` lays libc's names over it, and nobody else uses it.
//!
//! Inside are raw system calls: no name of libc is called that `preload` defines. A module uses only modules above it in this list.
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
mod inherited;
pub mod inside;
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
pub use start::begin;
