//! Descriptors of ours in a process whose program knows nothing of them: they are out of its way.

use std::{
    os::fd::{AsRawFd, OwnedFd, RawFd},
    sync::OnceLock,
};

use rustix::{
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
    *LOWEST.get_or_init(|| {
        let most = getrlimit(Resource::Nofile).current.unwrap_or(HIGHEST).min(HIGHEST);
        most.saturating_sub(KEPT.min(most / 2)) as RawFd
    })
}

/// Gives a descriptor such a number; where there is none it keeps the one that it has.
pub(crate) fn aside(fd: OwnedFd) -> OwnedFd {
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
    fn what_is_ours_is_above_what_is_the_programs() {
        let ours = aside(File::open("/dev/null").expect("there is one").into());
        let theirs = File::open("/dev/null").expect("there is one");
        assert!(ours.as_raw_fd() >= lowest() && lowest() > theirs.as_fd().as_raw_fd());
        let number = ours.as_raw_fd();
        assert_eq!(aside(ours).as_raw_fd(), number);
    }
}
