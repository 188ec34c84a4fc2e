//! epoll_wait(2) on sets with bypassed sockets.

use std::{
    ffi::c_int,
    ptr,
    time::{Duration, Instant},
};

use libc::{epoll_event, sigset_t, timespec};
use stack::patience::{BlockedSignals, NOW, Patience, SIGNALS};

use super::{
    bypass::Bypass,
    call::{answer, raw, raw_waiting},
    epoll_control,
    epoll_sets::{self, Sets, is_readable, without_riders},
    memory::is_writable,
    process,
    reap_closed::with_bypass,
    sleeping,
};

/// Pause of a call that was woken by the rider of a related process that shares the set.
static NAP: timespec = timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// epoll_wait with the kernel's call as `kernel`, which receives the time left.
///
/// # Safety
/// Room for `most` events, if that is positive.
pub unsafe fn wait(
    set: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: Option<Duration>,
    mask: *const sigset_t,
    mut kernel: impl FnMut(Option<Duration>) -> c_int,
) -> c_int {
    if process::table().is_none() || most <= 0 || !is_writable(events) {
        return kernel(timeout);
    }
    let begun = Instant::now();
    let left = || timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
    loop {
        if epoll_control::concerns_us(set)
            // SAFETY: the caller's.
            && let Some(ready) = past_kernel(set, unsafe { std::slice::from_raw_parts_mut(events, most as usize) }, left(), mask)
        {
            return ready;
        }
        let from_kernel = kernel(left());
        // Another thread may have added a bypassed socket meanwhile, or a related process shares the set.
        let kept = match from_kernel {
            // SAFETY: events that the kernel has just written.
            1.. => stripped(set, unsafe { std::slice::from_raw_parts_mut(events, from_kernel as usize) }) as c_int,
            _ => return from_kernel,
        };
        if kept > 0 || timeout.is_some_and(|timeout| begun.elapsed() >= timeout) {
            return kept;
        }
        if !epoll_control::concerns_us(set) && nap(mask) < 0 {
            return -1;
        }
    }
}

fn stripped(set: c_int, from_kernel: &mut [epoll_event]) -> usize {
    let with_sets = |bypass: &Bypass| epoll_sets::sets().map(|mut sets| sets.strip(set, from_kernel, &bypass.stack));
    match with_bypass(with_sets).flatten() {
        Some(kept) => kept,
        None => without_riders(from_kernel),
    }
}

/// Pauses, with signals let in; negative if one arrived.
fn nap(mask: *const sigset_t) -> c_int {
    // SAFETY: no descriptors, a time and a mask.
    answer(unsafe { raw_waiting(libc::SYS_ppoll, [0, 0, &raw const NAP as usize, mask as usize, SIGNALS]) }) as c_int
}

/// epoll_wait on a set with bypassed sockets; `None` if the kernel handles it after all.
///
/// This frame holds nothing to drop during the wait: it may be cancelled there, or left by a jump.
fn past_kernel(
    set: c_int,
    events: &mut [epoll_event],
    timeout: Option<Duration>,
    mask: *const sigset_t,
) -> Option<c_int> {
    let wait = with_bypass(|bypass| bypass.stack.wait())?;
    let patience = Patience::new(timeout, wait);
    let ready = collect(set, events, &NOW, mask);
    if ready != 0 || patience.is_over() {
        return Some(ready);
    }
    let held = BlockedSignals::back();
    let mask = held.mask(mask);
    let ready = loop {
        patience.looks(|| is_ready(set));
        let ready = match patience.spins() {
            true => collect(set, events, &NOW, mask),
            false => sleep(set, events, &patience, mask),
        };
        if ready != 0 || patience.is_over() {
            break ready;
        }
        // Without a timeout, epoll does not report signals, but poll does.
        if patience.never_sleeps() && signalled(mask) {
            break -1;
        }
    };
    held.release();
    Some(ready)
}

fn signalled(mask: *const sigset_t) -> bool {
    // SAFETY: no descriptors, a time of zero and a mask.
    answer(unsafe { raw(libc::SYS_ppoll, [0, 0, &raw const NOW as usize, mask as usize, SIGNALS]) }) < 0
}

fn with_sets<T>(work: impl FnOnce(&mut Sets, &Bypass) -> T) -> Option<T> {
    with_bypass(|bypass| epoll_sets::sets().map(|mut sets| work(&mut sets, bypass))).flatten()
}

/// Whether a bypassed socket is ready, or the set is no longer bypassed.
fn is_ready(set: c_int) -> bool {
    with_sets(|sets, bypass| sets.is_ready(set, &bypass.stack)).unwrap_or(true)
}

/// Collects ready events, bypassed and the kernel's; the kernel may wait for `time`.
///
/// With an event ready, the call's mask lets in no signal, as in the kernel.
fn collect(set: c_int, events: &mut [epoll_event], time: *const timespec, mask: *const sigset_t) -> c_int {
    // With little room, both take turns to come first.
    let ours = with_sets(|sets, bypass| {
        bypass.stack.pump();
        let first = if sets.ours_first(set) { sets.add(set, events, 0, true, &bypass.stack) } else { 0 };
        (first, first > 0 || sets.is_ready(set, &bypass.stack))
    });
    let (before, is_ready) = ours.unwrap_or((0, false));
    let (time, mask) = if is_ready { (&raw const NOW, ptr::null()) } else { (time, mask) };
    let room = &mut events[before..];
    let from_kernel = match room.len() {
        0 => 0,
        count => {
            let place = [set as usize, room.as_mut_ptr() as usize, count, time as usize, mask as usize, SIGNALS];
            // SAFETY: the program's room for events, a time of the frames above and the program's mask.
            unsafe { raw_waiting(libc::SYS_epoll_pwait2, place) }
        }
    };
    if from_kernel < 0 && !is_ready {
        return answer(from_kernel) as c_int;
    }
    let from_kernel = from_kernel.max(0) as usize;
    let found = merge_events(set, events, before, from_kernel);
    if found > 0 || from_kernel == 0 || from_kernel < events.len() - before {
        return found;
    }
    // The rider has taken the only place. It comes last now.
    let place = [set as usize, events.as_mut_ptr() as usize, events.len(), &raw const NOW as usize, 0, SIGNALS];
    // SAFETY: the program's room for events, and a time of zero.
    let from_kernel = unsafe { raw(libc::SYS_epoll_pwait2, place) };
    merge_events(set, events, 0, from_kernel.max(0) as usize)
}

/// Number of the program's events: `before` bypassed ones, the kernel's behind them, and further bypassed ones with
/// room.
fn merge_events(set: c_int, events: &mut [epoll_event], before: usize, from_kernel: usize) -> c_int {
    let add = |sets: &mut Sets, bypass: &Bypass| {
        let stripped = sets.strip(set, &mut events[before..before + from_kernel], &bypass.stack);
        let kept = before + merged(events, before, stripped);
        sets.add(set, events, kept, before > 0, &bypass.stack) as c_int
    };
    match with_sets(add) {
        Some(ready) => ready,
        None => (before + without_riders(&mut events[before..before + from_kernel])) as c_int,
    }
}

/// Merges the kernel's events for sockets that have a bypassed event. The kernel's `from_kernel` events lie behind the
/// `before` bypassed ones.
///
/// Returns the number of the kernel's events left.
fn merged(events: &mut [epoll_event], before: usize, from_kernel: usize) -> usize {
    let (ours, kernels) = events.split_at_mut(before);
    let mut kept = 0;
    for at in 0..from_kernel {
        let event = kernels[at];
        match ours.iter_mut().find(|ours| { ours.u64 } == event.u64) {
            Some(ours) => ours.events |= event.events,
            None => {
                kernels[kept] = event;
                kept += 1;
            }
        }
    }
    kept
}

fn sleep(set: c_int, events: &mut [epoll_event], patience: &Patience, mask: *const sigset_t) -> c_int {
    sleeping::fall_asleep();
    // The last check: later arrivals wake us.
    let result = match is_ready(set) {
        true => collect(set, events, &NOW, mask),
        false => {
            let left = patience.left();
            collect(set, events, left.as_ref().map_or(ptr::null(), ptr::from_ref), mask)
        }
    };
    sleeping::wake_up();
    if result == 0 && !patience.is_over() && woken_for_others() && nap(mask) < 0 {
        return -1;
    }
    result
}

/// Whether the wake-up came from a related process's rider instead of ours.
fn woken_for_others() -> bool {
    with_bypass(|bypass| !bypass.stack.descriptors().iter().any(|own| is_readable(*own))).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_told_of_once() {
        let event = |events: u32, u64: u64| epoll_event { events, u64 };
        let mut events = [event(1, 7), event(1, 8), event(4, 9), event(4, 7), event(1, 10), event(0, 0)];
        assert_eq!(merged(&mut events, 2, 3), 2);
        let said: Vec<(u32, u64)> = events[..4].iter().map(|event| (event.events, event.u64)).collect();
        assert_eq!(said, [(5, 7), (1, 8), (4, 9), (1, 10)]);
    }
}
