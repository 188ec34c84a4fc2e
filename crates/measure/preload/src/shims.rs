//! The names themselves.
//!
//! Each asks first whether its descriptor is a socket that goes past the kernel, and is else the system call that libc would make.

mod descriptors;
mod epoll;
mod fortified;
mod receive;
mod send;
mod sockets;
mod system;
mod wait;
