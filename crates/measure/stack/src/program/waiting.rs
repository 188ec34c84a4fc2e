//! poll(2) over descriptors of which some go past the kernel.

use std::{
    ffi::{c_int, c_short},
    ptr,
    time::Duration,
};

use crate::SocketId;
use libc::{pollfd, sigset_t, timespec};

use super::{
    call::{answer, raw_waiting},
    descriptors::{is_unbound, kind, live},
    inside::{inside, with_past},
    past::Past,
    patience::{Held, LOOKS, Patience, SIGNALS},
    process::table,
    table::Kind,
};

const READABLE: c_short = libc::POLLIN | libc::POLLRDNORM;
/// Descriptors of ours that are waited for beside the program's.
const BESIDE: usize = 8;
/// Descriptors that there is room for in a frame.
const FEW: usize = 248;

/// Whether one of them goes past the kernel, or is a set with such in it.
pub fn concerns_us(fds: &[pollfd]) -> bool {
    table().is_some() && fds.iter().filter(|one| is_ours(one.fd)).count() > 0
}

/// Whether one of them may go past the kernel once it is bound.
pub fn may_concern_us(fds: &[pollfd]) -> bool {
    fds.iter().any(|one| one.events & READABLE != 0 && kind(one.fd) == Some(Kind::Unknown) && is_unbound(one.fd))
}

fn is_ours(fd: c_int) -> bool {
    fd >= 0 && (live(fd).is_some() || kind(fd) == Some(Kind::Set))
}

/// poll, for as long as it may take; none where it is the kernel's after all.
///
/// Nothing in this frame has to be dropped while it waits in the kernel: it may be cancelled there.
pub fn poll(fds: &mut [pollfd], timeout: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
    let wait = with_past(|past| past.stack.wait())?;
    let patience = Patience::new(timeout, wait);
    loop {
        let ready = look(fds, mask);
        if ready != 0 || patience.is_over() {
            return Some(ready);
        }
        match patience.spins() {
            true if patience.holds_signals() => return Some(spin(fds, &patience, mask)),
            true => (0..LOOKS).any(|_| pump_finds(fds)),
            false => match sleep(fds, &patience, mask) {
                error @ ..0 => return Some(error),
                _ => true,
            },
        };
    }
}

/// What is ready now, past the kernel and in it.
fn look(fds: &mut [pollfd], mask: *const sigset_t) -> c_int {
    with_past(|past| past.stack.pump());
    let now = timespec { tv_sec: 0, tv_nsec: 0 };
    let place = [fds.as_mut_ptr() as usize, fds.len(), &raw const now as usize, mask as usize, SIGNALS];
    // SAFETY: the program's descriptors, a time of this frame and the program's mask.
    let asked = answer(unsafe { raw_waiting(libc::SYS_ppoll, place) });
    if asked < 0 {
        return -1;
    }
    with_past(|past| add(fds, past));
    fds.iter().filter(|one| one.revents != 0).count() as c_int
}

/// Adds to what the kernel said what came past it.
fn add(fds: &mut [pollfd], past: &Past) {
    for one in fds.iter_mut().filter(|one| one.fd >= 0 && one.events & READABLE != 0) {
        if one.revents != 0
            && let Some(id) = socket(one.fd)
        {
            past.stack.ask_soon(id);
        }
        if is_readable(one.fd, past) {
            one.revents |= one.events & READABLE;
        }
    }
}

fn socket(fd: c_int) -> Option<SocketId> {
    match kind(fd) {
        Some(Kind::Live(id)) => Some(SocketId(id)),
        _ => None,
    }
}

fn is_readable(fd: c_int, past: &Past) -> bool {
    match kind(fd) {
        Some(Kind::Live(id)) => past.stack.readable(SocketId(id)),
        Some(Kind::Set) => past.sets().is_ready(fd, &past.stack),
        _ => false,
    }
}

fn pump_finds(fds: &[pollfd]) -> bool {
    let asks = |one: &&pollfd| one.fd >= 0 && one.events & READABLE != 0;
    with_past(|past| fds.iter().filter(asks).any(|one| is_readable(one.fd, past))).unwrap_or(true)
}

/// Asks again and again, with signals held back but for the moments in which the kernel is asked.
fn spin(fds: &mut [pollfd], patience: &Patience, mask: *const sigset_t) -> c_int {
    let held = Held::new();
    let mask = if mask.is_null() { held.before() } else { mask };
    let ready = loop {
        (0..LOOKS).any(|_| pump_finds(fds));
        let ready = look(fds, mask);
        if ready != 0 || patience.is_over() {
            break ready;
        }
    };
    held.release();
    ready
}

/// Sleeps until the kernel has something, or something comes past it; less than nothing for an error.
fn sleep(fds: &mut [pollfd], patience: &Patience, mask: *const sigset_t) -> c_int {
    let mut few = [pollfd { fd: -1, events: 0, revents: 0 }; FEW + BESIDE];
    let room = match fds.len() {
        ..=FEW => &mut few[..],
        // SAFETY: given back by this function, unless it is cancelled, which costs the memory.
        many => unsafe {
            let start = libc::calloc(many + BESIDE, size_of::<pollfd>()).cast::<pollfd>();
            if start.is_null() {
                super::call::set_errno(libc::ENOMEM);
                return -1;
            }
            std::slice::from_raw_parts_mut(start, many + BESIDE)
        },
    };
    room[..fds.len()].copy_from_slice(fds);
    let result = sleep_beside(room, fds, patience, mask);
    if fds.len() > FEW {
        // SAFETY: what was taken above.
        unsafe { libc::free(room.as_mut_ptr().cast()) };
    }
    result
}

fn sleep_beside(room: &mut [pollfd], fds: &[pollfd], patience: &Patience, mask: *const sigset_t) -> c_int {
    let mut count = fds.len();
    let asleep = with_past(|past| {
        for fd in past.stack.descriptors().iter().take(BESIDE) {
            room[count] = pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
            count += 1;
        }
        past.fall_asleep()
    });
    // The last look: what comes from now on wakes us.
    let result = match pump_finds(fds) {
        true => 0,
        false => {
            let left = patience.left();
            let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
            let place = [room.as_mut_ptr() as usize, count, left as usize, mask as usize, SIGNALS];
            // SAFETY: descriptors and a time of the frames above, and the program's mask.
            answer(unsafe { raw_waiting(libc::SYS_ppoll, place) }) as c_int
        }
    };
    if let Some(asleep) = asleep {
        inside(|| Past::wake_up(asleep));
    }
    result
}
