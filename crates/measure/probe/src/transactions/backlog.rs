//! The queue of connections that wait to be accepted.

use kernel::sysctl;

use crate::socket::BACKLOG;

/// Queue length after the kernel's cap (net.core.somaxconn).
pub(super) fn effective() -> Option<u32> {
    Some(BACKLOG.min(sysctl::read("net.core.somaxconn").ok()?.parse().ok()?))
}
