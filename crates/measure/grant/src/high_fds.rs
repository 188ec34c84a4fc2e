//! Descriptors of ours in a process whose program knows nothing of them: they are out of its way.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::OnceLock,
};

use rustix::{
    event::{EventfdFlags, eventfd},
    io::fcntl_dupfd_cloexec,
    process::{Resource, getrlimit},
};

/// How many numbers are kept for them.
const KEPT: u64 = 128;
/// Higher ones would make the kernel's tables of descriptors larger, which each `fork` copies.
const HIGHEST: u64 = 1024;

/// The lowest number that a descriptor of ours gets, as long as there are enough: at the end of what a program may have.
pub fn lowest() -> RawFd {
    static LOWEST: OnceLock<RawFd> = OnceLock::new();
    *LOWEST.get_or_init(lowest_now)
}

/// The same as things are now, which the program may still change.
fn lowest_now() -> RawFd {
    let most = getrlimit(Resource::Nofile).current.unwrap_or(HIGHEST).min(HIGHEST);
    most.saturating_sub(KEPT.min(most / 2)) as RawFd
}

/// Has the kernel make its table of descriptors large enough, to be called as long as the process has one thread: where it has several, the
/// first high number waits for a grace period of RCU, which takes seconds on a busy machine, and with it all that the program would send.
pub fn make_room() {
    if let Ok(fd) = eventfd(0, EventfdFlags::CLOEXEC) {
        // Without room it is made later.
        let _ = fcntl_dupfd_cloexec(&fd, lowest_now());
    }
}

/// Gives a descriptor such a number; where there is none it keeps the one that it has.
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
