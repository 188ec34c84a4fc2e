//! select(2) by way of poll(2), as sets of descriptors have no room for more of them than the program's.

use std::{
    ffi::{c_int, c_short},
    slice,
    time::Duration,
};

use libc::{fd_set, pollfd, sigset_t};

use crate::{call::set_errno, descriptors::live, process, waiting};

/// Descriptors that are looked at: as many as a set of libc's has room for. A program with larger ones of its own goes through the kernel.
const MOST: usize = 1024;
const WORD: usize = u64::BITS as usize;
/// What makes a descriptor readable, writable and exceptional, by the kernel's `select`.
const KINDS: [(c_short, c_short); 3] = [
    (libc::POLLIN | libc::POLLRDNORM | libc::POLLRDBAND, libc::POLLHUP | libc::POLLERR),
    (libc::POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND, libc::POLLERR),
    (libc::POLLPRI, 0),
];

/// The sets of a call.
#[derive(Clone, Copy)]
pub(super) struct Selected {
    pub(super) count: c_int,
    pub(super) readable: *mut fd_set,
    pub(super) writable: *mut fd_set,
    pub(super) exceptional: *mut fd_set,
}

impl Selected {
    /// Whether a descriptor that is to be read goes past the kernel.
    pub(super) unsafe fn concern_us(&self) -> bool {
        // SAFETY: the caller's.
        let Some(words) = process::table().and_then(|_| unsafe { self.words(self.readable) }) else { return false };
        members(words, self.count).filter(|fd| live(*fd).is_some()).count() > 0
    }

    /// Waits; none where it is for the kernel.
    pub(super) unsafe fn select(&self, limit: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
        let sets = [self.readable, self.writable, self.exceptional];
        let mut room = [pollfd { fd: -1, events: 0, revents: 0 }; MOST];
        let mut count = 0;
        for (set, (asks, _)) in sets.into_iter().zip(KINDS) {
            // SAFETY: the caller's.
            for fd in unsafe { self.words(set) }.iter().flat_map(|words| members(words, self.count)) {
                let known = room[..count].iter().position(|one| one.fd == fd);
                let at = known.unwrap_or(count);
                let one = room.get_mut(at)?;
                one.fd = fd;
                one.events |= asks;
                count = count.max(at + 1);
            }
        }
        let polled = waiting::poll(&mut room[..count], limit, mask)?;
        if polled < 0 {
            return Some(-1);
        }
        if room[..count].iter().any(|one| one.revents & libc::POLLNVAL != 0) {
            set_errno(libc::EBADF);
            return Some(-1);
        }
        let mut chosen = 0;
        for (set, (asks, tells)) in sets.into_iter().zip(KINDS) {
            // SAFETY: the caller's.
            let Some(words) = (unsafe { self.words(set) }) else { continue };
            for fd in 0..self.count as usize {
                let bit = 1 << (fd % WORD);
                if words[fd / WORD] & bit == 0 {
                    continue;
                }
                let is_ready =
                    room[..count].iter().any(|one| one.fd == fd as c_int && one.revents & (asks | tells) != 0);
                match is_ready {
                    true => chosen += 1,
                    false => words[fd / WORD] &= !bit,
                }
            }
        }
        Some(chosen)
    }

    /// The words of a set that the call is about.
    unsafe fn words<'a>(&self, set: *mut fd_set) -> Option<&'a mut [u64]> {
        let count = usize::try_from(self.count).ok()?.div_ceil(WORD);
        // SAFETY: the caller's: a set has as many bits as descriptors are asked for.
        (!set.is_null()).then(|| unsafe { slice::from_raw_parts_mut(set.cast(), count) })
    }
}

fn members(words: &[u64], count: c_int) -> impl Iterator<Item = c_int> {
    (0..count).filter(|fd| words[*fd as usize / WORD] & 1 << (*fd as usize % WORD) != 0)
}
