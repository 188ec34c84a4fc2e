//! What `wireproof bypass` loads into a program that knows nothing of it: libc's names for sockets and descriptors, each of which goes
//! to the kernel as libc would, unless the descriptor is a UDP socket that is taken past it.
//!
//! Nothing but C names is visible from outside. Inside are raw system calls: no name of libc is called that is defined here. Where a
//! function of libc is a cancellation point, so is ours as long as it goes to the kernel.
//!
//! What of libc goes around these names is not seen: calls that libc makes to itself (stdio, the resolver, `posix_spawn`), and system calls
//! that a program makes by itself, as Go does; of those by libc's `syscall` only what closes descriptors, and what sends and receives messages, is.
//!
//! Past the kernel one thing differs from it: memory that is not there is a fault and no `EFAULT`. And where a signal handler jumps (`siglongjmp`)
//! out of a call that does not wait, just while it is in our own code, all goes to the kernel from then on.
#![allow(unsafe_code, reason = "libc's functions take pointers of whoever calls them")]

mod call;
mod messages;
mod shims;

use adoption::{corked, data, descriptors, epoll_control, epoll_wait, poll, process, reserved_fds, select, table};

/// Run by the loader, before the program.
#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;

extern "C" fn start() {
    adoption::begin();
}
