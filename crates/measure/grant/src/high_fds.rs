//! High numbers for our descriptors in an unmodified program, out of its way.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::OnceLock,
};

use rustix::{
    event::{EventfdFlags, eventfd},
    io::fcntl_dupfd_cloexec,
    process::{Resource, getrlimit},
};

/// Numbers reserved for them.
const KEPT: u64 = 128;
/// Higher ones would enlarge the kernel's descriptor tables, which each `fork` copies.
const HIGHEST: u64 = 1024;

/// Lowest number for our descriptors: near the end of the program's range.
pub fn lowest() -> RawFd {
    static LOWEST: OnceLock<RawFd> = OnceLock::new();
    *LOWEST.get_or_init(lowest_now)
}

/// The same as of now; the program may still change its limit.
fn lowest_now() -> RawFd {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(HIGHEST).min(HIGHEST);
    most.saturating_sub(KEPT.min(most / 2)) as RawFd
}

/// Enlarges the kernel's descriptor table; call it while the process has one thread.
///
/// With several threads, the first high number waits for an RCU grace period, which takes seconds on a busy machine and
/// blocks sending.
pub fn make_room() {
    if let Ok(fd) = eventfd(0, EventfdFlags::CLOEXEC) {
        // If this fails, the table grows later.
        let _ = fcntl_dupfd_cloexec(&fd, lowest_now());
    }
}

/// Moves a descriptor to such a number; without a free one it keeps its own.
pub fn high(fd: OwnedFd) -> OwnedFd {
    if fd.as_raw_fd() >= lowest() {
        return fd;
    }
    fcntl_dupfd_cloexec(&fd, lowest()).unwrap_or(fd)
}

#[cfg(test)]
mod tests {
    use std::{fs::File, os::fd::AsFd};

    use super::*;

    #[test]
    fn room_is_made_at_once() {
        make_room();
        let status = std::fs::read_to_string("/proc/self/status").expect("readable");
        let size = status.lines().find_map(|line| line.strip_prefix("FDSize:")?.trim().parse::<RawFd>().ok());
        assert!(size > Some(lowest_now()), "{size:?}");
    }

    #[test]
    fn what_is_ours_is_above_what_is_the_programs() {
        let ours = high(File::open("/dev/null").expect("there is one").into());
        let theirs = File::open("/dev/null").expect("there is one");
        assert!(ours.as_raw_fd() >= lowest() && lowest() > theirs.as_fd().as_raw_fd());
        let number = ours.as_raw_fd();
        assert_eq!(high(ours).as_raw_fd(), number);
    }
}
