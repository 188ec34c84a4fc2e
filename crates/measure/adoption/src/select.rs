//! select(2) by means of poll(2): a set of descriptors has no room for ours.

use std::{
    ffi::{c_int, c_short},
    time::Duration,
};

use libc::{pollfd, sigset_t};

use super::{
    call::{is_single_threaded, set_errno},
    fdinfo::own_file,
    inside::inside,
    poll::{is_ours, may_become_ours, wait_for, with_room},
    process,
};

const WORD: usize = u64::BITS as usize;
/// poll events for readable, writable and exceptional descriptors, as in the kernel's `select`.
const KINDS: [(c_short, c_short); 3] = [
    (libc::POLLIN | libc::POLLRDNORM | libc::POLLRDBAND, libc::POLLHUP | libc::POLLERR),
    (libc::POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND, libc::POLLERR),
    (libc::POLLPRI, 0),
];
/// Result of a call that the kernel handles.
const NOT_OURS: c_int = c_int::MIN;

/// The sets of a call: readable, writable and exceptional descriptors below `count`, one bit each.
pub struct Selected<'a> {
    /// One more than the highest descriptor.
    pub count: usize,
    /// The words.
    pub sets: [&'a mut [u64]; 3],
}

/// Number of descriptors that the kernel examines if a call names more than libc's sets hold: the size of its own
/// table.
pub fn within_table(count: usize) -> Option<usize> {
    if count <= libc::FD_SETSIZE {
        return Some(count);
    }
    let room = inside(|| own_file(c"/proc/self/status"))?;
    let room = room.lines().find_map(|line| line.strip_prefix("FDSize:"))?.trim().parse::<usize>().ok()?;
    Some(count.min(room))
}

impl Selected<'_> {
    /// Whether a descriptor to read is bypassed, or may be once another thread uses it.
    pub fn concern_us(&self) -> bool {
        let may_be_ours = |fd: c_int| is_ours(fd) || !is_single_threaded() && may_become_ours(fd);
        process::table().is_some()
            && self.members().filter(|(fd, asks)| asks & libc::POLLIN != 0 && may_be_ours(*fd)).count() > 0
    }

    /// Waits; `None` if the kernel handles it.
    pub fn select(&mut self, limit: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
        let chosen = with_room(self.members().count(), |room| {
            for (one, (fd, events)) in room.iter_mut().zip(self.members()) {
                *one = pollfd { fd, events, revents: 0 };
            }
            let waits = limit != Some(Duration::ZERO);
            // Another thread may close one while this one waits, which is no error then.
            let at_first =
                if waits && !is_single_threaded() { wait_for(room, Some(Duration::ZERO), mask) } else { None };
            let (ready, is_later) = match at_first {
                None | Some(0) => (wait_for(room, limit, mask), at_first.is_some()),
                ready => (ready, false),
            };
            match ready {
                None => NOT_OURS,
                Some(..0) => -1,
                Some(_) => self.choose(room, is_later),
            }
        });
        (chosen != NOT_OURS).then_some(chosen)
    }

    /// Reduces the sets to the ready descriptors, and to those that were closed after a first look; returns their number.
    fn choose(&mut self, polled: &[pollfd], is_later: bool) -> c_int {
        if !is_later && polled.iter().any(|one| one.revents & libc::POLLNVAL != 0) {
            set_errno(libc::EBADF);
            return -1;
        }
        let mut chosen = 0;
        for (set, (asks, tells)) in self.sets.iter_mut().zip(KINDS) {
            set.iter_mut().zip(0..).for_each(|(word, at)| {
                // Bits beyond the end are cleared too, as in the kernel.
                let asked = std::mem::take(word);
                let first = polled.partition_point(|one| (one.fd as usize) < at * WORD);
                let those = polled[first..].iter().take_while(|one| (one.fd as usize) < (at + 1) * WORD);
                for one in those.filter(|one| one.revents & (asks | tells | libc::POLLNVAL) != 0) {
                    *word |= asked & 1 << (one.fd as usize % WORD);
                }
                chosen += word.count_ones() as c_int;
            });
        }
        chosen
    }

    /// Descriptors in order, with the requested events.
    fn members(&self) -> impl Iterator<Item = (c_int, c_short)> {
        let word = |set: &[u64], at: usize| set.get(at).copied().unwrap_or(0);
        (0..self.count.div_ceil(WORD)).flat_map(move |at| {
            let words = [0, 1, 2].map(|kind| word(self.sets[kind], at));
            let all = words.iter().fold(0, |all, word| all | word);
            let end = self.count - at * WORD;
            (0..WORD.min(end)).filter(move |bit| all >> bit & 1 != 0).map(move |bit| {
                let asks = words.iter().zip(KINDS).filter(|(word, _)| **word >> bit & 1 != 0);
                ((at * WORD + bit) as c_int, asks.fold(0, |events, (_, (asks, _))| events | asks))
            })
        })
    }
}
