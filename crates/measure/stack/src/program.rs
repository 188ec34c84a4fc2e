//! The sockets of a program that knows nothing of what goes past the kernel, by the numbers of its descriptors: what each of them is, what it
//! waits for, and which epoll sets it keeps. `preload` lays libc's names over it, and nobody else uses it.
//!
//! Inside are raw system calls: no name of libc is called that `preload` defines.

mod asleep;
pub mod call;
mod claim;
pub mod corked;
pub mod descriptors;
pub(crate) mod family;
pub(crate) mod gone;
pub mod inside;
mod noted;
pub mod own;
mod past;
pub mod patience;
pub mod process;
pub mod receiving;
pub mod selected;
mod sets;
pub mod table;
pub mod waiting;
pub mod waiting_sets;
pub mod watched;
