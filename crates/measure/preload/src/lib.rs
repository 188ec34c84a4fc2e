//! What `wireproof bypass` loads into a program that knows nothing of it: libc's names for sockets and descriptors, each of which goes
//! to the kernel as libc would, unless the descriptor is a UDP socket that is taken past it.
//!
//! Nothing but C names is visible from outside. Inside are raw system calls: no name of libc is called that is defined here. Where a
//! function of libc is a cancellation point, so is ours as long as it goes to the kernel.
//!
//! What of libc goes around these names is not seen: calls that libc makes to itself (stdio, the resolver, `posix_spawn`), and system calls
//! that a program makes by itself, as Go does.
#![allow(unsafe_code, reason = "libc's functions take pointers of whoever calls them")]

mod call;
mod claim;
mod corked;
mod descriptors;
mod inside;
mod messages;
mod own;
mod past;
mod patience;
mod process;
mod sets;
mod shims;
mod table;
mod waiting;
mod waiting_sets;
