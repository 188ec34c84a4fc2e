//! The library that `wireproof bypass` preloads into an unmodified program. It defines libc's names for sockets and
//! descriptors.
//!
//! A call goes to the kernel as libc's would, unless its descriptor is a bypassed UDP socket.
//!
//! Only C names are visible from outside. The code makes raw system calls and calls no libc function that it defines. A
//! shim of a cancellation point is one too when it calls the kernel.
//!
//! Calls inside libc (stdio, the resolver, `posix_spawn`) are not intercepted, nor system calls that a program makes
//! itself, as Go does. Of calls by libc's `syscall`, only those that close descriptors or send and receive messages
//! are.
//!
//! A bypassed call differs in one way: memory that was unmapped since an earlier call, and not by `munmap`, `mprotect`, `mmap` or `mremap`
//! of the program, causes a fault, not `EFAULT`; so does a message's header that another thread unmaps in the nanoseconds in which a call
//! reads it. If a signal handler jumps (`siglongjmp`) out of our code in a call that does not wait,
//! the kernel handles all sockets from then on.
#![allow(unsafe_code, reason = "libc's functions take pointers of whoever calls them")]

mod call;
mod messages;
mod shims;

use adoption::{
    corked, data, descriptors, epoll_control, epoll_wait, memory, poll, process, reserved_fds, select, table,
};

/// Called by the loader, before the program starts.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    shims::find_all();
    adoption::begin();
}
