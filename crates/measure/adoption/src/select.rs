//! select(2) by way of poll(2), as sets of descriptors have no room for more of them than the program's.

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
/// What makes a descriptor readable, writable and exceptional, by the kernel's `select`.
const KINDS: [(c_short, c_short); 3] = [
    (libc::POLLIN | libc::POLLRDNORM | libc::POLLRDBAND, libc::POLLHUP | libc::POLLERR),
    (libc::POLLOUT | libc::POLLWRNORM | libc::POLLWRBAND, libc::POLLERR),
    (libc::POLLPRI, 0),
];
/// What a call answers that is the kernel's.
const NOT_OURS: c_int = c_int::MIN;

/// The sets of a call: readable, writable and exceptional descriptors below `count`, a bit for each, as many words as that takes.
pub struct Selected<'a> {
    /// One more than the highest descriptor.
    pub count: usize,
    /// The words.
    pub sets: [&'a mut [u64]; 3],
}

/// As many descriptors as the kernel looks at, where a call names more than a set of libc's has room for: what its own table has room for.
pub fn within_table(count: usize) -> Option<usize> {
    if count <= libc::FD_SETSIZE {
        return Some(count);
    }
    let room = inside(|| own_file(c"/proc/self/status"))?;
    let room = room.lines().find_map(|line| line.strip_prefix("FDSize:"))?.trim().parse::<usize>().ok()?;
    Some(count.min(room))
}

impl Selected<'_> {
    /// Whether a descriptor that is to be read goes past the kernel, or may once another thread uses it.
    pub fn concern_us(&self) -> bool {
        let may_be_ours = |fd: c_int| is_ours(fd) || !is_single_threaded() && may_become_ours(fd);
        process::table().is_some()
            && self.members().filter(|(fd, asks)| asks & libc::POLLIN != 0 && may_be_ours(*fd)).count() > 0
    }

    /// Waits; none where it is for the kernel.
    pub fn select(&mut self, limit: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
        let chosen = with_room(self.members().count(), |room| {
            for (one, (fd, events)) in room.iter_mut().zip(self.members()) {
                *one = pollfd { fd, events, revents: 0 };
            }
            match wait_for(room, limit, mask) {
                None => NOT_OURS,
                Some(..0) => -1,
                Some(_) => self.choose(room),
            }
        });
        (chosen != NOT_OURS).then_some(chosen)
    }

    /// Leaves in the sets what is ready; how many there are.
    fn choose(&mut self, polled: &[pollfd]) -> c_int {
        if polled.iter().any(|one| one.revents & libc::POLLNVAL != 0) {
            set_errno(libc::EBADF);
            return -1;
        }
        let mut chosen = 0;
        for (set, (asks, tells)) in self.sets.iter_mut().zip(KINDS) {
            set.iter_mut().zip(0..).for_each(|(word, at)| {
                // What is behind the end is taken away too, as the kernel does it.
                let asked = std::mem::take(word);
                let first = polled.partition_point(|one| (one.fd as usize) < at * WORD);
                let those = polled[first..].iter().take_while(|one| (one.fd as usize) < (at + 1) * WORD);
                for one in those.filter(|one| one.revents & (asks | tells) != 0) {
                    *word |= asked & 1 << (one.fd as usize % WORD);
                }
                chosen += word.count_ones() as c_int;
            });
        }
        chosen
    }

    /// Descriptors in their order, each with what is asked of it.
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
