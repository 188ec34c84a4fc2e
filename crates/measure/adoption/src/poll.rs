//! poll(2) over descriptors with bypassed ones among them.

use std::{
    ffi::{c_int, c_short},
    ptr, slice,
    time::{Duration, Instant},
};

use libc::{pollfd, sigset_t, timespec};
use stack::{
    SocketId,
    patience::{BlockedSignals, NOW, Patience, SIGNALS},
};

use super::{
    bypass::Bypass,
    call::{answer, is_single_threaded, raw_waiting, set_errno},
    descriptors::is_unbound,
    epoll_control, epoll_sets,
    inside::inside,
    process::{self, kind},
    reap_closed::with_bypass,
    sleeping,
    table::Kind,
};

const READABLE: c_short = libc::POLLIN | libc::POLLRDNORM;
/// Our own descriptors that are polled beside the program's.
const BESIDE: usize = 8;
/// First wait in the kernel for a descriptor that another thread may bypass, until it is checked again. It doubles up
/// to a limit.
const AT_FIRST: Duration = Duration::from_millis(5);
const AT_MOST: Duration = Duration::from_millis(100);
/// Descriptors that fit in a frame.
const FEW: usize = 248;

/// Whether one of them is bypassed, or is a set with bypassed sockets.
fn concerns_us(fds: &[pollfd]) -> bool {
    process::table().is_some() && fds.iter().filter(|one| is_ours(one.fd)).count() > 0
}

/// Whether one of them may be bypassed once another thread uses it.
fn may_concern_us(fds: &[pollfd]) -> bool {
    fds.iter().any(|one| asks(one) && may_become_ours(one.fd))
}

pub(super) fn may_become_ours(fd: c_int) -> bool {
    match kind(fd) {
        Some(Kind::Unknown) => is_unbound(fd),
        Some(Kind::Refused | Kind::EmptySet) => true,
        _ => false,
    }
}

/// poll over descriptors of which one is bypassed, or may be once another thread uses it; `None` if the kernel handles
/// it.
pub fn wait_for(fds: &mut [pollfd], timeout: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
    process::table()?;
    if !concerns_us(fds) && (is_single_threaded() || timeout == Some(Duration::ZERO) || !may_concern_us(fds)) {
        return None;
    }
    let begun = Instant::now();
    let mut until_used = AT_FIRST;
    loop {
        let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
        if concerns_us(fds) {
            return poll(fds, left, mask);
        }
        let slice = if may_concern_us(fds) { Some(left.map_or(until_used, |left| left.min(until_used))) } else { left };
        until_used = AT_MOST.min(2 * until_used);
        let slice = slice.map(|time| timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() });
        let ready = wait(fds, slice, mask);
        let is_over = timeout.is_some_and(|timeout| begun.elapsed() >= timeout);
        // A set that has just gained a rider may be ready because of it; the other thread finishes first.
        if ready > 0 {
            inside(|| drop(epoll_sets::sets()));
        }
        if ready < 0 || is_over || ready > 0 && !concerns_us(fds) {
            return Some(ready);
        }
    }
}

/// Whether a descriptor is bypassed, or is a set with bypassed sockets.
pub(super) fn is_ours(fd: c_int) -> bool {
    if fd >= 0 {
        epoll_control::is_used(fd);
    }
    matches!(kind(fd), Some(Kind::Live(_) | Kind::Set))
}

/// poll with a timeout; `None` if the kernel handles it after all.
///
/// This frame holds nothing to drop during the wait: it may be cancelled there, or left by a jump.
fn poll(fds: &mut [pollfd], timeout: Option<Duration>, mask: *const sigset_t) -> Option<c_int> {
    let wait = with_bypass(|bypass| bypass.stack.wait())?;
    let patience = Patience::new(timeout, wait);
    let ready = collect(fds, mask);
    if ready != 0 || patience.is_over() {
        return Some(ready);
    }
    let held = BlockedSignals::back();
    let mask = held.mask(mask);
    let ready = loop {
        patience.looks(|| has_ready(fds));
        let slept = if patience.spins() { 0 } else { sleep(fds, &patience, mask) };
        let ready = if slept < 0 { slept } else { collect(fds, mask) };
        if ready != 0 || patience.is_over() {
            break ready;
        }
    };
    held.release();
    Some(ready)
}

/// Collects ready descriptors, bypassed and the kernel's. With one ready, the call's mask lets in no signal, as in the
/// kernel.
fn collect(fds: &mut [pollfd], mask: *const sigset_t) -> c_int {
    let is_ready = with_bypass(|bypass| bypass.stack.pump()).is_some() && has_ready(fds);
    let mask = if is_ready { ptr::null() } else { mask };
    let place = [fds.as_mut_ptr() as usize, fds.len(), &raw const NOW as usize, mask as usize, SIGNALS];
    // SAFETY: the program's descriptors, a time of zero and the program's mask.
    let asked = unsafe { raw_waiting(libc::SYS_ppoll, place) };
    if asked < 0 && !is_ready {
        return answer(asked) as c_int;
    }
    if asked < 0 {
        fds.iter_mut().for_each(|one| one.revents = 0);
    }
    with_bypass(|bypass| fds.iter_mut().filter(|one| asks(one)).for_each(|one| add(one, bypass)));
    fds.iter().filter(|one| one.revents != 0).count() as c_int
}

/// Adds bypassed events to the kernel's answer.
fn add(one: &mut pollfd, bypass: &Bypass) {
    let is_told = one.revents & READABLE != 0;
    match kind(one.fd) {
        Some(Kind::Live(id)) if one.revents != 0 => bypass.stack.ask_soon(SocketId(id)),
        Some(Kind::Set) if is_told => {
            // The rider makes it readable, too.
            let is_the_kernels =
                epoll_sets::sets().is_none_or(|sets| sets.is_the_kernels_too(one.fd, bypass.stack.descriptors()));
            one.revents &= if is_the_kernels { !0 } else { !READABLE };
        }
        _ => {}
    }
    if is_readable(one.fd, bypass) {
        one.revents |= one.events & READABLE;
    }
}

fn asks(one: &pollfd) -> bool {
    one.fd >= 0 && one.events & READABLE != 0
}

fn is_readable(fd: c_int, bypass: &Bypass) -> bool {
    match kind(fd) {
        Some(Kind::Live(id)) => bypass.stack.readable(SocketId(id)),
        Some(Kind::Set) => epoll_sets::sets().is_some_and(|sets| sets.is_ready(fd, &bypass.stack)),
        _ => false,
    }
}

/// Whether a bypassed descriptor is ready, or is no longer bypassed.
fn has_ready(fds: &[pollfd]) -> bool {
    with_bypass(|bypass| fds.iter().any(|one| asks(one) && is_readable(one.fd, bypass))).unwrap_or(true)
}

/// Sleeps until an event of the kernel or a bypassed arrival; negative on an error.
fn sleep(fds: &[pollfd], patience: &Patience, mask: *const sigset_t) -> c_int {
    with_room(fds.len() + BESIDE, |room| {
        room[..fds.len()].copy_from_slice(fds);
        let mut count = fds.len();
        with_bypass(|bypass| {
            for (place, fd) in room[count..].iter_mut().zip(bypass.stack.descriptors()) {
                *place = pollfd { fd: *fd, events: libc::POLLIN, revents: 0 };
                count += 1;
            }
        });
        sleeping::fall_asleep();
        // The last check: later arrivals wake us.
        let result = match has_ready(fds) {
            true => 0,
            false => wait(&mut room[..count], patience.left(), mask),
        };
        sleeping::wake_up();
        result
    })
}

fn wait(fds: &mut [pollfd], left: Option<timespec>, mask: *const sigset_t) -> c_int {
    let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
    let place = [fds.as_mut_ptr() as usize, fds.len(), left as usize, mask as usize, SIGNALS];
    // SAFETY: descriptors and a time of the frames above, and the program's mask.
    answer(unsafe { raw_waiting(libc::SYS_ppoll, place) }) as c_int
}

/// A buffer for `count` descriptors, on the stack for a few; -1 without memory. A cancelled call leaks it.
pub(super) fn with_room(count: usize, work: impl FnOnce(&mut [pollfd]) -> c_int) -> c_int {
    let mut few = [pollfd { fd: -1, events: 0, revents: 0 }; FEW + BESIDE];
    if count <= few.len() {
        return work(&mut few[..count]);
    }
    // SAFETY: zeros are valid descriptors, in the requested number.
    let many = unsafe { libc::calloc(count, size_of::<pollfd>()) }.cast::<pollfd>();
    if many.is_null() {
        set_errno(libc::ENOMEM);
        return -1;
    }
    // SAFETY: the memory allocated above, until it is freed.
    unsafe {
        let result = work(slice::from_raw_parts_mut(many, count));
        libc::free(many.cast());
        result
    }
}
